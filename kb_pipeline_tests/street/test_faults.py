"""A gateway with faults, a judge that is down for a day, turns that it always fails on: nothing is lost."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.demo.reference_judge import Faults
from kb_pipeline.grading_street import GradeReport, GradingStreet
from kb_pipeline.windows import floor_hour
from kb_pipeline_tests.builders import Upstream, closed_hour, request_body, street, table
from kb_pipeline_tests.clocks import MovedClock
from kb_pipeline_tests.http_servers import Received, ScriptedServer, completion, http
from kb_pipeline_tests.judges import WatchedJudge

NOBODY = "http://127.0.0.1:9"
TICK = timedelta(minutes=10)
SCORES = '{"faithfulness": 1, "answer_relevance": 1, "context_relevance": 1}'
CALLS_OF_A_TURN = "SELECT calls, attempts, status, failed_runs FROM rag_judge_score"


def graded(database: Database) -> list[str]:
    """Graded turns, in the order of their time."""
    return [row[0] for row in table(database, "SELECT event_id FROM rag_quality WHERE judge_status = 'ok' ORDER BY ts")]


def waiting(database: Database) -> dict[str, int]:
    return dict(table(database, "SELECT judge_status, count(*) FROM rag_quality GROUP BY 1"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_of_200_turns_none_is_lost_to_a_gateway_that_refuses_breaks_hangs_and_babbles(
    database: Database, seed: int
) -> None:
    names = Upstream(database).turns(200, closed_hour())
    clock = MovedClock(closed_hour(0).start)
    faults = Faults(
        rate_limited=0.05, server_error=0.05, hang=0.02, malformed=0.05, only_first=2, retry_after=0.2,
        seed=seed,
    )  # fmt: skip
    met = sum(faults.of(name, 0) is not None for name in names)
    limits = {"judge_timeout_s": 1, "judge_concurrency": 16, "max_batch": 200}
    with WatchedJudge(faults) as judge, street(database, clock=clock, judge_base_url=judge.url, **limits) as grading:
        for _ in range(3):
            grading.grade()
            assert sum(waiting(database).values()) == 200, "no turn is lost on the way"
            clock.pass_by(minutes=5)
    assert waiting(database) == {"ok": 200}
    assert met >= 20, "or the seed proves nothing"
    rows = table(database, CALLS_OF_A_TURN)
    assert max(calls for calls, *_ in rows) <= 3, "the third call of a turn meets no fault"
    assert max(attempts for _, attempts, *_ in rows) <= 3
    assert max(judge.calls.values()) == 1, "every call has a key of its own"
    assert judge.calls.total() == sum(calls for calls, *_ in rows) >= 200 + met


def ticks(grading: GradingStreet, clock: MovedClock, until: datetime) -> Iterable[GradeReport]:
    """Runs as the sensor would have them: none while no hour holds work."""
    while clock.now() < until:
        if grading.backlog():
            yield grading.grade()
        clock.instant += TICK


@pytest.mark.slow
def test_after_a_days_outage_everything_is_caught_up_oldest_first_and_the_newest_hour_is_not_starved(
    database: Database,
) -> None:
    upstream = Upstream(database)
    for back in range(30, 2, -4):
        upstream.turns(24, closed_hour(back), prefix=f"h{30 - back:02d}")
    start = closed_hour(30).end
    clock = MovedClock(start)
    limits = {"judge_concurrency": 8, "max_batch": 50}
    with street(database, clock=clock, judge_base_url=NOBODY, **limits) as grading:
        reports = list(ticks(grading, clock, start + timedelta(hours=24)))
        standing = grading.standing()
    calls = sum(report.counts.get("judge_calls", 0) for report in reports)
    asked = sum(bool(report.counts.get("judge_calls")) for report in reports)
    assert 20 < asked < 70, "asked at every tick of the day it would be 144 times"
    assert calls < asked * 20
    assert set(waiting(database)) == {"pending", "error"}
    assert sum(waiting(database).values()) == 7 * 24
    assert table(database, "SELECT sum(attempts) FROM rag_judge_score") == [(0,)]
    assert standing.outage is not None
    assert standing.outage.since == start
    assert standing.outage.retry_at - clock.now() <= timedelta(minutes=30)

    with WatchedJudge() as judge, street(database, clock=clock, judge_base_url=judge.url, **limits) as grading:
        caught_up = _caught_up(database, grading, clock)
    assert caught_up < timedelta(hours=2)
    assert waiting(database)["ok"] == sum(waiting(database).values()) == judge.calls.total()
    assert table(database, "SELECT max(attempts), max(failed_runs) FROM rag_judge_score") == [(1, 0)]
    assert table(database, "SELECT * FROM rag_judge_outage") == []


def _caught_up(database: Database, grading: GradingStreet, clock: MovedClock) -> timedelta:
    """Grade until nothing waits, and hold every run against the rule; returns how long it took."""
    began, done = clock.now(), set[str]()
    while waiting(database).get("ok", 0) < sum(waiting(database).values()) or clock.now() == began:
        held = {
            row[0] for row in table(database, "SELECT event_id FROM rag_judge_score WHERE retry_at > %s", clock.now())
        }
        newest = _newest_closed(database, clock.now())
        report = grading.grade()
        now = graded(database)
        fresh = [name for name in now if name not in done]
        _follows_the_rule(database, fresh, held, newest=newest, report=report)
        done |= set(now)
        clock.instant += TICK
        assert clock.now() - began < timedelta(hours=3)
    return clock.now() - began


def _newest_closed(database: Database, now: datetime) -> str:
    """How the turns of the newest closed hour that waits are called."""
    rows = table(
        database, "SELECT max(event_id) FROM rag_quality WHERE judge_status <> 'ok' AND ts < %s", floor_hour(now)
    )
    return str(rows[0][0])[:3]


def _follows_the_rule(
    database: Database, fresh: list[str], held: set[str], *, newest: str, report: GradeReport
) -> None:
    if not fresh:
        return
    assert report.counts["claimed"] <= 50
    of_newest = [name for name in fresh if name.startswith(newest)]
    left = [
        row[0] for row in table(database, "SELECT event_id FROM rag_quality WHERE judge_status <> 'ok' ORDER BY ts")
    ]
    left_of_newest = [name for name in left if name.startswith(newest)]
    assert len(of_newest) >= 10 or not left_of_newest, "a fifth is kept for the newest closed hour"
    others = [name for name in fresh if name not in of_newest]
    older_left = [name for name in left if name not in held and others and name < max(others)]
    assert not older_left, "the rest is taken oldest first"


@pytest.mark.slow
def test_turns_that_the_judge_always_fails_on_keep_it_neither_down_nor_busy(database: Database) -> None:
    upstream = Upstream(database)
    hour = closed_hour()
    for number in range(12):
        upstream.turn(f"bad-{number:02d}", hour.start + timedelta(seconds=number), request=request_body("RUSAK?"))
    upstream.turns(20, hour, prefix="good")
    called: Counter[str] = Counter()

    def script(request: Received) -> list[bytes]:
        is_bad = "RUSAK" in str(request.body)
        called["bad" if is_bad else "good"] += 1
        return [http(500, Retry_After="31") if is_bad else http(200, completion(SCORES))]

    clock = MovedClock(hour.end)
    with (
        ScriptedServer(script=script) as server,
        street(database, clock=clock, judge_base_url=server.base_url) as grading,
    ):
        assert len(list(ticks(grading, clock, hour.end + timedelta(minutes=30)))) < 6
        assert len(graded(database)) == called["good"] == 20
        list(ticks(grading, clock, hour.end + timedelta(hours=2)))
        before = called["bad"]
        list(ticks(grading, clock, hour.end + timedelta(hours=5)))
    assert called["good"] == 20
    assert 0 < called["bad"] - before <= 12 * 3, "each is called at most once an hour"
    assert table(database, "SELECT max(attempts) FROM rag_judge_score WHERE event_id LIKE 'bad%%'") == [(0,)]


def test_a_long_retry_after_is_kept_to_by_turns_and_by_the_judge(database: Database) -> None:
    Upstream(database).turns(20, closed_hour())
    clock = MovedClock(closed_hour().end)
    busy = ScriptedServer(script=lambda _: [http(429, {"error": {}}, Retry_After="7200")])
    with busy as server, street(database, clock=clock, judge_base_url=server.base_url) as grading:
        report = grading.grade()
        calls = len(server.received)
        for _ in range(7):
            clock.pass_by(minutes=15)
            grading.grade()
            assert grading.backlog() == []
        assert len(server.received) == calls
        clock.pass_by(minutes=16)
        grading.grade()
        assert len(server.received) > calls
    (said,) = report.notes
    due = (closed_hour().end + timedelta(hours=2)).isoformat(timespec="seconds")
    assert said.endswith(f"20 turns wait, and it is asked again from {due} on")


def test_who_grades_by_hand_is_told_when_a_failed_turn_is_due_and_may_call_at_once(database: Database) -> None:
    Upstream(database).turns(1, closed_hour())
    clock = MovedClock(closed_hour().end)
    busy_once = [[http(429, {"error": {}}, Retry_After="90")]]
    script = lambda _: busy_once.pop() if busy_once else [http(200, completion(SCORES))]  # noqa: E731
    with (
        ScriptedServer(script=script) as server,
        street(database, clock=clock, judge_base_url=server.base_url) as grading,
    ):
        due = (clock.now() + timedelta(seconds=90)).isoformat(timespec="seconds")
        told = (f"1 turn waits after a failed call, the first until {due}",)
        assert grading.grade().notes == told
        again = grading.grade()
        assert (again.notes, again.counts) == (told, {})
        assert grading.forecast().turns == 0
        at_once = grading.grade(ignore_waits=True)
        assert (at_once.notes, at_once.counts["graded"]) == ((), 1)
    assert len(server.received) == 2


def test_a_turn_read_anew_waits_for_nothing(database: Database) -> None:
    (name,) = Upstream(database).turns(1, closed_hour())
    clock = MovedClock(closed_hour().end)
    busy = ScriptedServer(script=lambda _: [http(429, {"error": {}}, Retry_After="90")])
    with busy as server, street(database, clock=clock, judge_base_url=server.base_url) as grading:
        grading.grade()
        assert grading.judge(closed_hour()).counts["claimed"] == 0
        with database.connect() as connection:
            connection.execute("UPDATE rag_judge_score SET status = 'outdated' WHERE event_id = %s", (name,))
        assert grading.judge(closed_hour()).counts["claimed"] == 1


def test_a_judge_that_was_mended_is_called_by_the_next_run(database: Database) -> None:
    Upstream(database).turns(20, closed_hour())
    clock = MovedClock(closed_hour().end)
    with street(database, clock=clock, judge_base_url=NOBODY, judge_concurrency=8) as grading:
        grading.grade()
        assert grading.backlog() == []
        grading.end_waits()
    with WatchedJudge() as judge, street(database, clock=clock, judge_base_url=judge.url) as grading:
        grading.grade()
    assert waiting(database) == {"ok": 20}
