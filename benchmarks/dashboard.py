"""Server time of every page and of summary and trend, over years of history, at a steady rate of requests.

    .venv/bin/python benchmarks/dashboard.py [--turns 1000000] [--years 5] [--rate 20] [--seconds 30]

It makes rag_quality rows, spread evenly over the years, in monthly partitions, and hourly windows with their daily
roll-ups for two tenants, two surfaces and two engines; then it starts the service and asks for each path at the rate,
one path after another. The time is what the client measures on the loopback address, so it holds all of the server's;
"first" is that of an answer of which nothing was kept, "median" and "p99" those at the rate. One tenant has one turn in
half a million, which no order of an index finds quickly.
With --turns 10000000 the rows take about 8 GB and a quarter of an hour to make; --url keeps them in a database of your
own, which is filled if it is empty.
"""

import argparse
import json
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import httpx

from kb_pipeline.adapters.clock import wait_until
from kb_pipeline.adapters.embedded import EmbeddedPostgres
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.migrations import apply_roles, migrate

AIM_MEDIAN_MS, AIM_P99_MS = 100.0, 250.0
PATHS = (
    "/",
    "/?window=30d&surface=public",
    "/?window=90d",
    "/?window=365d&tenant=portal",
    "/?window=365d&tenant=rare",
    "/turns?window=30d",
    "/turns?window=30d&order=newest",
    "/retrieval",
    "/retrieval?window=365d",
    "/gaps?window=30d",
    "/judgments",
    "/pipeline",
    "/alerts",
    "/turns/e1000",
    "/api/quality/summary?window=24h",
    "/api/quality/summary?window=7d&tz=Europe/Berlin",
    "/api/quality/summary?window=365d",
    "/api/quality/trend?window=7d&step=1h",
    "/api/quality/recent?limit=200&window=30d",
    "/api/quality/recent?limit=200&window=365d&tenant=rare&order=newest",
    "/api/retrieval/summary?window=365d&tz=Asia/Jakarta",
)
KEYS = """
  (VALUES ('portal'), ('mobile')) AS t(tenant), (VALUES ('public'), ('staff')) AS s(surface),
  (VALUES ('rag'), ('hybrid')) AS g(engine)
"""
SCORE = "10, 8, 6.6, array_fill(0, ARRAY[70]) || 10 || array_fill(0, ARRAY[30])"
PARTITIONS = """
SELECT kb_ensure_rag_quality_partition(now() - n * interval '1 month')
FROM generate_series(0, %(years)s::int * 12 + 1) AS n
"""
TURNS = """
INSERT INTO rag_quality (event_id, trace_id, ts, tenant, surface, engine, question_preview, parse_status, had_context,
  num_passages, context_chars, answer_chars, refused, answer_truncated, judge_status, judge_model, prompt_version,
  faithfulness, answer_relevance, context_relevance, faithfulness_reason, answer_relevance_reason,
  context_relevance_reason, support_score, disagreement)
SELECT 'e' || n, 't' || n, now() - n * (%(years)s * interval '1 year' / %(turns)s::int),
  CASE WHEN n %% 500000 = 77 THEN 'rare' WHEN n %% 4 = 0 THEN 'mobile' ELSE 'portal' END,
  CASE WHEN n %% 7 = 0 THEN 'staff' ELSE 'public' END,
  CASE WHEN n %% 2 = 0 THEN 'rag' ELSE 'hybrid' END, 'Berapa biaya pendaftaran yayasan nomor ' || n || '?', 'ok', true,
  3, 1200, 300, false, false, 'ok', 'm', 'v1', (n::bigint * 7919 %% 1000) / 1000.0, 0.8, 0.9,
  'Kutipan tidak memuat klaim kedua.', 'Menjawab pertanyaan.', 'Kutipan sesuai topik.', 0.7, 0.2
FROM generate_series(%(first)s::int, %(last)s::int) AS n
"""
HOURS = f"""
INSERT INTO rag_quality_window
SELECT date_trunc('hour', now(), 'UTC') - h * interval '1 hour', tenant, surface, engine, 'm', 'v1',
  10, 10, 0, 0, 0, 0, 0, 10, 1, 0, {SCORE}, {SCORE}, {SCORE}, 10, 8, 12000, 3000, 10, 8000, 900, 900
FROM generate_series(0, %(years)s::int * 8766) AS h, {KEYS}
"""
DAYS = f"""
INSERT INTO rag_quality_day
SELECT (now() AT TIME ZONE 'UTC')::date - d, tenant, surface, engine, 'm', 'v1',
  240, 240, 0, 0, 0, 0, 0, 240, 24, 0, {SCORE}, {SCORE}, {SCORE}, 240, 192, 288000, 72000, 240, 192000, 21600, 21600
FROM generate_series(0, %(years)s::int * 366) AS d, {KEYS}
"""
RARE = f"""
INSERT INTO rag_quality_window
SELECT date_trunc('hour', ts, 'UTC'), tenant, surface, engine, 'm', 'v1',
  1, 1, 0, 0, 0, 0, 0, 1, 0, 0, {SCORE}, {SCORE}, {SCORE}, 1, 0.8, 1200, 300, 1, 800, 90, 90
FROM rag_quality WHERE tenant = 'rare'
"""
RARE_DAYS = """
INSERT INTO rag_quality_day
SELECT (w.hour AT TIME ZONE 'UTC')::date, w.tenant, w.surface, w.engine, 'm', 'v1', 1, 1, 0, 0,
  0, 0, 0, 1, 0, 0, w.faithfulness_n, w.faithfulness_sum, w.faithfulness_sum_sq, w.faithfulness_hist,
  w.answer_relevance_n, w.answer_relevance_sum, w.answer_relevance_sum_sq, w.answer_relevance_hist,
  w.context_relevance_n, w.context_relevance_sum, w.context_relevance_sum_sq, w.context_relevance_hist,
  1, 0.8, 1200, 300, 1, 800, 90, 90
FROM rag_quality_window AS w WHERE w.tenant = 'rare'
"""
RETRIEVAL_DAYS = """
SELECT count(kb_add_up_retrieval_day(day)) FROM (
  SELECT DISTINCT date_trunc('day', hour, 'UTC') AS day FROM kb_retrieval_window) AS days
"""
CALLS = f"""
INSERT INTO rag_call_window
SELECT date_trunc('hour', now(), 'UTC') - h * interval '1 hour', tenant, surface, engine, 30, 10, 0, 20, 0, 0, 10, 10,
  '{{"ok": 10}}'
FROM generate_series(0, %(years)s::int * 8766) AS h, {KEYS}
"""
RETRIEVALS = """
INSERT INTO kb_retrieval_window (hour, org_id, specialist_id, engine, retrievals, empty, top_score_n, top_score_sum,
  top_score_hist, latency_n, latency_sum, latency_hist, newest_event_at)
SELECT date_trunc('hour', now(), 'UTC') - h * interval '1 hour', ('00000000-0000-0000-0000-00000000000' || o)::uuid,
  '00000000-0000-0000-0000-000000000001', engine, 20, 1, 20, 14, array_fill(1, ARRAY[22]), 20, 2000,
  array_fill(2, ARRAY[12]), now()
FROM generate_series(0, %(years)s::int * 8766) AS h, generate_series(1, 4) AS o,
  (VALUES ('hybrid'), ('keyword')) AS g(engine)
"""
LEDGER = """
INSERT INTO rag_call (event_id, ts, tenant, surface, engine, verdict, parse_status)
SELECT event_id, ts, tenant, surface, engine, 'synthesis', 'ok' FROM rag_quality WHERE event_id = 'e1000'
"""
TRIAD = """
INSERT INTO rag_triad (event_id, ts, parse_status, question, context, answer, passages)
SELECT 'e1000', ts, 'ok', 'Berapa biayanya?', 'x', repeat('Biaya pendaftaran adalah Rp250.000. ', 8), (
  SELECT jsonb_agg(jsonb_build_object('rank', n, 'score', 0.5, 'text', repeat('Biaya layanan adalah Rp100.000. ', 12)))
  FROM generate_series(1, 5) AS n)
FROM rag_call WHERE event_id = 'e1000'
"""
CHUNK = 200_000


