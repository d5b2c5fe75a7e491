"""The HTTP side of the local Keep, and a server in a thread.

Belongs here: what is answered to what. Does not: keeping alerts.
"""

import asyncio
import json
import random
import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from kb_pipeline.demo.local_keep.memory import Alerts
from kb_pipeline.demo.threaded import ThreadedServer, server_of

NAME = "local Keep"
KEY, READ_KEY = "local-keep-sends", "local-keep-reads"
_REQUIRED = ("name", "status", "severity", "lastReceived")
_FIELDS: dict[str, type] = {
    **dict.fromkeys((*_REQUIRED, "id", "fingerprint", "url", "message"), str),
    "labels": dict,
    "source": list,
}
_WORDS: dict[type, str] = {
    str: "str type expected",
    dict: "value is not a valid dict",
    list: "value is not a valid list",
}
Place = list[str | int]


@dataclass(kw_only=True)
class Conduct:
    """How the server behaves; it may be changed while it runs.

    `visible_after_s`: until what was accepted is seen, at most; two requests may overtake each other. `lose`: how many
    of the next accepted requests are lost, as by a kill. `status`: what the next `times` requests to send are answered
    instead of the truth, None for ever; `taken`: whether they are taken nevertheless. `hang_s`: silence before an
    answer.
    """

    visible_after_s: float = 0.0
    lose: int = 0
    status: int | None = None
    times: int | None = None
    taken: bool = False
    hang_s: float = 0.0

    def instead(self) -> int | None:
        """What this request is answered instead of the truth."""
        if self.times is not None:
            if self.times <= 0:
                return None
            self.times -= 1
        return self.status

    def loses(self) -> bool:
        """Whether this accepted request is lost."""
        self.lose -= 1
        return self.lose >= 0


@dataclass(kw_only=True)
class _Keep:
    """One server's alerts, keys and conduct; `bodies` are the requests to send as they came."""

    alerts: Alerts
    conduct: Conduct
    key: str
    read_key: str
    bodies: list[bytes] = field(default_factory=list)
    queue: set[asyncio.Task[None]] = field(default_factory=set)

    async def event(self, request: Request) -> Response:
        """POST /alerts/event."""
        body = await request.body()
        self.bodies.append(body)
        await asyncio.sleep(self.conduct.hang_s)
        instead = self.conduct.instead()
        if instead is None or self.conduct.taken:
            answer = self._taken(request, body)
            if instead is None:
                return answer
        return JSONResponse({"detail": "as told"}, status_code=instead, headers={"Location": "/", "Retry-After": "0"})

    async def batch(self, request: Request) -> Response:
        """POST /alerts/batch."""
        await asyncio.sleep(self.conduct.hang_s)
        if refusal := self._unreadable(request):
            return refusal
        asked = _decoded(await request.body())
        asked = asked.get("fingerprints") if isinstance(asked, dict) else asked
        if not isinstance(asked, list):
            return _refused([(["body"], _WORDS[list])])
        latest = self.alerts.latest()
        return JSONResponse([latest[name] for name in asked if name in latest])

    async def listed(self, request: Request) -> Response:
        """GET /alerts."""
        return self._unreadable(request) or JSONResponse(list(self.alerts.latest().values()))

    def _taken(self, request: Request, body: bytes) -> Response:
        if request.headers.get("x-api-key") not in {self.key, self.read_key}:
            return JSONResponse({"detail": "Invalid API Key"}, status_code=401)
        sent = _decoded(body)
        if not isinstance(sent, list | dict):
            return _refused([(["body"], _WORDS[list])])
        problems = [problem for place, alert in enumerate(sent if isinstance(sent, list) else [sent])
                    for problem in _problems(place, alert)]  # fmt: skip
        if problems and isinstance(sent, list):
            return _refused(problems)
        # A bare object that fails the schema is accepted all the same, and nobody sees it again.
        if not problems and not self.conduct.loses():
            task = asyncio.get_running_loop().create_task(self._process(sent if isinstance(sent, list) else [sent]))
            self.queue.add(task)
            task.add_done_callback(self.queue.discard)
        return JSONResponse({"task_name": "local"}, status_code=202)

    async def _process(self, sent: Sequence[dict[str, Any]]) -> None:
        if self.conduct.visible_after_s:
            await asyncio.sleep(random.uniform(0, self.conduct.visible_after_s))  # noqa: S311 no secret
        self.alerts.keep(sent)

    def _unreadable(self, request: Request) -> Response | None:
        given = request.headers.get("x-api-key")
        if given == self.read_key:
            return None
        is_known = given == self.key
        return JSONResponse({"detail": "You don't have the required permissions"}, status_code=403 if is_known else 401)


def _decoded(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _problems(place: int, alert: object) -> Iterator[tuple[Place, str]]:
    """What the schema objects to in the alert at `place` of a list."""
    if not isinstance(alert, dict):
        yield ["body", place], _WORDS[dict]
        return
    for name in _REQUIRED:
        if name not in alert:
            yield ["body", place, name], "field required"
    for name, kind in _FIELDS.items():
        if name in alert and not isinstance(alert[name], kind):
            yield ["body", place, name], _WORDS[kind]


def _refused(problems: Sequence[tuple[Place, str]]) -> Response:
    detail = [{"loc": place, "msg": words, "type": "value_error"} for place, words in problems]
    return JSONResponse({"detail": detail}, status_code=422)


def build_app(keep: _Keep) -> Starlette:
    """The application: POST /alerts/event, POST /alerts/batch, GET /alerts."""
    return Starlette(
        routes=[
            Route("/alerts/event", keep.event, methods=["POST"]),
            Route("/alerts/batch", keep.batch, methods=["POST"]),
            Route("/alerts", keep.listed, methods=["GET"]),
        ]
    )


class LocalKeep(ThreadedServer):
    """The server in a thread of this process, on a free port of the loopback interface unless `port` names one.

    A context manager; `base_url` is valid inside it. `key` sends, `read_key` reads and sends. `received` are the alerts
    that became visible, in that order; with a `file` they outlive the server, as what only waits does not. `bodies` are
    the requests to send, byte for byte.
    """

    def __init__(
        self,
        conduct: Conduct | None = None,
        *,
        port: int = 0,
        file: Path | None = None,
        key: str = KEY,
        read_key: str = READ_KEY,
    ) -> None:
        self.conduct = conduct or Conduct()
        self.key, self.read_key = key, read_key
        self.alerts = Alerts(file)
        self._keep = _Keep(alerts=self.alerts, conduct=self.conduct, key=key, read_key=read_key)
        super().__init__(NAME, build_app(self._keep), port=port)

    @property
    def received(self) -> list[dict[str, Any]]:
        """The alerts that became visible, in that order."""
        return self.alerts.received

    def told(self, status: str) -> list[str]:
        """The fingerprints that were received with a status, in alphabetical order."""
        return sorted({str(alert["fingerprint"]) for alert in self.received if alert["status"] == status})

    @property
    def bodies(self) -> list[bytes]:
        """The requests to send."""
        return self._keep.bodies

    def serve(self, listener: socket.socket) -> None:
        """Serve in this thread, until SIGINT or SIGTERM."""
        server_of(self._app).run(sockets=[listener])
