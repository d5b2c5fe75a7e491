"""Migrations: one schema by either way, applied once, whole or not at all, and the rules of the tables hold."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

import kb_pipeline
from kb_pipeline.adapters.postgres import migrations, queries, sql_files
from kb_pipeline.adapters.postgres.connection import Connection, Database
from kb_pipeline.adapters.postgres.migrations import apply_roles, current_revision, migrate, pending
from kb_pipeline.adapters.postgres.sql_files import read_sql, sql_folder
from kb_pipeline.errors import DatabaseError
from kb_pipeline_tests.schema_file import REVISIONS, dump, schema_text
from kb_pipeline_tests.servers import libpq_url

pytestmark = pytest.mark.postgres

TIMESCALE_URL = os.environ.get("KB_PIPELINE_TEST_TIMESCALE_URL")
HEAD = REVISIONS[-1]
NEXT = f"{int(HEAD) + 1:04}"
MIGRATE = """
import sys
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.migrations import migrate
print(migrate(Database(sys.argv[1])))
"""
WAITING = (
    "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database"
    " WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted"
)
TURN = {
    "event_id": "e1", "ts": "2026-07-09 14:05:00+00", "parse_status": "ok", "had_context": True, "num_passages": 1,
    "context_chars": 10, "answer_chars": 10, "refused": False, "answer_truncated": False,
}  # fmt: skip
GRADED = {"judge_status": "ok", "faithfulness": 0.5, "answer_relevance": 1.0, "context_relevance": 0.0}


def ask(database: Database, statement: str, **values: object) -> list[tuple[object, ...]]:
    with database.connect() as connection:
        cursor = connection.execute(statement, values)
        return cursor.fetchall() if cursor.description else []


def text_url(database: Database) -> str:
    return database.url.render_as_string(hide_password=False)


def insert(connection: Connection, table: str, row: dict[str, object]) -> None:
    columns, values = ", ".join(row), ", ".join(f"%({name})s" for name in row)
    connection.execute(f"INSERT INTO {table} ({columns}) VALUES ({values})", row)


def publish(database: Database, **columns: object) -> None:
    with database.connect() as connection:
        connection.execute("SELECT kb_ensure_rag_quality_partition(%(ts)s::timestamptz)", TURN | columns)
        insert(connection, "rag_quality", TURN | columns)


def test_all_migrations_and_the_schema_file_make_the_same_database(new_database: Callable[[str], Database]) -> None:
    by_migrations, by_file = new_database("template0"), new_database("template0")
    assert migrate(by_migrations) == REVISIONS
    with by_file.connect() as connection:
        connection.execute(read_sql("schema.sql"))
    assert dump(text_url(by_migrations)) == dump(text_url(by_file))


def test_the_schema_file_is_what_the_migrations_make(empty_database: Database) -> None:
    if ask(empty_database, "SELECT current_setting('server_version_num')::integer < 180000") == [(True,)]:
        pytest.skip("an older server prints the same definitions in other words")
    migrate(empty_database)
    assert schema_text(dump(text_url(empty_database))) == read_sql("schema.sql"), "run make schema"


def test_migrating_again_does_nothing(empty_database: Database) -> None:
    assert current_revision(empty_database) is None
    assert pending(empty_database) == REVISIONS
    assert migrate(empty_database) == REVISIONS
    assert migrate(empty_database) == []
    assert pending(empty_database) == []
    assert current_revision(empty_database) == HEAD


def test_our_version_table_leaves_that_of_dagster_alone(empty_database: Database) -> None:
    ask(empty_database, "CREATE TABLE alembic_version (version_num text)")
    ask(empty_database, "INSERT INTO alembic_version VALUES ('of another program')")
    migrate(empty_database)
    assert ask(empty_database, "SELECT version_num FROM alembic_version") == [("of another program",)]
    assert ask(empty_database, "SELECT version_num FROM kb_alembic_version") == [(HEAD,)]


def test_two_processes_that_migrate_at_once_apply_each_revision_once(empty_database: Database) -> None:
    environment = {"PYTHONPATH": str(Path(kb_pipeline.__file__).parent.parent)}
    command = [sys.executable, "-c", MIGRATE, text_url(empty_database)]
    with empty_database.connect() as connection:
        connection.execute(queries.load("lock_migrations"))
        both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) for _ in range(2)]
        while connection.execute(WAITING).fetchone() != (2,):
            assert all(process.poll() is None for process in both)
    assert sorted(process.communicate()[0].strip() for process in both) == [str(REVISIONS), "[]"]


@pytest.fixture
def folder_with_a_bad_migration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "100% sql"
    shutil.copytree(sql_folder(), folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "migrations" / f"{NEXT}_bad.sql").write_text("CREATE TABLE extra (n integer); SELECT 1 / 0;")
    (folder / "migrations" / "versions" / f"{NEXT}_bad.py").write_text(
        "from alembic import op\n"
        "from kb_pipeline.adapters.postgres.migrations import run_sql\n"
        f"revision, down_revision = '{NEXT}', '{HEAD}'\n"
        f"def upgrade(): run_sql(op.get_bind(), '{NEXT}_bad.sql')\n"
    )
    for module in (migrations, sql_files):
        monkeypatch.setattr(module, "sql_folder", lambda: folder)
    return folder


@pytest.mark.usefixtures("folder_with_a_bad_migration")
def test_a_migration_that_fails_leaves_the_database_as_it_was(empty_database: Database) -> None:
    assert pending(empty_database) == [*REVISIONS, NEXT]
    with pytest.raises(DatabaseError, match=rf"{NEXT}_bad\.sql failed: .*DivisionByZero.*nothing was changed"):
        migrate(empty_database)
    assert current_revision(empty_database) is None
    assert ask(empty_database, "SELECT to_regclass('extra'), to_regclass('rag_call')") == [(None, None)]


def test_a_table_of_the_same_name_stops_the_migration_with_its_name(empty_database: Database) -> None:
    ask(empty_database, "CREATE TABLE rag_metric (n integer)")
    with pytest.raises(DatabaseError, match=r'0001_grading_street\.sql failed: .*relation "rag_metric" already exists'):
        migrate(empty_database)
    assert current_revision(empty_database) is None


def test_a_database_of_a_newer_version_is_refused(database: Database) -> None:
    ask(database, "UPDATE kb_alembic_version SET version_num = '9999'")
    for action in (migrate, pending):
        with pytest.raises(DatabaseError, match="at revision 9999, which this version of kb_pipeline does not know"):
            action(database)


def test_tables_go_to_schema_public_whatever_the_users_search_path(empty_database: Database) -> None:
    ask(empty_database, "CREATE SCHEMA other")
    with psycopg.connect(libpq_url(text_url(empty_database)), autocommit=True) as connection:
        connection.execute(f'ALTER DATABASE "{empty_database.url.database}" SET search_path = other')
    moved = Database(text_url(empty_database))
    migrate(moved)
    assert ask(moved, "SELECT DISTINCT schemaname FROM pg_tables WHERE tablename LIKE 'rag%%'") == [("public",)]
    moved.dispose()


def test_without_timescaledb_the_hypertable_is_refused_in_a_sentence(empty_database: Database) -> None:
    if ask(empty_database, "SELECT FROM pg_available_extensions WHERE name = 'timescaledb'"):
        pytest.skip("this server has TimescaleDB")
    with pytest.raises(DatabaseError, match=r"has no TimescaleDB extension; install it .* without --timescale"):
        migrate(empty_database, timescale=True)
    assert current_revision(empty_database) is None


@pytest.mark.skipif(TIMESCALE_URL is None, reason="KB_PIPELINE_TEST_TIMESCALE_URL gives no TimescaleDB server")
def test_with_timescaledb_rag_quality_becomes_a_hypertable_and_keeps_its_rows_rules_and_indexes() -> None:
    database = Database(str(TIMESCALE_URL))
    ask(database, "DROP SCHEMA public CASCADE")
    ask(database, "CREATE SCHEMA public")
    migrate(database)
    publish(database, **GRADED)
    index_names = (
        "SELECT indexname FROM pg_indexes WHERE schemaname = 'public' AND tablename = 'rag_quality' ORDER BY 1"
    )
    indexes = ask(database, index_names)
    for _ in range(2):
        assert migrate(database, timescale=True) == []
    hypertables = "SELECT hypertable_name::text FROM timescaledb_information.hypertables"
    assert ask(database, hypertables) == [("rag_quality",)]
    assert ask(database, index_names) == indexes
    assert ask(database, "SELECT obj_description('rag_quality'::regclass) LIKE 'The published row%%'") == [(True,)]
    publish(database, event_id="e2", ts="2019-01-01 00:00:00+00", **GRADED)
    with pytest.raises(DatabaseError, match="rag_quality_only_ok_has_scores"):
        publish(database, event_id="e3", judge_status="ok")
    with pytest.raises(DatabaseError, match="UniqueViolation"):
        publish(database, **GRADED)
    assert ask(database, "SELECT event_id FROM rag_quality ORDER BY 1") == [("e1",), ("e2",)]
    apply_roles(database)
    database.dispose()


@pytest.mark.parametrize("ts", ["2019-12-31 23:59:59.999999+00", "2024-02-29 12:00:00+07", "2031-01-01 00:00:00+00"])
def test_a_turn_of_any_month_finds_a_partition(database: Database, ts: str) -> None:
    publish(database, ts=ts, **GRADED)
    assert ask(database, "SELECT kb_ensure_rag_quality_partition(%(ts)s)", ts=ts) == [(False,)]
    partitions = "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'rag_quality'::regclass"
    month = ask(database, "SELECT 'rag_quality_' || to_char(%(ts)s::timestamptz, 'YYYY_MM')", ts=ts)
    assert ask(database, partitions) == month


def test_making_a_partition_does_not_hold_up_readers_or_writers_of_other_months(database: Database) -> None:
    publish(database, **GRADED)
    with database.connect() as maintenance:
        maintenance.execute("SELECT kb_ensure_rag_quality_partition('2030-01-01')")
        with database.connect() as other:
            other.execute("SET LOCAL lock_timeout = '1s'")
            assert other.execute("SELECT count(*) FROM rag_quality").fetchone() == (1,)
            insert(other, "rag_quality", TURN | GRADED | {"event_id": "e2"})


def test_a_table_that_only_has_the_name_of_a_partition_is_named_in_the_refusal(database: Database) -> None:
    ask(database, "CREATE TABLE rag_quality_2026_07 (n integer)")
    with pytest.raises(DatabaseError, match="table rag_quality_2026_07 is not attached to rag_quality; attach it"):
        publish(database, **GRADED)


def test_no_partition_is_made_for_an_instant_that_is_in_no_month(database: Database) -> None:
    for instant in ("infinity", "-infinity"):
        with pytest.raises(DatabaseError, match="DatetimeFieldOverflow"):
            ask(database, "SELECT kb_ensure_rag_quality_partition(%(instant)s)", instant=instant)


REASONS = {f"{score}_reason": "nothing asserted" for score in ("faithfulness", "answer_relevance", "context_relevance")}


@pytest.mark.parametrize(
    ("columns", "rule"),
    [
        ({"judge_status": "ok"}, "no_score_has_a_reason"),
        ({"judge_status": "ok"} | REASONS, "only_ok_has_scores"),
        (GRADED | {"judge_status": "pending"}, "only_ok_has_scores"),
        (GRADED | {"faithfulness": 1.01}, "scores_are_fractions"),
        (GRADED | {"faithfulness": -0.01}, "scores_are_fractions"),
        (GRADED | {"faithfulness": float("nan")}, "scores_are_fractions"),
        (GRADED | {"faithfulness": None}, "no_score_has_a_reason"),
        (GRADED | {"faithfulness": None, "faithfulness_reason": ""}, "no_score_has_a_reason"),
        ({"judge_status": "error"}, "error_has_a_class"),
        (GRADED | {"error_class": "timeout"}, "error_has_a_class"),
        ({"judge_status": "skipped"}, "skip_has_a_reason"),
        ({"judge_status": "graded"}, "judge_status_check"),
        ({"judge_status": "pending", "question_preview": "x" * 121}, "question_preview_check"),
    ],
)
def test_a_published_turn_that_contradicts_itself_is_refused(
    database: Database, columns: dict[str, object], rule: str
) -> None:
    with pytest.raises(DatabaseError, match=rule):
        publish(database, **columns)


@pytest.mark.parametrize(
    "columns",
    [
        GRADED,
        GRADED | {"faithfulness": None, "faithfulness_reason": "the answer asserts nothing"},
        {"judge_status": "pending"},
        {"judge_status": "disabled"},
        {"judge_status": "error", "error_class": "timeout"},
        {"judge_status": "skipped", "skip_reason": "empty_answer"},
    ],
)
def test_a_published_turn_that_adds_up_is_kept(database: Database, columns: dict[str, object]) -> None:
    publish(database, **columns)
    assert ask(database, "SELECT count(*) FROM rag_quality") == [(1,)]


def test_a_judge_score_without_a_value_needs_its_reason(database: Database) -> None:
    key = {"event_id": "e1", "judge_model": "m", "prompt_version": "p", "ts": TURN["ts"], "idempotency_key": "e1"}
    unexplained = key | {"status": "ok", "faithfulness": None, "answer_relevance": 1.0, "context_relevance": 1.0}
    with pytest.raises(DatabaseError, match="no_score_has_a_reason"), database.connect() as connection:
        insert(connection, "rag_judge_score", unexplained)
    with database.connect() as connection:
        insert(connection, "rag_judge_score", unexplained | {"faithfulness_reason": "nothing asserted"})


def test_every_table_and_column_of_ours_is_described(database: Database) -> None:
    undescribed = ask(
        database,
        "SELECT relname, attname FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid"
        " WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition"
        " AND relname <> 'kb_alembic_version' AND attnum > 0 AND NOT attisdropped"
        " AND (col_description(attrelid, attnum) IS NULL OR obj_description(attrelid, 'pg_class') IS NULL)",
    )
    assert undescribed == []


def test_the_reference_page_names_every_table_and_role(database: Database) -> None:
    page = Path(kb_pipeline.__file__).parent.parent / "docs" / "reference" / "database.md"
    if not page.exists():
        pytest.skip("the documentation is not installed with the package")
    text = page.read_text(encoding="utf-8")
    tables = ask(
        database,
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')",
    )
    missing = [name for (name,) in tables if f"`{name}`" not in text]
    assert missing == []
    assert all(f"| `{role}` |" in text for role in migrations.ROLES)


def test_hours_from_before_there_were_daily_sums_are_added_up_by_the_migration(database: Database) -> None:
    with database.connect() as connection:
        connection.execute(
            "INSERT INTO kb_retrieval_window (hour, org_id, specialist_id, engine, retrievals, empty, top_score_hist,"
            " latency_hist, newest_event_at) SELECT timestamptz '2026-03-01 22:00Z' + n * interval '1 hour',"
            " '00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000002', 'hybrid', 10, n,"
            " array_fill(n, ARRAY[22]), array_fill(1, ARRAY[12]), now() FROM generate_series(0, 9) AS n"
        )
        connection.execute("DROP FUNCTION kb_add_up_retrieval_day")
        connection.execute("DROP TABLE kb_retrieval_day")
        connection.execute("UPDATE kb_alembic_version SET version_num = '0009'")
    assert migrate(database)[0] == "0010"
    days = "SELECT day::text, retrievals, empty, top_score_hist[22], latency_hist[1] FROM kb_retrieval_day ORDER BY day"
    assert ask(database, days) == [("2026-03-01", 20, 1, 1, 2), ("2026-03-02", 80, 44, 44, 8)]
