"""The queries of sql/analysis as a person runs them in psql: each gives the rows that were planted for it."""

import csv
import re
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.sql_files import sql_folder
from kb_pipeline.records import Evidence, EvidenceKind, Tenant
from kb_pipeline.retrieval.queries import query_sha
from kb_pipeline_tests.docs_pages import page
from kb_pipeline_tests.retrieval.pieces import evidence
from kb_pipeline_tests.retrieval_street.application import OTHER, TENANT, Application
from kb_pipeline_tests.retrieval_street.book import book, judge, keep
from kb_pipeline_tests.schema_file import client
from kb_pipeline_tests.servers import libpq_url

pytestmark = pytest.mark.postgres

NOW = datetime.now(UTC)
THEN = NOW - timedelta(days=2)
QUERY = "Berapa biaya pendaftaran?"
FILES = sorted((sql_folder() / "analysis").glob("*.sql"))
Row = dict[str, str]
LEFT_OUT = {"org_id", "specialist_id", "newest_message_id"}


def psql(database: Database, file: str, role: str = "kb_auditor", **variables: Any) -> list[list[Row]]:
    """The tables that a file prints, each as its rows by column; run as a role that may."""
    return tables(printed(database, file, role, **variables).splitlines())


def printed(database: Database, file: str, role: str = "kb_auditor", **variables: Any) -> str:
    """What a file prints, as CSV."""
    settings = [part for name, value in variables.items() for part in ("--set", f"{name}={value}")]
    command: list[str | Path] = [
        client("psql"),
        "--no-psqlrc",
        "--csv",
        "--quiet",
        "--set",
        "ON_ERROR_STOP=1",
        *settings,
    ]
    source = f"SET ROLE {role};\n" + (sql_folder() / "analysis" / file).read_text(encoding="utf-8")
    url = libpq_url(database.url.render_as_string(hide_password=False))
    done = subprocess.run([*command, url], input=source, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def tables(lines: Sequence[str]) -> list[list[Row]]:
    """CSV tables that follow one another; a title, which has no comma, or a new header begins the next."""
    found: list[list[str]] = []
    for line in lines:
        if line.startswith(("org_id,", "engine,")):
            found.append([line])
        elif found and "," in line:
            found[-1].append(line)
    return [list(csv.DictReader(each)) for each in found]


def headings(database: Database, file: str) -> list[list[str]]:
    """The columns of each table that a file prints."""
    return [line.split(",") for line in printed(database, file).splitlines() if line.startswith(("org_id,", "engine,"))]


def only(rows: Sequence[Row], **wanted: object) -> Row:
    """The one row with these values."""
    [row] = [row for row in rows if all(row[name] == str(value) for name, value in wanted.items())]
    return row


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_query_runs_on_an_empty_database_and_says_how_to_run_it(database: Database, file: Path) -> None:
    assert all(rows == [] for rows in psql(database, file.name))
    assert f"--file {file.name}" in file.read_text(encoding="utf-8")


def test_the_page_shows_the_columns_that_the_queries_have_and_the_command_above_each_table(database: Database) -> None:
    text = page("docs/analytics/kb-retrieval-gap-analysis.md")
    blocks = re.findall(r"<!-- demo output: (\w+\.sql)(, second table)? -->\n```\n(.+)\n", text)
    assert len(blocks) == 5
    for file, second, heading in blocks:
        assert re.search(rf'^psql "\$DATABASE_URL" .*--file sql/analysis/{file}$', text, re.MULTILINE)
        columns = [title.strip() for title in heading.split("|")]
        assert columns == [name for name in headings(database, file)[1 if second else 0] if name not in LEFT_OUT]


def test_health_shows_empty_retrievals_scores_and_latency_per_engine(database: Database) -> None:
    application = Application(database)
    for latency in range(10, 30):
        application.retrieval(THEN, ["biaya", "syarat"], latency_ms=latency)
    for _ in range(5):
        application.retrieval(THEN, [], latency_ms=500)
    application.retrieval(THEN, [], engine="keyword", degraded=True)
    application.retrieval(THEN, [], engine="keyword", shadow=True)
    Application(database, OTHER).retrieval(THEN - timedelta(days=90))
    per_engine, scores = psql(database, "retrieval_health.sql", role="kb_api_reader")
    hybrid = only(per_engine, org_id=TENANT.org_id, engine="hybrid")
    assert (hybrid["retrievals"], hybrid["empty"], hybrid["empty_share"]) == ("25", "5", "0.2000")
    assert (hybrid["top_score_p50"], hybrid["latency_p50_ms"], hybrid["latency_p95_ms"]) == ("1.000", "22", "500")
    keyword = only(per_engine, org_id=TENANT.org_id, engine="keyword")
    assert (keyword["retrievals"], keyword["empty"], keyword["degraded"]) == ("1", "1", "1")
    assert only(scores, engine="hybrid", best_score="0.9 to 1.0")["retrievals"] == "21"
    assert only(scores, engine="hybrid", best_score="none")["retrievals"] == "5"


def test_variables_choose_tenant_and_time(database: Database) -> None:
    for tenant in (TENANT, OTHER):
        Application(database, tenant).retrieval(THEN)
    Application(database).retrieval(THEN - timedelta(days=90))

    def found(**variables: Any) -> set[tuple[str, str]]:
        per_engine, _ = psql(database, "retrieval_health.sql", **variables)
        return {(row["org_id"], row["retrievals"]) for row in per_engine}

    mine, theirs = str(TENANT.org_id), str(OTHER.org_id)
    assert found() == {(mine, "2"), (theirs, "1")}
    assert found(org=mine) == {(mine, "2")}
    assert found(specialist=OTHER.specialist_id) == {(theirs, "1")}
    assert found(since=(THEN - timedelta(days=1)).isoformat()) == {(mine, "1"), (theirs, "1")}
    assert found(until=(THEN - timedelta(days=1)).isoformat(), org=mine) == {(mine, "1")}


def test_ground_truth_sets_what_experts_did_beside_the_judgment(database: Database) -> None:
    application = Application(database)
    for _ in range(3):
        accepted = application.served(THEN, retrieved=["umum", "biaya"], query=QUERY)
        application.decide(accepted, THEN + timedelta(hours=1))
    heavy = application.served(THEN, retrieved=["umum"], query=QUERY)
    application.correct(heavy, THEN + timedelta(hours=1), "Biaya nol rupiah.")
    Application(database).outcome(heavy, THEN, outcome="edited_heavy")
    application.served(THEN, retrieved=["umum"], query=QUERY)  # nobody decided on it
    book(database).note_queries()
    sha = query_sha(QUERY)
    keep(database, [evidence(EvidenceKind.CITED, 1.0, query_sha=sha, doc_id="biaya", observed_at=THEN)])
    judge(database, NOW)
    [rows] = psql(database, "ground_truth.sql")
    first = only(rows, doc_id="umum")
    assert (first["query"], first["conversations"], first["accepted_first"], first["suspect"]) == (QUERY, "4", "3", "1")
    assert (first["accepted_used"], first["status"], first["grade"]) == ("3", "", "")
    second = only(rows, doc_id="biaya")
    assert (second["best_rank"], second["accepted_first"], second["accepted_used"]) == ("2", "0", "0")
    assert (second["status"], second["grade"], second["kinds"]) == ("judged", "3", "{cited}")
    assert psql(database, "ground_truth.sql", rows=1) == [[first]]


def test_ground_truth_never_joins_a_message_of_another_tenant(database: Database) -> None:
    message_id = Application(database, OTHER).draft(THEN)
    Application(database, OTHER).decide(message_id, THEN)
    Application(database, TENANT).retrieval(THEN, ["biaya"], query=QUERY, message_id=message_id)
    book(database).note_queries()
    assert psql(database, "ground_truth.sql") in ([], [[]])


def gap(database: Database, kind: str, *, conversation: UUID | None = None, **changes: Any) -> None:
    """A diagnosed draft."""
    row = {
        "message_id": uuid4(),
        "org_id": TENANT.org_id,
        "specialist_id": TENANT.specialist_id,
        "conversation_id": conversation or uuid4(),
        "event_id": uuid4(),
        "query_sha": query_sha(QUERY),
        "engine": "hybrid",
        "kind": kind,
        "decided_at": THEN,
        "source_state": "",
        "rule_version": "r",
        **changes,
    }
    columns, values = ", ".join(row), ", ".join(f"%({name})s" for name in row)
    with database.connect() as connection:
        connection.execute(f"INSERT INTO kb_retrieval_gap ({columns}) VALUES ({values})", row)


def test_gaps_hold_our_verdict_against_not_retrieved(database: Database) -> None:
    for number in range(3):
        gap(database, "ranking_gap", is_deep=True, pool_rank=20 + number, support=0.9, subject="biaya")
    gap(database, "ranking_gap", rank=4, support=0.8, subject="biaya")
    gap(database, "kb_gap", support=0.1, subject="q")
    gap(database, "none")
    verdicts, tasks = psql(database, "kb_gap_vs_ranking_gap.sql", role="kb_api_reader")
    deep = only(verdicts, kind="ranking_gap", naive_verdict="kb_gap")
    assert (deep["drafts"], deep["deep"], deep["pool_rank_p50"], deep["mean_support"]) == ("3", "3", "21", "0.90")
    assert deep["remedy"] == "mend the ranking"
    assert only(verdicts, kind="ranking_gap", naive_verdict="ranking_gap")["rank_p50"] == "4"
    assert only(verdicts, kind="kb_gap")["naive_verdict"] == "kb_gap"
    assert only(verdicts, kind="none")["naive_verdict"] == ""
    assert [(task["kind"], task["subject"], task["conversations"]) for task in tasks] == [("ranking_gap", "biaya", "4")]


def test_cited_documents_are_placed_where_the_retrieval_had_them(database: Database) -> None:
    application = Application(database)
    for doc_id in ("used", "shown", "deep", "known"):
        application.chunk(doc_id, "Isi.", THEN - timedelta(days=30))
    application.chunk("later", "Isi.", THEN + timedelta(hours=2))
    pool = '[{"doc_id": "deep", "pre_rank": 31}]'
    message_id = application.served(THEN, retrieved=["used", "shown"], candidate_pool=pool)
    for doc_id in ("used", "shown", "deep", "known", "later"):
        for _ in range(2):
            step = {"query": None, "doc_id": doc_id, "message_id": message_id}
            application.search(THEN + timedelta(hours=3), "kb.citation.inserted", **step)
    [rows] = psql(database, "cited_documents.sql")
    assert {(row["found"], row["verdict"], row["citations"]) for row in rows} == {
        ("retrieved and used", "generation_gap", "1"),
        ("retrieved, not used", "ranking_gap", "1"),
        ("in the candidate pool only", "ranking_gap", "1"),
        ("in the knowledge base only", "recall_gap", "1"),
        ("nowhere", "kb_gap", "1"),
    }
    assert only(rows, found="in the candidate pool only")["pool_rank_p50"] == "31"


def test_conflicts_are_listed_with_what_settling_them_needs(database: Database) -> None:
    for tenant in (TENANT, OTHER):
        Application(database, tenant).retrieval(THEN, query=QUERY)
        book(database).note_queries()
        both = ((EvidenceKind.ACCEPTED, 0.5), (EvidenceKind.WRONG_SOURCE, -0.5))
        for number, (kind, weight) in enumerate(both):
            keep(database, [contested(tenant, kind, weight, number)])
    keep(database, [evidence(EvidenceKind.CITED, 1.0, doc_id="syarat", observed_at=THEN)])
    judge(database, NOW)
    [rows] = psql(database, "conflicts.sql", role="kb_api_reader")
    assert {row["org_id"] for row in rows} == {str(TENANT.org_id), str(OTHER.org_id)}
    [[row]] = psql(database, "conflicts.sql", role="kb_api_reader", org=TENANT.org_id, specialist=TENANT.specialist_id)
    assert (row["query_preview"], row["query_sha"], row["doc_id"]) == (QUERY, query_sha(QUERY), "biaya")
    assert (row["positive"], row["negative"], row["conversations"]) == ("0.50", "0.50", "2")


def contested(tenant: Tenant, kind: EvidenceKind, weight: float, conversation: int) -> Evidence:
    sha = query_sha(QUERY)
    return evidence(
        kind, weight, conversation=conversation + 1, tenant=tenant, query_sha=sha, doc_id="biaya", observed_at=NOW
    )
