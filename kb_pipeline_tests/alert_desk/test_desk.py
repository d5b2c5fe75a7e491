"""Evaluation over the tables: what fires, what is kept together, and that nobody decides twice."""

import json
import subprocess
import sys
import threading
import time
from datetime import datetime, timedelta
from typing import Any

import pytest

from kb_pipeline.adapters.postgres.alerting.book import PostgresAlertBook
from kb_pipeline.adapters.postgres.alerting.statistics import PostgresAlertStatistics, Watched
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.alerting.words import QualityLevel
from kb_pipeline.errors import DatabaseError, KbPipelineError
from kb_pipeline.grading.judging import PROMPT_VERSION
from kb_pipeline.records import JudgeVersion
from kb_pipeline.windows import HOUR, Window
from kb_pipeline_tests.alert_desk.windows import (
    MODEL,
    NOON,
    Stopped,
    bad_hours,
    called,
    desk,
    graded,
    retrieved,
    settled,
)
from kb_pipeline_tests.builders import table

pytestmark = pytest.mark.postgres

FAITHFULNESS = "rag_low_faithfulness|faithfulness|prod:portal:public:rag"


def outbox(database: Database, destination: str = "keep") -> list[tuple[str, int, str]]:
    """What is to be sent, in order: fingerprint, kb_seq, status."""
    return table(
        database,
        "SELECT fingerprint, kb_seq, payload ->> 'status' FROM kb_alert_outbox WHERE destination = %s"
        " ORDER BY queued_at, fingerprint, kb_seq",
        destination,
    )


def test_bad_hours_fire_and_state_flip_and_alerts_are_there_together(database: Database) -> None:
    bad_hours(database)
    report = desk(database).evaluate()
    assert report.counts["notices"] == 2
    assert report.counts["queued"] == 4
    assert (FAITHFULNESS, 1, "firing") in outbox(database)
    assert outbox(database) == outbox(database, "webhook")
    assert table(
        database, "SELECT status, severity, kb_seq FROM kb_alert_state WHERE fingerprint = %s", FAITHFULNESS
    ) == [("firing", "critical", 1)]
    assert table(
        database,
        "SELECT from_status, to_status, reason, kb_seq FROM kb_alert_transition WHERE fingerprint = %s",
        FAITHFULNESS,
    ) == [("ok", "firing", "fired", 1)]


def test_flips_leave_with_their_retention_and_where_alerts_stand_stays(database: Database) -> None:
    bad_hours(database)
    watching = desk(database)
    watching.evaluate()
    states, flips = len(watching.states()), len(watching.history(since=NOON - timedelta(days=9)))
    assert watching.expire().counts == {"alerts_expired": 0, "flips_expired": 0}
    later = desk(database, Stopped(watching.clock.now() + timedelta(days=731)))
    assert later.expire().counts == {"alerts_expired": 0, "flips_expired": flips}
    assert flips > 0
    assert len(later.states()) == states
    assert later.history(since=NOON - timedelta(days=9)) == []


def test_the_same_evaluation_again_writes_nothing_but_its_pulse(database: Database) -> None:
    bad_hours(database)
    first = desk(database)
    first.evaluate()
    before = table(database, "SELECT fingerprint, version FROM kb_alert_state ORDER BY 1")
    again = desk(database, Stopped(first.clock.now() + timedelta(minutes=10))).evaluate()
    after = table(database, "SELECT fingerprint, version FROM kb_alert_state ORDER BY 1")
    assert again.counts["flips"] == 0
    assert [name for (name, old), (_, new) in zip(before, after, strict=True) if old != new] == [
        "kb_no_data|evaluation|prod"
    ]


def test_an_alert_resolves_by_itself_when_the_hours_are_good_again(database: Database) -> None:
    bad_hours(database, hours=2)
    clock = Stopped()
    watching = desk(database, clock)
    watching.evaluate()
    for hour in range(1, 30):
        graded(database, NOON + HOUR * hour, [0.9] * 10)
        clock.at += HOUR
        watching.evaluate()
    assert [(seq, status) for name, seq, status in outbox(database) if name == FAITHFULNESS] == [
        (1, "firing"),
        (2, "resolved"),
    ]
    assert watching.verdict().level is QualityLevel.GOOD


