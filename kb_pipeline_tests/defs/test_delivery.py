"""Delivery as Dagster runs it: a sensor that drains the outbox, shows how it stands, and fails nothing."""

from datetime import UTC, datetime

import dagster as dg
import pytest

from kb_pipeline.adapters.clock import SystemClock
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.definitions import build_definitions
from kb_pipeline.defs.delivery import DELIVERED, DELIVERY
from kb_pipeline.demo.local_keep import LocalKeep
from kb_pipeline_tests.alert_desk.windows import settings
from kb_pipeline_tests.defs.runs import ticked
from kb_pipeline_tests.delivery.flips import Flips, to

pytestmark = pytest.mark.postgres


def test_a_tick_delivers_and_reports_how_the_outbox_stands(database: Database, instance: dg.DagsterInstance) -> None:
    with LocalKeep() as keep:
        given = settings(database, alerts={**to(keep), "webhook_url": None})
        flips = Flips(database, SystemClock())
        flips.fire("a")
        flips.fire("b", poison=True)
        data = ticked(given, instance, DELIVERY)
        (event,) = data.asset_events
        assert isinstance(event, dg.AssetMaterialization)
        assert event.asset_key == dg.AssetKey(DELIVERED)
        assert event.metadata["dead"].value == 1
        assert event.metadata["pending"].value == 0
        assert "keep: 1 sent" in str(event.description)
        assert data.run_requests == []
        assert [alert["kb_seq"] for alert in keep.received] == [1]


def test_a_tick_with_nothing_to_tell_adds_nothing_to_the_event_log(
    database: Database, instance: dg.DagsterInstance
) -> None:
    with LocalKeep() as keep:
        given = settings(database, alerts={**to(keep), "webhook_url": None})
        data = ticked(given, instance, DELIVERY, cursor=datetime.now(UTC).isoformat())
    assert data.asset_events == []
    assert data.skip_message == "keep: 0 sent, 0 wait, 0 unconfirmed, 0 given up."


def test_a_destination_that_is_down_is_told_in_words_and_fails_nothing(
    database: Database, instance: dg.DagsterInstance
) -> None:
    with LocalKeep() as keep:
        keep.conduct.status = 503
        given = settings(database, alerts={**to(keep), "webhook_url": None})
        Flips(database, SystemClock()).fire("a")
        data = ticked(given, instance, DELIVERY, cursor=datetime.now(UTC).isoformat())
    assert "1 wait" in str(data.skip_message)
    assert "held (503)" in str(data.skip_message)


def test_a_database_that_is_away_fails_no_tick(instance: dg.DagsterInstance) -> None:
    gone = Database("postgresql+psycopg://nobody@127.0.0.1:1/none")
    data = ticked(settings(gone), instance, DELIVERY)
    assert "Nothing could be delivered in this tick (DatabaseAway)" in str(data.skip_message)


def test_without_a_destination_there_is_no_sensor_and_no_asset(database: Database) -> None:
    alone = settings(database, alerts={"keep_url": None, "webhook_url": None})
    repository = build_definitions(alone).get_repository_def()
    assert DELIVERY not in {sensor.name for sensor in repository.sensor_defs}
    assert dg.AssetKey(DELIVERED) not in repository.asset_graph.get_all_asset_keys()
    both = build_definitions(settings(database)).get_repository_def()
    assert both.asset_graph.get(dg.AssetKey(DELIVERED)).parent_keys == {dg.AssetKey("alert_evaluation")}
