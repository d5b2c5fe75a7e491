"""Connections that ask for nothing are closed: a request must have come whole, but for its body, within seconds.

Belongs here: the protocol of a connection. Does not: bodies and what is answered (guard.py).
"""

from asyncio import TimerHandle, Transport
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADERS_S = 10.0


class PromptConnection(H11Protocol):
    """uvicorn's HTTP/1.1, which by itself would wait for ever for the rest of a request line and its headers."""

    _due: TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Wait for the rest of a request that has begun, and no longer for one that is there."""
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._wait()
        else:
            self._wait_no_more()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the time."""
        self._wait_no_more()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self._due is None:
            self._due = self.loop.call_later(HEADERS_S, self._give_up)

    def _wait_no_more(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None

    def _give_up(self, *_: Any) -> None:
        self._due = None
        if not self.transport.is_closing():
            self.transport.close()