def test_three_turns_fire_nothing_and_two_tenants_fire_two(database: Database) -> None:
    graded(database, NOON, [0.0] * 3, tenant="small")
    bad_hours(database, tenant="north")
    bad_hours(database, tenant="south")
    desk(database).evaluate()
    low = sorted(name for name, _, _ in outbox(database) if name.startswith("rag_low"))
    assert low == [f"rag_low_faithfulness|faithfulness|prod:{tenant}:public:rag" for tenant in ("north", "south")]


def test_the_share_below_the_floor_is_that_of_the_histogram_exactly(database: Database) -> None:
    graded(database, NOON, [0.0, 0.49, 0.5, 0.51, 1.0, 0.29, 0.58])
    version = JudgeVersion(model=MODEL, prompt_version=PROMPT_VERSION)

    def below(floor: float) -> float:
        statistics = PostgresAlertStatistics(database, Watched(surfaces=["public"], version=version, floor=floor))
        hours = statistics.load(NOON + HOUR, NOON).quality["portal", "public", "rag"]
        return hours.total("below_floor", NOON, NOON + HOUR)

    assert [below(floor) for floor in (0, 0.01, 0.29, 0.3, 0.5, 0.51, 0.58, 0.59, 1.0)] == [0, 1, 1, 2, 3, 4, 5, 6, 6]


def test_scores_of_another_judge_version_are_not_averaged_in(database: Database) -> None:
    bad_hours(database)
    for back in range(5):
        graded(database, NOON - HOUR * back, [1.0] * 100, version="older", errors=50)
    desk(database).evaluate()
    read = "SELECT reading -> 'n', (reading ->> 'value')::float8, reading -> 'coverage' FROM kb_alert_state"
    assert table(database, f"{read} WHERE fingerprint = %s", FAITHFULNESS) == [(50, pytest.approx(0.3), 1.0)]


def test_a_mean_is_withheld_while_too_few_are_graded(database: Database) -> None:
    for back in range(5):
        graded(database, NOON - HOUR * back, [0.2] * 10, errors=3)
    watching = desk(database)
    watching.evaluate()
    assert outbox(database) == []
    assert "withheld" in watching.verdict().sentence


def test_a_judge_outage_is_one_alert_and_the_quality_alerts_hold(database: Database) -> None:
    bad_hours(database)
    settled(database, "-" * 6)
    desk(database).evaluate()
    assert [name for name, _, _ in outbox(database)] == ["rag_judge_outage|judge_errors|prod"]
    assert table(database, "SELECT inhibited_by FROM kb_alert_state WHERE fingerprint = %s", FAITHFULNESS) == [
        ("rag_judge_outage|judge_errors|prod",)
    ]


def test_turns_that_wait_because_the_days_tokens_are_spent_are_no_outage(database: Database) -> None:
    with database.connect() as connection:
        connection.execute("SELECT kb_ensure_rag_quality_partition(%s)", [NOON])
        connection.execute(
            "INSERT INTO rag_quality (event_id, ts, parse_status, had_context, num_passages, context_chars,"
            " answer_chars, refused, answer_truncated, judge_status, created_at)"
            " VALUES ('e', %(ts)s, 'ok', true, 1, 1, 1, false, false, 'pending', %(ts)s)",
            {"ts": NOON - timedelta(hours=3)},
        )
    settled(database, "+" * 3)
    with database.connect() as connection:
        connection.execute("UPDATE rag_judge_score SET prompt_tokens = 100, completion_tokens = 1")
    desk(database, rag_quality={"judge_daily_tokens": 100}).evaluate()
    assert outbox(database) == []
    desk(database, rag_quality={"judge_daily_tokens": 1_000_000}).evaluate()
    assert [name for name, _, _ in outbox(database)] == ["rag_judge_outage|judge_errors|prod"]


