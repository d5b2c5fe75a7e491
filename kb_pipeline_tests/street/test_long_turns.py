"""Turns that exceed the judge's context window, from the audited bodies to the published rows."""

from datetime import timedelta
from typing import Any

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.demo.reference_judge import Faults
from kb_pipeline.grading.judging.parts import MOST_ANSWER_CHARS, MOST_CONTEXT_CHARS, MOST_PARTS
from kb_pipeline.rejudging import SecondJudge
from kb_pipeline.steps.rejudge import Asked
from kb_pipeline_tests.builders import Upstream, closed_hour, request_body, response_body, street, table
from kb_pipeline_tests.judges import WatchedJudge

WINDOW = 4_096
FACT = "Biaya pengesahan di Kabupaten Wonogiri adalah Rp275.000 per permohonan."
FILLER = "Rapat umum mencatat daftar hadir, notulen dan pengumuman menurut anggaran dasar. "
QUALITY = "SELECT judge_status, skip_reason, judge_parts, faithfulness FROM rag_quality WHERE event_id = %s"
SCORE = "SELECT parts, context_shown, history_left_out, calls, prompt_tokens FROM rag_judge_score WHERE event_id = %s"


def passages(count: int, last: str = FACT) -> str:
    """A context of `count` passages; the last one ends with `last`."""
    texts = [FILLER * 15] * (count - 1) + [FILLER * 15 + last]
    return "\n".join(f"[RAG-{rank}] (skor 0.50) {text}" for rank, text in enumerate(texts, start=1))


def long_answer(sentences: int) -> str:
    return " ".join(f"Ketentuan nomor {number} dibuat notaris bagi yayasan." for number in range(sentences))


def ask(upstream: Upstream, name: str, context: str, answer: str) -> None:
    question = "Berapa biaya pengesahan di Wonogiri?"
    at = closed_hour().start + timedelta(minutes=3)
    upstream.turn(name, at, request=request_body(question, context), response=response_body(answer))


def test_a_sentence_at_the_end_of_a_context_larger_than_the_window_supports_its_answer(database: Database) -> None:
    ask(Upstream(database), "long", passages(200), FACT)
    with (
        WatchedJudge(window=WINDOW) as judge,
        street(database, judge_base_url=judge.url, judge_context_tokens=WINDOW) as grading,
    ):
        report = grading.grade()
        explained = grading.explain("long")
    assert table(database, QUALITY, "long") == [("ok", None, 1, 1.0)]
    ((parts, context_shown, left_out, calls, tokens),) = table(database, SCORE, "long")
    assert (parts, left_out, calls) == (1, 0, 1)
    assert 0 < context_shown < 0.1
    assert tokens > 0
    assert judge.narrow is not None
    assert judge.narrow.refused == 0
    assert explained is not None
    assert explained.scores[0]["parts"] == 1
    assert report.counts["judge_calls"] == report.counts["planned_calls"] == 1


def test_a_long_answer_is_graded_part_by_part_each_under_a_key_of_its_own(database: Database) -> None:
    ask(Upstream(database), "long", passages(10), long_answer(250))
    Upstream(database).turn("short", closed_hour().start)
    with (
        WatchedJudge(window=WINDOW) as judge,
        street(database, judge_base_url=judge.url, judge_context_tokens=WINDOW) as grading,
    ):
        forecast = grading.forecast()
        report = grading.grade()
        counts = report.counts
        assert grading.grade().counts.get("judge_calls", 0) == 0
    ((status, _, parts, faithfulness),) = table(database, QUALITY, "long")
    assert status == "ok"
    assert parts > 1
    assert faithfulness < 0.5
    assert table(database, QUALITY, "short")[0][:3] == ("ok", None, None)
    assert table(database, SCORE, "long")[0][3] == parts
    assert judge.calls.total() == len(judge.calls) == parts + 1
    assert all(key == "short" or key.startswith("long:") for key in judge.calls)
    assert counts["claimed"] == counts["graded"] == 2
    assert forecast.judge_calls == counts["planned_calls"] == counts["judge_calls"] == parts + 1
    # The reference judge reports words; a token is a part of one.
    assert 1 < forecast.prompt_tokens / counts["prompt_tokens"] < 3
    ((calls,),) = table(database, "SELECT sum(judge_calls) FROM rag_quality_window")
    assert calls == parts + 1


def test_parts_that_fail_are_tried_again_and_the_others_are_not(database: Database) -> None:
    ask(Upstream(database), "long", passages(10), long_answer(250))
    seeds = (Faults(server_error=0.5, only_first=2, seed=seed) for seed in range(99))
    faults = next(each for each in seeds if not each.of("long", 0) and each.of("long", 1))
    with (
        WatchedJudge(faults, window=WINDOW) as judge,
        street(database, judge_base_url=judge.url, judge_context_tokens=WINDOW) as grading,
    ):
        assert grading.grade().counts["graded"] == 1
    ((status, _, parts, _),) = table(database, QUALITY, "long")
    assert status == "ok"
    assert set(judge.calls.values()) == {1}
    assert judge.calls.total() == parts + 1
    assert table(database, SCORE, "long")[0][3] == parts + 1


def test_a_turn_in_parts_counts_for_its_parts_in_a_run_and_is_never_starved(database: Database) -> None:
    upstream = Upstream(database)
    ask(upstream, "long", passages(10), long_answer(250))
    upstream.turns(4, closed_hour(), prefix="zz")
    with (
        WatchedJudge(window=WINDOW) as judge,
        street(database, judge_base_url=judge.url, judge_context_tokens=WINDOW, max_batch=2) as grading,
    ):
        graded = [grading.grade().counts.get("graded", 0) for _ in range(4)]
    assert graded == [1, 2, 2, 0]


