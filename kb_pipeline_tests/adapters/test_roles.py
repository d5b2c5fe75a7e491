"""The roles: what each of them may do, and what not, by trying it."""

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from kb_pipeline.adapters.embedded import EmbeddedPostgres
from kb_pipeline.adapters.postgres import migrations
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.migrations import apply_roles, migrate
from kb_pipeline.adapters.postgres.sql_files import read_sql
from kb_pipeline.errors import DatabaseError
from kb_pipeline_tests.schema_file import REVISIONS
from kb_pipeline_tests.servers import libpq_url

pytestmark = pytest.mark.postgres

READ_SOURCE = "SELECT request_body FROM kb_source.ai_call_body"
READ_UPSTREAM = "SELECT FROM upstream.ai_call_bodies"
READ_TEXT = "SELECT question, context, passages, history, answer FROM rag_triad"
READ_FACTS = "SELECT event_id, parse_status, question_preview FROM rag_triad"
READ_QUALITY = "SELECT * FROM rag_quality"
READ_LEDGER = "SELECT * FROM rag_call"
READ_REVISION = "SELECT version_num FROM kb_alembic_version"
WRITE_LEDGER = "INSERT INTO rag_call (event_id, ts, verdict) VALUES ('e', now(), 'other')"
ERASE_TEXT = "UPDATE rag_triad SET question = NULL"
DELETE_QUALITY = "DELETE FROM rag_quality"
MAKE_PARTITION = "SELECT kb_ensure_rag_quality_partition('2031-05-01')"
STAGE = "CREATE TEMPORARY TABLE stage (n integer)"
RECORD_ACCESS = "INSERT INTO kb_access_record (actor, purpose, bodies, body_bytes) VALUES ('a', 'p', 1, 1)"
FORGE_RECORD = RECORD_ACCESS.replace("bodies,", "database_role, bodies,").replace("'p',", "'p', 'nobody',")
BACKDATE_RECORD = RECORD_ACCESS.replace("bodies,", "read_at, bodies,").replace("'p',", "'p', '2020-01-01',")
READ_RECORD = "SELECT * FROM kb_access_record"
CHANGE_RECORD = "UPDATE kb_access_record SET actor = 'nobody'"
ERASE_RECORD = "DELETE FROM kb_access_record"
CHANGE_REVISION = "UPDATE kb_alembic_version SET version_num = '0'"
DROP_TABLE = "DROP TABLE rag_call"
WRITE_SOURCE = "DELETE FROM kb_source.ai_call_body"
READ_QUERIES = "SELECT query FROM kb_retrieval_event"
READ_EVENTS = "SELECT id, org_id, specialist_id, engine, retrieved, query_sha FROM kb_retrieval_event"
READ_QUERY_TEXT = "SELECT query FROM kb_query"
READ_PREVIEWS = "SELECT query_sha, query_preview FROM kb_query"
READ_JUDGMENTS = "SELECT * FROM kb_ground_truth"
READ_TASKS = "SELECT * FROM kb_gap_task"
ADD_EVENT = (
    "INSERT INTO kb_retrieval_event (org_id, specialist_id, conversation_id, engine, query, top_k, result_count)"
    " SELECT id, id, id, 'hybrid', 'q', 1, 0 FROM gen_random_uuid() AS id ON CONFLICT DO NOTHING"
)
ADD_EVIDENCE = (
    "INSERT INTO kb_evidence (org_id, specialist_id, query_sha, doc_id, kind, weight, observed_at, rule_version)"
    " SELECT id, id, repeat('a', 64), 'd', 'clicked', 0.2, now(), 'r' FROM gen_random_uuid() AS id"
)
CHANGE_FLIPS = "UPDATE kb_alert_transition SET reason = 'nothing happened'"
ERASE_EVENTS = "DELETE FROM kb_retrieval_event"

