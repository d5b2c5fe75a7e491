"""HTTP clients beside a bare socket: judge-sized calls to a loopback server, 1, 4, 16 and 64 at once.

Belongs here: calls a second and client CPU a call, of the judge's own client and of its peers. Does not: claims.
Run it as `python benchmarks/http_clients.py`; peers that are not installed are left out with a word. `--latency-ms`
makes the server as slow as a judge.
"""

import argparse
import asyncio
import importlib
import importlib.util
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import httpx
from judging import claims_of, stub

from kb_pipeline.adapters.gateway import GatewayJudge
from kb_pipeline.adapters.gateway.judge import CONNECTIONS_PER_CLIENT
from kb_pipeline.records import Graded

AT_ONCE = (1, 4, 16, 64)
BODY = b'{"model":"stub","messages":[{"role":"user","content":"' + b"a" * 6_000 + b'"}]}'
HEADERS = {"Content-Type": "application/json", "Idempotency-Key": "event-1"}
PATH = "/v1/chat/completions"
TIMEOUT_S = 60.0

Call = Callable[[], Awaitable[bool]]
Opener = Callable[[AsyncExitStack, str, int], Awaitable[Call]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured:
    """Medians of one client at one concurrency: calls a second, CPU milliseconds of the client's process a call."""

    calls_per_s: float
    cpu_ms: float


async def open_socket(stack: AsyncExitStack, url: str, at_once: int) -> Call:
    """The floor: keep-alive connections of asyncio, a request written as bytes, a reply cut by its Content-Length."""
    host, port = url.removeprefix("http://").split(":")
    free: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()
    for _ in range(at_once):
        reader, writer = await asyncio.open_connection(host, int(port))
        stack.callback(writer.close)
        free.put_nowait((reader, writer))
    fields = "".join(f"{name}: {value}\r\n" for name, value in HEADERS.items())
    head = f"POST {PATH} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len(BODY)}\r\n{fields}\r\n".encode()

    async def call() -> bool:
        reader, writer = await free.get()
        writer.write(head + BODY)
        reply = await reader.readuntil(b"\r\n\r\n")
        length = int(reply.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        body = await reader.readexactly(length)
        free.put_nowait((reader, writer))
        return b"faithfulness" in body

    return call


async def open_httpx(stack: AsyncExitStack, url: str, at_once: int) -> Call:
    """One httpx client with one pool."""
    limits = httpx.Limits(max_connections=at_once, max_keepalive_connections=at_once)
    client = await stack.enter_async_context(httpx.AsyncClient(timeout=TIMEOUT_S, limits=limits, trust_env=False))
    return _like_httpx(client, url)


async def open_small_pools(stack: AsyncExitStack, url: str, at_once: int) -> Call:
    """As the judge holds them: clients of a few connections each, calls dealt out in turn."""
    clients = -(-at_once // CONNECTIONS_PER_CLIENT)
    calls = cycle([await open_httpx(stack, url, CONNECTIONS_PER_CLIENT) for _ in range(clients)])

    async def call() -> bool:
        return await next(calls)()

    return call


async def open_httpx2(stack: AsyncExitStack, url: str, at_once: int) -> Call:
    """The same of httpx2."""
    httpx2: Any = importlib.import_module("httpx2")
    limits = httpx2.Limits(max_connections=at_once, max_keepalive_connections=at_once)
    client = await stack.enter_async_context(httpx2.AsyncClient(timeout=TIMEOUT_S, limits=limits, trust_env=False))
    return _like_httpx(client, url)


def _like_httpx(client: Any, url: str) -> Call:
    async def call() -> bool:
        reply = await client.post(url + PATH, content=BODY, headers=HEADERS)
        return b"faithfulness" in reply.content

    return call


async def open_aiohttp(stack: AsyncExitStack, url: str, at_once: int) -> Call:
    """One aiohttp session."""
    aiohttp: Any = importlib.import_module("aiohttp")
    connector = aiohttp.TCPConnector(limit=at_once)
    session = await stack.enter_async_context(aiohttp.ClientSession(connector=connector, headers=HEADERS))

    async def call() -> bool:
        async with session.post(url + PATH, data=BODY) as reply:
            return b"faithfulness" in await reply.read()

    return call


async def open_judge(stack: AsyncExitStack, url: str, at_once: int) -> Call:
    """The judge of this project, whole: prompt built, deadline kept, reply read and checked."""
    judge = GatewayJudge(base_url=url, model="stub", tenant="benchmark", timeout_s=TIMEOUT_S, concurrency=at_once)
    await stack.enter_async_context(judge)
    (claim,) = claims_of(1)

    async def call() -> bool:
        return isinstance(await judge.grade(claim), Graded)

    return call


CLIENTS: dict[str, tuple[str | None, Opener]] = {
    "bare socket": (None, open_socket),
    "httpx, one pool": (None, open_httpx),
    "httpx, small pools": (None, open_small_pools),
    "httpx2": ("httpx2", open_httpx2),
    "aiohttp": ("aiohttp", open_aiohttp),
    "judge, prompt to scores": (None, open_judge),
}


async def run(opener: Opener, url: str, at_once: int, calls: int) -> Measured:
    """So many calls, `at_once` in flight, after a warm-up of one call each."""
    async with AsyncExitStack() as stack:
        call = await opener(stack, url, at_once)
        await asyncio.gather(*(call() for _ in range(at_once)))
        left = iter(range(calls))

        async def work() -> bool:
            return all([await call() for _ in left])

        started, cpu = time.perf_counter(), time.process_time()
        if not all(await asyncio.gather(*(work() for _ in range(at_once)))):
            raise RuntimeError("a reply had no scores")
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    return Measured(calls_per_s=calls / seconds, cpu_ms=cpu / calls * 1000)


def medians(opener: Opener, url: str, at_once: int, arguments: argparse.Namespace) -> Measured:
    """The medians of the repeats."""
    runs = [asyncio.run(run(opener, url, at_once, arguments.calls)) for _ in range(arguments.repeats)]
    return Measured(
        calls_per_s=statistics.median(each.calls_per_s for each in runs),
        cpu_ms=statistics.median(each.cpu_ms for each in runs),
    )


def main() -> int:
    """Measure and print one row a client and concurrency; the ratio is calls a second over those of the bare socket."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=400)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--at-once", type=int, nargs="+", default=AT_ONCE)
    parser.add_argument("--latency-ms", type=float, default=0.0)
    arguments = parser.parse_args()
    print(f"{'client':<28} {'at once':>7} {'calls/s':>8} {'CPU ms':>7} {'ratio':>6}")
    with stub("--latency-ms", str(arguments.latency_ms)) as url:
        floor: dict[int, float] = {}
        for name, (module, opener) in CLIENTS.items():
            if module is not None and importlib.util.find_spec(module) is None:
                print(f"{name:<28} is not installed: left out")
                continue
            for at_once in arguments.at_once:
                found = medians(opener, url, at_once, arguments)
                ratio = found.calls_per_s / floor.setdefault(at_once, found.calls_per_s)
                print(
                    f"{name:<28} {at_once:>7} {found.calls_per_s:>8.0f} {found.cpu_ms:>7.2f} {ratio:>6.3f}", flush=True
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
