"""The outermost layer: security headers on every response, a plain 500 for what nobody foresaw, a count of requests.

Belongs here: what holds for every request. Does not: who may see what (access.py), routes.
"""

import asyncio
import logging
import time
from collections.abc import Collection, Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kb_pipeline.service.problems import problem
from kb_pipeline.service.traffic import Traffic

_LOG = logging.getLogger(__name__)
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
MOST_AT_ONCE = 200
LONGEST_BODY, BODY_S = 65_536, 10.0
# As web servers write it of a client that went away before its answer.
_GONE = 499
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1", "[::1]"})


class _Bounded:
    """What a client sends, as long as it is short and comes soon; raises 413 and 408, which become problems."""

    def __init__(self, receive: Receive, headers: Headers) -> None:
        self._receive = receive
        self._declared = headers.get("content-length", "0")
        self._size, self._is_whole = 0, False

    async def receive(self) -> Message:
        """The next message of the client."""
        if self._is_whole:
            return await self._receive()
        if not self._declared.isdecimal() or int(self._declared) > LONGEST_BODY:
            raise _too_long()
        try:
            message = await asyncio.wait_for(self._receive(), BODY_S)
        except TimeoutError:
            raise HTTPException(408, "The rest of the request did not come.", {"Connection": "close"}) from None
        self._size += len(message.get("body", b""))
        self._is_whole = not message.get("more_body", False)
        if self._size > LONGEST_BODY:
            raise _too_long()
        return message


def _too_long() -> HTTPException:
    words = f"A body of at most {LONGEST_BODY // 1024} kB is accepted."
    return HTTPException(413, words, {"Connection": "close"})


class Guard:
    """ASGI middleware around the whole application.

    `hosts`, where given, are the names by which it may be asked for: without tokens a page of somebody else's, whose
    name was made to lead to this machine, could read it otherwise.
    """

    def __init__(self, app: ASGIApp, *, traffic: Traffic, hosts: Collection[str] | None, is_https: bool) -> None:
        self._app = app
        self._traffic = traffic
        self._hosts = hosts
        self._headers = HEADERS | ({"Strict-Transport-Security": "max-age=31536000"} if is_https else {})
        self._in_flight = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["method"] == "HEAD":
            # Whatever may be read may be asked after: the server itself leaves the body of such an answer out.
            scope = {**scope, "method": "GET"}
        started, status = time.perf_counter(), 500

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        self._in_flight += 1
        try:
            await self._answer(scope, _Bounded(receive, Headers(scope=scope)).receive, sending)
        except ClientDisconnect:
            status = _GONE
        finally:
            self._in_flight -= 1
            self._traffic.note(_route(scope), status, time.perf_counter() - started)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        if self._hosts is not None and _host(Headers(scope=scope)) not in self._hosts:
            refusal = problem(request, 421, "Without tokens this service answers on the loopback address only.")
            await refusal(scope, receive, send)
            return
        if self._in_flight > MOST_AT_ONCE and scope["path"] != "/healthz":
            refusal = problem(request, 503, "Too many requests at once; ask again.", headers={"Retry-After": "1"})
            await refusal(scope, receive, send)
            return
        begun = False

        async def noting(message: Message) -> None:
            nonlocal begun
            begun = begun or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, noting)
        except ClientDisconnect:
            raise
        except Exception as error:  # noqa: BLE001 whatever it is, the client gets a problem and no word of it
            _LOG.error("%s at %s", type(error).__name__, _route(scope))  # a traceback may hold text
            if not begun:
                await problem(request, 500, "Something went wrong here; the log names it.")(scope, receive, send)


def _host(headers: Headers) -> str:
    host = headers.get("host", "")
    return host.rpartition(":")[0] if ":" in host and not host.endswith("]") else host


def _route(scope: Scope) -> str:
    """The template of the path, never the path itself: it may hold an id."""
    route = scope.get("route")
    return str(getattr(route, "path", "other"))


def loopback(hosts: Iterable[str]) -> bool:
    """Whether all of these names are the loopback address."""
    return all(host in LOOPBACK_NAMES for host in hosts)