def main() -> None:
    """Make the history, serve it, ask."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=1_000_000)
    parser.add_argument("--years", type=int, default=5)
    parser.add_argument("--rate", type=float, default=20.0)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--url", help="a database of your own; filled if it is empty")
    options = parser.parse_args()
    with history(options.turns, options.years, options.url) as url, serving(url) as address:
        print(f"{options.turns:,} turns, {options.years} years of windows, {options.rate:g} requests a second")
        print(f"{'path':68} {'first':>9} {'median':>9} {'p99':>9}")
        worst = [ask(address, path, options.rate, options.seconds) for path in PATHS]
    firsts, medians, p99s = zip(*worst, strict=True)
    aims = f"aims: {AIM_MEDIAN_MS:.0f} and {AIM_P99_MS:.0f}"
    print(f"worst of all: first {max(firsts):.0f} ms, median {max(medians):.0f} ms, p99 {max(p99s):.0f} ms ({aims})")


@contextmanager
def history(turns: int, years: int, url: str | None) -> Iterator[str]:
    """A database with the history."""
    if url:
        fill(url, turns, years)
        yield url
        return
    with tempfile.TemporaryDirectory() as folder, EmbeddedPostgres(Path(folder), fsync=False) as running:
        running.create_database("benchmark")
        fill(running.url("benchmark"), turns, years)
        yield running.url("benchmark")


def fill(url: str, turns: int, years: int) -> None:
    """Make the rows, unless there are any."""
    database = Database(url)
    migrate(database)
    apply_roles(database)
    with database.connect() as connection:
        if connection.execute("SELECT EXISTS (SELECT FROM rag_quality)").fetchone() == (True,):
            return
    began = time.monotonic()
    size = {"years": years, "turns": turns}
    with database.session() as session:
        for statement in (PARTITIONS, HOURS, DAYS, CALLS, RETRIEVALS, RETRIEVAL_DAYS):
            session.execute(statement.encode(), size)
        for first in range(1, turns + 1, CHUNK):
            session.execute(TURNS.encode(), size | {"first": first, "last": min(turns, first + CHUNK - 1)})
        for statement in (RARE, RARE_DAYS, LEDGER):
            session.execute(statement.encode())
        session.execute(TRIAD.encode())
        session.execute("VACUUM ANALYZE")
    database.dispose()
    print(f"made in {time.monotonic() - began:.0f} s")


@contextmanager
def serving(url: str) -> Iterator[str]:
    """`kb-pipeline serve` as a process of its own, with one token."""
    token = {"name": "bench", "role": "auditor", "sha256": sha256(b"bench").hexdigest()}
    with tempfile.TemporaryDirectory() as folder, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        config = Path(folder) / "kb_pipeline.yaml"
        service = {"port": port, "tokens": [token]}
        content = {"rag_quality": {"enabled": True}, "service": service, "database": {"url": url}}
        config.write_text(json.dumps(content), encoding="utf-8")
        command = [sys.executable, "-m", "kb_pipeline.cli", "--config", str(config), "serve"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:  # noqa: S603 our own command
            address = f"http://127.0.0.1:{port}"
            try:
                wait_until(lambda: answers(address), 30)
                yield address
            finally:
                process.terminate()


def answers(address: str) -> bool:
    """Whether the service is ready."""
    try:
        return httpx.get(f"{address}/readyz").status_code == 200
    except httpx.HTTPError:
        return False


def ask(address: str, path: str, rate: float, seconds: float) -> tuple[float, float, float]:
    """The first, the median and p99 in milliseconds of requests that begin at the rate, answered the last or not."""
    with httpx.Client(base_url=address, headers={"Authorization": "Bearer bench"}, timeout=30) as client:

        def once(at: float) -> float:
            time.sleep(max(0.0, at - time.perf_counter()))
            began = time.perf_counter()
            client.get(path).raise_for_status()
            return (time.perf_counter() - began) * 1000

        client.get("/healthz").raise_for_status()
        first = once(0)
        start = time.perf_counter() + 0.1
        with ThreadPoolExecutor(16) as pool:
            taken = list(pool.map(once, [start + number / rate for number in range(int(rate * seconds))]))
    median, p99 = statistics.median(taken), statistics.quantiles(taken, n=100)[98]
    print(f"{path:68} {first:6.1f} ms {median:6.1f} ms {p99:6.1f} ms")
    return first, median, p99


if __name__ == "__main__":
    main()
