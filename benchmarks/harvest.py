"""One million rows of evidence to judgments, beside a bare GROUP BY over the same table in the same run.

    .venv/bin/python benchmarks/harvest.py [--evidence 1000000] [--rounds 3]

Belongs here: how long judging takes when everything is new, when nothing changed, and on the next day, when every mass
has decayed. The knowledge base is mapped, so that each row is held against the version of its document that is in
force. The floor adds up weights by the same key and knows no conversations, decay, grades or documents; the second
floor also keeps its sums in an empty table with the same key. Beside the time stands the processor time of the server,
where the system tells it (Linux): on a busy machine that is the one to compare. Exit code 1 when a run with everything
new takes longer than the limit.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from kb_pipeline.adapters.embedded import EmbeddedPostgres
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.migrations import migrate
from kb_pipeline.adapters.postgres.retrieval.evidence import PostgresEvidence
from kb_pipeline.adapters.postgres.sql_files import read_sql

LIMIT_S = 10.0
AS_OF = datetime(2026, 7, 1, tzinfo=UTC)
TENANTS, DOCUMENTS = 20, 5_000

# Queries are asked as people ask: a few of them often, most of them once or twice. A decision gives about three rows.
PLANT_EVIDENCE = """
INSERT INTO kb_evidence (
  org_id, specialist_id, query_sha, doc_id, kind, weight, conversation_id, event_id, message_id, document_from,
  observed_at, facts, rule_version)
SELECT
  md5('org' || q %% {tenants})::uuid, md5('specialist' || q %% {tenants})::uuid,
  encode(sha256(('query ' || q)::bytea), 'hex'),
  'article-' || ((q::bigint * 7919 + (random() * 3.99)::int * 104729) %% {documents}),
  rule.kind, rule.weight, md5('conversation' || n / 3)::uuid, gen_random_uuid(), gen_random_uuid(),
  %(as_of)s::timestamptz - interval '400 days',
  %(as_of)s::timestamptz - random() * interval '300 days', '{{"support": 0.71}}', 'evidence-1'
FROM (
  SELECT n, (random() * random() * {queries})::int AS q, (random() * 7.99)::int AS pick
  FROM generate_series(1, {evidence}) AS n
) AS drawn
JOIN (VALUES
  (0, 'accepted', 0.5), (1, 'accepted', 0.25), (2, 'light_edit', 0.35), (3, 'supports_new', 0.72), (4, 'cited', 1.0),
  (5, 'removed_only', -0.4), (6, 'kept_only', 0.05), (7, 'wrong_source', -0.5), (8, 'accepted', 0.5)
) AS rule (pick, kind, weight) USING (pick)
"""
PLANT_DOCUMENTS = """
INSERT INTO upstream.kb_chunks (org_id, specialist_id, doc_id, chunk_id, body, valid_from)
SELECT md5('org' || t)::uuid, md5('specialist' || t)::uuid, 'article-' || d, 'article-' || d || '-' || c, '',
       %(as_of)s::timestamptz - interval '400 days'
