"""One million rows of evidence to judgments, beside a bare GROUP BY over the same table in the same run.

    .venv/bin/python benchmarks/harvest.py [--evidence 1000000] [--rounds 3]

Belongs here: how long judging takes when everything is new, when nothing changed, and on the next day, when every mass
has decayed. The knowledge base is mapped, so that each row is held against the version of its document that is in
force. The floor adds up weights by the same key and knows no conversations, decay, grades or documents; the second
floor also keeps its sums in an empty table with the same key. Exit code 1 when a run with everything new takes longer
than the limit.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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


def timed(work: Callable[[], int]) -> tuple[float, int]:
    """Seconds, and what the work returned."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


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


def report(name: str, seconds: list[float], changed: int, floors: dict[str, float]) -> None:
    """One line: median, range, ratios."""
    middle = statistics.median(seconds)
    ratios = ", ".join(f"{middle / floor:.1f} × {label}" for label, floor in floors.items())
    print(
        f"{name:<28} {middle:6.2f} s ({min(seconds):.2f} to {max(seconds):.2f})  {changed:>9,} rows changed  {ratios}"
    )


def main() -> int:
    """Plant, run, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--evidence", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    runs: dict[str, list[tuple[float, int]]] = {
        name: [] for name in ("group", "group and keep", "everything new", "nothing changed", "the next day")
    }
    with planted_database(arguments.evidence) as database:
        book = PostgresEvidence(database, preview=str)
        for _ in range(arguments.rounds):
            forget(database)
            runs["group"].append(timed(lambda: group(database)))
            runs["group and keep"].append(timed(lambda: group_and_keep(database)))
            runs["everything new"].append(timed(lambda: book.judge(AS_OF, "benchmark")))
            runs["nothing changed"].append(timed(lambda: book.judge(AS_OF, "benchmark")))
            runs["the next day"].append(timed(lambda: book.judge(AS_OF + timedelta(days=1), "benchmark")))
    seconds = {name: [each for each, _ in found] for name, found in runs.items()}
    floors = {name: statistics.median(seconds[name]) for name in ("group", "group and keep")}
    print(f"{arguments.evidence:,} rows of evidence, {runs['group'][0][1]:,} documents of queries")
    for name, found in runs.items():
        report(name, seconds[name], 0 if name.startswith("group") else found[0][1], floors)
    slowest = statistics.median(seconds["everything new"])
    print(f"limit {LIMIT_S:.0f} s with everything new: {'kept' if slowest < LIMIT_S else 'missed'}")
    return int(slowest >= LIMIT_S)


if __name__ == "__main__":
    sys.exit(main())
