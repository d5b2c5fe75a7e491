"""Reading the requests of calls that the markers did not fit, for whoever looks for better markers.

Belongs here: streaming them, the access record of every batch. Does not: what a request means.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any, cast

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.queries import load
from kb_pipeline.records import UnparsedCall, Verdict
from kb_pipeline.windows import Window

MOST_CALLS = 1000
CHUNK_BYTES = 8 * 1024 * 1024
PURPOSE = "suggest-template"


class PostgresUnparsedCalls:
    """The newest unparsed calls, at most `most_calls` turns and as many others of a surface and window.

    A request over `max_body_bytes` arrives as `max_body_bytes + 1` zero bytes, so that the reader calls it too large
    without the bytes ever leaving the server. Responses are never read.
    """

    def __init__(
        self, database: Database, *, pipeline_tenant: str, max_body_bytes: int, most_calls: int = MOST_CALLS
    ) -> None:
        self._database = database
        self._too_large = bytes(max_body_bytes + 1)
        self._parameters = {
            "pipeline_tenant": pipeline_tenant,
            "max_body_bytes": max_body_bytes,
            "most_calls": most_calls,
        }

    @contextmanager
    def newest(self, window: Window, surface: str, *, chunk: int) -> Iterator[Iterator[Sequence[UnparsedCall]]]:
        """Chunks of at most `chunk` calls and about 8 MiB of requests, each recorded before it is handed out."""
        parameters = self._parameters | _of(window, surface)
        with self._database.connect() as connection, connection.cursor() as cursor:
            rows = cast(
                Generator[tuple[Any, ...], None, None], cursor.stream(load("unparsed_calls"), parameters, binary=True)
            )
            with closing(rows):
                yield self._recorded(_chunked(map(self._call, rows), chunk))

    def parsed_turns(self, window: Window, surface: str) -> int:
        with self._database.connect() as connection:
            row = connection.execute(load("count_parsed_turns"), _of(window, surface)).fetchone()
        return row[0] if row else 0

    def _call(self, row: tuple[Any, ...]) -> UnparsedCall:
        ts, verdict, is_large, request = row
        return UnparsedCall(
            ts=ts, verdict=Verdict(verdict) if verdict else None, request=self._too_large if is_large else request
        )

    def _recorded(self, chunks: Iterator[list[UnparsedCall]]) -> Iterator[list[UnparsedCall]]:
        for calls in chunks:
            fetched = [call for call in calls if call.request is not self._too_large]
            if fetched:
                self._record(fetched)
            yield calls

    def _record(self, calls: Sequence[UnparsedCall]) -> None:
        with self._database.connect() as connection:
            connection.execute(
                load("record_access"),
                {
                    "actor": self._database.application_name,
                    "purpose": PURPOSE,
                    "run_id": None,
                    "ts_from": min(call.ts for call in calls),
                    "ts_to": max(call.ts for call in calls),
                    "bodies": len(calls),
                    "body_bytes": sum(len(call.request) for call in calls),
                },
            )


def _of(window: Window, surface: str) -> dict[str, Any]:
    return {"window_start": window.start, "window_end": window.end, "surface": surface}


def _chunked(calls: Iterator[UnparsedCall], count: int) -> Iterator[list[UnparsedCall]]:
    chunk: list[UnparsedCall] = []
    size = 0
    for call in calls:
        chunk.append(call)
        size += len(call.request)
        if len(chunk) >= count or size >= CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk
