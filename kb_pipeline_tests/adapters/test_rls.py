"""Row-level security: a tenant's reader sees that tenant's rows, nothing before it says whose, and the pipeline all."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.migrations import apply_roles, migrate
from kb_pipeline.adapters.postgres.server_check import check_server
from kb_pipeline.adapters.postgres.sql_files import read_sql
from kb_pipeline.errors import DatabaseError
from kb_pipeline.records import EvidenceKind, Tenant
from kb_pipeline_tests.builders import table
from kb_pipeline_tests.retrieval.pieces import evidence
from kb_pipeline_tests.retrieval_street.application import TENANT, Application
from kb_pipeline_tests.retrieval_street.book import book, judge, keep

pytestmark = pytest.mark.postgres

SAME_ORG = Tenant(org_id=TENANT.org_id, specialist_id=UUID(int=77))
SAME_SPECIALIST = Tenant(org_id=UUID(int=77), specialist_id=TENANT.specialist_id)
TENANTS = (TENANT, SAME_ORG, SAME_SPECIALIST)
NOW = datetime.now(UTC)
OURS = (
    "kb_retrieval_event", "kb_retrieval_event_conflict", "kb_search_event", "kb_query", "kb_draft_outcome",
    "kb_evidence", "kb_ground_truth", "kb_retrieval_gap", "kb_retrieval_window", "kb_retrieval_day",
)  # fmt: skip
HIST = "array_fill(0, ARRAY[22]), array_fill(0, ARRAY[12])"


def plant(database: Database, tenant: Tenant) -> None:
    """One row of the tenant in each table, two in the gaps so that they make a task."""
    application = Application(database, tenant)
    application.retrieval(NOW)
    application.search(NOW)
    book(database).note_queries()
    keep(database, [evidence(EvidenceKind.CITED, 1.0, tenant=tenant, observed_at=NOW)])
    judge(database, NOW)
    key = (tenant.org_id, tenant.specialist_id)
    Application(database, tenant).outcome(uuid4(), NOW)
    with database.connect() as connection:
        connection.execute(
            "INSERT INTO kb_retrieval_event_conflict (org_id, specialist_id, id, message_id) VALUES (%s, %s, %s, %s)",
            (*key, uuid4(), uuid4()),
        )
        for _ in range(2):
            connection.execute(
                "INSERT INTO kb_retrieval_gap (org_id, specialist_id, message_id, conversation_id, event_id, query_sha,"
                " engine, kind, decided_at, subject, source_state, rule_version)"
                " VALUES (%s, %s, %s, %s, %s, 'q', 'hybrid', 'kb_gap', now(), 'biaya', '', 'r')",
                (*key, uuid4(), uuid4(), uuid4()),
            )
        connection.execute(
            "INSERT INTO kb_retrieval_window"
            " (org_id, specialist_id, hour, engine, retrievals, empty, top_score_hist, latency_hist, newest_event_at)"
            f" VALUES (%s, %s, date_trunc('hour', now()), 'hybrid', 1, 0, {HIST}, now())",
            key,
        )
        connection.execute("SELECT kb_add_up_retrieval_day(now())")


@pytest.fixture
def secured(database: Database) -> Database:
    """A database with rows of three tenants, two of which share half of their key, behind the policies."""
    for tenant in TENANTS:
        plant(database, tenant)
    with database.connect() as connection:
        connection.execute(read_sql("rls.sql"))
    return database


@pytest.fixture
def acting(secured: Database) -> Iterator[Callable[[str], Database]]:
    """Opens the secured database as one of the roles."""
    opened: list[Database] = []

    def act(role: str) -> Database:
        opened.append(Database(secured.url.render_as_string(hide_password=False), role=role))
        return opened[-1]

    yield act
    for each in opened:
        each.dispose()


def seen(
    reader: Database, name: str, *, org: str | None = None, specialist: str | None = None
) -> set[tuple[UUID, UUID]]:
    """The tenants whose rows a session sees in a table or view, once it has said whose it wants."""
    with reader.connect() as connection:
        for setting, value in (("kb.org_id", org), ("kb.specialist_id", specialist)):
            if value is not None:
                connection.execute("SELECT set_config(%s, %s, true)", (setting, value))
        return set(connection.execute(f"SELECT org_id, specialist_id FROM {name}").fetchall())


def key(tenant: Tenant) -> tuple[UUID, UUID]:
    return tenant.org_id, tenant.specialist_id


def has_invoker_views(database: Database) -> bool:
    return table(database, "SELECT current_setting('server_version_num')::int >= 150000") == [(True,)]


def test_a_tenants_reader_sees_that_tenants_rows_in_every_table(acting: Callable[[str], Database]) -> None:
    reader = acting("kb_tenant_reader")
    for tenant in TENANTS:
        chosen = {"org": str(tenant.org_id), "specialist": str(tenant.specialist_id)}
        assert {name: seen(reader, name, **chosen) for name in OURS} == {name: {key(tenant)} for name in OURS}


@pytest.mark.parametrize(
    ("org", "specialist"),
    [
        (None, None),
        (str(TENANT.org_id), None),
        (None, str(TENANT.specialist_id)),
        ("", ""),
        (str(TENANT.org_id), ""),
        ("4cf3c7b8-2f1e-4f8a-9a53-3d3d1f6f0a11", "0b9be1c4-6d8e-4a3f-8f57-5f2f9b1e7c22"),
    ],
)
def test_without_both_halves_of_a_known_tenant_nothing_is_visible(
    acting: Callable[[str], Database], org: str | None, specialist: str | None
) -> None:
    reader = acting("kb_tenant_reader")
    assert {name: seen(reader, name, org=org, specialist=specialist) for name in OURS} == {name: set() for name in OURS}


def test_a_setting_of_one_transaction_is_gone_in_the_next(acting: Callable[[str], Database]) -> None:
    reader = acting("kb_tenant_reader")
    assert seen(reader, "kb_query", org=str(TENANT.org_id), specialist=str(TENANT.specialist_id))
    assert seen(reader, "kb_query") == set()


def test_the_view_of_tasks_does_not_leak(secured: Database, acting: Callable[[str], Database]) -> None:
    reader = acting("kb_tenant_reader")
    if not has_invoker_views(secured):
        with pytest.raises(DatabaseError, match="permission denied"), reader.connect() as connection:
            connection.execute("SELECT FROM kb_gap_task")
        return
    chosen = {"org": str(TENANT.org_id), "specialist": str(TENANT.specialist_id)}
    assert seen(reader, "kb_gap_task", **chosen) == {key(TENANT)}
    assert seen(reader, "kb_gap_task") == set()


def test_a_tenants_reader_writes_nothing_and_sees_nothing_else(acting: Callable[[str], Database]) -> None:
    reader = acting("kb_tenant_reader")
    others = ("rag_call", "rag_triad", "rag_quality", "kb_access_record", "kb_source.message", "upstream.messages")
    statements = [
        *(f"SELECT FROM {name}" for name in others),
        *(f"DELETE FROM {name}" for name in OURS),
        "UPDATE kb_ground_truth SET grade = 3",
        "INSERT INTO kb_query SELECT * FROM kb_query",
    ]
    for statement in statements:
        with pytest.raises(DatabaseError, match="permission denied"), reader.connect() as connection:
            connection.execute(statement)


def test_the_pipelines_roles_and_the_owner_see_every_tenant(
    secured: Database, acting: Callable[[str], Database]
) -> None:
    everybody = {key(tenant) for tenant in TENANTS}
    shown = (*OURS, "kb_gap_task")
    for reader in (secured, acting("kb_grader"), acting("kb_writer")):
        assert {name: seen(reader, name) for name in shown} == dict.fromkeys(shown, everybody)
    for role in ("kb_api_reader", "kb_auditor"):
        assert seen(acting(role), "kb_ground_truth") == seen(acting(role), "kb_gap_task") == everybody
    assert seen(acting("kb_recorder"), "kb_retrieval_event") == everybody


def test_the_pipeline_works_on_behind_the_policies(secured: Database, acting: Callable[[str], Database]) -> None:
    grader = acting("kb_grader")
    assert [finding.message for finding in check_server(grader) if not finding.ok] == []
    Application(acting("kb_recorder"), TENANT).retrieval(NOW, query="Pertanyaan baru?")
    assert book(grader).note_queries() == 1
    keep(grader, [evidence(EvidenceKind.CITED, 1.0, doc_id="baru", observed_at=NOW)])
    assert judge(grader, NOW) == 1
    assert migrate(secured) == []
    assert apply_roles(secured)
    assert seen(acting("kb_tenant_reader"), "kb_ground_truth") == set()


def test_running_it_again_changes_nothing(secured: Database, acting: Callable[[str], Database]) -> None:
    with secured.connect() as connection:
        connection.execute("GRANT ALL ON kb_query TO kb_tenant_reader")
        connection.execute(read_sql("rls.sql"))
    policies = "SELECT count(*), count(DISTINCT tablename) FROM pg_policies WHERE schemaname = 'public'"
    assert table(secured, policies) == [(2 * len(OURS), len(OURS))]
    with pytest.raises(DatabaseError, match="permission denied"), acting("kb_tenant_reader").connect() as connection:
        connection.execute("DELETE FROM kb_query")


def test_every_table_with_a_tenant_is_behind_a_policy(secured: Database) -> None:
    """A migration that adds such a table adds it to sql/rls.sql."""
    open_tables = table(
        secured,
        "SELECT relname FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attname = 'specialist_id'"
        " WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relrowsecurity",
    )
    assert open_tables == []
