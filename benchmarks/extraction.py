"""Read → decompress → decode → extract → save: the collect step against a bare loop that writes the same tables.

    .venv/bin/python benchmarks/extraction.py [--turns 20000] [--rounds 3]

The bare loop has zstandard, msgspec, one regular expression and COPY, and nothing that a real audit trail needs: no
ledger of what was examined, no anti-join, no other body formats, no hash chain, no access record. Both write rag_call,
rag_triad and rag_metric, 500 rows a transaction, on the same server in turn; the ratio is taken pair by pair.
"""

import argparse
import hashlib
import re
import resource
import statistics
import tempfile
import time
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import zstandard
from psycopg.types.json import set_json_dumps

from kb_pipeline.adapters.clock import SystemClock
from kb_pipeline.adapters.embedded import EmbeddedPostgres
from kb_pipeline.adapters.postgres.audit_trail import PostgresAuditTrail
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.ledger import PostgresLedger
from kb_pipeline.adapters.postgres.migrations import migrate
from kb_pipeline.adapters.postgres.sql_files import read_sql
from kb_pipeline.demo.traffic import synthetic_pair
from kb_pipeline.grading.bodies import MAX_BODY_BYTES
from kb_pipeline.grading.examination import ExaminationRules
from kb_pipeline.grading.extraction import question_preview
from kb_pipeline.grading.judging import INSTRUCTION
from kb_pipeline.settings import SurfaceSettings
from kb_pipeline.steps.collect import collect
from kb_pipeline.windows import HOUR, Window

START = datetime(2026, 7, 9, 10, tzinfo=UTC)
WINDOW = Window(START, START + HOUR)
CHUNK = 500


@contextmanager
def filled_database(turns: int) -> Iterator[Database]:
    """A migrated database with `turns` stored pairs in one hour."""
    folder = Path(tempfile.mkdtemp(prefix="kb_pipeline-benchmark-"))
    with EmbeddedPostgres(folder / "postgres") as server:
        server.create_database("benchmark")
        database = Database(server.url("benchmark"))
        migrate(database)
        with database.connect() as connection:
            connection.execute(read_sql("source_example.sql"))
            connection.execute(read_sql("source_views.sql"))
        plant(database, turns)
        yield database
        database.dispose()


