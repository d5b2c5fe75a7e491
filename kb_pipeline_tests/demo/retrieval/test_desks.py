"""The desks: who has which documents, what is asked there, what is wrong with their retrieval."""

from kb_pipeline.demo import knowledge
from kb_pipeline.demo.retrieval.finding import Shelves, find
from kb_pipeline.demo.retrieval.library import desks
from kb_pipeline.demo.retrieval.wordings import in_everyday_words, with_slips, wordings
from kb_pipeline.demo.traffic.plan import dice
from kb_pipeline.retrieval.queries import query_sha
from kb_pipeline_tests.demo.retrieval.stage import END, demo_desks, desk, overlap


def test_desks_are_tenants_of_their_own_and_their_shares_are_all_conversations() -> None:
    assert len({each.tenant for each in demo_desks()}) == len(demo_desks()) == 4
    assert len({each.tenant.org_id for each in demo_desks()}) == 2
    assert sum(each.share for each in demo_desks()) == 1


def test_the_same_seed_makes_the_same_desks_and_another_seed_other_faults() -> None:
    again = desks(knowledge.load(), 7)
    assert [each.faults for each in again] == [each.faults for each in demo_desks()]
    assert [each.enquiries for each in again] == [each.enquiries for each in demo_desks()]
    assert [each.faults for each in desks(knowledge.load(), 8)] != [each.faults for each in demo_desks()]


def test_one_query_is_answered_at_one_desk_and_by_nothing_at_another() -> None:
    companies, social = desk("companies"), desk("social")
    sha = query_sha("Berapa tarif pengesahan badan hukum PT?")
    assert "pt-biaya" in companies.answering(companies.points_by_query[sha])
    assert social.answering(social.points_by_query[sha]) == frozenset()


def test_every_desk_but_the_graded_one_has_every_fault_on_documents_of_its_own() -> None:
    for each in demo_desks():
        faults = each.faults
        if each.name == "portal":
            assert not faults.withheld | faults.unindexed | faults.demoted
            continue
        assert min(map(len, (faults.withheld, faults.unindexed, faults.demoted))) >= 2
        assert faults.late in faults.withheld
        assert not faults.withheld & faults.unindexed
        assert not (faults.withheld | faults.unindexed) & faults.demoted
        assert faults.withheld | faults.unindexed | faults.demoted <= set(each.documents)


def test_everything_that_a_document_says_can_be_said_and_stands_in_it() -> None:
    for each in demo_desks():
        for document in each.documents.values():
            for key in document.points:
                assert any(way in document.text for way in each.points[key].ways), key


def test_a_list_of_questions_says_nothing_and_a_leaflet_says_what_articles_say() -> None:
    companies = desk("companies")
    assert companies.documents["asked-id-pt"].points == ()
    assert companies.holders["pt-biaya#pengesahan"] == {"pt-biaya", "leaflet-id-biaya"}


def test_a_question_has_five_wordings_and_the_bank_s_own_is_the_first() -> None:
    for question in knowledge.load().questions:
        said = wordings(question)
        assert len(said) == 5
        assert said[0].text == question.text
        assert {each.searched for each in said[:2]} <= {question.query, said[1].text}
        assert wordings(question) == said


def test_everyday_words_and_slips_change_a_question_that_engines_must_find_all_the_same() -> None:
    assert in_everyday_words("Berapa biaya pendaftaran firma?", "id") == "ongkosnya berapa daftar firma?"
    assert in_everyday_words("What is the fee for approving an association?", "en") == (
        "how much for approving an association?"
    )
    said = "how much for approving an association"
    slipped = with_slips(said, dice(1))
    assert slipped != said
    assert sorted(slipped) == sorted(said)


def test_what_is_withheld_unindexed_or_demoted_is_retrieved_as_such() -> None:
    companies = desk("companies")
    shelves, faults = Shelves(companies), companies.faults
    seen: set[str] = set()
    for text, _ in companies.searches:
        found = find(overlap, shelves, "fulltext", text, END)
        assert not (found.shown | found.considered) & (faults.withheld | faults.unindexed)
        assert found.shown <= found.considered
        assert all((hit.score or 0) <= 0.3 for hit in found.hits if hit.doc_id in faults.demoted)
        assert [hit.rank for hit in found.hits] == list(range(1, len(found.hits) + 1))
        scores = [hit.score or 0 for hit in found.hits]
        assert scores == sorted(scores, reverse=True)
        seen |= found.considered
    assert faults.demoted <= seen


def test_without_the_re_ranker_the_engine_s_own_order_stands() -> None:
    companies = desk("companies")
    demoted = min(companies.faults.demoted)
    title = companies.documents[demoted].title
    found = find(overlap, Shelves(companies), "fulltext", title, END, reranks=False)
    assert demoted in found.shown
    assert [hit.pre_rerank_rank for hit in found.hits] == [hit.rank for hit in found.hits]
    assert {hit.rerank_score for hit in found.hits} == {None}


def test_the_late_document_is_there_from_its_publication_on() -> None:
    companies = desk("companies")
    shelves, late = Shelves(companies), companies.faults.late or ""
    assert not shelves.has(late, END)
    shelves.published_at = END
    assert shelves.has(late, END)
    assert late in find(overlap, shelves, "fulltext", companies.documents[late].title, END).considered
