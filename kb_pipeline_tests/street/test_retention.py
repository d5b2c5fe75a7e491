"""What is let go, and what stays as a tombstone."""

from datetime import UTC, datetime, timedelta

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.grading_street import GradingStreet
from kb_pipeline.settings import Settings
from kb_pipeline_tests.builders import Upstream, closed_hour, settings, street, table
from kb_pipeline_tests.judges import WatchedJudge


def with_retention(database: Database, **days: int) -> Settings:
    return settings(database).model_copy(update={"retention": Settings.model_validate({"retention": days}).retention})


def grade(database: Database, url: str) -> None:
    with street(database, judge_base_url=url) as grading:
        grading.grade()


def test_text_and_previews_expire_by_their_own_age_and_the_scores_stay(database: Database) -> None:
    upstream = Upstream(database)
    now = datetime.now(UTC)
    upstream.turn("old", now - timedelta(days=20))
    upstream.turn("new", now - timedelta(days=2))
    with WatchedJudge() as judge:
        grade(database, judge.url)
        with GradingStreet.open(with_retention(database, triad_text_days=10, preview_days=15)) as grading:
            report = grading.expire()
            assert report.counts["texts_expired"] == 1
            assert grading.expire().counts["texts_expired"] == 0
        grade(database, judge.url)
    kept = dict(table(database, "SELECT event_id, question IS NOT NULL FROM rag_triad"))
    assert kept == {"old": False, "new": True}
    assert dict(table(database, "SELECT event_id, question_preview IS NOT NULL FROM rag_quality")) == kept
    assert table(database, "SELECT count(*) FROM rag_quality WHERE faithfulness IS NOT NULL") == [(2,)]
    assert table(database, "SELECT count(*) FROM rag_quality WHERE faithfulness_reason ~ '[a-z]'") == [(1,)]
    assert judge.calls.total() == 2


def test_rows_past_their_age_leave_a_tombstone_and_are_never_graded_again(database: Database) -> None:
    Upstream(database).turn("old", datetime.now(UTC) - timedelta(days=20))
    with WatchedJudge() as judge:
        grade(database, judge.url)
        with GradingStreet.open(with_retention(database, quality_days=10)) as grading:
            assert grading.expire().counts["turns_expired"] == 1
        grade(database, judge.url)
    assert judge.calls.total() == 1
    assert table(database, "SELECT count(*) FROM rag_quality") == [(0,)]
    assert table(database, "SELECT event_id, erased_at IS NOT NULL FROM rag_call") == [("old", True)]


def test_a_turn_that_the_source_deletes_is_deleted_here_with_its_scores(database: Database) -> None:
    Upstream(database).turns(3, closed_hour())
    with WatchedJudge() as judge, street(database, judge_base_url=judge.url) as grading:
        grading.grade()
        with database.connect() as connection:
            connection.execute("DELETE FROM upstream.ai_call_bodies WHERE event_id = 'turn-0001'")
            connection.execute("DELETE FROM upstream.ai_calls WHERE event_id = 'turn-0001'")
        assert grading.expire().counts["turns_deleted_at_source"] == 1
        grading.grade()
        assert grading.publication.coverage(closed_hour()).adds_up
    for name in ("rag_triad", "rag_metric", "rag_judge_score", "rag_quality"):
        assert table(database, f"SELECT count(*) FROM {name}") == [(2,)], name
    assert table(database, "SELECT turns FROM rag_quality_window") == [(2,)]


def test_a_source_that_purges_by_age_takes_the_text_along_and_leaves_the_scores(database: Database) -> None:
    upstream, hour = Upstream(database), closed_hour()
    upstream.turn("first", hour.start)
    upstream.turn("second", hour.start + timedelta(minutes=1))
    with WatchedJudge() as judge, street(database, judge_base_url=judge.url) as grading:
        grading.grade()
        with database.connect() as connection:
            connection.execute("DELETE FROM upstream.ai_call_bodies WHERE event_id = 'first'")
            connection.execute("DELETE FROM upstream.ai_calls WHERE event_id = 'first'")
        counts = grading.expire().counts
    assert counts["turns_deleted_at_source"] == 0
    assert counts["texts_purged_at_source"] == 1
    assert dict(table(database, "SELECT event_id, question IS NULL FROM rag_triad")) == {"first": True, "second": False}
    assert table(database, "SELECT count(*) FROM rag_quality WHERE judge_status = 'ok'") == [(2,)]


def test_a_source_that_shows_nothing_at_all_deletes_nothing(database: Database) -> None:
    Upstream(database).turns(2, closed_hour())
    with WatchedJudge() as judge, street(database, judge_base_url=judge.url) as grading:
        grading.grade()
        with database.connect() as connection:
            connection.execute("TRUNCATE upstream.ai_calls, upstream.ai_call_bodies CASCADE")
        grading.expire()
    assert table(database, "SELECT count(*) FROM rag_triad WHERE question IS NOT NULL") == [(2,)]


def test_partitions_exist_three_months_ahead_and_are_made_once(database: Database) -> None:
    with street(database) as grading:
        assert grading.make_partitions().counts["partitions_made"] >= 3
        assert grading.make_partitions().counts["partitions_made"] == 0


def test_purged_text_takes_the_preview_and_the_reasons_along_that_quote_it(database: Database) -> None:
    upstream, hour = Upstream(database), closed_hour()
    upstream.turn("kept", hour.start)
    upstream.turn("purged", hour.start + timedelta(minutes=1))
    with WatchedJudge() as judge, street(database, judge_base_url=judge.url) as grading:
        grading.grade()
        with database.connect() as connection:
            connection.execute("UPDATE upstream.ai_call_bodies SET request_body = NULL WHERE event_id = 'purged'")
        assert grading.expire().counts["texts_purged_at_source"] == 1
        grading.grade()
    for name in ("rag_quality", "rag_judge_score"):
        assert table(database, f"SELECT event_id FROM {name} WHERE faithfulness_reason IS NOT NULL") == [("kept",)]
    assert table(database, "SELECT event_id FROM rag_quality WHERE question_preview IS NOT NULL") == [("kept",)]
    assert table(database, "SELECT count(*) FROM rag_quality WHERE judge_status = 'ok'") == [(2,)]


def test_one_stray_call_of_long_ago_makes_no_purge_a_deletion(database: Database) -> None:
    upstream, hour = Upstream(database), closed_hour()
    upstream.turns(3, hour)
    upstream.call("stray", datetime(1970, 1, 1, tzinfo=UTC))
    with WatchedJudge() as judge, street(database, judge_base_url=judge.url) as grading:
        grading.grade()
        with database.connect() as connection:
            connection.execute("DELETE FROM upstream.ai_call_bodies WHERE event_id = 'turn-0000'")
            connection.execute("DELETE FROM upstream.ai_calls WHERE event_id = 'turn-0000'")
        assert grading.expire().counts["turns_deleted_at_source"] == 0
    assert table(database, "SELECT count(*) FROM rag_quality WHERE judge_status = 'ok'") == [(3,)]
