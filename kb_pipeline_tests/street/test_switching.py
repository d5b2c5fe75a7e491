"""What a change of the judge, or of its budget, does to turns that wait."""

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.demo.reference_judge import Faults
from kb_pipeline_tests.builders import Upstream, closed_hour, street, table
from kb_pipeline_tests.judges import WatchedJudge
from kb_pipeline_tests.street.recomputation import assert_adds_up


def counted(database: Database) -> dict[str, int]:
    return dict(table(database, "SELECT judge_status, count(*) FROM rag_quality GROUP BY 1"))


def test_turns_measured_without_a_judge_wait_for_one_from_the_activation_on(database: Database) -> None:
    upstream = Upstream(database)
    upstream.turns(3, closed_hour())
    upstream.turns(2, closed_hour(50), prefix="older")
    with street(database, judge_model=None) as grading:
        grading.grade()
        assert grading.backlog() == []
    assert counted(database) == {"disabled": 5}
    with WatchedJudge() as judge:
        recent = closed_hour(3).start.isoformat()
        with street(database, judge_base_url=judge.url, start_at=recent) as grading:
            assert [each.waiting for each in grading.backlog()] == [3]
            assert grading.forecast().turns == 3
            grading.grade()
            assert counted(database) == {"ok": 3, "disabled": 2}
            grading.grade(since=closed_hour(60).start)
    assert counted(database) == {"ok": 5}
    assert_adds_up(database)


def test_a_judge_that_is_switched_off_leaves_no_turn_waiting_for_it(database: Database) -> None:
    Upstream(database).turns(4, closed_hour())
    with WatchedJudge(Faults(server_error=1.0)) as broken, street(database, judge_base_url=broken.url) as grading:
        grading.grade()
    assert counted(database).get("error", 0) > 0
    with street(database, judge_model=None) as grading:
        assert [each.stale for each in grading.backlog()] == [True]
        grading.grade()
        assert grading.backlog() == []
    assert counted(database) == {"disabled": 4}
    with WatchedJudge() as judge, street(database, judge_base_url=judge.url) as grading:
        grading.grade(ignore_waits=True)
    assert counted(database) == {"ok": 4}
    assert_adds_up(database)


def test_turns_that_failed_under_one_judge_are_opened_again_for_the_next(database: Database) -> None:
    Upstream(database).turns(2, closed_hour())
    faulty = WatchedJudge(Faults(malformed=1.0))
    with faulty as judge, street(database, judge_base_url=judge.url, judge_max_attempts=1) as grading:
        grading.grade()
    assert counted(database) == {"failed": 2}
    with WatchedJudge() as judge, street(database, judge_base_url=judge.url, judge_model="another") as grading:
        grading.grade()
        assert counted(database) == {"failed": 2}
        grading.grade(retry_failed=True)
    assert counted(database) == {"ok": 2}


def test_the_judge_stops_when_the_days_tokens_are_spent_and_the_turns_wait(database: Database) -> None:
    Upstream(database).turns(12, closed_hour())
    with WatchedJudge() as judge:
        with street(database, judge_base_url=judge.url, judge_daily_tokens=2_000) as grading:
            reports = [grading.grade() for _ in range(8)]
            assert grading.backlog() == [], "a spent budget asks for no run"
            left = 12 - judge.calls.total()
            said = f"today's judge_daily_tokens of 2,000 are spent; {left} turns wait until midnight UTC"
            assert reports[0].notes == ()
            assert reports[-1].notes == (said,)
            assert grading.judge(closed_hour()).notes == (said,), "a run of the hour alone says so too"
            ((spent,),) = table(database, "SELECT sum(prompt_tokens + completion_tokens) FROM rag_judge_score")
            ((dearest,),) = table(database, "SELECT max(prompt_tokens + completion_tokens) FROM rag_judge_score")
            assert 2_000 <= spent < 2_000 + dearest
            assert counted(database) == {"ok": judge.calls.total(), "pending": 12 - judge.calls.total()}
        with database.connect() as connection:
            connection.execute("UPDATE rag_judge_score SET judged_at = judged_at - interval '1 day'")
        with street(database, judge_base_url=judge.url, judge_daily_tokens=1_000_000) as grading:
            grading.grade()
    assert counted(database) == {"ok": 12}
    assert judge.calls.total() == 12
