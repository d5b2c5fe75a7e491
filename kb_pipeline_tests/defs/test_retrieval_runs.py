"""Runs and checks of the retrieval street on a real database; the queue is not needed for either."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import dagster as dg

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.definitions import build_definitions
from kb_pipeline.defs.jobs import DAILY_JOB, HARVEST_JOB, RETRIEVAL_JOB
from kb_pipeline.defs.streets import RETRIEVAL
from kb_pipeline.retrieval_street import RetrievalStreet
from kb_pipeline.windows import HOUR, Window, partition_key
from kb_pipeline_tests.builders import closed_hour, table
from kb_pipeline_tests.defs.runs import QUIET, SILENT, run, succeeded
from kb_pipeline_tests.retrieval_street.application import OTHER, PERMIT, WRONG, Application, settings

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


def planted(database: Database, hour: Window) -> Application:
    """A knowledge base and two drafts of the hour, one accepted and one corrected, with their retrievals."""
    ours = Application(database)
    ours.chunk("permit", PERMIT, LONG_AGO)
    at = hour.start + timedelta(minutes=20)
    ours.decide(ours.served(hour.start), at)
    ours.correct(ours.served(hour.start, WRONG), at, PERMIT)
    ours.search(at)
    return ours


def rows(result: dg.ExecuteInProcessResult) -> dict[str, object]:
    """The rows that each materialized asset says its table has of the hour."""
    return {
        event.asset_key.to_user_string(): event.materialization.metadata["dagster/partition_row_count"].value
        for event in result.get_asset_materialization_events()
        if event.asset_key
    }


def checks(result: dg.ExecuteInProcessResult) -> dict[str, dg.AssetCheckEvaluation]:
    return {each.check_name: each for each in result.get_asset_check_evaluations()}


def checked(database: Database, instance: dg.DagsterInstance, asset: str, *names: str) -> dg.AssetCheckEvaluation:
    """One check (or of a suite, the first of the names) run alone: it looks at the newest closed hour."""
    everything = build_definitions(settings(database)).resolve_implicit_global_asset_job_def()
    keys = {dg.AssetCheckKey(dg.AssetKey(asset), name) for name in names}
    alone = everything.get_subset(asset_selection=set(), asset_check_selection=keys)
    result = alone.execute_in_process(instance=instance, run_config=QUIET, raise_on_error=False)
    assert succeeded(result)
    return checks(result)[names[0]]


def test_a_run_of_an_hour_and_a_harvest_materialize_every_asset_and_pass_every_check(
    database: Database, instance: dg.DagsterInstance
) -> None:
    hour = closed_hour()
    planted(database, hour)
    given = settings(database)
    result = run(given, instance, RETRIEVAL_JOB, partition_key(hour))
    assert succeeded(result)
    assert rows(result) == {"draft_outcomes": 2, "retrieval_gaps": 1, "retrieval_windows": 1}
    harvest = run(given, instance, HARVEST_JOB)
    assert succeeded(harvest)
    (truth,) = harvest.get_asset_materialization_events()
    metadata = {name: value.value for name, value in truth.materialization.metadata.items()}
    assert metadata["labelled_queries"] == metadata["queries"] == 1
    assert metadata["coverage"] == 1.0
    assert metadata["grade_3"] == 1
    assert {"grade_0", "grade_1", "grade_2", "conflicts", "insufficient", "self_made", "evidence_appended"} <= set(
        metadata
    )
    found = checks(result) | checks(harvest)
    assert {name: each.description for name, each in found.items() if not each.passed} == {}
    assert len(found) == 18
    assert found["completeness"].metadata["retrievals"].value == 2


def test_nothing_that_anybody_wrote_stands_in_dagsters_storage(database: Database, tmp_path: Path) -> None:
    marker = "Pengakuanrahasia"
    hour = closed_hour()
    ours = Application(database)
    ours.chunk("permit", f"{PERMIT} {marker}.", LONG_AGO)
    draft = ours.served(hour.start, f"{WRONG} {marker} tidak berlaku.", query=f"Apakah {marker} boleh?")
    ours.correct(draft, hour.start + timedelta(minutes=20), f"{PERMIT} {marker} berlaku.")
    with dg.DagsterInstance.local_temp(str(tmp_path), overrides=SILENT) as instance:
        given = settings(database)
        assert run(given, instance, RETRIEVAL_JOB, partition_key(hour)).success
        assert run(given, instance, HARVEST_JOB).success
        # Runs whose tables refuse the rows fail in the middle of the text.
        with database.connect() as connection:
            connection.execute("TRUNCATE kb_draft_outcome, kb_query, kb_evidence, kb_ground_truth")
            connection.execute("UPDATE kb_retrieval_event SET noted_at = NULL")
            connection.execute("ALTER TABLE kb_draft_outcome ADD CHECK (source_state = '')")
            connection.execute("ALTER TABLE kb_query ADD CHECK (query = '')")
        assert not run(given, instance, RETRIEVAL_JOB, partition_key(hour)).success
        assert not run(given, instance, HARVEST_JOB).success
    found = [path for path in tmp_path.rglob("*") if path.is_file() and marker.encode() in path.read_bytes()]
    assert found == []


def test_the_daily_job_keeps_house_for_the_retrieval_street_alone_and_derives_what_is_too_late_for_the_sensor(
    database: Database, instance: dg.DagsterInstance
) -> None:
    planted(database, closed_hour(24 * 200))
    result = run(settings(database), instance, DAILY_JOB)
    assert succeeded(result)
    metadata = {
        event.asset_key.to_user_string(): event.materialization.metadata
        for event in result.get_asset_materialization_events()
        if event.asset_key
    }
    assert set(metadata) == {"expired_queries", "late_hours", "expired_alerts"}
    assert "queries_expired" in metadata["expired_queries"]
    assert metadata["late_hours"]["hours"].value == 1
    assert table(database, "SELECT count(*) FROM kb_draft_outcome") == [(2,)]


def test_the_backlogs_run_of_an_hour_is_quick(database: Database, instance: dg.DagsterInstance) -> None:
    planted(database, closed_hour())
    result = run(settings(database), instance, RETRIEVAL.backlog_job, partition_key(closed_hour()))
    assert succeeded(result)
    assert set(checks(result)) == {"completeness", "newest_hour_arrived", "empty_share", "event_references"}


def test_lost_events_fail_the_completeness(database: Database, instance: dg.DagsterInstance) -> None:
    ours, at = Application(database), closed_hour().start
    for _ in range(6):
        ours.served(at)
    for _ in range(2):
        ours.loaded(at + timedelta(minutes=1), message_id=uuid4(), conversation_id=uuid4())
    found = checked(database, instance, "retrieval_events", "completeness")
    assert not found.passed
    assert found.severity is dg.AssetCheckSeverity.ERROR
    assert (found.metadata["retrievals"].value, found.metadata["recorded"].value) == (8, 6)


def test_losses_of_single_events_add_up_over_a_day(database: Database, instance: dg.DagsterInstance) -> None:
    ours = Application(database)
    for back in range(1, 6):
        for _ in range(4):
            ours.served(closed_hour(back).start)
        ours.loaded(closed_hour(back).start, message_id=uuid4())
    found = checked(database, instance, "retrieval_events", "completeness")
    assert not found.passed
    assert found.metadata["retrievals"].value == 25


def test_an_hour_without_events_fails_when_the_audit_log_has_retrievals(
    database: Database, instance: dg.DagsterInstance
) -> None:
    ours = Application(database)
    for minute in range(60):
        ours.loaded(closed_hour(1).start + timedelta(minutes=minute), message_id=uuid4())
        ours.loaded(closed_hour(2).start + timedelta(minutes=minute), message_id=uuid4())
    found = checked(database, instance, "retrieval_events", "newest_hour_arrived")
    assert not found.passed
    assert found.metadata["events"].value == 0
    for back in (1, 2):
        ours.retrieval(closed_hour(back).start)
    assert checked(database, instance, "retrieval_events", "newest_hour_arrived").passed


def test_without_an_audit_log_both_checks_pass_and_say_so(database: Database, instance: dg.DagsterInstance) -> None:
    Application(database).served(closed_hour().start)
    with database.connect() as connection:
        connection.execute("DROP VIEW kb_source.audit_log")
    for name in ("completeness", "newest_hour_arrived"):
        found = checked(database, instance, "retrieval_events", name)
        assert found.passed
        assert "not mapped" in (found.description or "")


def test_too_many_empty_retrievals_are_a_warning_by_the_configured_share(
    database: Database, instance: dg.DagsterInstance
) -> None:
    ours, hour = Application(database), closed_hour()
    for number in range(20):
        ours.retrieval(hour.start, ["permit"] if number > 3 else [])
    lenient = run(settings(database, empty_share_warn=0.4), instance, RETRIEVAL.backlog_job, partition_key(hour))
    assert checks(lenient)["empty_share"].passed
    found = checked(database, instance, "retrieval_windows", "empty_share")
    assert not found.passed
    assert found.severity is dg.AssetCheckSeverity.WARN
    assert (found.metadata["retrievals"].value, found.metadata["empty"].value) == (20, 4)


def test_an_outcome_whose_event_is_gone_fails_its_check_and_the_assets_are_made_all_the_same(
    database: Database, instance: dg.DagsterInstance
) -> None:
    hour = closed_hour()
    planted(database, hour)
    given = settings(database)
    assert succeeded(run(given, instance, RETRIEVAL.backlog_job, partition_key(hour)))
    table(database, "DELETE FROM kb_retrieval_event WHERE message_id IS NOT NULL RETURNING 1")
    result = run(given, instance, RETRIEVAL.backlog_job, partition_key(hour))
    assert succeeded(result)
    found = checks(result)["event_references"]
    assert not found.passed
    assert found.metadata["outcomes_without_their_event"].value == 2
    assert rows(result)["draft_outcomes"] == 2


def harvested(database: Database) -> None:
    planted(database, closed_hour())
    with RetrievalStreet.open(settings(database)) as street:
        street.run()


def test_a_judgment_without_its_query_fails_its_check(database: Database, instance: dg.DagsterInstance) -> None:
    harvested(database)
    assert checked(database, instance, "ground_truth", "evidence_references").passed
    table(database, "DELETE FROM kb_query RETURNING 1")
    found = checked(database, instance, "ground_truth", "evidence_references")
    assert not found.passed
    assert found.metadata["judgments_without_their_query"].value == 1


def test_evidence_of_another_tenant_fails_its_check(database: Database, instance: dg.DagsterInstance) -> None:
    harvested(database)
    assert checked(database, instance, "ground_truth", "tenant_isolation").passed
    theirs = Application(database, OTHER).retrieval(closed_hour().start)
    table(database, "UPDATE kb_evidence SET event_id = %s RETURNING 1", theirs)
    found = checked(database, instance, "ground_truth", "tenant_isolation")
    assert not found.passed
    assert found.severity is dg.AssetCheckSeverity.ERROR


def suite(table_name: str, *kinds: str) -> list[str]:
    return [f"{table_name}_{kind}" for kind in kinds]


def test_a_broken_row_fails_the_suite_of_its_table(database: Database, instance: dg.DagsterInstance) -> None:
    ours, at = Application(database), closed_hour().start
    ours.retrieval(at, engine="hybird")
    ours.search(at)
    with database.connect() as connection:
        connection.execute("ALTER TABLE kb_search_event ADD COLUMN note text")
    events = suite("kb_retrieval_event", "ranges", "schema", "unique", "lists")
    found = checked(database, instance, "retrieval_events", *events)
    assert not found.passed
    assert found.metadata["engine_unknown"].value == 1
    searches = suite("kb_search_event", "schema", "ranges", "unique", "consistent")
    assert not checked(database, instance, "search_events", *searches).passed
    truth = suite("kb_ground_truth", "consistent", "schema", "ranges", "unique")
    assert checked(database, instance, "ground_truth", *truth).passed


def test_a_judgment_that_contradicts_itself_fails_whenever_it_was_made(
    database: Database, instance: dg.DagsterInstance
) -> None:
    harvested(database)
    table(database, "UPDATE kb_ground_truth SET p = 0.5, created_at = now() - interval '400 days' RETURNING 1")
    truth = suite("kb_ground_truth", "consistent", "schema", "ranges", "unique")
    found = checked(database, instance, "ground_truth", *truth)
    assert not found.passed
    assert found.metadata["p_of_other_masses"].value == 1


def test_an_hour_that_has_just_begun_is_held_against_the_audit_log_up_to_what_may_be_underway(
    database: Database, instance: dg.DagsterInstance
) -> None:
    now = datetime.now(UTC)
    ours = Application(database)
    ours.served(now - HOUR / 2)
    for _ in range(9):
        ours.loaded(now - timedelta(seconds=30), message_id=uuid4())
    running = Window(closed_hour().end, closed_hour().end + HOUR)
    result = run(settings(database), instance, RETRIEVAL.backlog_job, partition_key(running))
    assert succeeded(result)
    assert checks(result)["completeness"].passed
