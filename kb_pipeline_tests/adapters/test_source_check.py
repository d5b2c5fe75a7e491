"""The check of the operator's views: it names what is missing or of a wrong type, and its remedies work."""

import re

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.source_check import GRADED_VIEWS, SOURCE_VIEWS, Finding, check_source_views

pytestmark = pytest.mark.postgres

CALL = (
    "event_id::text, trace_id::text, ts::timestamptz, surface::text, tenant::text, operation::text, engine::text,"
    " model::text, http_status::integer"
)
ONE_CALL = (
    "(VALUES ('e'::text, 't'::text, now(), 's'::text, 't'::text, 'o'::text, 'e'::text, 'm'::text, 200))"
    " AS given(event_id, trace_id, ts, surface, tenant, operation, engine, model, http_status)"
)


def run(database: Database, *statements: str) -> None:
    with database.connect() as connection:
        for statement in statements:
            connection.execute(statement)


def finding(database: Database, view: str, *, grading: bool = True) -> Finding:
    findings = check_source_views(database, grading=grading)
    (found,) = [found for found in findings if found.name == f"kb_source.{view}"]
    return found


def remap_call(database: Database, columns: str, below: str = ONE_CALL) -> None:
    run(database, "DROP VIEW kb_source.ai_call", f"CREATE VIEW kb_source.ai_call AS SELECT {columns} FROM {below}")


def test_the_shipped_views_over_the_example_tables_are_right(database: Database) -> None:
    findings = check_source_views(database)
    assert [found.name for found in findings] == [f"kb_source.{view.name}" for view in SOURCE_VIEWS]
    assert all(found.ok and not found.remedy for found in findings)


def test_the_shipped_views_have_the_columns_of_the_check_in_its_order_and_no_other(database: Database) -> None:
    with database.connect() as connection:
        rows = connection.execute(
            "SELECT relname, attname FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid"
            " WHERE relnamespace = 'kb_source'::regnamespace AND attnum > 0 ORDER BY relname, attnum"
        ).fetchall()
    assert rows == sorted(
        [(view.name, column) for view in SOURCE_VIEWS for column in view.columns], key=lambda row: row[0]
    )


def test_every_view_and_column_tells_operators_what_belongs_there(database: Database) -> None:
    with database.connect() as connection:
        silent = connection.execute(
            "SELECT relname, attname FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid"
            " WHERE relnamespace = 'kb_source'::regnamespace AND attnum > 0"
            " AND (col_description(attrelid, attnum) IS NULL OR obj_description(attrelid, 'pg_class') IS NULL)"
        ).fetchall()
    assert silent == []


@pytest.mark.parametrize("view", GRADED_VIEWS)
def test_a_required_view_that_is_missing_is_named_with_its_columns(database: Database, view: str) -> None:
    run(database, f"DROP VIEW kb_source.{view}")
    found = finding(database, view)
    assert not found.ok
    assert found.message == "is missing"
    assert "sql/source_views.sql" in found.remedy
    assert "event_id" in found.remedy


@pytest.mark.parametrize("view", GRADED_VIEWS)
def test_what_only_grading_reads_may_be_absent_while_it_is_dormant_beside_retrieval(
    database: Database, view: str
) -> None:
    run(database, f"DROP VIEW kb_source.{view}")
    found = finding(database, view, grading=False)
    assert found.ok
    assert found.message.startswith("is not mapped: grading, which is dormant, cannot be switched on")


def test_a_view_that_is_mapped_wrongly_is_a_fault_even_where_it_is_not_required(database: Database) -> None:
    remap_call(database, "event_id::text")
    assert not finding(database, "ai_call", grading=False).ok


@pytest.mark.parametrize("view", [view.name for view in SOURCE_VIEWS if not view.graded])
def test_an_optional_view_may_be_absent_and_then_it_is_said_what_does_without(database: Database, view: str) -> None:
    run(database, f"DROP VIEW kb_source.{view}")
    found = finding(database, view)
    assert found.ok
    assert re.search(r"is not mapped: .*(draft_outcomes|ground_truth|retrieval_events)", found.message)


