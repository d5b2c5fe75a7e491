"""A reference judge that tells what it was asked."""

import threading
from collections import Counter
from types import TracebackType
from typing import Any, Self

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from kb_pipeline.demo.reference_judge import Faults, build_app
from kb_pipeline.demo.reference_judge.server import listening_socket

START_SECONDS = 10


class WatchedJudge:
    """The reference judge in a thread; `calls` counts calls by idempotency key, `most_at_once` is the peak."""

    def __init__(self, faults: Faults | None = None) -> None:
        self._app: ASGIApp = build_app(faults or Faults())
        self.calls: Counter[str] = Counter()
        self.headers: list[dict[str, str]] = []
        self.most_at_once = 0
        self._now = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        self.headers.append(headers)
        self.calls[headers.get("idempotency-key", "")] += 1
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        try:
            await self._app(scope, receive, send)
        finally:
            self._now -= 1

    def __enter__(self) -> Self:
        self._socket = listening_socket(0)
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        options: dict[str, Any] = {
            "log_level": "critical",
            "lifespan": "off",
            "ws": "none",
            "timeout_graceful_shutdown": 1,
        }
        self._server = uvicorn.Server(uvicorn.Config(self, **options))
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.should_exit = True
        self._thread.join(START_SECONDS)
        self._socket.close()
