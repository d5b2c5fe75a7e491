"""One POST of JSON, bounded in time and size, whose failures are answers without a secret in them.

Belongs here: HTTP. Does not: what is sent, what an answer means.
"""

import asyncio
import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import httpx

from kb_pipeline.adapters.authorities import trusted
from kb_pipeline.alerting.delivery import Answer

MAX_REPLY_BYTES = 4 * 1024 * 1024
CONNECT_S = 5.0
LONGEST_WAIT_S = 86_400
# Raised before a byte of the request went out.
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """An answer with its body decoded from JSON; None where it is none, or too large."""

    answer: Answer
    body: Any = None


class Wire:
    """Connections to one address. Redirects are not followed and proxies are not read; a key goes to that host alone.

    The transport is used without httpx's client, which would log the address, and with it the secret of a webhook.
    """

    def __init__(self) -> None:
        self._runner: asyncio.Runner | None = None
        self._transport: httpx.AsyncHTTPTransport | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        runner, self._runner = self._runner, None
        transport, self._transport = self._transport, None
        if runner is not None:
            if transport is not None:
                runner.run(transport.aclose())
            runner.close()

    def post(self, url: str, content: bytes, headers: Mapping[str, str], *, within_s: float) -> Reply:
        """The reply to a POST, within so many seconds whatever the server does."""
        if self._runner is None:
            self._runner = asyncio.Runner()
        return self._runner.run(self._post(url, content, headers, within_s))

    async def _post(self, url: str, content: bytes, headers: Mapping[str, str], within_s: float) -> Reply:
        try:
            async with asyncio.timeout(within_s):
                return await self._asked(_request(url, content, headers, within_s))
        except _NOT_SENT as error:
            return Reply(answer=Answer(words=f"it cannot be reached ({type(error).__name__})"))
        except (httpx.InvalidURL, httpx.LocalProtocolError, ValueError):
            # Raised before a byte went out too, by an address or by a key that is no text for a header.
            return Reply(answer=Answer(words="its address or key cannot be used in HTTP", is_usable=False))
        except TimeoutError:
            return Reply(answer=Answer(words=f"none within {within_s:.0f} s", is_certain=False))
        except (httpx.HTTPError, httpx.StreamError, OSError) as error:
            words = f"the connection ended ({type(error).__name__})"
            return Reply(answer=Answer(words=words, is_certain=False))

    async def _asked(self, request: httpx.Request) -> Reply:
        if self._transport is None:
            self._transport = httpx.AsyncHTTPTransport(verify=trusted(), trust_env=False)
        response = await self._transport.handle_async_request(request)
        try:
            body = await _capped(response)
        finally:
            await response.aclose()
        return Reply(
            answer=Answer(status=response.status_code, retry_after_s=_seconds(response.headers.get("retry-after"))),
            body=_decoded(body),
        )


def host_of(url: str) -> str:
    """Host and port of an address, for people: nothing else of it is shown."""
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        return "an address that cannot be read"
    return parsed.netloc.decode("ascii", "replace")


def _request(url: str, content: bytes, headers: Mapping[str, str], within_s: float) -> httpx.Request:
    parsed = httpx.URL(url)
    named = {"Content-Type": "application/json", "Accept-Encoding": "identity", **headers}
    if parsed.userinfo:
        pair = f"{parsed.username}:{parsed.password}".encode()
        named["Authorization"] = f"Basic {base64.b64encode(pair).decode()}"
    times = httpx.Timeout(within_s, connect=min(within_s, CONNECT_S)).as_dict()
    return httpx.Request("POST", parsed, content=content, headers=named, extensions={"timeout": times})


async def _capped(response: httpx.Response) -> bytes:
    """The body, nothing of one that is larger than the cap."""
    chunks: list[bytes] = []
    size = 0
    async for chunk in response.aiter_raw():
        size += len(chunk)
        if size > MAX_REPLY_BYTES:
            return b""
        chunks.append(chunk)
    return b"".join(chunks)


def _decoded(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _seconds(value: str | None) -> float | None:
    """A Retry-After in whole seconds; a date is not read, the back-off does without."""
    text = (value or "").strip()
    return min(float(text), LONGEST_WAIT_S) if text.isascii() and text.isdigit() else None
