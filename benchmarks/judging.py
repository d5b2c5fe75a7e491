"""The judge step beside a bare httpx loop in the same run: 200 turns against a stub with 100 ms latency, 20 in flight.

Belongs here: throughput, client CPU and calls a turn, also under faults. The step claims and settles in PostgreSQL, as
in production; `--memory` leaves that out. Run it as `python benchmarks/judging.py`; exit code 1 when a limit is missed.
"""

import argparse
import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import httpx

from kb_pipeline.adapters.clock import SystemClock
from kb_pipeline.adapters.embedded import EmbeddedPostgres
from kb_pipeline.adapters.gateway import GatewayJudge
from kb_pipeline.adapters.postgres.claims import claim_book
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.migrations import migrate
from kb_pipeline.grading.judging import PROMPT_VERSION, Dialect, build_messages, idempotency_key, nonce_of, wording
from kb_pipeline.ports import ClaimBook
from kb_pipeline.records import Claim, Graded, Judgement, JudgeVersion, Metrics, ParseStatus, Triad, Ungraded
from kb_pipeline.steps.judge import JudgeLimits, judge_window
from kb_pipeline.windows import Window

WINDOW = Window(datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, 1, tzinfo=UTC))
VERSION = JudgeVersion(model="stub", prompt_version=PROMPT_VERSION)
LOWEST_RATIO = 0.85
MOST_CPU_MS = 5.0
MOST_CALLS = 1.3
FAULTY_TIMEOUT_S = 5.0
SENTENCE = "Akta pendirian perseroan dibuat oleh notaris dan memuat anggaran dasar serta keterangan lain. "


class MemoryBook:
    """A claim book in memory: what is claimed once is gone, outcomes are kept."""

    def __init__(self, claims: Sequence[Claim]) -> None:
        self._waiting = list(claims)
        self.outcomes: dict[str, Judgement] = {}

    def claim(
        self,
        window: Window,  # noqa: ARG002 there is one window
        version: JudgeVersion,  # noqa: ARG002 and one version
        *,
        limit: int,
        exclude: Collection[str] = (),  # noqa: ARG002 what was claimed is gone
    ) -> Sequence[Claim]:
        taken, self._waiting = self._waiting[:limit], self._waiting[limit:]
        return taken

    def settle(self, outcomes: Sequence[tuple[Claim, Judgement]]) -> None:
        self.outcomes |= {claim.event_id: judgement for claim, judgement in outcomes}

    def retry(self, claim: Claim, failed: Ungraded) -> Claim:
        calls = claim.calls + failed.usage.calls
        key = idempotency_key(claim.event_id, calls=calls, version=claim.version, response_format="json_schema")
        attempts = claim.attempts + (not failed.error_class.is_outage)
        return replace(claim, calls=calls, attempts=attempts, idempotency_key=key)

    def release(self, claims: Sequence[Claim]) -> None:
        self._waiting += claims

    def graded(self) -> int:
        return sum(isinstance(judgement, Graded) for judgement in self.outcomes.values())


@contextmanager
def postgres_books() -> Iterator[Callable[[Sequence[Claim]], ClaimBook]]:
    """Makes claim books over a database that holds just the given turns."""
    folder = Path(tempfile.mkdtemp(prefix="kb_pipeline-benchmark-"))
    with EmbeddedPostgres(folder / "postgres") as server, ExitStack() as books:
        server.create_database("benchmark")
        database = Database(server.url("benchmark"))
        books.callback(database.dispose)
        migrate(database)

        def new_book(claims: Sequence[Claim]) -> ClaimBook:
            with database.connect() as connection, connection.cursor() as cursor:
                cursor.execute("TRUNCATE rag_triad, rag_metric, rag_judge_score, rag_stale_hour")
                cursor.executemany(INSERT_TRIAD, [_triad_row(claim) for claim in claims])
                cursor.execute(INSERT_METRICS)
            return books.enter_context(claim_book(database, lease_s=600, max_attempts=3, judge_chars=1_000_000))

        yield new_book


INSERT_TRIAD = (
    "INSERT INTO rag_triad (event_id, ts, parse_status, question, context, passages, history, answer)"
    " VALUES (%s, %s, 'ok', %s, %s, '[]', '[]', %s)"
)
INSERT_METRICS = (
    "INSERT INTO rag_metric (event_id, ts, had_context, num_passages, context_chars, answer_chars, refused,"
    " answer_truncated)"
    " SELECT event_id, ts, true, 0, char_length(context), char_length(answer), false, false FROM rag_triad"
)


def _triad_row(claim: Claim) -> tuple[object, ...]:
    return claim.event_id, claim.ts, claim.triad.question, claim.triad.context, claim.triad.answer


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured:
    """One run: seconds, client CPU seconds, turns with scores, calls made."""

    name: str
    seconds: float
    cpu: float
    whole: int
    calls: int


def claims_of(turns: int) -> list[Claim]:
    """Turns with about 6 kB of text each."""
    context = SENTENCE * 50
    metrics = Metrics(
        had_context=True, num_passages=5, top_score=0.8, mean_score=0.6, context_chars=len(context), answer_chars=900,
        refused=False, answer_truncated=False,
    )  # fmt: skip
    triads = [
        Triad(parse_status=ParseStatus.OK, question=f"Apa isi akta nomor {n}?", context=context, answer=SENTENCE * 10)
        for n in range(turns)
    ]
    return [
        Claim(
            event_id=f"event-{n}", ts=WINDOW.start, version=VERSION, idempotency_key=f"event-{n}", calls=0, attempts=0,
            triad=triad, metrics=metrics,
        )
        for n, triad in enumerate(triads)
    ]  # fmt: skip