def test_a_turn_that_waits_by_intention_after_a_failure_is_no_outage_until_it_is_due(database: Database) -> None:
    late = {"ts": NOON - timedelta(hours=9), "version": PROMPT_VERSION, "model": MODEL, "retry": NOON + HOUR}
    with database.connect() as connection:
        connection.execute("SELECT kb_ensure_rag_quality_partition(%s)", [NOON])
        connection.execute(
            "INSERT INTO rag_quality (event_id, ts, parse_status, had_context, num_passages, context_chars,"
            " answer_chars, refused, answer_truncated, judge_status, error_class, judge_model, prompt_version,"
            " created_at) VALUES ('e', %(ts)s, 'ok', true, 1, 1, 1, false, false, 'error', 'not_json', %(model)s,"
            " %(version)s, %(ts)s)",
            late,
        )
        connection.execute(
            "INSERT INTO rag_judge_score (event_id, judge_model, prompt_version, ts, status, idempotency_key,"
            " error_class, judged_at, retry_at)"
            " VALUES ('e', %(model)s, %(version)s, %(ts)s, 'error', 'e', 'not_json', %(ts)s, %(retry)s)",
            late,
        )
    desk(database).evaluate()
    assert outbox(database) == []
    desk(database, Stopped(NOON + 4 * HOUR)).evaluate()
    assert [name for name, _, _ in outbox(database)] == ["rag_judge_outage|judge_errors|prod"]


def test_a_judge_that_two_runs_found_down_is_out_before_anything_has_waited(database: Database) -> None:
    with database.connect() as connection:
        connection.execute(
            "INSERT INTO rag_judge_outage (judge_model, since, runs, retry_at) VALUES (%s, %s, 2, %s)",
            [MODEL, NOON, NOON + HOUR],
        )
    desk(database).evaluate()
    assert [name for name, _, _ in outbox(database)] == ["rag_judge_outage|judge_errors|prod"]


def test_a_template_change_and_an_empty_spike_each_fire_their_rule(database: Database) -> None:
    for back in range(4):
        called(database, NOON - HOUR * back, 8, unparsed=8)
    clock = Stopped()
    watching = desk(database, clock)
    for hour in range(2):
        retrieved(database, NOON + HOUR * hour, 80, 40)
        clock.at = NOON + HOUR * hour + timedelta(minutes=5)
        watching.evaluate()
    assert sorted(name.partition("|")[0] for name, _, _ in outbox(database)) == [
        "kb_empty_result_spike",
        "rag_parse_success_drop",
    ]


def test_a_signature_that_is_lost_is_seen_though_no_turn_is_unread(database: Database) -> None:
    for day in range(1, 15):
        called(database, NOON - timedelta(days=day), 20, others=20)
    called(database, NOON, 0, others=40)
    desk(database).evaluate()
    assert [name for name, _, _ in outbox(database)] == ["rag_signature_lost|synthesis_share|prod:portal:public"]


def test_without_a_destination_states_are_kept_and_nothing_is_queued(database: Database) -> None:
    bad_hours(database)
    quiet = desk(database, alerts={"keep_url": None, "webhook_url": None})
    assert quiet.evaluate().counts["queued"] == 0
    assert outbox(database) == []
    assert any(state.status.is_active for state in quiet.states())


def test_nothing_that_a_citizen_or_a_hostile_name_brings_goes_out(database: Database) -> None:
    hostile = "<script>/|:Bobby\u202e'; DROP TABLE"
    bad_hours(database, tenant=hostile, engine=hostile)
    desk(database).evaluate()
    (payload,) = table(
        database,
        "SELECT payload::text FROM kb_alert_outbox WHERE destination = 'keep' AND fingerprint LIKE 'rag_low%%'",
    )[0]
    assert "script>" not in payload
    assert "\u202e" not in payload
    assert json.loads(payload)["fingerprint"].isascii()


MARK = "PENANDA-WARGA-7731"


