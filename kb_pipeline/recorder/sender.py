"""The BullMQ client of one pump: puts batches of jobs on the queue, within a time, or raises.

Belongs here: the connection and its time-outs. Does not: what to do when it fails (pump.py).
"""

import asyncio
import socket
from collections.abc import Sequence
from typing import Any

import msgspec
from bullmq import Queue  # type: ignore[import-untyped]
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from kb_pipeline.errors import SettingsError
from kb_pipeline.recorder.buffer import Entry
from kb_pipeline.retrieval.events import job_options

# For what has no time of its own: ending a connection.
LONGEST_WAIT_S = 2.0


class ResolvingLoop(asyncio.SelectorEventLoop):
    """An event loop of a thread of its own, which may wait for the resolver itself.

    The usual one asks a thread pool, which is gone while the process exits, when the last events are sent.
    """

    async def getaddrinfo(
        self,
        host: Any,
        port: Any,
        *,
        family: int = 0,
        type: int = 0,  # noqa: A002 the overridden method calls it so
        proto: int = 0,
        flags: int = 0,
    ) -> Any:
        return socket.getaddrinfo(host, port, family, type, proto, flags)


class Sender:
    """Connects when it sends, and anew after a failure. All calls come from one event loop."""

    def __init__(self, redis_url: str, *, queue: str, prefix: str) -> None:
        self._client = _client(redis_url)
        self._name = queue
        self._prefix = prefix
        self._made: Queue | None = None

    async def send(self, entries: Sequence[Entry], *, within_s: float) -> None:
        """Put the jobs on the queue, all or none; a job that is there already stays as it is.

        Raises what the client raises, TimeoutError after `within_s`; the server may have taken them all the same.
        """
        async with asyncio.timeout(within_s):
            await self._queue().addBulk([_job(entry) for entry in entries])

    async def close(self) -> None:
        """End the connection."""
        await self._client.aclose()

    def _queue(self) -> Queue:
        # Not made before it is needed: it reads its scripts from disk.
        if self._made is None:
            self._made = Queue(self._name, {"connection": self._client, "prefix": self._prefix})
        return self._made


def _job(entry: Entry) -> dict[str, Any]:
    data = msgspec.json.decode(entry.data)
    return {"name": data["type"], "data": data, "opts": job_options(entry.job_id)}


def _client(redis_url: str) -> Redis:
    """A client that fails at the first failure: trying again is the pump's."""
    try:
        client: Redis = Redis.from_url(
            redis_url,
            decode_responses=True,
            retry=Retry(NoBackoff(), 0),
            socket_timeout=LONGEST_WAIT_S,
            socket_connect_timeout=LONGEST_WAIT_S,
            # Fewer questions before the first answer than with its successor.
            protocol=2,
        )
    except ValueError:
        # Its own words would repeat the URL, and with it the password.
        raise SettingsError(
            "The recorder's redis_url cannot be read; accepted is a URL such as redis://:password@localhost:6379/0,"
            " also rediss:// and unix://"
        ) from None
    return client
