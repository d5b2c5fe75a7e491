"""Several destinations at once, Keep as a process of its own, what a look costs, nothing that a citizen wrote."""

import json
import subprocess
import sys
import time
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kb_pipeline.adapters.postgres.alerting.queries import load
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.alerting.delivery import Pace
from kb_pipeline.demo.local_keep import LocalKeep
from kb_pipeline.errors import KbPipelineError
from kb_pipeline.windows import HOUR, floor_hour
from kb_pipeline_tests.alert_desk.windows import MODEL, NOON, Stopped, bad_hours, graded
from kb_pipeline_tests.alert_desk.windows import desk as alert_desk
from kb_pipeline_tests.builders import table
from kb_pipeline_tests.clocks import MovedClock
from kb_pipeline_tests.delivery.flips import Flips, delivering, stands, to
from kb_pipeline_tests.http_servers import Received, ScriptedServer, http

pytestmark = pytest.mark.postgres


def answering(status: int) -> ScriptedServer:
    def script(_: Received) -> Iterable[bytes | float]:
        return [http(status)]

    return ScriptedServer(script=script)


def test_each_destination_gets_its_own_and_one_that_fails_holds_no_other(database: Database) -> None:
    clock = MovedClock(NOON)
    with LocalKeep() as keep, answering(200) as hook, answering(500) as broken, answering(200) as service:
        urls = [each.base_url.replace("http://", "json://") for each in (broken, service)]
        desk = delivering(database, clock, **to(keep), webhook_url=hook.base_url, apprise_urls=urls)
        assert desk.destinations == ("keep", "webhook", "apprise-1", "apprise-2")
        flips = Flips(database, clock, desk.destinations)
        flips.fire("a")
        flips.resolve("a")
        done = desk.deliver()
        assert [report.counts["accepted"] for report in done.values()] == [2, 2, 0, 2]
        assert [request.body["kb_seq"] for request in hook.received] == [1, 2]
        assert [request.body["type"] for request in service.received] == ["warning", "success"]
        assert stands(database, "webhook") == [("confirmed", 2)]
        assert stands(database, "apprise-1") == [("pending", 2)]
        assert {each.destination: each.failures for each in desk.delivery()}["apprise-1"] == 1


def test_a_webhook_is_not_told_twice_of_what_it_has(database: Database) -> None:
    clock = MovedClock(NOON)
    with answering(204) as hook:
        desk = delivering(database, clock, webhook_url=hook.base_url)
        Flips(database, clock, desk.destinations).fire("a")
        for _ in range(5):
            desk.deliver()
            clock.pass_by(hours=1)
    assert len(hook.received) == 1


@pytest.mark.parametrize("status", [400, 422])
def test_what_a_webhook_refuses_is_a_dead_letter(database: Database, status: int) -> None:
    clock = MovedClock(NOON)
    with answering(status) as hook:
        desk = delivering(database, clock, webhook_url=hook.base_url)
        flips = Flips(database, clock, desk.destinations)
        flips.fire("a")
        flips.fire("b")
        assert desk.deliver()["webhook"].counts["dead"] == 2
    assert {entry.reason for entry in desk.outbox.dead(limit=9)} == {str(status)}


def test_a_destination_that_is_not_configured_cannot_be_retried(database: Database) -> None:
    desk = delivering(database, MovedClock(NOON), webhook_url="http://hook.example.org")
    with pytest.raises(KbPipelineError, match="no destination 'keep'; configured are: webhook"):
        desk.retry(destination="keep")


def test_what_is_repeated_is_not_counted_as_waiting_since_it_was_first_decided(database: Database) -> None:
    clock = MovedClock(NOON)
    with LocalKeep() as keep:
        desk = delivering(database, clock, **to(keep, reading=False))
        Flips(database, clock).fire("a")
        desk.deliver()
        clock.pass_by(minutes=1)
        desk.deliver()
        keep.conduct.status = 503
        clock.pass_by(minutes=30)
        desk.deliver()
        (health,) = desk.delivery()
    assert (health.pending, health.oldest_pending_s) == (1, 31 * 60)


def test_a_look_at_the_outbox_does_not_read_what_was_confirmed_long_ago(database: Database) -> None:
    with database.connect() as connection:
        connection.execute(
            "INSERT INTO kb_alert_outbox (destination, fingerprint, kb_seq, state, payload, queued_at, sent_at,"
            " settled_at) SELECT 'keep', (n % 100)::text, n, 'confirmed', '{}', now(), now(), now()"
            " FROM generate_series(1, 20000) AS n"
        )
        connection.execute("ANALYZE")
        given: dict[str, Any] = {
            "destination": "keep", "now": NOON, "limit": 50, "every": HOUR, "resolves": 3, "spacing": HOUR
        }  # fmt: skip
        for name in (
            "outbox_health", "pending_alerts", "unconfirmed_alerts", "waiting_alerts", "doubt_alerts", "repeat_alerts"
        ):  # fmt: skip
            plan = "\n".join(str(row[0]) for row in connection.execute(b"EXPLAIN " + load(name).encode(), given))
            assert "Seq Scan on kb_alert_outbox" not in plan, f"{name}\n{plan}"