def test_nothing_that_a_citizen_wrote_is_in_an_alert_a_state_or_a_flip(database: Database) -> None:
    bad_hours(database)
    settled(database, "-" * 6, at=NOON - timedelta(hours=8))
    with database.connect() as connection:
        connection.execute("SELECT kb_ensure_rag_quality_partition(%s)", [NOON])
        connection.execute("UPDATE rag_judge_score SET error_detail = %(mark)s, claimed_by = %(mark)s", {"mark": MARK})
        connection.execute(
            "INSERT INTO rag_triad (event_id, ts, parse_status, question, context, answer)"
            " VALUES (%(mark)s, %(ts)s, 'ok', %(mark)s, %(mark)s, %(mark)s)",
            {"mark": MARK, "ts": NOON},
        )
        connection.execute(
            "INSERT INTO rag_quality (event_id, trace_id, ts, question_preview, parse_status, had_context,"
            " num_passages, context_chars, answer_chars, refused, answer_truncated, judge_status, faithfulness,"
            " answer_relevance_reason, context_relevance_reason, faithfulness_reason)"
            " VALUES (%(mark)s, %(mark)s, %(ts)s, %(mark)s, 'ok', true, 1, 1, 1, false, false, 'ok', 0.1, %(mark)s,"
            " %(mark)s, %(mark)s)",
            {"mark": MARK, "ts": NOON},
        )
    watching = desk(database)
    watching.evaluate()
    watching.report_run(f"job {MARK}", failed=True)
    sent = table(database, "SELECT payload::text FROM kb_alert_outbox")
    kept = [
        *table(database, "SELECT reading::text, memory::text, sentence FROM kb_alert_state"),
        *table(database, "SELECT reading::text, sentence, reason FROM kb_alert_transition"),
    ]
    assert len(sent) >= 4
    assert MARK not in str(sent)
    assert MARK not in str(kept)


