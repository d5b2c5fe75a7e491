"""/metrics and /healthz of the worker, in a thread of their own, so that they answer also when the worker hangs.

Belongs here: those two pages. Does not: what is well or ill (faults.py, running.py).
"""

import socket
import threading
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self

import uvicorn
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from kb_pipeline.errors import KbPipelineError

STOP_SECONDS = 2.0
Health = Callable[[], tuple[bool, Mapping[str, Any]]]
"""Whether all is well, and what is said of it as JSON."""


class StatusServer:
    """The server; a context manager. `address` is valid inside it."""

    def __init__(self, host: str, port: int, *, registry: CollectorRegistry, health: Health) -> None:
        self._place = (host, port)
        self._server = uvicorn.Server(
            uvicorn.Config(
                _application(registry, health),
                log_level="critical",
                access_log=False,
                lifespan="off",
                ws="none",
                timeout_graceful_shutdown=1,
            )
        )

    def __enter__(self) -> Self:
        self._socket = _listening(*self._place)
        host, port = self._socket.getsockname()[:2]
        self.address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, name="status", daemon=True
        )
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.should_exit = True
        self._thread.join(STOP_SECONDS)
        self._socket.close()


def _application(registry: CollectorRegistry, health: Health) -> Starlette:
    async def metrics(_request: Request) -> Response:
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)

    async def healthz(_request: Request) -> Response:
        is_well, facts = health()
        return JSONResponse(facts, status_code=200 if is_well else 503)

    return Starlette(routes=[Route("/metrics", metrics), Route("/healthz", healthz)])


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=64)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "no such address"
        raise KbPipelineError(
            f"the worker cannot listen on {host}:{port}: {reason}; set retrieval.worker_host and "
            "retrieval.worker_port, or port 0 for a free one"
        ) from None
