"""The check of the server and our schema: what is wrong, and how to mend it."""

import psycopg
import pytest

from kb_pipeline.adapters.postgres import server_check
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.server_check import check_server
from kb_pipeline_tests.schema_file import REVISIONS
from kb_pipeline_tests.servers import PostgresServer, administer, libpq_url

pytestmark = pytest.mark.postgres


def faults(database: Database) -> dict[str, str]:
    found = check_server(database)
    assert all(finding.ok != bool(finding.remedy) for finding in found)
    return {finding.name: f"{finding.message}; {finding.remedy}" for finding in found if not finding.ok}


def as_role(database: Database, role: str) -> Database:
    return Database(database.url.render_as_string(hide_password=False), role=role)


def test_a_migrated_database_has_no_fault(database: Database) -> None:
    assert faults(database) == {}
    names = [finding.name for finding in check_server(database)]
    assert names == ["database", "encoding", "write access", "migrations", "privileges"]


def test_the_grader_has_all_it_needs(database: Database) -> None:
    grader = as_role(database, "kb_grader")
    assert faults(grader) == {}
    grader.dispose()


def test_a_database_never_migrated_is_told_so(empty_database: Database) -> None:
    assert faults(empty_database) == {
        "migrations": f"at revision none; still to be applied: {', '.join(REVISIONS)}; run kb-pipeline migrate"
    }


def test_a_database_newer_than_the_code_is_told_so(database: Database) -> None:
    with database.connect() as connection:
        connection.execute("UPDATE kb_alembic_version SET version_num = '9999'")
    assert "which this version of kb_pipeline does not know; install the version" in faults(database)["migrations"]


def test_a_user_without_rights_is_told_which(database: Database) -> None:
    reader = as_role(database, "kb_api_reader")
    complaint = faults(reader)["privileges"]
    reader.dispose()
    assert "INSERT on table rag_call" in complaint
    assert "grant it kb_grader" in complaint


def test_a_server_that_does_not_answer_is_one_finding() -> None:
    away = Database("postgresql://nobody:sandi@127.0.0.1:1/nothing")
    found = faults(away)
    away.dispose()
    assert list(found) == ["database"]
    assert "Connection refused" in found["database"]
    assert "sandi" not in found["database"]


def test_a_database_that_takes_no_writes_is_told_so(database: Database) -> None:
    name = database.url.database
    with psycopg.connect(libpq_url(database.url.render_as_string(hide_password=False)), autocommit=True) as connection:
        connection.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')
    database.dispose()
    assert "point database.url at the primary" in faults(database)["write access"]


def test_a_database_that_cannot_hold_every_character_is_told_so(postgres_server: PostgresServer) -> None:
    administer(
        postgres_server,
        "CREATE DATABASE {} TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'",
        "kb_test_latin",
    )
    latin = Database(postgres_server.url("kb_test_latin"))
    found = faults(latin)
    latin.dispose()
    administer(postgres_server, "DROP DATABASE {} WITH (FORCE)", "kb_test_latin")
    assert "stores LATIN1" in found["encoding"]


@pytest.mark.parametrize(("major", "accepted"), [(13, False), (14, True), (18, True), (19, False)])
def test_versions_14_to_18_are_accepted(major: int, *, accepted: bool) -> None:
    found = server_check._version(major, f"{major}.1")
    assert found.ok is accepted
    assert f"PostgreSQL {major}.1" in found.message
