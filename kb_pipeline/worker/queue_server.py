"""Where the queue is, and how to speak to it: the options that BullMQ takes, and whether the server is fit for a queue.

Belongs here: connections and their patience, the words for a server that cannot be used. Does not: jobs.
"""

import asyncio
import socket
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import psycopg
from psycopg.conninfo import make_conninfo
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff, NoBackoff
from redis.exceptions import BusyLoadingError, ReadOnlyError, RedisError

from kb_pipeline.errors import QueueError, SettingsError
from kb_pipeline.settings import RetrievalSettings

OLDEST_SERVER = (6, 2)
LONGEST_REASON = 200
PROBE_SECONDS = 5.0
CONNECT_SECONDS = 5.0
# A server that vanished without a word is given up by the system after some 20 seconds. Not by a time-out of the
# client: its default of five seconds is as long as the worker's blocking read, and in Python 3.11 its sending with one
# may swallow a cancellation.
WATCHFUL = {"TCP_KEEPIDLE": 10, "TCP_KEEPINTVL": 3, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 20_000}
MOST_CONNECTIONS = 16
"""Of one worker, since a hosted server may admit few."""
SCHEMA = "bullmq"
"""The schema that BullMQ keeps a queue in, in every language, unless it is told another."""
FAILURES = (RedisError, psycopg.Error, OSError, TimeoutError)
"""What a server that cannot be used raises."""


@dataclass(frozen=True, kw_only=True, slots=True)
class QueueServer:
    """One queue on a Redis or Valkey server, or in a PostgreSQL database; `key` is the setting that names it."""

    queue: str
    url: str
    key: str

    @classmethod
    def configured(cls, retrieval: RetrievalSettings) -> "QueueServer":
        """The configured one; raises SettingsError where retrieval is switched off."""
        if not retrieval.enabled:
            raise SettingsError(
                "retrieval.enabled is false, so no event is consumed; set it to true in kb_pipeline.yaml"
            )
        if retrieval.redis_url is not None:
            return cls(queue=retrieval.queue, url=retrieval.redis_url, key="retrieval.redis_url")
        # Settings that are enabled name one of the two.
        url = "postgresql" + str(retrieval.queue_database_url).removeprefix("postgresql+psycopg")
        return cls(queue=retrieval.queue, url=url, key="retrieval.queue_database_url")

    @property
    def is_redis(self) -> bool:
        return self.key == "retrieval.redis_url"

    @property
    def address(self) -> str:
        """Where it is, without user, password and options."""
        parts = urlsplit(self.url)
        # A socket of PostgreSQL is in the options.
        [host] = parse_qs(parts.query).get("host", ["" if parts.scheme == "unix" else "localhost"])[:1]
        place = parts.netloc.rpartition("@")[2] or host
        return f"{parts.scheme}://{place}{parts.path}"

    def patient(self) -> dict[str, Any]:
        """BullMQ's options for the worker: a command waits until the server is back, however long that takes."""
        if not self.is_redis:
            return self._postgres()
        pool = self._pool(
            max_connections=MOST_CONNECTIONS,
            retry=Retry(ExponentialBackoff(cap=1.0, base=0.05), -1),
            # A server that is loading, or that became a replica behind the same name: connect again.
            retry_on_error=[BusyLoadingError, ReadOnlyError],
        )
        return {"connection": Redis(connection_pool=pool)}

    def impatient(self) -> dict[str, Any]:
        """BullMQ's options for a look at the queue, which fails at once; whoever looks does not wait for ever."""
        if not self.is_redis:
            return self._postgres()
        pool = self._pool(max_connections=2, retry=Retry(NoBackoff(), 0))
        return {"connection": Redis(connection_pool=pool)}

    def unusable(self, error: BaseException) -> QueueError:
        """The sentence for a server that does not answer, or refuses."""
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        reason = "; ".join(lines)[:LONGEST_REASON].rstrip(".") or "no answer in time"
        return QueueError(
            f"the queue server at {self.address} cannot be used: {reason}; check {self.key} and the server"
        )

    def _pool(self, **arguments: Any) -> BlockingConnectionPool:
        shared: dict[str, Any] = {
            "decode_responses": True,
            # What is no UTF-8 makes one unreadable job, not an unreadable connection.
            "encoding_errors": "replace",
            "socket_connect_timeout": CONNECT_SECONDS,
            "socket_timeout": None,
            # For a free connection.
            "timeout": None,
        }
        if not self.url.startswith("unix:"):
            known = {getattr(socket, name): value for name, value in WATCHFUL.items() if hasattr(socket, name)}
            shared |= {"socket_keepalive": True, "socket_keepalive_options": known}
        try:
            return BlockingConnectionPool.from_url(self.url, **(shared | arguments))
        except (ValueError, TypeError):
            raise SettingsError(
                f"{self.key} has options that the client does not know; accepted is redis://user:password@host:6379/0"
            ) from None

    def _postgres(self) -> dict[str, Any]:
        watchful = {"keepalives_idle": 10, "keepalives_interval": 3, "keepalives_count": 3, "tcp_user_timeout": 20_000}
        timely = {"connect_timeout": int(CONNECT_SECONDS)}
        return {"backend": "postgres", "schema": SCHEMA, "connection": make_conninfo(self.url, **watchful, **timely)}


async def close_connections(options: dict[str, Any]) -> None:
    """Close what `patient` or `impatient` opened, and BullMQ leaves open as it was given it."""
    client = options["connection"]
    if isinstance(client, Redis):
        await client.aclose(close_connection_pool=True)


@dataclass(frozen=True, kw_only=True, slots=True)
class Probe:
    """What a server says of itself; `objection` is a problem and its remedy in one sentence, None where it is fit."""

    description: str
    objection: str | None = None


async def probe(server: QueueServer) -> Probe:
    """Ask the server who it is. Raises QueueError when it does not answer."""
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            return await (_probe_redis(server) if server.is_redis else _probe_postgres(server))
    except FAILURES as error:
        raise server.unusable(error) from None


async def _probe_redis(server: QueueServer) -> Probe:
    options = server.impatient()
    try:
        facts: dict[str, Any] = await options["connection"].info()
    finally:
        await close_connections(options)
    product = str(facts.get("server_name", "redis"))
    version = str(facts.get(f"{product}_version", facts.get("redis_version", "")))
    return Probe(
        description=f"{product} {version} answers at {server.address}",
        objection=_objection(facts, f"{product} {version}", str(facts.get("redis_version", ""))),
    )


def _objection(facts: dict[str, Any], product: str, protocol: str) -> str | None:
    policy = facts.get("maxmemory_policy", "noeviction")
    numbers = tuple(int(part) for part in protocol.split(".")[:2] if part.isdigit())
    if facts.get("redis_mode") == "cluster":
        return (
            "the queue server is a cluster, which the worker cannot use; give a single server or its sentinel's master"
        )
    if numbers and numbers < OLDEST_SERVER:
        return f"the queue server is {product}, older than BullMQ needs; use Redis 6.2 or later, or Valkey"
    if policy != "noeviction":
        return (
            f"the queue server forgets jobs when its memory is full (maxmemory-policy {policy}); set it to noeviction"
        )
    return None


async def _probe_postgres(server: QueueServer) -> Probe:
    connection = await psycopg.AsyncConnection.connect(server._postgres()["connection"])  # noqa: SLF001 same module
    version = connection.info.server_version
    await connection.close()
    return Probe(description=f"PostgreSQL {version // 10_000} answers at {server.address}, schema {SCHEMA}")


def probe_now(server: QueueServer) -> Probe:
    """`probe` for callers without an event loop."""
    return asyncio.run(probe(server))
