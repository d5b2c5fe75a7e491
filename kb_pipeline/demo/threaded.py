"""Servers of the demo in a thread of its process: the one way to listen, to serve, to leave and to come back.

Belongs here: sockets, threads, uvicorn's settings. Does not: what a server answers.
"""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

import uvicorn
from starlette.types import ASGIApp

from kb_pipeline.errors import KbPipelineError

_STOP_S = 10.0


class ThreadedServer:
    """An application on a free port of the loopback interface, unless `port` names one.

    A context manager; `base_url` is valid inside it. Leaving does not wait for hanging calls.
    """

    def __init__(self, name: str, app: ASGIApp, *, port: int = 0) -> None:
        self._name = name
        self._app = app
        self._port = port

    def __enter__(self) -> Self:
        self._socket = listening_socket(self._port, name=self._name)
        self.base_url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._server = server_of(self._app)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, name=self._name, daemon=True
        )
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.should_exit = True
        self._thread.join(_STOP_S)
        self._socket.close()

    @contextmanager
    def away(self) -> Iterator[None]:
        """The server is gone within the block: calls are refused as where nobody listens. It comes back unchanged."""
        self._port = self._socket.getsockname()[1]
        self.__exit__(None, None, None)
        try:
            yield
        finally:
            self.__enter__()


def listening_socket(port: int, *, name: str) -> socket.socket:
    """A socket that listens on the loopback interface, so that calls queue up from the first moment.

    Raises KbPipelineError when the port is taken.
    """
    try:
        return socket.create_server(("127.0.0.1", port), backlog=512)
    except OSError as error:
        raise KbPipelineError(
            f"the {name} cannot listen on port {port}: {error.strerror}; give a free one, or 0"
        ) from None


def server_of(app: ASGIApp) -> uvicorn.Server:
    """The uvicorn server of an application, silent and quick to leave."""
    config = uvicorn.Config(
        app,
        log_level="critical",
        access_log=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=1,
    )
    return uvicorn.Server(config)
