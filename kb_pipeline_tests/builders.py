"""Things that tests put in front of the pipeline: audited calls in the example upstream tables, settings, streets."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

import zstandard

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.grading_street import GradingStreet
from kb_pipeline.ports import Clock
from kb_pipeline.settings import Settings
from kb_pipeline.windows import HOUR, Window, floor_hour

SYSTEM = "Susun jawaban hanya dari HASIL ALAT. Setiap klaim WAJIB bersumber."
CONTEXT = (
    "[RAG-1] (skor 0.82) Biaya pendaftaran yayasan adalah Rp250.000 dan prosesnya tiga hari kerja.\n"
    "[RAG-2] (skor 0,41) Akta pendirian dibuat oleh notaris."
)
ANSWER = "Biaya pendaftaran yayasan adalah Rp250.000."
REFUSAL = "Maaf, informasi tersebut tidak tersedia."


def request_body(
    question: str = "Berapa biaya pendaftaran yayasan?", context: str = CONTEXT, system: str = SYSTEM
) -> bytes:
    """A synthesis request in the default template."""
    messages = [
        {"role": "system", "content": system},
        {"role": "user", "content": f"PERTANYAAN: {question}\n\nHASIL ALAT:\n{context}"},
    ]
    return json.dumps({"model": "chat", "messages": messages}).encode()


def response_body(answer: str = ANSWER, finish_reason: str = "stop") -> bytes:
    """A plain chat completion."""
    choice = {"index": 0, "message": {"role": "assistant", "content": answer}, "finish_reason": finish_reason}
    return json.dumps({"object": "chat.completion", "choices": [choice]}).encode()


def stored(body: bytes) -> bytes:
    """A body as the gateway keeps it."""
    return zstandard.ZstdCompressor(level=3).compress(body)


def closed_hour(back: int = 1) -> Window:
    """The hour that ended `back` hours before the running one began, less one."""
    start = floor_hour(datetime.now(UTC)) - HOUR * back
    return Window(start, start + HOUR)


class Upstream:
    """The example upstream tables: audited calls and their bodies, hash-chained as the gateway does."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._previous = bytes(32)

    def call(
        self, event_id: str, ts: datetime, *, surface: str = "public", tenant: str = "portal", engine: str = "rag"
    ) -> None:
        """An audited call without its body."""
        with self._database.connect() as connection:
            connection.execute(
                "INSERT INTO upstream.ai_calls"
                " (event_id, trace_id, completed_at, tenant_id, surface, engine, http_status)"
                " VALUES (%s, %s, %s, %s, %s, %s, 200)",
                (event_id, f"trace-{event_id}", ts, tenant, surface, engine),
            )

    def body(self, event_id: str, request: bytes | None, response: bytes | None) -> None:
        """Its stored bodies."""
        hashed = sha256(self._previous + event_id.encode() + (request or b"") + (response or b"")).digest()
        with self._database.connect() as connection:
            connection.execute(
                "INSERT INTO upstream.ai_call_bodies (event_id, request_body, response_body, prev_hash, body_hash)"
                " VALUES (%s, %s, %s, %s, %s)",
                (event_id, request, response, self._previous, hashed),
            )
        self._previous = hashed

    def turn(
        self,
        event_id: str,
        ts: datetime,
        *,
        request: bytes | None = None,
        response: bytes | None = None,
        **call: Any,
    ) -> None:
        """A synthesis call with its bodies."""
        self.call(event_id, ts, **call)
        self.body(event_id, stored(request or request_body()), stored(response or response_body()))

    def turns(self, count: int, window: Window, prefix: str = "turn") -> list[str]:
        """`count` synthesis calls spread over the window."""
        names = [f"{prefix}-{number:04d}" for number in range(count)]
        step = (window.end - window.start) / (count + 1)
        for number, name in enumerate(names):
            question = f"Berapa biaya pendaftaran yayasan nomor {number}?"
            self.turn(name, window.start + step * (number + 1), request=request_body(question))
        return names


def settings(database: Database, **quality: Any) -> Settings:
    """Settings with grading on for everything of the last month."""
    start_at = (datetime.now(UTC) - timedelta(days=31)).isoformat()
    url = database.url.render_as_string(hide_password=False)
    given = {"enabled": True, "start_at": start_at, "judge_model": "reference", "judge_timeout_s": 5, **quality}
    return Settings.model_validate({"rag_quality": given, "database": {"url": url}})


@contextmanager
def street(database: Database, *, clock: Clock | None = None, **quality: Any) -> Iterator[GradingStreet]:
    """A grading street of its own connections over a test's database."""
    with GradingStreet.open(settings(database, **quality), clock=clock) as opened:
        yield opened


def table(database: Database, statement: str, *values: object) -> list[tuple[Any, ...]]:
    """All rows of a statement."""
    with database.connect() as connection:
        return connection.execute(statement, values).fetchall()


OUR_TABLES = (
    "rag_call",
    "rag_triad",
    "rag_metric",
    "rag_judge_score",
    "rag_quality",
    "rag_quality_window",
    "rag_quality_day",
    "rag_call_window",
)


def everything(database: Database) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of our tables, with the transaction that wrote it: equal only where no row was touched."""
    return {name: table(database, f"SELECT xmin::text, t.* FROM {name} AS t ORDER BY 2, 3, 4") for name in OUR_TABLES}