def test_a_database_without_the_schema_lacks_exactly_the_required_views(empty_database: Database) -> None:
    missing = [found.name for found in check_source_views(empty_database) if not found.ok]
    assert missing == ["kb_source.ai_call", "kb_source.ai_call_body"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("ts::timestamp AS ts", "column ts is timestamp without time zone, not timestamp with time zone"),
        ("extract(epoch FROM ts)::bigint AS ts", "column ts is bigint, not timestamp with time zone"),
        ("gen_random_uuid() AS event_id", "column event_id is uuid, not text"),
        ("7::bigint AS event_id", "column event_id is bigint, not text"),
        ("http_status::text AS http_status", "column http_status is text, not integer"),
        ("'a'::char(8) AS surface", "column surface is character, not text"),
        ("'{}'::jsonb AS tenant", "column tenant is jsonb, not text"),
        ("ARRAY['a'] AS engine", "column engine is text[], not text"),
    ],
)
def test_a_wrong_type_is_named_and_the_remedy_mends_it(database: Database, wrong: str, message: str) -> None:
    column = wrong.rpartition(" AS ")[2]
    names = ", ".join(name for name in SOURCE_VIEWS[0].columns if name != column)
    run(database, f"CREATE TABLE theirs AS SELECT {names}, {wrong} FROM {ONE_CALL}")
    remap_call(database, f"{names}, {column}", "theirs")
    found = finding(database, "ai_call")
    assert (found.ok, found.message) == (False, message)
    mended = re.search(rf"write (.*) AS {column}", found.remedy)
    assert mended is not None
    remap_call(database, f"{names}, {mended.group(1)} AS {column}", "theirs")
    assert finding(database, "ai_call").ok


def test_every_fault_of_a_view_is_told_at_once(database: Database) -> None:
    remap_call(database, "event_id::text, ts::timestamp AS ts")
    found = finding(database, "ai_call")
    lacking = [name for name in SOURCE_VIEWS[0].columns if name not in {"event_id", "ts"}]
    assert all(f"lacks column {name}" in found.message for name in lacking)
    assert "column ts is timestamp without time zone" in found.message
    assert "NULL::text AS trace_id" in found.remedy


@pytest.mark.parametrize(
    "harmless",
    [
        CALL + ", 'more'::text AS another_column",
        ", ".join(reversed(CALL.split(", "))),
        CALL.replace("::text", "::varchar(80)"),
        CALL.replace("::integer", "::smallint"),
        CALL.replace("::text", "::label"),
    ],
    ids=["more columns", "another order", "varchar", "smallint", "domain over a domain"],
)
def test_a_harmless_difference_is_accepted(database: Database, harmless: str) -> None:
    run(database, "CREATE DOMAIN name80 AS varchar(80)", "CREATE DOMAIN label AS name80 CHECK (value <> '')")
    remap_call(database, harmless)
    assert finding(database, "ai_call").ok


@pytest.mark.parametrize("kind", ["TABLE", "MATERIALIZED VIEW"])
def test_a_table_or_materialised_view_serves_as_well(database: Database, kind: str) -> None:
    run(database, "DROP VIEW kb_source.ai_call", f"CREATE {kind} kb_source.ai_call AS SELECT {CALL} FROM {ONE_CALL}")
    assert finding(database, "ai_call").ok


def test_a_view_that_this_user_may_not_read_is_told_with_what_to_grant(database: Database) -> None:
    writer = Database(database.url.render_as_string(hide_password=False), role="kb_writer")
    found = finding(writer, "ai_call")
    writer.dispose()
    assert not found.ok
    assert "permission denied for schema kb_source" in found.message
    assert "kb_source_reader" in found.remedy


def test_a_view_whose_owner_lost_its_rights_is_told(database: Database) -> None:
    run(database, "GRANT CREATE ON SCHEMA kb_source TO kb_writer", "ALTER VIEW kb_source.ai_call OWNER TO kb_writer")
    found = finding(database, "ai_call")
    assert not found.ok
    assert "permission denied" in found.message
    assert "the owner of kb_source.ai_call may SELECT" in found.remedy