def test_a_handful_of_bad_turns_is_one_warning_in_keep_which_resolves_by_itself(database: Database) -> None:
    eager: dict[str, Any] = {"enabled": True, "judge_model": MODEL, "thresholds": {"confidence_z": 0, "min_graded": 1}}
    graded(database, NOON, [0.6, 0.55, 0.65])
    with LocalKeep() as keep:

        def look(at: datetime) -> list[tuple[str, str]]:
            """Evaluate and deliver; what arrived so far."""
            given: dict[str, dict[str, Any]] = {
                "rag_quality": eager,
                "retrieval": {"enabled": False},
                "alerts": {**to(keep), "webhook_url": None},
            }
            desk = alert_desk(database, Stopped(at), **given)
            desk.evaluate()
            for _ in range(200):
                desk.deliver()
                if not desk.delivery()[0].pending + desk.delivery()[0].unconfirmed:
                    break
                time.sleep(0.01)
            return [(alert["fingerprint"], alert["status"]) for alert in keep.received]

        fingerprint = "rag_low_faithfulness|faithfulness|prod:portal:public:rag"
        assert look(NOON + timedelta(minutes=5)) == [(fingerprint, "firing")]
        (alert,) = keep.received
        assert alert["severity"] == "warning"
        assert alert["labels"] | {"n": "3", "value": "0.6000", "threshold": "0.7000"} == alert["labels"]
        assert alert["labels"]["window_hours"] == "24"
        assert alert["url"].startswith("https://quality.example.org/alerts?fingerprint=rag_low_faithfulness")
        for hours in range(1, 5):
            graded(database, NOON + HOUR * hours, [0.95] * 9)
            look(NOON + HOUR * hours + timedelta(minutes=5))
        assert [(each["fingerprint"], each["status"]) for each in keep.received] == [
            (fingerprint, "firing"),
            (fingerprint, "resolved"),
        ]


MARKER = "tanda-rahasia-7f3"


def test_nothing_that_a_citizen_wrote_leaves_by_any_destination(database: Database) -> None:
    now = floor_hour(datetime.now(UTC))
    bad_hours(database, until=now)
    plant(database)
    received: list[bytes] = []
    with LocalKeep() as keep, answering(200) as hook, answering(200) as service:
        alerts = {
            **to(keep),
            "webhook_url": hook.base_url,
            "apprise_urls": [service.base_url.replace("http:", "json:")],
        }
        desk = alert_desk(database, Stopped(now), alerts=alerts)
        desk.evaluate()
        desk.report_run("grade_hour", failed=True)
        desk.deliver()
        received += keep.bodies
        received += [json.dumps([each.headers, each.path, each.body]).encode() for each in hook.received]
        received += [json.dumps([each.headers, each.path, each.body]).encode() for each in service.received]
    assert len(received) >= 3
    assert b"rag_low_faithfulness" in b"".join(received)
    assert MARKER.encode() not in b"".join(received)


def plant(database: Database) -> None:
    """The marker, in every column of text that the pipeline keeps of turns, judgements and queries."""
    columns = table(
        database,
        "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public' AND data_type"
        " = 'text' AND column_name IN ('question', 'context', 'answer', 'question_preview', 'faithfulness_reason',"
        " 'answer_relevance_reason', 'context_relevance_reason', 'query', 'query_preview')",
    )
    assert {"question", "answer", "faithfulness_reason"} <= {column for _, column in columns}
    with database.connect() as connection:
        connection.execute(
            "INSERT INTO rag_triad (event_id, ts, parse_status, question, context, answer, question_sha,"
            " question_preview) SELECT 'marked', now(), 'ok', m, m, m, repeat('0', 64), m"
            " FROM (SELECT %s) AS marked (m)",
            [MARKER],
        )
        connection.execute(
            "INSERT INTO rag_judge_score (event_id, judge_model, prompt_version, ts, status, idempotency_key,"
            " faithfulness, answer_relevance, context_relevance, faithfulness_reason, answer_relevance_reason,"
            " context_relevance_reason, judged_at) SELECT 'marked', 'judge-7b', 'x', now(), 'ok', 'marked', 0, 0, 0, m,"
            " m, m, now() FROM (SELECT %s) AS marked (m)",
            [MARKER],
        )


def test_the_local_keep_runs_as_a_process_of_its_own() -> None:
    command = [sys.executable, "-m", "kb_pipeline.demo.local_keep", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline().startswith("local Keep at http://127.0.0.1:")
        process.terminate()
    assert Pace().batch == 50
