"""Every turn gets its second opinion once, and its published row says where that contradicts the judge."""

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.opinions import PostgresOpinions
from kb_pipeline.adapters.postgres.retention import PostgresRetention
from kb_pipeline.adapters.postgres.review import turns_to_review
from kb_pipeline.grading.opinion import VERSION, Count, Kind, Opinion, disagreement
from kb_pipeline.steps.second_opinion import give_opinions
from kb_pipeline_tests.builders import (
    REFUSAL,
    Upstream,
    closed_hour,
    everything,
    request_body,
    response_body,
    street,
    table,
)
from kb_pipeline_tests.judges import WatchedJudge

HOUR = closed_hour()
WRONG = "Biaya pendaftaran yayasan adalah Rp275.000."
SCORES = "SELECT event_id, support_score, opinion ->> 'kind', opinion_version FROM rag_metric ORDER BY event_id"


def forget_opinions(database: Database) -> None:
    with database.connect() as connection:
        connection.execute("UPDATE rag_metric SET opinion = NULL, opinion_version = NULL, support_score = NULL")


def test_a_grading_run_counts_what_the_context_has_and_publishes_it(database: Database) -> None:
    upstream = Upstream(database)
    upstream.turn("right", HOUR.start)
    upstream.turn("wrong", HOUR.start, response=response_body(WRONG))
    upstream.turn("refused", HOUR.start, response=response_body(REFUSAL))
    with WatchedJudge() as judge, street(database, judge_base_url=judge.url) as grading:
        counts = grading.grade().counts
    assert (counts["opinions"], counts["doubted"], counts["doubted/amount"], counts["without_claims"]) == (3, 1, 1, 1)
    refused, right, wrong = table(database, SCORES)
    assert refused == ("refused", None, None, VERSION)
    assert right == ("right", 1.0, None, VERSION)
    assert wrong[1] < 0.6
    assert wrong[2:] == ("amount", VERSION)
    published = table(database, "SELECT event_id, support_score FROM rag_quality ORDER BY event_id")
    assert published == [row[:2] for row in (refused, right, wrong)]


def test_no_word_of_a_turn_is_in_its_opinion(database: Database) -> None:
    answer = "Menurut Zebedeus Sitompul, biayanya Rp275.000 sesuai Pasal 77."
    Upstream(database).turn("e1", HOUR.start, response=response_body(answer))
    with street(database, judge_model=None) as grading:
        grading.grade()
    ((opinion,),) = table(database, "SELECT opinion::text FROM rag_metric")
    assert not [word for word in ("Zebedeus", "Sitompul", "275", "77", "biaya") if word in opinion]


def test_a_second_run_counts_nothing_anew_and_touches_no_row(database: Database) -> None:
    Upstream(database).turns(5, HOUR)
    with street(database, judge_model=None) as grading:
        grading.grade()
        before = everything(database)
        assert grading.second_opinions(HOUR).counts["opinions"] == 0
        grading.grade(since=HOUR.start)
    assert everything(database) == before


def test_a_text_that_is_read_anew_gets_a_new_opinion(database: Database) -> None:
    changed = request_body().replace(b"PERTANYAAN:", b"TANYA:").replace(b"HASIL ALAT:", b"SUMBER:")
    Upstream(database).turn("e1", HOUR.start, request=changed)
    surface = {
        "synthesis_markers": ["Susun jawaban"],
        "question_marker": "PERTANYAAN:",
        "context_marker": "HASIL ALAT:",
    }
    with street(database, judge_model=None, surfaces={"public": surface}) as grading:
        grading.grade()
    assert table(database, SCORES)[0][3] == VERSION
    with database.connect() as connection:
        connection.execute('UPDATE rag_metric SET support_score = 0, opinion = \'{"version": "stale"}\'')
    fitting = surface | {"question_marker": "TANYA:", "context_marker": "SUMBER:"}
    with street(database, judge_model=None, surfaces={"public": fitting}) as grading:
        assert grading.grade(since=HOUR.start).counts["opinions"] == 1
    assert table(database, SCORES) == [("e1", 1.0, None, VERSION)]