def test_a_discovered_window_is_kept_to(database: Database) -> None:
    ask(Upstream(database), "long", passages(200), FACT)
    with (
        WatchedJudge(window=WINDOW) as judge,
        street(database, judge_base_url=judge.url, judge_context_tokens=None) as grading,
    ):
        grading.grade()
    assert table(database, QUALITY, "long") == [("ok", None, 1, 1.0)]
    assert judge.narrow is not None
    assert judge.narrow.refused == 0


def test_a_window_smaller_than_configured_leads_to_parts_and_not_to_a_failure(database: Database) -> None:
    upstream = Upstream(database)
    for name in ("first", "second", "third"):
        ask(upstream, name, passages(30), FACT)
    with (
        WatchedJudge(window=WINDOW) as judge,
        street(database, judge_base_url=judge.url, judge_context_tokens=32_768, judge_concurrency=1) as grading,
    ):
        grading.grade()
    for name in ("first", "second", "third"):
        assert table(database, QUALITY, name) == [("ok", None, 1, 1.0)]
    assert judge.narrow is not None
    assert judge.narrow.refused == 1


def test_what_no_parts_can_hold_is_skipped_with_the_reason_and_taken_up_when_the_window_grows(
    database: Database,
) -> None:
    ask(Upstream(database), "long", passages(3), long_answer(2_000))
    Upstream(database).turn("short", closed_hour().start)
    with WatchedJudge() as judge:
        with street(database, judge_base_url=judge.url, judge_context_tokens=WINDOW) as grading:
            assert grading.grade().counts["graded"] == 1
            assert grading.backlog() == []
            assert table(database, QUALITY, "long") == [("skipped", "too_long_for_judge", None, None)]
            assert judge.calls == {"short": 1}
            explained = grading.explain("long")
            assert explained is not None
            assert "more than 8 parts" in explained.scores[0]["error_detail"]
        with street(database, judge_base_url=judge.url, judge_context_tokens=131_072) as grading:
            assert grading.grade(retry_failed=True).counts["graded"] == 1
    assert table(database, QUALITY, "long")[0][:3] == ("ok", None, None)


def test_a_second_judge_whose_window_is_too_small_changes_nothing_that_is_published(database: Database) -> None:
    upstream = Upstream(database)
    ask(upstream, "long", passages(3), long_answer(2_000))
    ask(upstream, "parts", passages(200), FACT)
    with WatchedJudge() as judge:
        with street(database, judge_base_url=judge.url, judge_context_tokens=131_072) as grading:
            grading.grade()
        published = table(database, "SELECT xmin::text, q.* FROM rag_quality AS q ORDER BY 2")
        with street(database, judge_base_url=judge.url, judge_context_tokens=WINDOW) as grading:
            done = SecondJudge(grading, model="another").rejudge(Asked(window=closed_hour()))
            again = SecondJudge(grading, model="another").rejudge(Asked(window=closed_hour()))
    assert done.report.counts["graded"] == 1
    assert again.report.counts.get("graded", 0) == 0
    scores = "SELECT event_id, status, parts, provisional FROM rag_judge_score WHERE judge_model = 'another' ORDER BY 1"
    assert table(database, scores) == [("long", "skipped", None, True), ("parts", "ok", 1, True)]
    assert table(database, "SELECT xmin::text, q.* FROM rag_quality AS q ORDER BY 2") == published
    assert table(database, "SELECT * FROM rag_stale_hour") == []


def test_a_budget_counts_what_long_turns_cost(database: Database) -> None:
    upstream = Upstream(database)
    for number in range(3):
        ask(upstream, f"long-{number}", passages(10), long_answer(250))
    with WatchedJudge(window=WINDOW) as judge:
        options: dict[str, Any] = {
            "judge_base_url": judge.url,
            "judge_context_tokens": WINDOW,
            "judge_concurrency": 1,
        }
        with street(database, judge_daily_tokens=9_000, **options) as grading:
            assert grading.grade().counts["graded"] == 1
        with street(database, **options) as grading:
            assert grading.grade().counts["graded"] == 2


def test_the_database_and_the_planner_agree_on_what_is_too_long_for_any_judge(database: Database) -> None:
    sizes = [(MOST_CONTEXT_CHARS, MOST_ANSWER_CHARS), (MOST_CONTEXT_CHARS + 1, 1), (1, MOST_ANSWER_CHARS + 1)]
    judgeable = [table(database, "SELECT kb_is_judgeable(%s, %s)", *each)[0][0] for each in sizes]
    assert judgeable == [True, False, False]
    calls = [(100, 10, 100), (101, 1, 100), (900, 100, 100), (9_000_000, 2_000_000, 100)]
    about = [table(database, "SELECT kb_judge_calls(%s, %s, %s)", *each)[0][0] for each in calls]
    assert about == [1, 1, 3, MOST_PARTS]


@pytest.mark.parametrize("status", ["graded", "skipped"])
def test_publishing_a_long_turn_again_touches_no_row(database: Database, status: str) -> None:
    answer = FACT if status == "graded" else long_answer(2_000)
    ask(Upstream(database), "long", passages(100), answer)
    with (
        WatchedJudge(window=WINDOW) as judge,
        street(database, judge_base_url=judge.url, judge_context_tokens=WINDOW) as grading,
    ):
        grading.grade()
        assert grading.publish(closed_hour()).counts["rows_changed"] == 0
