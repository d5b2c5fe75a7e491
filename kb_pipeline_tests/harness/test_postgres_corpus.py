"""The mapped knowledge base as a corpus."""

from datetime import timedelta

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.harness import CorpusDocument, PostgresCorpus
from kb_pipeline_tests.harness.planting import CUSTOMS, NOTARY, OBSERVED, plant_chunk


def test_a_document_is_its_chunks_in_force_in_the_order_of_their_numbers(database: Database) -> None:
    for number, text in ((10, "tenth"), (2, "second"), (1, "first")):
        plant_chunk(database, NOTARY, "fees", f"fees#{number}", text, title="Fees" if number > 1 else None)
    [document] = PostgresCorpus(database).documents(NOTARY, OBSERVED)
    assert document == CorpusDocument(doc_id="fees", title="Fees", text="first\n\nsecond\n\ntenth", valid_from=OBSERVED)


def test_the_version_in_force_at_the_time_is_the_one_that_counts(database: Database) -> None:
    change = OBSERVED + timedelta(days=3)
    plant_chunk(database, NOTARY, "fees", "c1", "old fee", until=change)
    plant_chunk(database, NOTARY, "fees", "c1", "new fee", since=change)
    plant_chunk(database, NOTARY, "fees", "c2", "as ever")
    corpus = PostgresCorpus(database)

    def read(after: timedelta) -> list[tuple[str, object]]:
        return [(each.text, each.valid_from) for each in corpus.documents(NOTARY, OBSERVED + after)]

    assert read(timedelta(days=2)) == [("old fee\n\nas ever", OBSERVED)]
    assert read(timedelta(days=3)) == [("new fee\n\nas ever", change)]
    assert read(timedelta(days=-1)) == []


def test_no_document_of_another_tenant_is_handed_out(database: Database) -> None:
    plant_chunk(database, NOTARY, "fees", "c1", "ours")
    plant_chunk(database, CUSTOMS, "fees", "c1", "theirs")
    assert [document.text for document in PostgresCorpus(database).documents(NOTARY, OBSERVED)] == ["ours"]


def test_a_knowledge_base_that_is_not_mapped_is_known_as_such(database: Database) -> None:
    corpus = PostgresCorpus(database)
    assert corpus.is_mapped()
    with database.connect() as connection:
        connection.execute("DROP VIEW kb_source.kb_chunk")
    assert not corpus.is_mapped()


def test_every_chunk_leads_to_its_document_also_an_old_one(database: Database) -> None:
    later = OBSERVED + timedelta(days=1)
    plant_chunk(database, NOTARY, "fees", "c1", "old", until=later)
    plant_chunk(database, NOTARY, "tariff", "c1", "moved", since=later)
    plant_chunk(database, NOTARY, "deeds", "c2", "gone", until=later)
    assert PostgresCorpus(database).document_of(NOTARY) == {"c1": "tariff", "c2": "deeds"}
