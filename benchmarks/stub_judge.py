"""A server that replies to every judge call with the same scores after a fixed wait, in a process of its own.

Belongs here: the cheapest HTTP server that can be written, so that a benchmark measures the client. Does not: grading.
Run it as `python benchmarks/stub_judge.py --latency-ms 100`; the first line of output is its port.
"""

import argparse
import asyncio
import json
import sys

from kb_pipeline.demo.reference_judge import Fault, Faults
from kb_pipeline.demo.reference_judge.faults import CallCount

SCORES = {
    "faithfulness_reason": "Semua klaim didukung konteks.",
    "faithfulness": 0.9,
    "answer_relevance_reason": "Jawaban menjawab pertanyaan.",
    "answer_relevance": 0.8,
    "context_relevance_reason": "Konteks sesuai.",
    "context_relevance": 0.7,
}


def completion(text: str) -> bytes:
    """A chat completion with `text` as its message."""
    body = {
        "object": "chat.completion",
        "model": "stub",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1500, "completion_tokens": 80},
    }
    return json.dumps(body).encode()


def response(status: str, body: bytes, extra: str = "") -> bytes:
    """An HTTP/1.1 response that keeps the connection."""
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n{extra}\r\n"
    return head.encode() + body


GOOD = response("200 OK", completion(json.dumps(SCORES)))
MALFORMED = response("200 OK", completion("The answer is well supported: 9/10."))
BUSY = response("429 Too Many Requests", b'{"error": {"message": "busy"}}', "Retry-After: 1\r\n")
BROKEN = response("500 Internal Server Error", b'{"error": {"message": "broken"}}')

REPLIES = {Fault.RATE_LIMITED: BUSY, Fault.SERVER_ERROR: BROKEN, Fault.MALFORMED: MALFORMED, Fault.HANG: GOOD}


class Stub:
    """Answers each connection in turn; faults are drawn by event and call as the reference judge draws them."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._count = CallCount()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                headers = dict(line.split(": ", 1) for line in head.decode("latin-1").split("\r\n")[1:] if ": " in line)
                lowered = {name.lower(): value for name, value in headers.items()}
                await reader.readexactly(int(lowered["content-length"]))
                writer.write(await self._answer(lowered.get("idempotency-key", "")))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _answer(self, key: str) -> bytes:
        fault = self._faults.of(*self._count.next(key))
        await asyncio.sleep(self._faults.hang_s if fault is Fault.HANG else self._faults.latency_s)
        return GOOD if fault is None else REPLIES[fault]


async def main() -> None:
    """Serve until the process is ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency-ms", type=float, default=100.0)
    parser.add_argument("--faults", action="store_true", help="5 %% 429, 5 %% 500, 2 %% hang for 30 s, 5 %% malformed")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    latency_s = options.latency_ms / 1000
    faults = Faults(latency_s=latency_s)
    if options.faults:
        faults = Faults(
            rate_limited=0.05, server_error=0.05, hang=0.02, malformed=0.05, latency_s=latency_s, seed=options.seed
        )
    server = await asyncio.start_server(Stub(faults).serve, "127.0.0.1", 0, backlog=1024)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
