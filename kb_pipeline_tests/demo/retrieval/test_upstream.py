"""Simulated drafts stand in the example upstream tables, and the source views show them; engines find documents."""

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.demo.retrieval.engines import PostgresEngines
from kb_pipeline.demo.retrieval.upstream import plant
from kb_pipeline.demo.search import Method
from kb_pipeline_tests.builders import table
from kb_pipeline_tests.demo.retrieval.stage import demo_desks, desk, simulation

CASES = simulation().cases


@pytest.fixture
def planted(database: Database) -> Database:
    plant(database, simulation(), demo_desks())
    return database


def test_every_draft_has_its_client_s_message_its_place_in_the_queue_and_its_retrieval_in_the_audit_log(
    planted: Database,
) -> None:
    roles = dict(table(planted, "SELECT role, count(*) FROM kb_source.message GROUP BY role"))
    assert roles == {"client": len(CASES), "draft": len(CASES)}
    [(queued, decided)] = table(planted, "SELECT count(*), count(decided_at) FROM kb_source.expert_queue_item")
    assert (queued, decided) == (len(CASES), sum(case.decided_at is not None for case in CASES))
    [(loaded,)] = table(
        planted,
        "SELECT count(*) FROM kb_source.audit_log AS a JOIN kb_source.message AS m USING (message_id)"
        " WHERE event_type = 'kb.retrieval.context_loaded' AND m.role = 'draft' AND doc_ids IS NOT NULL",
    )
    assert loaded == len(CASES)


def test_a_correction_stands_with_what_the_expert_wrote(planted: Database) -> None:
    rows = table(planted, "SELECT message_id, original_text, corrected_text FROM kb_source.correction")
    written = {case.message_id: (case.draft.text, case.review.final) for case in CASES if case.review}
    assert len(rows) == sum(case.correction_id is not None for case in CASES)
    assert all(written[message_id] == (original, corrected) for message_id, original, corrected in rows)


def test_each_desk_s_knowledge_base_has_what_it_has_and_nothing_that_is_withheld(planted: Database) -> None:
    for each in demo_desks():
        rows = table(
            planted,
            "SELECT doc_id, source_correction_id FROM kb_source.kb_chunk WHERE org_id = %s AND specialist_id = %s",
            each.tenant.org_id,
            each.tenant.specialist_id,
        )
        late = each.faults.late if simulation().shelves[each.name].published_at else None
        assert {doc_id for doc_id, _ in rows} == set(each.documents) - each.faults.withheld | ({late} - {None})
        sources = {doc_id: source for doc_id, source in rows if source}
        assert sources == ({late: simulation().sources[each.name]} if late else {})


@pytest.mark.parametrize("method", Method)
def test_an_engine_finds_what_a_question_names_at_the_desk_that_has_it(database: Database, method: Method) -> None:
    engines = PostgresEngines(database)
    engines.index(demo_desks())
    companies, social = desk("companies"), desk("social")
    question = "Apa tugas dewan komisaris PT?"
    ranked = engines(companies, method, question)
    assert "pt-organ" in [doc_id for doc_id, _ in ranked[:5]]
    scores = [score for _, score in ranked]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1.0001 for score in scores)
    assert {doc_id for doc_id, _ in engines(social, method, question)} <= set(social.documents)


def test_slips_of_the_keys_cost_full_text_more_than_trigrams(database: Database) -> None:
    engines = PostgresEngines(database)
    engines.index(demo_desks())
    portal = desk("portal")
    slipped = [(each.wordings[3], each.wordings[4]) for each in portal.enquiries if each.points]

    def kept(method: Method) -> float:
        """The share of the scores of the best results that the slips leave."""
        whole = sum(engines(portal, method, right.searched)[0][1] for right, _ in slipped)
        found = (engines(portal, method, wrong.searched) for _, wrong in slipped)
        return sum(ranked[0][1] for ranked in found if ranked) / whole

    assert kept(Method.TRIGRAM) > kept(Method.FULLTEXT) + 0.05
