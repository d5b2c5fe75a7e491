"""Calls that other markers decided are read anew when asked, and never unasked."""

from typing import Any

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline_tests.builders import Upstream, closed_hour, everything, request_body, street, table
from kb_pipeline_tests.judges import WatchedJudge
from kb_pipeline_tests.street.recomputation import assert_adds_up

MARKERS = {
    "synthesis_markers": ["Susun jawaban", "HASIL ALAT"],
    "question_marker": "PERTANYAAN:",
    "context_marker": "HASIL ALAT:",
}


def surface(**changes: object) -> dict[str, Any]:
    return MARKERS | changes


def published(database: Database) -> dict[str, str]:
    return dict(table(database, "SELECT event_id, judge_status FROM rag_quality"))


def test_a_surface_that_is_configured_later_is_graded_back_to_the_instant_asked_for(database: Database) -> None:
    upstream, hour = Upstream(database), closed_hour()
    upstream.turn("public", hour.start)
    upstream.turn("staff", hour.start, surface="staff")
    both = {"public": surface(), "staff": surface()}
    with WatchedJudge() as judge:
        with street(database, judge_base_url=judge.url, surfaces={"public": surface()}) as grading:
            grading.grade()
        with street(database, judge_base_url=judge.url, surfaces=both) as grading:
            grading.grade()
            assert published(database) == {"public": "ok"}, "nothing is read anew, and billed, unasked"
            assert grading.forecast(since=hour.start).turns == 1
            assert grading.grade(since=hour.start).counts["claimed"] == 1
            before = everything(database)
            grading.grade(since=hour.start)
            assert everything(database) == before
    assert published(database) == {"public": "ok", "staff": "ok"}
    assert judge.calls == {"public": 1, "staff": 1}
    assert_adds_up(database)


def test_hours_broken_by_a_changed_template_are_read_anew_once_the_markers_fit(database: Database) -> None:
    upstream, hour = Upstream(database), closed_hour()
    changed = request_body().replace(b"PERTANYAAN:", b"TANYA:").replace(b"HASIL ALAT:", b"SUMBER:")
    upstream.turn("before", hour.start)
    upstream.turn("after", hour.start, request=changed)
    with WatchedJudge() as judge:
        with street(database, judge_base_url=judge.url) as grading:
            grading.grade()
        assert published(database) == {"before": "ok", "after": "skipped"}
        new = {"public": surface(question_marker="TANYA:", context_marker="SUMBER:")}
        with street(database, judge_base_url=judge.url, surfaces=new) as grading:
            grading.grade(since=hour.start)
    assert published(database) == {"before": "ok", "after": "ok"}
    assert table(database, "SELECT context_chars > 0, num_passages FROM rag_metric WHERE event_id = 'after'") == [
        (True, 2)
    ]
    assert judge.calls == {"before": 1, "after": 1}
    assert_adds_up(database)


def test_a_turn_judged_on_a_fallback_context_is_judged_anew_under_a_key_of_its_own(database: Database) -> None:
    hour = closed_hour()
    changed = request_body().replace(b"HASIL ALAT:", b"SUMBER:")
    Upstream(database).turn("e1", hour.start, request=changed)
    with WatchedJudge() as judge:
        with street(database, judge_base_url=judge.url) as grading:
            grading.grade()
            assert table(database, "SELECT parse_status, judge_status FROM rag_quality") == [("context_fallback", "ok")]
        new = {"public": surface(context_marker="SUMBER:")}
        with street(database, judge_base_url=judge.url, surfaces=new) as grading:
            assert grading.forecast(since=hour.start).turns == 1
            grading.collect(hour, asked=True)
            grading.publish(hour)
            assert published(database) == {"e1": "pending"}, "an old score says nothing of the new context"
            grading.grade()
    assert table(database, "SELECT parse_status, judge_status FROM rag_quality") == [("ok", "ok")]
    assert table(database, "SELECT calls, attempts FROM rag_judge_score") == [(2, 1)]
    assert set(judge.calls.values()) == {1}
    assert len(judge.calls) == 2, "a gateway would replay its reply to the old context"
    assert_adds_up(database)


def test_markers_that_no_longer_fit_take_no_turn_away(database: Database) -> None:
    hour = closed_hour()
    Upstream(database).turn("e1", hour.start, request=request_body().replace(b"PERTANYAAN:", b"TANYA:"))
    with street(database, judge_model=None) as grading:
        grading.grade()
    wrong = {"public": surface(synthesis_markers=["Tidak pernah ada"])}
    with street(database, judge_model=None, surfaces=wrong) as grading:
        grading.grade(since=hour.start)
        assert grading.publication.coverage(hour).adds_up
    assert table(database, "SELECT verdict, parse_status FROM rag_call") == [("synthesis", "no_question")]


def test_a_higher_sample_rate_takes_up_what_a_lower_one_left_out_when_asked(database: Database) -> None:
    hour = closed_hour()
    Upstream(database).turns(30, hour)
    with WatchedJudge() as judge:
        with street(database, judge_base_url=judge.url, sample_rate=0.3) as grading:
            grading.grade()
            first = judge.calls.total()
        with street(database, judge_base_url=judge.url) as grading:
            grading.grade()
            assert judge.calls.total() == first < 30
            grading.grade(since=hour.start)
    assert judge.calls.total() == 30
    assert set(judge.calls.values()) == {1}
    assert_adds_up(database)


def test_text_that_expired_here_does_not_come_back(database: Database) -> None:
    hour = closed_hour()
    Upstream(database).turn("e1", hour.start, request=request_body().replace(b"PERTANYAAN:", b"TANYA:"))
    with street(database, judge_model=None) as grading:
        grading.grade()
        with database.connect() as connection:
            connection.execute(
                "UPDATE rag_triad SET question = NULL, context = NULL, passages = NULL, history = NULL, answer = NULL,"
                " text_expired_at = now()"
            )
    new = {"public": surface(question_marker="TANYA:")}
    with street(database, judge_model=None, surfaces=new) as grading:
        grading.grade(since=hour.start)
    assert table(database, "SELECT question, parse_status FROM rag_triad") == [(None, "no_question")]
