"""Recorded retrievals as runs."""

from datetime import timedelta

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.harness import NotEvaluable, PostgresQuerySource, evaluate, recorded_engines, runs_from_events
from kb_pipeline.harness.recorded_runs import run_of_retrievals
from kb_pipeline_tests.harness.planting import CUSTOMS, DEED, FEE, NOTARY, OBSERVED, plant, plant_retrieval


def test_the_newest_retrieval_of_each_judged_query_is_the_engines_run(database: Database) -> None:
    sha = plant(database, NOTARY, FEE, {"fees": 3})
    plant_retrieval(database, NOTARY, FEE, "hybrid", ["deeds", "fees"])
    plant_retrieval(database, NOTARY, FEE, "hybrid", ["fees", "deeds"], at=OBSERVED + timedelta(hours=1), shadow=True)
    plant_retrieval(database, NOTARY, FEE, "keyword", [])
    plant_retrieval(database, NOTARY, DEED, "hybrid", ["deeds"])
    runs = runs_from_events(database, NOTARY)
    assert {name: dict(run.rankings) for name, run in runs.items()} == {
        "hybrid": {sha: ["fees", "deeds"]},
        "keyword": {sha: []},
    }
    assert runs["hybrid"].counts == {
        "recorded_retrievals": 3,
        "recorded_queries": 2,
        "recorded_queries_without_judgments": 1,
    }
    earlier = runs_from_events(database, NOTARY, ["hybrid"], until=OBSERVED + timedelta(minutes=1))
    assert earlier["hybrid"].rankings == {sha: ["deeds", "fees"]}


def test_an_empty_retrieval_counts_as_0_and_a_query_never_asked_does_not_count(database: Database) -> None:
    plant(database, NOTARY, FEE, {"fees": 3})
    asked = plant(database, NOTARY, DEED, {"deeds": 3})
    plant_retrieval(database, NOTARY, DEED, "hybrid", [])
    evaluation = evaluate(runs_from_events(database, NOTARY)["hybrid"], PostgresQuerySource(database, NOTARY))
    assert evaluation.per_query("MRR") == {asked: 0.0}
    assert evaluation.counts["not_asked"] == 1


def test_an_engine_asked_no_judged_query_is_said_to_be_so(database: Database) -> None:
    plant(database, NOTARY, FEE, {"fees": 3})
    plant_retrieval(database, NOTARY, DEED, "hybrid", ["deeds"])
    with pytest.raises(NotEvaluable, match="hybrid was asked no judged query, of 1"):
        evaluate(runs_from_events(database, NOTARY)["hybrid"], PostgresQuerySource(database, NOTARY))


def test_an_engine_that_is_not_recorded_is_named_with_those_that_are(database: Database) -> None:
    plant(database, NOTARY, FEE, {"fees": 3})
    plant_retrieval(database, NOTARY, FEE, "hybrid", ["fees"])
    with pytest.raises(NotEvaluable, match=r"'vector'.*recorded are hybrid"):
        runs_from_events(database, NOTARY, ["vector"])
    with pytest.raises(NotEvaluable, match="nothing is recorded"):
        runs_from_events(database, CUSTOMS, ["hybrid"])


def test_retrievals_of_another_tenant_are_not_there(database: Database) -> None:
    plant(database, NOTARY, FEE, {"fees": 3})
    plant_retrieval(database, CUSTOMS, FEE, "hybrid", ["fees"])
    assert recorded_engines(database, NOTARY) == []
    assert [(each.engine, each.queries, each.judged_queries) for each in recorded_engines(database, CUSTOMS)] == [
        ("hybrid", 1, 0)
    ]


@pytest.mark.parametrize(
    ("results", "ranking"),
    [
        ([{"doc_id": "b", "rank": 2}, {"doc_id": "a", "rank": 1}], ["a", "b"]),
        ([{"doc_id": "b", "rank": 1}, {"doc_id": "a", "rank": 0}], ["a", "b"]),
        ([{"doc_id": "b"}, {"doc_id": "a", "rank": 1}], ["b", "a"]),
        ([{"doc_id": "b", "rank": "2"}, {"doc_id": "a", "rank": "1"}], ["b", "a"]),
        ([{"doc_id": "a", "rank": 1}, {"doc_id": "a", "rank": 2}, {"doc_id": "c", "rank": 3}], ["a", "c"]),
        ([{"rank": 1}, {"doc_id": None, "rank": 2}, {"doc_id": "", "rank": 3}, "a", 7, None], []),
        ({"doc_id": "a"}, []),
        (None, []),
    ],
)  # fmt: skip
def test_results_in_any_shape_give_each_document_once_by_rank(results: object, ranking: list[str]) -> None:
    assert run_of_retrievals("engine", [("q", results)]).rankings == {"q": ranking}