def test_opinions_by_other_rules_are_counted_anew_when_asked_and_never_unasked(database: Database) -> None:
    Upstream(database).turns(3, HOUR)
    with street(database, judge_model=None) as grading:
        grading.grade()
        with database.connect() as connection:
            connection.execute("UPDATE rag_metric SET opinion_version = 'opinion-0', support_score = 0.5")
        assert "opinions" not in grading.grade().counts
        assert grading.grade(since=HOUR.start).counts["opinions"] == 3
    assert {row[1:] for row in table(database, SCORES)} == {(1.0, None, VERSION)}
    assert table(database, "SELECT DISTINCT support_score FROM rag_quality") == [(1.0,)]


def test_a_chunk_holds_no_more_text_than_it_may_and_every_turn_has_its_turn(database: Database) -> None:
    Upstream(database).turns(7, HOUR)
    with street(database, judge_model=None) as grading:
        grading.grade()
    forget_opinions(database)
    heard: list[int] = []
    report = give_opinions(HOUR, book=PostgresOpinions(database, chunk_chars=1), on_progress=heard.append)
    assert (report.counts["opinions"], heard) == (7, [1] * 7)
    forget_opinions(database)
    heard.clear()
    give_opinions(HOUR, book=PostgresOpinions(database, chunk=3), on_progress=heard.append)
    assert heard == [3, 3, 1]


def test_a_turn_whose_text_is_gone_is_left_in_peace(database: Database) -> None:
    Upstream(database).turns(2, HOUR)
    with street(database, judge_model=None) as grading:
        grading.grade()
        forget_opinions(database)
        PostgresRetention(database).expire_text(HOUR.end)
        assert grading.second_opinions(HOUR).counts["text_expired"] == 2
        assert grading.second_opinions(HOUR).counts["text_expired"] == 0
    assert table(database, "SELECT DISTINCT opinion, support_score, opinion_version FROM rag_metric") == [
        (None, None, VERSION)
    ]


def test_a_turn_that_another_run_is_about_is_left_to_it(database: Database) -> None:
    first, second = Upstream(database).turns(2, HOUR)
    with street(database, judge_model=None) as grading:
        grading.grade()
        forget_opinions(database)
        with database.connect() as busy:
            busy.execute("SELECT FROM rag_metric WHERE event_id = %s FOR UPDATE", (first,))
            assert grading.second_opinions(HOUR).counts["opinions"] == 1
    assert [(row[0], row[3]) for row in table(database, SCORES)] == [(first, None), (second, VERSION)]


def test_the_published_disagreement_is_that_of_the_rules(database: Database) -> None:
    cases = [
        (faithful, support, doubt)
        for faithful in (0.0, 0.3, 1.0)
        for support in (0.1, 0.9)
        for doubt in (0.0, 0.6, 1.0)
    ]
    for faithful, support, doubt in cases:
        opinion = Opinion(version=VERSION, support_score=support, counts={Kind.NUMBER: Count(1, 0, doubt)})
        ((found,),) = table(
            database, "SELECT kb_disagreement(%s::double precision, %s::double precision, %s::double precision)",
            faithful, support, doubt,
        )  # fmt: skip
        assert found == pytest.approx(disagreement(opinion, faithful))
    assert table(database, "SELECT kb_disagreement(NULL, 1, 1), kb_disagreement(1, NULL, 1)") == [(None, None)]


def plant(database: Database, event_id: str, faithful: float | None, disagrees: float | None) -> None:
    with database.connect() as connection:
        connection.execute(
            "UPDATE rag_quality SET faithfulness = %s, disagreement = %s WHERE event_id = %s",
            (faithful, disagrees, event_id),
        )


def test_turns_are_listed_by_strong_disagreement_and_then_by_faithfulness(database: Database) -> None:
    upstream = Upstream(database)
    planted = {
        "agreed": (0.9, 0.1), "strong": (1.0, 0.8), "stronger": (1.0, 0.95), "worst": (0.1, 0.2), "bad": (0.3, None),
    }  # fmt: skip
    for name in (*planted, "refused"):
        upstream.turn(name, HOUR.start)
    with WatchedJudge() as judge, street(database, judge_base_url=judge.url) as grading:
        grading.grade()
    for name, scores in planted.items():
        plant(database, name, *scores)
    plant(database, "refused", None, None)
    listed = [turn.event_id for turn in turns_to_review(database, HOUR, limit=9)]
    assert listed == ["stronger", "strong", "worst", "bad", "agreed"]
    assert [turn.event_id for turn in turns_to_review(database, HOUR, limit=3)] == listed[:3]
    assert not turns_to_review(database, HOUR, limit=3, surface="staff")