ALL = frozenset(
    {
        READ_SOURCE, READ_UPSTREAM, READ_TEXT, READ_FACTS, READ_QUALITY, READ_LEDGER, READ_REVISION, WRITE_LEDGER,
        ERASE_TEXT, DELETE_QUALITY, MAKE_PARTITION, STAGE, RECORD_ACCESS, READ_RECORD, CHANGE_RECORD, ERASE_RECORD,
        CHANGE_REVISION, DROP_TABLE, WRITE_SOURCE, FORGE_RECORD, BACKDATE_RECORD, READ_QUERIES, READ_EVENTS,
        READ_QUERY_TEXT, READ_PREVIEWS, READ_JUDGMENTS, READ_TASKS, ADD_EVENT, ADD_EVIDENCE, ERASE_EVENTS,
        CHANGE_FLIPS,
    }
)  # fmt: skip
READ_OURS = {
    READ_FACTS, READ_QUALITY, READ_LEDGER, READ_REVISION, READ_RECORD, STAGE, READ_EVENTS, READ_PREVIEWS,
    READ_JUDGMENTS, READ_TASKS,
}  # fmt: skip
READ_WORDS = {READ_TEXT, READ_QUERIES, READ_QUERY_TEXT}
WRITE_OURS = READ_OURS | READ_WORDS | {
    WRITE_LEDGER, ERASE_TEXT, DELETE_QUALITY, MAKE_PARTITION, RECORD_ACCESS, ADD_EVENT, ADD_EVIDENCE, ERASE_EVENTS,
}  # fmt: skip
# STAGE is every user's right unless an administrator takes it away.
MAY = {
    "kb_source_reader": {READ_SOURCE, STAGE},
    "kb_writer": WRITE_OURS,
    "kb_grader": WRITE_OURS | {READ_SOURCE},
    "kb_recorder": {READ_QUERIES, READ_EVENTS, READ_REVISION, ADD_EVENT, STAGE},
    "kb_api_reader": READ_OURS,
    "kb_auditor": READ_OURS | READ_WORDS | {READ_SOURCE, RECORD_ACCESS},
}


def as_role(database: Database, role: str) -> Database:
    return Database(database.url.render_as_string(hide_password=False), role=role)


@pytest.mark.parametrize("role", MAY)
def test_a_role_may_do_exactly_what_is_its_business(database: Database, role: str) -> None:
    acting = as_role(database, role)
    done = set()
    for statement in ALL:
        with acting.connect() as connection:
            try:
                connection.execute(statement)
            except psycopg.errors.InsufficientPrivilege:
                pass
            else:
                done.add(statement)
            connection.rollback()
    acting.dispose()
    assert done == MAY[role]


def test_every_table_of_ours_can_be_read_by_the_roles_that_should(database: Database) -> None:
    """A migration that adds a table adds it to sql/roles.sql."""
    forgotten = (
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')"
        " AND NOT relispartition AND relname LIKE ANY (ARRAY['rag%', 'kb%'])"
        " AND NOT (has_table_privilege('kb_writer', oid, 'SELECT')"
        "          AND has_any_column_privilege('kb_api_reader', oid, 'SELECT'))"
    )
    with database.connect() as connection:
        assert connection.execute(forgotten).fetchall() == []


def test_roles_can_be_applied_again_and_take_back_what_was_granted_beside_them(database: Database) -> None:
    with database.connect() as connection:
        connection.execute("GRANT ALL ON rag_triad, kb_access_record TO kb_api_reader")
    assert apply_roles(database)
    reader = as_role(database, "kb_api_reader")
    for statement in (READ_TEXT, ERASE_RECORD):
        with pytest.raises(DatabaseError, match="permission denied"), reader.connect() as connection:
            connection.execute(statement)
    reader.dispose()


def test_views_mapped_after_the_roles_can_be_read_at_once(empty_database: Database) -> None:
    migrate(empty_database)
    assert apply_roles(empty_database)
    with empty_database.connect() as connection:
        connection.execute(read_sql("source_example.sql"))
        for _ in range(2):
            connection.execute(read_sql("source_views.sql"))
    reader = as_role(empty_database, "kb_grader")
    with reader.connect() as connection:
        assert connection.execute(READ_SOURCE).fetchall() == []
    reader.dispose()