def race(number: int, work: Any) -> list[BaseException]:
    """The errors of `number` threads that do the same at once."""
    errors: list[BaseException] = []
    gate = threading.Barrier(number)

    def run() -> None:
        gate.wait()
        try:
            work()
        except BaseException as error:  # noqa: BLE001 the test asserts on it
            errors.append(error)

    threads = [threading.Thread(target=run) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


def test_two_evaluations_at_once_decide_once(database: Database) -> None:
    bad_hours(database)
    assert race(4, lambda: desk(database).evaluate()) == []
    assert sorted((name, seq) for name, seq, _ in outbox(database)) == [
        (FAITHFULNESS, 1),
        ("rag_ungrounded_spike|ungrounded_share|prod:portal:public:rag", 1),
    ]


EVALUATE = """
import sys
from datetime import datetime
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline_tests.alert_desk.windows import Stopped, desk
database = Database(sys.argv[1])
print("ready", flush=True)
watching = desk(database, Stopped(datetime.fromisoformat(sys.argv[2])))
while True:
    watching.evaluate()
"""


@pytest.mark.slow
def test_an_evaluation_that_is_killed_leaves_state_flips_and_outbox_in_step(database: Database) -> None:
    for tenant in range(20):
        bad_hours(database, tenant=f"tenant-{tenant}")
    at = NOON + timedelta(minutes=5)
    for number in range(6):
        command = [sys.executable, "-c", EVALUATE, database.url.render_as_string(hide_password=False), at.isoformat()]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout
            assert process.stdout.readline() == "ready\n"
            time.sleep(0.02 + 0.05 * number)
            process.kill()
        kept = table(
            database,
            "SELECT s.kb_seq, coalesce((SELECT max(o.kb_seq) FROM kb_alert_outbox AS o"
            " WHERE o.fingerprint = s.fingerprint AND o.destination = 'keep'), 0),"
            " coalesce((SELECT max(t.kb_seq) FROM kb_alert_transition AS t"
            " WHERE t.fingerprint = s.fingerprint), 0) FROM kb_alert_state AS s",
        )
        assert all(len(set(row)) == 1 for row in kept)
    desk(database, Stopped(at)).evaluate()
    assert len(outbox(database)) == 40
    assert {seq for _, seq, _ in outbox(database)} == {1}


def test_a_state_that_somebody_else_changed_is_not_written_over(database: Database) -> None:
    bad_hours(database)
    book = PostgresAlertBook(database)
    watching = desk(database)
    watching.evaluate()
    with book.turn() as turn:
        states = turn.states()
    table(database, "UPDATE kb_alert_state SET version = version + 1 RETURNING version")
    from kb_pipeline.alerting.evaluation import Snapshot, evaluate
    from kb_pipeline.alerting.payloads import Sender
    from kb_pipeline.alerting.rules.limits import Limits

    decisions = evaluate(
        Snapshot(end=NOON + 2 * HOUR),
        states,
        [],
        limits=Limits(),
        sender=Sender(environment="prod"),
        now=NOON + 2 * HOUR,
    )
    before = table(database, "SELECT * FROM kb_alert_state ORDER BY 1")
    with pytest.raises(DatabaseError, match="changed by somebody else"), book.turn() as turn:
        turn.save(decisions, destinations=["keep"], now=NOON)
    assert table(database, "SELECT * FROM kb_alert_state ORDER BY 1") == before


def test_an_evaluation_that_cannot_read_says_so_after_two_schedules(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Stopped()
    watching = desk(database, clock)
    watching.evaluate()

    def refuse(*_: object, **__: object) -> None:
        raise DatabaseError("the windows cannot be read")

    monkeypatch.setattr(PostgresAlertStatistics, "load", refuse)
    for minutes in (15, 30):
        clock.at = NOON + timedelta(minutes=5 + minutes)
        with pytest.raises(DatabaseError, match="cannot be read"):
            watching.evaluate()
    assert outbox(database) == [("kb_no_data|evaluation|prod", 1, "firing")]
    monkeypatch.undo()
    clock.at += timedelta(minutes=15)
    watching.evaluate()
    assert outbox(database)[-1] == ("kb_no_data|evaluation|prod", 2, "resolved")


def test_a_failed_run_fires_once_and_resolves_with_the_next_good_one(database: Database) -> None:
    clock = Stopped()
    watching = desk(database, clock)
    for failed in (False, True, True, False, False):
        clock.at += timedelta(minutes=1)
        watching.report_run("grade_hour", failed=failed)
    assert outbox(database) == [
        ("kb_run_failed|run|prod:grade_hour", 1, "firing"),
        ("kb_run_failed|run|prod:grade_hour", 2, "resolved"),
    ]


def test_a_silenced_alert_goes_out_when_its_silence_is_ended(database: Database) -> None:
    bad_hours(database)
    watching = desk(database)
    watching.silence("rag_low_faithfulness", lasting=timedelta(hours=1), author="ops", reason="maintenance")
    watching.evaluate()
    assert FAITHFULNESS not in {name for name, _, _ in outbox(database)}
    assert watching.end_silences("rag_low_faithfulness") == 1
    watching.evaluate()
    assert (FAITHFULNESS, 1, "firing") in outbox(database)
    reasons = [flip["reason"] for flip in watching.history(since=NOON, fingerprint=FAITHFULNESS)]
    assert reasons == ["silence_ended", "silenced"]


@pytest.mark.parametrize(
    ("pattern", "author", "reason"), [("RAG x", "a", "b"), ("rag_*", " ", "b"), ("rag_*", "a", "")]
)
def test_a_silence_needs_something_to_match_somebody_and_a_reason(
    database: Database, pattern: str, author: str, reason: str
) -> None:
    with pytest.raises(KbPipelineError):
        desk(database).silence(pattern, lasting=HOUR, author=author, reason=reason)


def test_a_replay_says_when_a_rule_would_have_fired_with_another_threshold(database: Database) -> None:
    for hour in range(100):
        graded(database, NOON - HOUR * hour, [0.9] * 10 if not 30 <= hour < 50 else [0.66] * 10)
    watching = desk(database)

    def fired(threshold: float | None) -> list[tuple[datetime, bool]]:
        replay = watching.simulate(
            "rag_low_faithfulness", since=NOON - 99 * HOUR, threshold=threshold, changes={}, months=2, seed=1
        )
        assert replay.outlooks[0].per_month == 0.0
        assert abs(replay.outlooks[0].per_day - 240) < 5
        return [(episode.fired_at, episode.resolved_at is not None) for episode in replay.episodes]

    assert fired(0.70) == []
    ((at, is_over),) = fired(0.75)
    assert Window(NOON - 50 * HOUR, NOON - 28 * HOUR).start < at < NOON - 28 * HOUR
    assert is_over
    with pytest.raises(KbPipelineError, match="cannot be replayed"):
        watching.simulate("rag_judge_outage", since=NOON - HOUR, threshold=None, changes={}, months=1, seed=1)