def plant(database: Database, turns: int) -> None:
    """Store the pairs, zstd level 3, hash-chained."""
    compressor = zstandard.ZstdCompressor(level=3)
    previous, size = bytes(32), 0
    with database.connect() as connection, connection.cursor() as cursor:
        cursor.execute(
            "CREATE TEMP TABLE call (event_id text, ts timestamptz, request bytea, response bytea, p bytea, h bytea)"
        )
        with cursor.copy("COPY call FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types(["text", "timestamptz", "bytea", "bytea", "bytea", "bytea"])
            for i in range(turns):
                request, response = synthetic_pair(i)
                size += len(request) + len(response)
                stored = compressor.compress(request), compressor.compress(response)
                event = f"event-{i:08d}"
                hashed = hashlib.sha256(previous + event.encode() + stored[0] + stored[1]).digest()
                copy.write_row((event, START + HOUR * i / turns, *stored, previous, hashed))
                previous = hashed
        cursor.execute(
            "INSERT INTO upstream.ai_calls (event_id, completed_at, tenant_id, surface, engine, http_status)"
            " SELECT event_id, ts, 'portal', 'public', 'rag', 200 FROM call"
        )
        cursor.execute(
            "INSERT INTO upstream.ai_call_bodies (event_id, request_body, response_body, prev_hash, body_hash)"
            " SELECT event_id, request, response, p, h FROM call"
        )
    with database.session() as session:
        session.execute("ANALYZE")
    print(f"{turns:,} pairs of {size / turns:,.0f} bytes each, request and response together")


def ours(database: Database) -> None:
    """The collect step as `grade` and Dagster run it."""
    trail = PostgresAuditTrail(
        database, SystemClock(), surfaces=["public"], pipeline_tenant="ahu-observatory", max_body_bytes=MAX_BODY_BYTES
    )
    rules = ExaminationRules(
        templates={"public": SurfaceSettings().template("public")},
        pipeline_tenant="ahu-observatory",
        judge_instruction=INSTRUCTION,
        sample_rate=1.0,
    )
    collect(
        WINDOW, trail=trail, ledger=PostgresLedger(database, preview=partial(question_preview, redact=())), rules=rules
    )


class _Message(msgspec.Struct):
    role: str
    content: str


class _Request(msgspec.Struct):
    messages: list[_Message]


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str


class _Response(msgspec.Struct):
    choices: list[_Choice]


HEADER = re.compile(r"\[RAG-(\d+)\] \(skor ([0-9.,]+)\)")
READ = (
    "SELECT c.event_id, c.ts, c.trace_id, c.surface, c.tenant, c.operation, c.engine, c.model, c.http_status,"
    " b.request_body, b.response_body FROM kb_source.ai_call AS c JOIN kb_source.ai_call_body AS b USING (event_id)"
    " WHERE c.ts >= %s AND c.ts < %s"
)
STAGE = (
    "CREATE TEMP TABLE IF NOT EXISTS bare (event_id text, ts timestamptz, trace_id text, surface text, tenant text,"
    " operation text, engine text, model text, http_status int, question text, context text, passages jsonb,"
    " answer text, sha text, preview text, n int, top float8, mean float8, context_chars int,"
    " answer_chars int) ON COMMIT DELETE ROWS"
)
TYPES = [
    *("text", "timestamptz", "text", "text", "text", "text", "text", "text", "int4", "text", "text", "jsonb", "text"),
    *("text", "text", "int4", "float8", "float8", "int4", "int4"),
]
SAVE = (
    "WITH kept AS (INSERT INTO rag_call (event_id, ts, trace_id, surface, tenant, operation, engine, model,"
    " http_status, verdict, parse_status) SELECT event_id, ts, trace_id, surface, tenant, operation, engine, model,"
    " http_status, 'synthesis', 'ok' FROM bare ON CONFLICT (event_id) DO NOTHING),"
    " triad AS (INSERT INTO rag_triad (event_id, ts, parse_status, question, context, passages, history, answer,"
    " finish_reason, question_sha, question_preview) SELECT event_id, ts, 'ok', question, context, passages, '[]',"
    " answer, 'stop', sha, preview FROM bare ON CONFLICT (event_id) DO NOTHING)"
    " INSERT INTO rag_metric (event_id, ts, had_context, num_passages, top_score, mean_score, context_chars,"
    " answer_chars, refused, answer_truncated) SELECT event_id, ts, true, n, top, mean, context_chars, answer_chars,"
    " false, false FROM bare ON CONFLICT (event_id) DO NOTHING"
)


def bare(database: Database) -> None:
    """The floor."""
    decompress = zstandard.ZstdDecompressor().decompress
    request_of, response_of = msgspec.json.Decoder(_Request).decode, msgspec.json.Decoder(_Response).decode
    encode = msgspec.json.Encoder().encode
    with database.connect() as reading, database.connect() as writing, writing.cursor() as cursor:
        set_json_dumps(encode, cursor)
        cursor.execute(STAGE)
        writing.commit()
        chunk: list[tuple[Any, ...]] = []
        for *facts, request, response in reading.cursor().stream(READ, (WINDOW.start, WINDOW.end), binary=True):
            prompt = request_of(decompress(request)).messages[-1].content
            answer = response_of(decompress(response)).choices[0].message.content
            chunk.append((*facts, *_sliced(prompt, answer)))
            if len(chunk) == CHUNK:
                _write(writing, cursor, chunk)
                chunk = []
        if chunk:
            _write(writing, cursor, chunk)


def _sliced(prompt: str, answer: str) -> tuple[Any, ...]:
    head, _, context = prompt.partition("HASIL ALAT:")
    question = head.partition("PERTANYAAN:")[2].strip()
    headers = list(HEADER.finditer(context))
    ends = [header.start() for header in headers[1:]] + [len(context)]
    scores = [float(header[2].replace(",", ".")) for header in headers]
    passages = [
        {"rank": int(header[1]), "score": score, "text": context[header.end() : end].strip()}
        for header, end, score in zip(headers, ends, scores, strict=True)
    ]
    sha = hashlib.sha256(unicodedata.normalize("NFC", question).encode()).hexdigest()
    numbers = len(passages), max(scores, default=None), sum(scores) / len(scores) if scores else None
    return question, context, passages, answer, sha, question[:120], *numbers, len(context), len(answer)


def _write(connection: Any, cursor: Any, chunk: list[tuple[Any, ...]]) -> None:
    with cursor.copy("COPY bare FROM STDIN (FORMAT BINARY)") as copy:
        copy.set_types(TYPES)
        for row in chunk:
            copy.write_row(row)
    cursor.execute(SAVE)
    connection.commit()


def timed(work: Callable[[Database], None], database: Database) -> tuple[float, float]:
    """Wall and client CPU seconds of one run over empty tables."""
    with database.connect() as connection:
        connection.execute("TRUNCATE rag_call, rag_triad, rag_metric, rag_stale_hour, kb_access_record")
    with database.session() as session:
        session.execute("CHECKPOINT")
    cpu, wall = time.process_time(), time.perf_counter()
    work(database)
    return time.perf_counter() - wall, time.process_time() - cpu


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with filled_database(arguments.turns) as database:
        timed(ours, database)
        pairs = [(timed(ours, database), timed(bare, database)) for _ in range(arguments.rounds)]
        with database.connect() as connection:
            rows = connection.execute("SELECT count(*) FROM rag_triad").fetchone()
    if rows != (arguments.turns,):
        raise SystemExit(f"{rows} rows were written instead of {arguments.turns}")
    for name, runs in (("collect", [a for a, _ in pairs]), ("bare loop", [b for _, b in pairs])):
        wall, cpu = (statistics.median(values) for values in zip(*runs, strict=True))
        rate, cost = arguments.turns / wall, cpu / arguments.turns * 1e6
        print(f"{name:10} {rate:9,.0f} turns/s   {cost:6.1f} µs client CPU a turn")
    ratios = sorted(a[0] / b[0] for a, b in pairs)
    spread = f"{ratios[0]:.2f} to {ratios[-1]:.2f}"
    print(f"collect takes {statistics.median(ratios):.2f} x the bare loop's time ({spread}); aim: 1.7 at most")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