def test_each_access_is_recorded_under_the_role_and_name_of_the_reader(database: Database) -> None:
    grader = Database(
        database.url.render_as_string(hide_password=False), application_name="kb_pipeline_grader", role="kb_grader"
    )
    with grader.connect() as connection:
        connection.execute(RECORD_ACCESS)
        record = connection.execute("SELECT database_role, application_name FROM kb_access_record").fetchone()
    grader.dispose()
    assert record == ("kb_grader", "kb_pipeline_grader")


@pytest.fixture
def login(empty_database: Database) -> Iterator[Callable[[str], Database]]:
    """Makes a user with the given attributes who may make tables in a database of his own, and logs in as him."""
    users: list[tuple[str, Database]] = []

    def log_in(attributes: str) -> Database:
        name = f"kb_test_user_{os.getpid()}_{len(users)}"
        with empty_database.connect() as connection:
            connection.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'sandi' {attributes}")
            connection.execute(f"GRANT CREATE, USAGE ON SCHEMA public TO {name}")
        url = empty_database.url.set(username=name, password="sandi")
        users.append((name, Database(url.render_as_string(hide_password=False))))
        return users[-1][1]

    yield log_in
    for name, database in users:
        database.dispose()
        with empty_database.connect() as connection:
            connection.execute(f"REASSIGN OWNED BY {name} TO CURRENT_USER")
            connection.execute(f"DROP OWNED BY {name}")
            connection.execute(f"DROP ROLE {name}")


def test_a_user_who_may_not_create_roles_migrates_all_the_same(
    login: Callable[[str], Database], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The roles belong to the whole server, and another test has made them: ask for one that nobody made.
    monkeypatch.setattr(migrations, "ROLES", ("kb_never_made",))
    owner = login("NOCREATEROLE")
    assert migrate(owner) == REVISIONS
    assert apply_roles(owner) is False


def test_a_user_who_owns_the_tables_gives_the_rights_to_roles_that_others_made(
    login: Callable[[str], Database], postgres_template: str
) -> None:
    assert postgres_template
    owner = login("NOCREATEROLE")
    migrate(owner)
    assert apply_roles(owner) is True
    with owner.connect() as connection:
        granted = connection.execute("SELECT has_table_privilege('kb_grader', 'rag_call', 'INSERT')").fetchone()
    assert granted == (True,)


def test_a_role_that_the_user_may_not_take_is_named_with_what_to_do(
    login: Callable[[str], Database], postgres_template: str
) -> None:
    assert postgres_template
    for role in ("kb_grader", "kb_never_made"):
        acting = as_role(login("NOCREATEROLE"), role)
        complaint = rf"take the role {role}: .*GRANT {role} to this user"
        with pytest.raises(DatabaseError, match=complaint), acting.connect():
            pass
        acting.dispose()


def test_an_administrator_who_is_no_superuser_makes_the_roles_and_may_take_each(servers_folder: Path) -> None:
    with EmbeddedPostgres(servers_folder / "fresh", fsync=False) as server:
        with closing(psycopg.connect(libpq_url(server.url()), autocommit=True)) as connection:
            connection.execute("CREATE ROLE administrator LOGIN CREATEROLE")
            connection.execute("CREATE DATABASE shop OWNER administrator")
        administrator = Database(server.url("shop").replace("kb_pipeline@", "administrator@"))
        migrate(administrator)
        assert apply_roles(administrator)
        for role in migrations.ROLES:
            acting = as_role(administrator, role)
            with acting.connect() as connection:
                assert connection.execute("SELECT current_user").fetchone() == (role,)
            acting.dispose()
        administrator.dispose()


def test_the_roles_named_in_code_are_those_tested_here() -> None:
    assert set(MAY) == set(migrations.ROLES)
