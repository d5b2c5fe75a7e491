"""From audited bodies to published rows: once, whole, and again without a change."""

import threading
from datetime import UTC, datetime, timedelta

import pytest
import zstandard

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.errors import JudgeRefused, SettingsError
from kb_pipeline.grading.bodies import MAX_BODY_BYTES
from kb_pipeline_tests.builders import (
    REFUSAL,
    Upstream,
    closed_hour,
    everything,
    request_body,
    response_body,
    stored,
    street,
    table,
)
from kb_pipeline_tests.judges import WatchedJudge

TURN = (
    "SELECT judge_status, parse_status, had_context, num_passages, top_score, faithfulness, answer_relevance,"
    " context_relevance, faithfulness_reason, question_preview FROM rag_quality WHERE event_id = %s"
)


def statuses(database: Database) -> dict[str, str]:
    return dict(table(database, "SELECT event_id, judge_status FROM rag_quality"))


def test_a_synthesis_call_becomes_a_published_row_and_a_window(database: Database) -> None:
    hour = closed_hour()
    Upstream(database).turn("e1", hour.start + timedelta(minutes=5))
    with WatchedJudge() as judge, street(database, judge_base_url=judge.url) as grading:
        report = grading.grade()
    assert report.counts["graded"] == report.counts["judge_calls"] == report.counts["examined"] == 1
    assert "calls" not in report.counts
    ((status, parsed, had_context, passages, top, faithful, relevant, on_topic, reason, preview),) = table(
        database, TURN, "e1"
    )
    assert (status, parsed, had_context, passages, top) == ("ok", "ok", True, 2, 0.82)
    assert faithful == 1.0
    assert relevant > 0.5
    assert on_topic > 0.5
    assert reason
    assert preview == "Berapa biaya pendaftaran yayasan?"
    assert judge.headers[0]["x-tenant-id"] == "ahu-observatory"
    assert judge.calls == {"e1": 1}
    ((start, turns, graded, total),) = table(
        database, "SELECT hour, turns, graded, faithfulness_sum FROM rag_quality_window"
    )
    assert (start, turns, graded, total) == (hour.start, 1, 1, 1.0)
    assert table(database, "SELECT day, turns FROM rag_quality_day") == [(hour.start.date(), 1)]


def test_a_second_grade_calls_nobody_and_touches_no_row(database: Database) -> None:
    Upstream(database).turns(12, closed_hour())
    with WatchedJudge() as judge, street(database, judge_base_url=judge.url) as grading:
        grading.grade()
        before, calls = everything(database), judge.calls.total()
        for hour in closed_hour().hours():
            grading.collect(hour)
            grading.judge(hour)
            grading.publish(hour)
            grading.aggregate(hour)
        grading.grade(since=closed_hour().start)
    assert everything(database) == before
    assert judge.calls.total() == calls == 12


