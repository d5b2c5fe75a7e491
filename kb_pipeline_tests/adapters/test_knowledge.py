"""Reading knowledge bases from the operator's view, as it may really be."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.retrieval.knowledge import PostgresKnowledge
from kb_pipeline.records import KnowledgeChunk, Tenant
from kb_pipeline.retrieval.knowledge import KnowledgeIndex
from kb_pipeline_tests.retrieval_street.application import OTHER, TENANT, Application

pytestmark = pytest.mark.postgres

NOW = datetime.now(UTC).replace(microsecond=0)
OLD = NOW - timedelta(days=90)
TEXT = "Izin keluar berlaku selama tiga puluh hari."
LOOSE_VIEW = """
    DROP VIEW kb_source.kb_chunk;
    CREATE VIEW kb_source.kb_chunk AS
    SELECT {org}::uuid AS org_id, {specialist}::uuid AS specialist_id, row.*, NULL::uuid AS source_correction_id
    FROM (VALUES
      ('a', 'a-1', NULL, NULL, '-infinity'::timestamptz, 'infinity'::timestamptz),
      ('b', NULL, 'Judul', 'Isi.', NULL, NULL),
      (NULL, 'c-1', NULL, 'Tanpa dokumen.', now(), NULL)
    ) AS row (doc_id, chunk_id, title, text, valid_from, valid_to)
"""


def test_every_version_of_a_tenants_chunks_is_read(database: Database) -> None:
    application = Application(database)
    application.chunk("izin", TEXT, OLD, title="Izin keluar", valid_to=NOW)
    application.chunk("izin", f"{TEXT} Loket tutup.", NOW)
    assert PostgresKnowledge(database).chunks(TENANT) == [
        KnowledgeChunk(
            tenant=TENANT,
            doc_id="izin",
            chunk_id="izin-1",
            title="Izin keluar",
            text=TEXT,
            valid_from=OLD,
            valid_to=NOW,
        ),
        KnowledgeChunk(tenant=TENANT, doc_id="izin", chunk_id="izin-1", text=f"{TEXT} Loket tutup.", valid_from=NOW),
    ]


def test_a_chunk_names_the_correction_that_it_was_written_from(database: Database) -> None:
    application = Application(database)
    message_id = application.draft(OLD)
    application.correct(message_id, OLD + timedelta(hours=1), TEXT)
    with database.connect() as connection:
        row = connection.execute("SELECT id FROM upstream.corrections").fetchone()
    assert row is not None
    application.chunk("izin", TEXT, NOW, source_correction_id=row[0])
    (chunk,) = PostgresKnowledge(database).chunks(TENANT)
    assert chunk.source_correction_id == row[0]


def test_another_tenants_chunks_are_not_read(database: Database) -> None:
    half = Tenant(org_id=TENANT.org_id, specialist_id=OTHER.specialist_id)
    for tenant in (OTHER, half):
        Application(database, tenant).chunk("izin", TEXT, OLD)
    knowledge = PostgresKnowledge(database)
    assert knowledge.chunks(TENANT) == []
    assert [chunk.tenant for chunk in knowledge.chunks(half)] == [half]
    assert KnowledgeIndex(knowledge.chunks(TENANT)).best(TEXT, as_of=NOW) is None


def test_the_view_may_be_missing(database: Database) -> None:
    knowledge = PostgresKnowledge(database)
    assert knowledge.is_mapped()
    with database.connect() as connection:
        connection.execute("DROP VIEW kb_source.kb_chunk")
    assert not knowledge.is_mapped()


def test_a_view_with_holes_is_read_all_the_same(database: Database) -> None:
    with database.connect() as connection:
        connection.execute(LOOSE_VIEW.format(org=f"'{TENANT.org_id}'", specialist=f"'{TENANT.specialist_id}'"))
    beginning = datetime(1970, 1, 1, tzinfo=UTC)
    assert PostgresKnowledge(database).chunks(TENANT) == [
        KnowledgeChunk(tenant=TENANT, doc_id="a", chunk_id="a-1", text="", valid_from=beginning),
        KnowledgeChunk(tenant=TENANT, doc_id="b", chunk_id="b", title="Judul", text="Isi.", valid_from=beginning),
    ]


def test_a_tenant_nobody_knows_has_no_chunks(database: Database) -> None:
    assert PostgresKnowledge(database).chunks(Tenant(org_id=uuid4(), specialist_id=uuid4())) == []


def test_the_graders_role_may_read_them(database: Database) -> None:
    Application(database).chunk("izin", TEXT, OLD)
    grader = Database(database.url.render_as_string(hide_password=False), role="kb_grader")
    try:
        assert len(PostgresKnowledge(grader).chunks(TENANT)) == 1
    finally:
        grader.dispose()
