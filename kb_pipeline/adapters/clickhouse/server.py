"""The copy of retrieval events in ClickHouse, over its HTTP interface.

Belongs here: making its table, asking for its newest event, adding rows. Does not: what is copied, when.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from types import TracebackType
from typing import Self
from urllib.parse import unquote

import httpx

from kb_pipeline.adapters.authorities import trusted
from kb_pipeline.adapters.clickhouse.queries import load
from kb_pipeline.adapters.gateway.hosts import is_private_host
from kb_pipeline.adapters.postgres.sql_files import read_sql
from kb_pipeline.errors import KbPipelineError

SECONDS = 30.0


class ClickHouseFailed(KbPipelineError):
    """The ClickHouse server cannot be reached, refuses, or is no ClickHouse server."""


class ClickHouse:
    """One database of a ClickHouse server, from `http://user:password@host:8123/database`.

    Raises ClickHouseFailed when the host is public, since keys of conversations must not leave the house, and
    whenever the server does not do what it is asked; the message never repeats the password.
    """

    def __init__(self, url: str) -> None:
        parsed = httpx.URL(url)
        self.address = f"{parsed.host}:{parsed.port or (443 if parsed.scheme == 'https' else 8123)}"
        if not is_private_host(parsed):
            raise ClickHouseFailed(f"retrieval.clickhouse_url names {parsed.host}, a public host; write a private one")
        headers = {"X-ClickHouse-User": unquote(parsed.username), "X-ClickHouse-Key": unquote(parsed.password)}
        self._parameters = {"database": parsed.path.strip("/") or "default"}
        self._client = httpx.Client(
            verify=trusted(),
            base_url=parsed.copy_with(path="/", query=None, username=None, password=None),
            headers={name: value for name, value in headers.items() if value},
            timeout=SECONDS,
            trust_env=False,
        )

    def __enter__(self) -> Self:
        """Make the table where it is missing."""
        self._ask(read_sql("clickhouse.sql"))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._client.close()

    def newest(self) -> datetime | None:
        """created_at of the newest event; None for an empty table, which ClickHouse reports as 1970."""
        answer = self._ask(load("newest")).strip()
        try:
            microseconds = int(answer)
        except ValueError:
            raise ClickHouseFailed(f"{self.address} does not answer as a ClickHouse server does") from None
        return datetime.fromtimestamp(microseconds / 1_000_000, UTC) if microseconds > 0 else None

    def add(self, lines: Sequence[str]) -> None:
        """Add the events, each a JSON object; all of them or, on a failure, possibly some: adding again is safe."""
        self._ask(load("insert"), "\n".join(lines))

    def _ask(self, statement: str, body: str | None = None) -> str:
        parameters = self._parameters if body is None else {**self._parameters, "query": statement}
        try:
            reply = self._client.post("", params=parameters, content=statement if body is None else body)
        except httpx.HTTPError as error:
            raise ClickHouseFailed(
                f"ClickHouse at {self.address} cannot be reached ({type(error).__name__}); the copy goes on from where "
                "it stopped once it can"
            ) from None
        if reply.status_code != httpx.codes.OK:
            raise ClickHouseFailed(f"ClickHouse at {self.address} refused with HTTP {reply.status_code}{_code(reply)}")
        return reply.text


def _code(reply: httpx.Response) -> str:
    """The exception code that ClickHouse names beside its message, which may repeat a row."""
    code = reply.headers.get("X-ClickHouse-Exception-Code", "")
    return f" and its error {code}" if code.isdigit() else ""
