"""The HTTP side of the reference judge: chat completions, models, faults, and a server in a thread.

Belongs here: the protocol. Does not: the verdict, the draw of faults.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from kb_pipeline.demo.reference_judge.faults import CallCount, Fault, Faults
from kb_pipeline.demo.reference_judge.verdict import MODEL, reference_verdict
from kb_pipeline.demo.threaded import ThreadedServer
from kb_pipeline.grading.judging import Blocks, read_blocks
from kb_pipeline.records import Graded
from kb_pipeline.support import words

NAME = "reference judge"
_NO_FAULTS = Faults()
_FORMATS = ("json_schema", "json_object", "text")
_MALFORMED = (
    "The answer is well supported, I would say 8/10.",
    '{"faithfulness_reason": "The answer',
    '{"faithfulness": "0.9", "answer_relevance": "0.9", "context_relevance": "0.9"}',
    '{"faithfulness": 9, "answer_relevance": 8, "context_relevance": 7}',
)


def build_app(faults: Faults = _NO_FAULTS) -> Starlette:
    """The application: POST /v1/chat/completions, GET /v1/models."""
    count = CallCount()

    async def completions(request: Request) -> Response:
        await asyncio.sleep(faults.latency_s)
        event, call = count.next(request.headers.get("idempotency-key", ""))
        fault = faults.of(event, call)
        if fault is Fault.HANG:
            await asyncio.sleep(faults.hang_s)
        if fault is Fault.RATE_LIMITED:
            return _error(429, "too many requests", headers={"Retry-After": f"{faults.retry_after:g}"})
        if fault is Fault.SERVER_ERROR:
            return _error(500, "the worker died")
        return _completion(await request.body(), faults, malformed=call if fault is Fault.MALFORMED else None)

    async def models(_: Request) -> Response:
        return JSONResponse({"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": "kb-pipeline"}]})

    return Starlette(
        routes=[
            Route("/v1/chat/completions", completions, methods=["POST"]),
            Route("/v1/models", models, methods=["GET"]),
        ]
    )


def _completion(body: bytes, faults: Faults, *, malformed: int | None) -> Response:
    try:
        wanted = json.loads(body)
        messages = wanted["messages"]
        response_format = (wanted.get("response_format") or {"type": "text"})["type"]
        turns = [read_blocks(message["content"]) for message in messages if message["role"] == "user"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return _error(400, "the body is no chat completion request with messages of plain text")
    refused = {"json_schema": faults.refuse_json_schema, "json_object": faults.refuse_json_object}
    if response_format not in _FORMATS or refused.get(response_format):
        return _error(400, f"response_format {response_format!r} is not supported", param="response_format")
    if not turns or turns[-1] is None:
        return _error(
            400, "the reference judge reads kb_pipeline's judge prompt only: the last user message has no data blocks"
        )
    text = _written(turns[-1], response_format) if malformed is None else _MALFORMED[malformed % len(_MALFORMED)]
    return JSONResponse(_envelope(text, messages))


def _written(blocks: Blocks, response_format: str) -> str:
    """The verdict as JSON; without a response format as a model writes it, in a fence after a sentence."""
    verdict = reference_verdict(question=blocks.question, context=blocks.context, answer=blocks.answer)
    text = json.dumps(_as_reply(verdict), ensure_ascii=False)
    return f"Here are the grades.\n\n```json\n{text}\n```" if response_format == "text" else text


def _as_reply(verdict: Graded) -> dict[str, Any]:
    reply: dict[str, Any] = {}
    for aspect in ("faithfulness", "answer_relevance", "context_relevance"):
        score = getattr(verdict, aspect)
        reply |= {f"{aspect}_reason": score.reason, aspect: score.value}
    return reply


def _envelope(text: str, messages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    prompt_tokens = sum(len(words(str(message["content"]))) for message in messages)
    completion_tokens = len(words(text))
    return {
        "id": "chatcmpl-reference",
        "object": "chat.completion",
        "created": 0,
        "model": MODEL,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
        },
    }


def _error(
    status: int, message: str, *, param: str | None = None, headers: Mapping[str, str] | None = None
) -> Response:
    kind = "invalid_request_error" if status < 500 else "server_error"  # noqa: PLR2004 the range of server errors
    body = {"error": {"message": message, "type": kind, "param": param, "code": None}}
    return JSONResponse(body, status_code=status, headers=headers)


class ReferenceJudge(ThreadedServer):
    """The server in a thread of this process."""

    model = MODEL

    def __init__(self, faults: Faults = _NO_FAULTS, *, port: int = 0) -> None:
        super().__init__(NAME, build_app(faults), port=port)
