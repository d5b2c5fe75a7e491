"""Real HTTP servers that misbehave on purpose: a script answers each request with bytes and pauses."""

import json
import socket
import socketserver
import ssl
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True, kw_only=True, slots=True)
class Received:
    """One request as it arrived: headers in lower case, the body decoded from JSON, or as text."""

    path: str
    headers: dict[str, str]
    body: Any


# For calls of tests over plain HTTP: reading the authorities of TLS takes longer than the call.
PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
# What a server does with a request: bytes are sent, numbers are seconds of silence; then the connection is closed.
Script = Callable[[Received], Iterable[bytes | float]]


def http(status: int, body: Any = b"", **headers: str) -> bytes:
    """A whole HTTP response; a body that is not bytes is sent as JSON."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    names = {"Content-Type": "application/json", "Content-Length": str(len(content)), "Connection": "close"}
    names |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in names.items())
    return f"HTTP/1.1 {status} Reply\r\n{head}\r\n".encode() + content


def completion(content: Any, finish_reason: str = "stop", **message: Any) -> dict[str, Any]:
    """A chat completion."""
    whole = {"role": "assistant", "content": content} | message
    return {"choices": [{"index": 0, "message": whole, "finish_reason": finish_reason}], "usage": {"prompt_tokens": 3}}


@dataclass(kw_only=True)
class ScriptedServer:
    """Serves `script` on the loopback interface, one thread a connection; keeps what it received."""

    script: Script
    received: list[Received] = field(default_factory=list)

    def __enter__(self) -> Self:
        outer = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                request = _read(self.request)
                if request is not None:
                    outer.received.append(request)
                    _play(self.request, outer.script(request))

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            request_queue_size = 128

        self._server = Server(("127.0.0.1", 0), Handler)
        self.base_url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.socket.close()


def _read(connection: socket.socket) -> Received | None:
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            return None
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
    while len(body) < int(headers.get("content-length", "0")):
        body += connection.recv(65536)
    return Received(path=lines[0].split(" ")[1], headers=headers, body=_decoded(body))


def _decoded(body: bytes) -> Any:
    try:
        return json.loads(body) if body else None
    except ValueError:
        return body.decode()


def _play(connection: socket.socket, steps: Iterable[bytes | float]) -> None:
    for step in steps:
        if isinstance(step, bytes):
            try:
                connection.sendall(step)
            except OSError:
                return
        else:
            time.sleep(step)
