"""What the street recovers of the planted truth, in one process on a real database."""

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.demo import knowledge
from kb_pipeline.demo.retrieval.conversations import Plan, Simulation
from kb_pipeline.demo.retrieval.engines import PostgresEngines
from kb_pipeline.demo.retrieval.findings import Findings
from kb_pipeline.demo.retrieval.library import ENGINES, desks
from kb_pipeline.demo.retrieval.rehearsal import rehearse
from kb_pipeline.records import GapKind
from kb_pipeline.settings import Settings
from kb_pipeline_tests.builders import table
from kb_pipeline_tests.demo.retrieval.stage import END

pytestmark = [pytest.mark.slow, pytest.mark.postgres]


def settings(database: Database) -> Settings:
    retrieval = {"enabled": True, "redis_url": "redis://127.0.0.1:6379/0", "engines": list(ENGINES)}
    url = database.url.render_as_string(hide_password=False)
    return Settings.model_validate({"retrieval": retrieval, "database": {"url": url}})


def rehearsed(database: Database, seed: int, drafts: int) -> tuple[Simulation, Findings]:
    made = desks(knowledge.load(), seed)
    engines = PostgresEngines(database)
    engines.index(made)
    return rehearse(database, settings(database), Plan(end=END, seed=seed, drafts=drafts), made, engines)


@pytest.fixture
def findings(database: Database) -> Findings:
    # benchmarks/ground_truth.py does it for five seeds.
    return rehearsed(database, 1, 1_200)[1]


def test_judgments_are_true_cover_a_quarter_and_rank_systems_as_the_truth_does(findings: Findings) -> None:
    harvested = findings.harvested
    assert (harvested.agreement.precision or 0) >= 0.90
    assert (harvested.agreement.recall or 0) >= 0.25
    assert harvested.kendall_tau is not None
    assert harvested.kendall_tau >= 0.8
    for rule in findings.naive.values():
        assert (rule.agreement.precision or 0) < (harvested.agreement.precision or 0) - 0.15
        assert (rule.kendall_tau or 0) < harvested.kendall_tau - 0.1
    for kind in (GapKind.KB_GAP, GapKind.RANKING_GAP):
        assert (findings.gaps[kind].precision or 0) >= 0.9, kind
        assert findings.gaps[kind].found > 50
        assert findings.tasks.get(kind, 0) > 0


def test_no_judgment_of_a_desk_names_a_document_of_another_and_a_query_of_two_desks_has_two_judgments(
    database: Database,
) -> None:
    simulation, findings = rehearsed(database, 3, 300)
    assert findings.drafts == len(simulation.cases)
    assert findings.events == len(simulation.cases) + len(simulation.shadows)
    judged = table(database, "SELECT org_id, specialist_id, query_sha, doc_id FROM kb_ground_truth")
    assert judged
    documents = {(case.desk.tenant.org_id, case.desk.tenant.specialist_id): case.desk for case in simulation.cases}
    asked = {(case.desk.tenant.org_id, case.desk.tenant.specialist_id, case.query_sha) for case in simulation.cases}
    searched = {
        (org_id, specialist_id, sha)
        for (org_id, specialist_id), desk in documents.items()
        for sha in desk.points_by_query
    }
    for org_id, specialist_id, sha, doc_id in judged:
        assert doc_id in documents[org_id, specialist_id].documents
        assert (org_id, specialist_id, sha) in asked | searched