def test_two_grades_of_the_same_hour_at_once_make_one_call_a_turn(database: Database) -> None:
    names = Upstream(database).turns(40, closed_hour())

    def run(url: str) -> None:
        with street(database, judge_base_url=url, judge_concurrency=4) as grading:
            grading.grade()

    with WatchedJudge() as judge:
        threads = [threading.Thread(target=run, args=(judge.url,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with street(database, judge_base_url=judge.url) as grading:
            grading.grade()
    assert judge.calls == dict.fromkeys(names, 1)
    assert set(statuses(database).values()) == {"ok"}
    assert judge.most_at_once <= 12


def test_max_batch_bounds_the_judge_calls_of_a_run_and_the_next_run_takes_the_rest(database: Database) -> None:
    Upstream(database).turns(10, closed_hour())
    with WatchedJudge() as judge, street(database, judge_base_url=judge.url, max_batch=4) as grading:
        for expected in (4, 8, 10):
            grading.grade()
            assert judge.calls.total() == expected
            assert sum(each.waiting for each in grading.backlog()) == 10 - expected
    assert set(statuses(database).values()) == {"ok"}


def test_never_more_calls_at_once_than_configured(database: Database) -> None:
    Upstream(database).turns(30, closed_hour())
    with WatchedJudge() as judge, street(database, judge_base_url=judge.url, judge_concurrency=3) as grading:
        grading.grade()
    assert judge.calls.total() == 30
    assert judge.most_at_once <= 3


def test_a_corrupt_a_large_and_a_bomb_body_leave_the_others_graded(database: Database) -> None:
    upstream, hour = Upstream(database), closed_hour()
    upstream.turns(3, hour)
    at = hour.start + timedelta(minutes=1)
    upstream.call("corrupt", at)
    upstream.body("corrupt", stored(request_body())[:-20], b"\x28\xb5\x2f\xfd broken")
    upstream.turn("large", at, request=request_body(context="[RAG-1] (skor 0.5) " + "sepuluh juta " * 800_000))
    upstream.call("bomb", at)
    upstream.body("bomb", stored(request_body()), zstandard.compress(bytes(MAX_BODY_BYTES * 20)))
    upstream.call("uncompressed", at)
    upstream.body("uncompressed", bytes(MAX_BODY_BYTES + 10), stored(response_body()))
    with WatchedJudge() as judge, street(database, judge_base_url=judge.url) as grading:
        grading.grade()
    ledger = {
        name: (verdict, status)
        for name, verdict, status in table(database, "SELECT event_id, verdict, parse_status FROM rag_call")
    }
    assert ledger["corrupt"] == ("unreadable", "undecodable")
    assert ledger["bomb"] == ("synthesis", "too_large")
    assert ledger["uncompressed"] == ("unreadable", "too_large")
    assert ledger["large"] == ("synthesis", "ok")
    found = statuses(database)
    assert [found[f"turn-{number:04d}"] for number in range(3)] == ["ok"] * 3
    assert found["bomb"] == "skipped"
    reasons = dict(table(database, "SELECT event_id, skip_reason FROM rag_quality WHERE skip_reason IS NOT NULL"))
    assert reasons == {"bomb": "too_large", "large": "too_long_for_judge"}


def test_a_body_that_arrives_late_is_examined_then(database: Database) -> None:
    upstream = Upstream(database)
    at = datetime.now(UTC) - timedelta(minutes=2)
    upstream.call("late", at)
    with WatchedJudge() as judge, street(database, judge_base_url=judge.url) as grading:
        grading.grade()
        assert table(database, "SELECT * FROM rag_call") == []
        upstream.body("late", stored(request_body()), stored(response_body()))
        grading.grade()
    assert statuses(database) == {"late": "ok"}


def test_a_body_given_up_as_missing_is_examined_when_it_comes_after_all(database: Database) -> None:
    upstream = Upstream(database)
    upstream.call("lost", closed_hour().start)
    with WatchedJudge() as judge, street(database, judge_base_url=judge.url) as grading:
        grading.grade()
        assert table(database, "SELECT verdict, parse_status FROM rag_call") == [("unreadable", "missing_body")]
        assert grading.backlog() == []
        upstream.body("lost", stored(request_body()), stored(response_body()))
        grading.grade()
    assert statuses(database) == {"lost": "ok"}
    assert table(database, "SELECT verdict, parse_status FROM rag_call") == [("synthesis", "ok")]


def test_the_judges_own_calls_and_other_surfaces_are_never_read_or_graded(database: Database) -> None:
    upstream, hour = Upstream(database), closed_hour()
    at = hour.start + timedelta(minutes=3)
    upstream.turn("own", at, tenant="ahu-observatory", surface="system")
    upstream.turn("own-public", at, tenant="ahu-observatory")
    upstream.turn("staff", at, surface="staff")
    upstream.turn("router", at, request=request_body(system="Pilih alat yang tepat untuk pertanyaan warga."))
    with WatchedJudge() as judge, street(database, judge_base_url=judge.url) as grading:
        grading.grade()
    verdicts = dict(table(database, "SELECT event_id, verdict FROM rag_call"))
    assert verdicts == {"own": "self", "own-public": "self", "staff": "other", "router": "other"}
    assert judge.calls.total() == 0
    assert table(database, "SELECT sum(bodies) FROM kb_access_record") == [(1,)]


def test_a_refusal_has_no_faithfulness_and_an_unsupported_answer_a_low_one(database: Database) -> None:
    upstream, at = Upstream(database), closed_hour().start
    upstream.turn("refusal", at, response=response_body(REFUSAL))
    upstream.turn("nothing", at, request=request_body(context="(tidak ada hasil)"), response=response_body(REFUSAL))
    upstream.turn("invented", at, response=response_body("Gedung kementerian dibangun oleh Napoleon pada tahun 1810."))
    with WatchedJudge() as judge, street(database, judge_base_url=judge.url) as grading:
        grading.grade()
    rows = {
        name: rest
        for name, *rest in table(
            database, "SELECT event_id, faithfulness, faithfulness_reason, context_relevance, refused FROM rag_quality"
        )
    }
    assert rows["refusal"][0] is None
    assert rows["refusal"][1]
    assert rows["refusal"][3] is True
    assert rows["nothing"][0] is rows["nothing"][2] is None
    assert rows["invented"][0] < 0.3


def test_start_at_now_leaves_the_past_ungraded_until_asked(database: Database) -> None:
    Upstream(database).turns(5, closed_hour())
    with WatchedJudge() as judge, street(database, judge_base_url=judge.url, start_at="now") as grading:
        grading.grade()
        assert judge.calls.total() == 0
        assert table(database, "SELECT * FROM rag_call") == []
        first = grading.start_at()
        grading.grade(since=closed_hour().start)
        assert grading.start_at() == first
    assert judge.calls.total() == 5
    assert set(statuses(database).values()) == {"ok"}


def test_a_dry_run_foresees_what_the_run_then_does_and_writes_nothing_but_its_access(database: Database) -> None:
    upstream = Upstream(database)
    upstream.turns(6, closed_hour())
    upstream.turn("skipped", closed_hour().start, response=response_body(""))
    with WatchedJudge() as judge, street(database, judge_base_url=judge.url) as grading:
        before = everything(database)
        forecast = grading.forecast()
        assert everything(database) == before
        assert judge.calls.total() == 0
        report = grading.grade()
    assert forecast.judge_calls == report.counts["claimed"] == 6
    assert forecast.calls == report.counts["examined"] == 7
    assert forecast.parse_statuses == {"empty_answer": 1, "ok": 6}
    # The reference judge reports words; a token is a part of one.
    assert 1 < forecast.prompt_tokens / report.counts["prompt_tokens"] < 3
    assert table(database, "SELECT DISTINCT purpose FROM kb_access_record ORDER BY 1") == [("forecast",), ("grading",)]


def test_a_dry_run_of_a_dormant_or_young_street_does_not_fix_when_grading_begins(database: Database) -> None:
    Upstream(database).turns(2, closed_hour())
    for enabled in (False, True):
        with street(database, start_at="now", enabled=enabled) as grading:
            assert grading.forecast().turns == 0
            assert grading.forecast(since=closed_hour().start).turns == 2
    assert table(database, "SELECT * FROM kb_activation") == []


def test_a_lower_sample_rate_grades_a_subset_and_every_turn_is_accounted_for(database: Database) -> None:
    Upstream(database).turns(60, closed_hour())
    with WatchedJudge() as judge, street(database, judge_base_url=judge.url, sample_rate=0.4) as grading:
        grading.grade()
        coverage = grading.publication.coverage(closed_hour())
    assert 5 < judge.calls.total() < 45
    assert coverage.adds_up
    assert coverage.seen == 60
    assert coverage.sampled_out == 60 - judge.calls.total()


def test_without_a_judge_the_deterministic_metrics_stand_alone(database: Database) -> None:
    Upstream(database).turns(3, closed_hour())
    with street(database, judge_model=None) as grading:
        grading.grade()
        assert grading.backlog() == []
    assert set(statuses(database).values()) == {"disabled"}
    assert table(database, "SELECT turns, disabled FROM rag_quality_window") == [(3, 3)]


def test_a_public_judge_is_refused_before_a_claim_is_made(database: Database) -> None:
    Upstream(database).turns(2, closed_hour())
    with (
        street(database, judge_base_url="https://93.184.216.34") as grading,
        pytest.raises(JudgeRefused, match="allow_external"),
    ):
        grading.grade()
    assert table(database, "SELECT * FROM rag_judge_score") == []


def test_a_dormant_street_refuses_to_grade_and_changes_nothing(database: Database) -> None:
    Upstream(database).turns(2, closed_hour())
    before = everything(database)
    with street(database, enabled=False) as grading, pytest.raises(SettingsError, match="enabled"):
        grading.grade()
    assert everything(database) == before


@pytest.mark.parametrize("years", [-2, 0], ids=["two years ago", "now"])
def test_a_turn_of_any_month_finds_its_partition(database: Database, years: int) -> None:
    at = datetime.now(UTC) + timedelta(days=365 * years, hours=-2)
    Upstream(database).turn("somewhen", at)
    with WatchedJudge() as judge, street(database, judge_base_url=judge.url) as grading:
        grading.grade(since=at - timedelta(days=1))
    assert statuses(database) == {"somewhen": "ok"}


def test_bodies_are_read_under_a_role_and_a_name_of_their_own_and_every_batch_is_recorded(database: Database) -> None:
    Upstream(database).turns(3, closed_hour())
    with WatchedJudge() as judge, street(database, judge_base_url=judge.url) as grading:
        grading.grade()
    assert table(
        database,
        "SELECT actor, database_role, application_name, purpose, bodies, body_bytes > 0 FROM kb_access_record",
    ) == [("kb_pipeline_grader", "kb_grader", "kb_pipeline_grader", "grading", 3, True)]


def test_where_the_role_may_not_read_the_views_the_users_own_rights_serve(database: Database) -> None:
    Upstream(database).turns(1, closed_hour())
    with database.connect() as connection:
        connection.execute("REVOKE USAGE ON SCHEMA kb_source FROM kb_source_reader")
    with WatchedJudge() as judge, street(database, judge_base_url=judge.url) as grading:
        grading.grade()
    assert set(statuses(database).values()) == {"ok"}


def test_hashes_that_do_not_match_mark_the_turn_and_nothing_else(database: Database) -> None:
    upstream = Upstream(database)
    upstream.turn("whole", closed_hour().start)
    upstream.turn("altered", closed_hour().start)
    with database.connect() as connection:
        connection.execute(
            "UPDATE upstream.ai_call_bodies SET response_body = %s WHERE event_id = 'altered'",
            (stored(response_body("Diubah.")),),
        )
    with WatchedJudge() as judge, street(database, judge_base_url=judge.url) as grading:
        grading.grade()
    assert dict(table(database, "SELECT event_id, evidence_intact FROM rag_quality")) == {
        "whole": True,
        "altered": False,
    }


def test_a_second_judge_leaves_old_scores_where_they_are(database: Database) -> None:
    upstream = Upstream(database)
    upstream.turns(3, closed_hour())
    with WatchedJudge() as judge:
        with street(database, judge_base_url=judge.url) as grading:
            grading.grade()
        upstream.turns(2, closed_hour(), prefix="newer")
        with street(database, judge_base_url=judge.url, judge_model="another") as grading:
            grading.grade()
    assert judge.calls.total() == 5
    assert table(database, "SELECT judge_model, turns, graded FROM rag_quality_window ORDER BY 1") == [
        ("another", 2, 2),
        ("reference", 3, 3),
    ]
