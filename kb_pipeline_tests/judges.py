"""A reference judge that tells what it was asked, and may have a small context window."""

import json
import threading
from collections import Counter
from types import TracebackType
from typing import Any, Self

import uvicorn
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kb_pipeline.demo.reference_judge import Faults, build_app
from kb_pipeline.demo.threaded import listening_socket

START_SECONDS = 10


class NarrowWindow:
    """In front of a judge: tells a window of `tokens` and refuses what exceeds it, as vLLM does.

    A token has `chars_per_token` characters. `refused` counts refusals, `prompts` are the user messages let through.
    """

    def __init__(self, app: ASGIApp, tokens: int, chars_per_token: float = 3.3) -> None:
        self._app, self._tokens, self._chars_per_token = app, tokens, chars_per_token
        self.refused = 0
        self.prompts: list[str] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/v1/models":
            models = {"object": "list", "data": [{"id": "reference", "max_model_len": self._tokens}]}
            await JSONResponse(models)(scope, receive, send)
            return
        body = b""
        more = True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        asked = json.loads(body)
        chars = sum(len(each["content"]) for each in asked["messages"])
        if chars / self._chars_per_token + asked.get("max_tokens", 0) > self._tokens:
            self.refused += 1
            said = f"This model's maximum context length is {self._tokens} tokens. However, you requested more."
            await JSONResponse({"object": "error", "message": said, "code": 400}, 400)(scope, receive, send)
            return
        self.prompts.append(asked["messages"][-1]["content"])

        async def again() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        await self._app(scope, again, send)


class WatchedJudge:
    """The reference judge in a thread; `calls` counts calls by idempotency key, `most_at_once` is the peak.

    `window` is its context window in tokens, None for one that holds everything.
    """

    def __init__(self, faults: Faults | None = None, *, window: int | None = None) -> None:
        app = build_app(faults or Faults())
        self.narrow = None if window is None else NarrowWindow(app, window)
        self._app: ASGIApp = self.narrow or app
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
        self._socket = listening_socket(0, name="watched judge")
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