FROM generate_series(0, {tenants} - 1) AS t, generate_series(0, {documents} - 1) AS d, generate_series(1, 2) AS c
"""
SUMS = """
SELECT org_id, specialist_id, query_sha, doc_id, sum(weight) AS weight
FROM kb_evidence
GROUP BY org_id, specialist_id, query_sha, doc_id
"""
SETTINGS = ("SET LOCAL work_mem = '256MB'", "SET LOCAL jit = off")


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """One measurement."""

    seconds: float
    processor_s: float
    rows: int


@contextmanager
def planted_database(evidence: int) -> Iterator[Database]:
    """A migrated database with so much evidence, on documents of which none changed."""
    folder = Path(tempfile.mkdtemp(prefix="kb_pipeline-benchmark-"))
    with EmbeddedPostgres(folder / "postgres") as server:
        server.create_database("benchmark")
        database = Database(server.url("benchmark"))
        migrate(database)
        sizes = {"tenants": TENANTS, "documents": DOCUMENTS, "queries": evidence // 10, "evidence": evidence}
        with database.connect() as connection:
            connection.execute(read_sql("source_example.sql"))
            connection.execute(read_sql("source_views.sql"))
            for statement in (PLANT_EVIDENCE, PLANT_DOCUMENTS):
                connection.execute(statement.format(**sizes).encode(), {"as_of": AS_OF})
            connection.execute("ANALYZE kb_evidence, upstream.kb_chunks")
        with database.session() as session:
            session.execute("VACUUM kb_evidence")
            session.execute("CHECKPOINT")
        yield database
        database.dispose()


def timed(database: Database, work: Callable[[], int]) -> Run:
    """Time, processor time of the server, and what the work returned."""
    with database.connect() as connection:
        server = connection.info.backend_pid
    start, before = time.perf_counter(), processor_s(server)
    rows = work()
    return Run(seconds=time.perf_counter() - start, processor_s=processor_s(server) - before, rows=rows)


def processor_s(process: int) -> float:
    """Seconds that a process has computed so far; 0 where the system does not tell."""
    status = Path(f"/proc/{process}/stat")
    if not status.exists():
        return 0.0
    user, system = status.read_text(encoding="utf-8").rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def group(database: Database) -> int:
    """The floor: one sum per key, counted."""
    with database.connect() as connection:
        for setting in SETTINGS:
            connection.execute(setting)
        row = connection.execute(f"SELECT count(*) FROM ({SUMS}) AS sums".encode()).fetchone()
    return int(row[0]) if row else 0


def group_and_keep(database: Database) -> int:
    """The second floor: one sum per key, kept."""
    with database.connect() as connection:
        for setting in SETTINGS:
            connection.execute(setting)
        connection.execute("DROP TABLE IF EXISTS floor")
        connection.execute(
            "CREATE TABLE floor (org_id uuid, specialist_id uuid, query_sha text, doc_id text, weight double precision,"
            " PRIMARY KEY (org_id, specialist_id, query_sha, doc_id))"
        )
        return connection.execute(f"INSERT INTO floor {SUMS}".encode()).rowcount


def forget(database: Database) -> None:
    """No judgment stands."""
    with database.connect() as connection:
        connection.execute("TRUNCATE kb_ground_truth")


def report(name: str, runs: list[Run], floors: dict[str, float]) -> None:
    """One line: median, range, processor time, ratios."""
    middle = statistics.median(run.seconds for run in runs)
    span = f"{min(run.seconds for run in runs):.2f} to {max(run.seconds for run in runs):.2f}"
    processor = statistics.median(run.processor_s for run in runs)
    ratios = ", ".join(f"{processor / floor:.1f} × {label}" for label, floor in floors.items() if floor)
    print(f"{name:<16} {middle:6.2f} s ({span})  processor {processor:5.2f} s: {ratios}; {runs[0].rows:,} rows")


def main() -> int:
    """Plant, run, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--evidence", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with planted_database(arguments.evidence) as database:
        book = PostgresEvidence(database, preview=str)
        works: dict[str, Callable[[], int]] = {
            "group": lambda: group(database),
            "group and keep": lambda: group_and_keep(database),
            "everything new": lambda: book.judge(AS_OF, "benchmark"),
            "nothing changed": lambda: book.judge(AS_OF, "benchmark"),
            "the next day": lambda: book.judge(AS_OF + timedelta(days=1), "benchmark"),
        }
        runs: dict[str, list[Run]] = {name: [] for name in works}
        for _ in range(arguments.rounds):
            forget(database)
            for name, work in works.items():
                runs[name].append(timed(database, work))
    print(f"{arguments.evidence:,} rows of evidence")
    floors = {name: statistics.median(run.processor_s for run in runs[name]) for name in ("group", "group and keep")}
    for name, measured in runs.items():
        report(name, measured, floors)
    median = statistics.median(run.seconds for run in runs["everything new"])
    print(f"limit {LIMIT_S:.0f} s with everything new: {'kept' if median < LIMIT_S else 'missed'}")
    return int(median >= LIMIT_S)


if __name__ == "__main__":
    sys.exit(main())
