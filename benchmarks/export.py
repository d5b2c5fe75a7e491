"""Exporting 100,000 judgments with their queries, against a bare COPY of the same rows on the same server.

    .venv/bin/python benchmarks/export.py [--judgments 100000] [--documents 5000] [--rounds 3]

The export reads queries and judgments, encodes ids, counts, records the reading, writes the BEIR files with their
manifest to the disk and puts the folder in its place. The bare COPY writes query_sha, words, document and grade of the
same rows to one text file, and nothing else. Then the same with a split by near-duplicate cluster, and as TREC files
with the documents of the knowledge base.
"""

import argparse
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

from kb_pipeline.adapters.embedded import EmbeddedPostgres
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.migrations import migrate
from kb_pipeline.adapters.postgres.sql_files import read_sql
from kb_pipeline.harness import (
    BeirQuerySource,
    ByCluster,
    PostgresCorpus,
    PostgresQuerySource,
    TenantExport,
    export,
)
from kb_pipeline.records import Tenant

TENANT = Tenant(org_id=UUID(int=1), specialist_id=UUID(int=2))
PER_QUERY = 4
AIM_S = 5.0
PLANT_QUERIES = """
INSERT INTO kb_query (org_id, specialist_id, query_sha, query, first_seen_at, last_seen_at)
SELECT %(org)s, %(specialist)s, encode(sha256(n::text::bytea), 'hex'),
       format('Berapa biaya layanan %%s untuk wilayah %%s nomor %%s tahun %%s?', md5(n::text), n %% 97, n, n %% 31),
       now(), now()
FROM generate_series(1, %(queries)s) AS n
"""
PLANT_JUDGMENTS = """
INSERT INTO kb_ground_truth (org_id, specialist_id, query_sha, doc_id, status, grade, p, positive, negative,
  conversations, evidence_count, kinds, first_observed_at, last_observed_at, as_of, rule_version)
SELECT %(org)s, %(specialist)s, encode(sha256(n::text::bytea), 'hex'), 'doc-' || (n * 7 + k * 13) %% %(documents)s,
       'judged', (n + k) %% 4, .9, 1, 0, 2, 3, '{accepted,cited}', now(), now(), now(), 'labels-1'
FROM generate_series(1, %(queries)s) AS n, generate_series(1, %(each)s) AS k
"""
PLANT_CHUNKS = """
INSERT INTO upstream.kb_chunks (org_id, specialist_id, doc_id, chunk_id, title, body, valid_from)
SELECT %(org)s, %(specialist)s, 'doc-' || n, format('doc-%%s#%%s', n, k), 'Dokumen ' || n,
       repeat('Biaya layanan dibayar di muka. ', 20), now() - interval '1 day'
FROM generate_series(0, %(documents)s - 1) AS n, generate_series(1, 3) AS k
"""
BARE = (
    "COPY (SELECT t.query_sha, q.query, t.doc_id, t.grade FROM kb_ground_truth AS t"
    " JOIN kb_query AS q USING (org_id, specialist_id, query_sha) WHERE t.status = 'judged'"
    " ORDER BY t.query_sha, t.doc_id) TO STDOUT"
)


@contextmanager
def filled_database(judgments: int, documents: int) -> Iterator[Database]:
    """A migrated database with one tenant's ground truth and knowledge base."""
    folder = Path(tempfile.mkdtemp(prefix="kb_pipeline-benchmark-"))
    with EmbeddedPostgres(folder / "postgres") as server:
        server.create_database("benchmark")
        database = Database(server.url("benchmark"))
        migrate(database)
        facts = {"queries": judgments // PER_QUERY, "each": PER_QUERY, "documents": documents}
        key = {"org": TENANT.org_id, "specialist": TENANT.specialist_id}
        with database.connect() as connection:
            connection.execute(read_sql("source_example.sql"))
            connection.execute(read_sql("source_views.sql"))
            for statement in (PLANT_QUERIES, PLANT_JUDGMENTS, PLANT_CHUNKS):
                connection.execute(statement, facts | key)
        with database.session() as session:
            session.execute("ANALYZE")
        yield database
        database.dispose()
    shutil.rmtree(folder)


def bare(database: Database, target: Path) -> None:
    """The floor."""
    with database.connect() as connection, connection.cursor().copy(BARE) as copy, target.open("wb") as file:
        for block in copy:
            file.write(block)


def exported(database: Database, target: Path, **options: Any) -> dict[str, Any]:
    """One export."""
    corpus = PostgresCorpus(database) if options.pop("with_corpus", False) else None
    job = TenantExport(source=PostgresQuerySource(database, TENANT), tenant=TENANT, corpus=corpus)
    return export(target, [job], **options)


def seconds(work: Callable[[], object]) -> float:
    """Wall seconds of one call."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judgments", type=int, default=100_000)
    parser.add_argument("--documents", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with filled_database(arguments.judgments, arguments.documents) as database, tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "out"
        manifest = exported(database, target, layout="beir")
        known = BeirQuerySource(target).judgments()
        if (
            manifest["counts"]["judgments"] != arguments.judgments
            or known != PostgresQuerySource(database, TENANT).judgments()
        ):
            raise SystemExit("what was exported is not what is in the database")
        pairs = [
            (
                seconds(lambda: exported(database, target, layout="beir")),
                seconds(lambda: bare(database, Path(folder) / "bare.txt")),
            )
            for _ in range(arguments.rounds)
        ]
        ours, floor = (statistics.median(times) for times in zip(*pairs, strict=True))
        print(
            f"BEIR, {arguments.judgments:,} judgments: {ours:.2f} s, bare COPY {floor:.2f} s, "
            f"{statistics.median(a / b for a, b in pairs):.1f} x; aim: {AIM_S:.0f} s at most"
        )
        split = seconds(lambda: exported(database, target, layout="beir", split_by=ByCluster()))
        print(f"BEIR, split by near-duplicate cluster: {split:.2f} s")
        corpus = seconds(lambda: exported(database, target, layout="trec", with_corpus=True))
        print(f"TREC, with {arguments.documents:,} documents of three chunks: {corpus:.2f} s")


if __name__ == "__main__":
    main()
