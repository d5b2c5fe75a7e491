"""Reading the gateway's audit trail: the only module that fetches stored bodies.

Belongs here: streaming of unexamined calls, the access record of every batch. Does not: what a body means.
"""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import timedelta
from typing import Any, cast

from psycopg.types.json import Jsonb

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.queries import load
from kb_pipeline.ports import Clock
from kb_pipeline.records import AuditedCall, StoredBody
from kb_pipeline.windows import Window

# The gateway writes a body after its call; a call without one is given up as missing_body after this long.
BODY_GRACE = timedelta(minutes=10)
CHUNK_BYTES = 32 * 1024 * 1024

Pair = tuple[AuditedCall, StoredBody | None]


class PostgresAuditTrail:
    """Unexamined calls of `surfaces`, streamed row by row; `max_body_bytes` bounds what one body may fetch.

    A body over the bound arrives as `max_body_bytes + 1` zero bytes, so that the reader calls it too large without
    the bytes ever leaving the server. With `reread`, calls count as unexamined too that other markers than `templates`
    (fingerprints by surface) decided, where the markers may change the verdict.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        *,
        surfaces: Sequence[str],
        pipeline_tenant: str,
        max_body_bytes: int,
        templates: Mapping[str, str] | None = None,
        reread: bool = False,
        purpose: str = "grading",
        run_id: str | None = None,
    ) -> None:
        self._database = database
        self._clock = clock
        self._purpose = purpose
        self._run_id = run_id
        self._too_large = bytes(max_body_bytes + 1)
        self._parameters: dict[str, Any] = {
            "surfaces": list(surfaces),
            "pipeline_tenant": pipeline_tenant,
            "max_body_bytes": max_body_bytes,
            "templates": Jsonb(dict(templates or {})),
            "reread": reread,
        }

    @contextmanager
    def unexamined(self, window: Window, *, chunk: int) -> Iterator[Iterator[Sequence[Pair]]]:
        """Chunks of at most `chunk` calls and about 32 MiB of bodies, each recorded before it is handed out."""
        parameters = self._parameters | {
            "window_start": window.start,
            "window_end": window.end,
            "body_deadline": self._clock.now() - BODY_GRACE,
        }
        with self._database.connect() as connection, connection.cursor() as cursor:
            rows = cast(
                Generator[tuple[Any, ...], None, None], cursor.stream(load("unexamined_calls"), parameters, binary=True)
            )
            with closing(rows):
                yield self._recorded(_chunked(map(self._pair, rows), chunk))

    def _pair(self, row: tuple[Any, ...]) -> Pair:
        *facts, request_is_large, response_is_large, request, response, prev_hash, body_hash = row
        event_id, ts, trace_id, surface, tenant, operation, engine, model, http_status = facts
        call = AuditedCall(
            event_id=event_id,
            ts=ts,
            trace_id=trace_id,
            surface=surface,
            tenant=tenant,
            operation=operation,
            engine=engine,
            model=model,
            http_status=http_status,
        )
        return call, StoredBody(
            request=self._too_large if request_is_large else request,
            response=self._too_large if response_is_large else response,
            # A hash over bytes that were not fetched proves nothing.
            prev_hash=None if request_is_large or response_is_large else prev_hash,
            body_hash=body_hash,
        )

    def _recorded(self, chunks: Iterator[list[Pair]]) -> Iterator[list[Pair]]:
        for pairs in chunks:
            bodies = [body for _, body in pairs if body is not None and (body.request or body.response)]
            if bodies:
                self._record(pairs, len(bodies), sum(map(_size, bodies)))
            yield pairs

    def _record(self, pairs: Sequence[Pair], bodies: int, body_bytes: int) -> None:
        with self._database.connect() as connection:
            connection.execute(
                load("record_access"),
                {
                    "actor": self._database.application_name,
                    "purpose": self._purpose,
                    "run_id": self._run_id,
                    "ts_from": pairs[0][0].ts,
                    "ts_to": pairs[-1][0].ts,
                    "bodies": bodies,
                    "body_bytes": body_bytes,
                },
            )


def _size(body: StoredBody) -> int:
    return len(body.request or b"") + len(body.response or b"")


def _chunked(pairs: Iterator[Pair], count: int) -> Iterator[list[Pair]]:
    chunk: list[Pair] = []
    size = 0
    for pair in pairs:
        chunk.append(pair)
        size += _size(pair[1]) if pair[1] else 0
        if len(chunk) >= count or size >= CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk
