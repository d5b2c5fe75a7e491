"""The way to the database: transactions, the state of a session, and errors that speak without repeating rows."""

import re
import traceback

import psycopg
import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.errors import DatabaseError
from kb_pipeline_tests.servers import libpq_url

pytestmark = pytest.mark.postgres

SECRET = "rahasia negara"


def refusal(database: Database, statement: str, **values: object) -> str:
    with pytest.raises(DatabaseError) as caught, database.connect() as connection:
        connection.execute(statement, values)
    shown = "".join(traceback.format_exception(caught.value))
    assert SECRET not in shown
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("url", ["nonsense", "mysql://u@h/db", "sqlite://", ""])
def test_a_url_of_anything_but_postgresql_is_refused_with_an_example(url: str) -> None:
    with pytest.raises(DatabaseError, match=r"write postgresql\+psycopg://user@host:5432/name"):
        Database(url)


@pytest.mark.parametrize("scheme", ["postgresql", "postgresql+psycopg2", "postgresql+psycopg"])
def test_any_driver_named_in_the_url_becomes_ours(scheme: str) -> None:
    database = Database(f"{scheme}://u:p@h:5/db")
    assert database.url.drivername == "postgresql+psycopg"
    assert database.address == "h/db"


def test_a_block_that_ends_is_committed_and_one_that_raises_is_rolled_back(database: Database) -> None:
    insert = "INSERT INTO kb_activation (feature, start_at) VALUES (%(feature)s, now())"
    with database.connect() as connection:
        connection.execute(insert, {"feature": "kept"})
    with pytest.raises(ZeroDivisionError):
        _insert_and_fail(database, insert)
    with database.connect() as connection:
        assert connection.execute("SELECT feature FROM kb_activation").fetchall() == [("kept",)]


def test_a_session_speaks_utc_finds_schema_public_and_names_itself(database: Database) -> None:
    with database.connect() as connection:
        row = connection.execute(
            "SELECT current_setting('TimeZone'), current_setting('search_path'), current_setting('application_name')"
        ).fetchone()
    assert row == ("UTC", "public", "kb_pipeline_tests")


def test_a_role_lasts_for_every_session_of_the_pool(database: Database) -> None:
    acting = Database(database.url.render_as_string(hide_password=False), role="kb_api_reader")
    with acting.connect() as first, acting.connect() as second:
        for connection in (first, second):
            assert connection.execute("SELECT current_user").fetchone() == ("kb_api_reader",)
    acting.dispose()


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("INSERT INTO kb_activation (feature, start_at) VALUES (%(text)s, NULL)",
         "table kb_activation, column start_at"),
        ("INSERT INTO rag_triad (event_id, ts, parse_status, question_sha) VALUES ('e', now(), 'ok', %(text)s)",
         "table rag_triad, rule rag_triad_question_sha_check"),
        ("INSERT INTO rag_call (event_id, ts, verdict) VALUES (%(text)s, now(), 'other'), (%(text)s, now(), 'other')",
         "rule rag_call_pkey"),
        ("SELECT %(text)s::integer", r"InvalidTextRepresentation"),
        ("SELECT %(text)s::jsonb", r"InvalidTextRepresentation"),
        ("SELECT %(text)s::timestamptz", r"InvalidDatetimeFormat"),
        ("SELECT 'x' ~ ('(' || %(text)s)", "InvalidRegularExpression"),
        ("SELECT 1 / length(''), %(text)s", "DivisionByZero"),
    ],
)  # fmt: skip
def test_an_error_about_data_names_table_and_rule_and_never_the_value(
    database: Database, statement: str, says: str
) -> None:
    assert says in refusal(database, statement, text=SECRET)


def test_a_raised_message_of_the_database_is_not_repeated(database: Database) -> None:
    with database.connect() as connection:
        connection.execute(
            "CREATE FUNCTION shout() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN RAISE EXCEPTION 'no: %', NEW.feature; END $$"
        )
        connection.execute("CREATE TRIGGER shout BEFORE INSERT ON kb_activation FOR EACH ROW EXECUTE FUNCTION shout()")
    insert = "INSERT INTO kb_activation (feature, start_at) VALUES (%(text)s, now())"
    assert "RaiseException (SQLSTATE P0001)" in refusal(database, insert, text=SECRET)


def test_a_nul_character_is_refused_in_a_sentence(database: Database) -> None:
    assert "could not be asked (DataError)" in refusal(database, "SELECT %(text)s", text=f"{SECRET}\0")


def test_a_missing_table_says_to_migrate(empty_database: Database) -> None:
    assert "run kb-pipeline migrate" in refusal(empty_database, "SELECT FROM rag_call")


def test_a_missing_source_view_says_to_map(database: Database) -> None:
    assert "map your tables in sql/source_views.sql" in refusal(database, "SELECT FROM kb_source.nothing")


def test_a_missing_right_says_what_to_grant(database: Database) -> None:
    reader = Database(database.url.render_as_string(hide_password=False), role="kb_api_reader")
    complaint = refusal(reader, "DELETE FROM rag_call")
    reader.dispose()
    assert "permission denied for table rag_call" in complaint
    assert "sql/roles.sql" in complaint


def test_a_statement_that_ran_out_of_time_says_so(database: Database) -> None:
    complaint = refusal(database, "SET LOCAL statement_timeout = '50ms'; SELECT pg_sleep(5)")
    assert "statement timeout" in complaint


def test_a_connection_lost_on_the_way_is_told_and_the_next_one_works(database: Database) -> None:
    complaint = refusal(database, "SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(5)")
    assert re.search("terminating connection|was lost", complaint)
    assert "run the command again" in complaint
    with database.connect() as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_a_session_killed_while_it_lay_in_the_pool_is_replaced_unseen(database: Database) -> None:
    with database.connect() as connection:
        pid = connection.info.backend_pid
    with psycopg.connect(libpq_url(database.url.render_as_string(hide_password=False)), autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", [pid])
    with database.connect() as connection:
        assert connection.info.backend_pid != pid


def test_a_server_that_does_not_answer_is_told_without_the_password() -> None:
    database = Database("postgresql://kb:sandi@127.0.0.1:1/shop")
    complaint = refusal(database, "SELECT 1")
    assert re.search(r"database at 127\.0\.0\.1/shop cannot be used: .*refused", complaint)
    assert "sandi" not in complaint


def test_a_database_that_is_not_there_is_named(database: Database) -> None:
    other = Database(database.url.set(database="kb_no_such").render_as_string(hide_password=False))
    assert '"kb_no_such" does not exist' in refusal(other, "SELECT 1")


def _insert_and_fail(database: Database, insert: str) -> None:
    with database.connect() as connection:
        connection.execute(insert, {"feature": "lost"})
        raise ZeroDivisionError