@contextmanager
def stub(*options: str) -> Iterator[str]:
    """The base URL of a stub in a process of its own."""
    command = [sys.executable, str(Path(__file__).with_name("stub_judge.py")), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 our own script
        try:
            if process.stdout is None:
                raise RuntimeError("the stub has no output")
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.kill()


def bare_loop(url: str, claims: Sequence[Claim], concurrency: int) -> Measured:
    """One call a turn with one httpx client, the reply decoded, nothing recorded, nothing tried again."""

    async def run() -> int:
        slots = asyncio.Semaphore(concurrency)
        limits = httpx.Limits(max_connections=concurrency, max_keepalive_connections=concurrency)
        async with httpx.AsyncClient(timeout=FAULTY_TIMEOUT_S, limits=limits, trust_env=False) as client:

            async def one(claim: Claim) -> bool:
                payload = {
                    "model": "stub",
                    "messages": build_messages(claim.triad, claim.metrics, nonce=nonce_of(claim.event_id, claim.triad)),
                    **wording(Dialect()),
                }
                async with slots:
                    try:
                        reply = await client.post(
                            f"{url}/v1/chat/completions", json=payload, headers={"Idempotency-Key": claim.event_id}
                        )
                        return "faithfulness" in reply.json()["choices"][0]["message"]["content"]
                    except (httpx.HTTPError, KeyError):
                        return False

            return sum(await asyncio.gather(*(one(claim) for claim in claims)))

    started, cpu = time.perf_counter(), time.process_time()
    whole = asyncio.run(run())
    return Measured(
        name="bare httpx loop",
        seconds=time.perf_counter() - started,
        cpu=time.process_time() - cpu,
        whole=whole,
        calls=len(claims),
    )


def judge_step(
    url: str, claims: Sequence[Claim], concurrency: int, new_book: Callable[[Sequence[Claim]], ClaimBook]
) -> Measured:
    """The judge step with its claim book, its client and its reader of replies."""
    judge = GatewayJudge(
        base_url=url, model="stub", tenant="benchmark", timeout_s=FAULTY_TIMEOUT_S, concurrency=concurrency
    )
    limits = JudgeLimits(max_batch=len(claims), concurrency=concurrency, timeout_s=FAULTY_TIMEOUT_S, max_attempts=3)
    book = new_book(claims)
    started, cpu = time.perf_counter(), time.process_time()
    report = judge_window(WINDOW, book=book, judge=judge, clock=SystemClock(), limits=limits)
    return Measured(
        name="judge step",
        seconds=time.perf_counter() - started,
        cpu=time.process_time() - cpu,
        whole=int(report.counts["graded"]),
        calls=int(report.counts["calls"]),
    )


def median_of(runs: Sequence[Measured]) -> Measured:
    """The runs' medians; turns and calls of the last one."""
    return replace(
        runs[-1],
        seconds=statistics.median(run.seconds for run in runs),
        cpu=statistics.median(run.cpu for run in runs),
    )


def side_by_side(
    title: str, options: Sequence[str], arguments: argparse.Namespace, new_book: Callable[[Sequence[Claim]], ClaimBook]
) -> tuple[Measured, Measured]:
    """Both in turn against the same stub, `repeats` times; printed as two rows."""
    claims = claims_of(arguments.turns)
    bare, ours = [], []
    for seed in range(arguments.repeats):
        with stub("--latency-ms", str(arguments.latency_ms), "--seed", str(seed), *options) as url:
            bare.append(bare_loop(url, claims, arguments.concurrency))
        with stub("--latency-ms", str(arguments.latency_ms), "--seed", str(seed), *options) as url:
            ours.append(judge_step(url, claims, arguments.concurrency, new_book))
    pair = median_of(bare), median_of(ours)
    for run in pair:
        print(
            f"{title:<8} {run.name:<16} {run.seconds:>7.2f} {arguments.turns / run.seconds:>8.0f}"
            f" {run.cpu / arguments.turns * 1000:>8.2f} {run.whole:>6} {run.calls / arguments.turns:>6.2f}"
        )
    return pair


def main() -> int:
    """Measure, print the table, say by the exit code whether the limits hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--concurrency", type=int, default=20)
    parser.add_argument("--latency-ms", type=float, default=100.0)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--no-faults", action="store_true", help="leave out the run under faults")
    parser.add_argument("--memory", action="store_true", help="claim and settle in memory instead of PostgreSQL")
    arguments = parser.parse_args()
    with nullcontext(MemoryBook) if arguments.memory else postgres_books() as new_book:
        return compare(arguments, new_book)


def compare(arguments: argparse.Namespace, new_book: Callable[[Sequence[Claim]], ClaimBook]) -> int:
    """Both side by side, clean and under faults; 0 when the limits hold."""
    print(f"{'':<8} {'':<16} {'seconds':>7} {'turns/s':>8} {'CPU ms':>8} {'whole':>6} {'calls':>6}")
    bare, ours = side_by_side("clean", (), arguments, new_book)
    ratio, cpu_ms = bare.seconds / ours.seconds, ours.cpu / arguments.turns * 1000
    print(f"throughput of the judge step over the bare loop: {ratio:.2f} (at least {LOWEST_RATIO})")
    print(f"client CPU of the judge step: {cpu_ms:.1f} ms a turn (at most {MOST_CPU_MS})")
    holds = ratio >= LOWEST_RATIO and cpu_ms <= MOST_CPU_MS
    if not arguments.no_faults:
        _, faulty = side_by_side("faults", ("--faults",), arguments, new_book)
        calls = faulty.calls / arguments.turns
        print(
            f"under faults: {faulty.whole} of {arguments.turns} whole, {calls:.2f} calls a turn (at most {MOST_CALLS})"
        )
        holds = holds and faulty.whole == arguments.turns and calls <= MOST_CALLS
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
