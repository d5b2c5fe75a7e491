"""The judge's context window: what servers tell of it, and how they refuse what exceeds it."""

import asyncio
import json
from typing import Any

import pytest

from kb_pipeline.adapters.gateway import ContextWindow, DialectMemory, GatewayJudge, context_window
from kb_pipeline.errors import JudgeRefused
from kb_pipeline.grading.judging.window import exceeded_window
from kb_pipeline.records import ErrorClass, Graded, Judgement, Ungraded
from kb_pipeline.steps.judge import InParts
from kb_pipeline_tests.http_servers import Received, Script, ScriptedServer, completion, http
from kb_pipeline_tests.turns import claim, metrics, triad

MODEL = "judge-7b"


def discovered(base_url: str, configured: int | None = None) -> ContextWindow:
    return context_window(configured, base_url=base_url, model=MODEL, tenant="observatory")


def telling(**replies: Any) -> Script:
    """A server that has a JSON reply at each path, its slashes as underscores, and 404 elsewhere."""

    def script(request: Received) -> list[bytes | float]:
        reply = replies.get(request.path.strip("/").replace("/", "_"))
        return [http(404) if reply is None else reply if isinstance(reply, bytes) else http(200, reply)]

    return script


def model(**fields: Any) -> dict[str, Any]:
    return {"object": "list", "data": [{"id": "another", "max_model_len": 512}, {"id": MODEL, **fields}]}


@pytest.mark.parametrize(
    ("replies", "tokens", "place"),
    [
        ({"v1_models": model(max_model_len=8_192)}, 8_192, "/v1/models"),
        ({"v1_models": model(context_length=131_072)}, 131_072, "/v1/models"),
        ({"v1_models": model(meta={"n_ctx_train": 40_960})}, 40_960, "/v1/models"),
        (
            {
                "v1_models": model(meta={"n_ctx_train": 40_960}),
                "props": {"default_generation_settings": {"n_ctx": 4_096}},
            },
            4_096,
            "/props",
        ),
        (
            {"model_info": {"data": [{"model_name": MODEL, "model_info": {"max_input_tokens": 16_384}}]}},
            16_384,
            "/model/info",
        ),
        ({"api_ps": {"models": [{"name": MODEL, "context_length": 4_096}]}}, 4_096, "/api/ps"),
    ],
)
def test_the_window_is_what_the_server_tells(replies: dict[str, Any], tokens: int, place: str) -> None:
    with ScriptedServer(script=telling(**replies)) as server:
        found = discovered(server.base_url + "/v1/")
    assert found == ContextWindow(tokens=tokens, origin=f"told by the server at {place}")
    assert {request.headers["x-tenant-id"] for request in server.received} == {"observatory"}


@pytest.mark.parametrize(
    "reply",
    [
        model(),
        model(max_model_len=None, context_length="8192", n_ctx=True),
        model(max_model_len=0),
        model(max_model_len=-1, context_window=1e9),
        {"data": {"id": MODEL}},
        {"data": [3, None, MODEL]},
        [],
        http(200, b"<html>"),
        http(200, b""),
        http(500, model(max_model_len=8_192)),
        http(302, b"", Location="http://127.0.0.1:9/v1/models"),
        http(200, b"[" * 200_000),
    ],
)
def test_a_server_that_does_not_tell_leaves_the_usual_window(reply: Any) -> None:
    with ScriptedServer(script=telling(v1_models=reply)) as server:
        found = discovered(server.base_url)
    assert found == ContextWindow(tokens=32_768, origin="assumed, since the server does not tell")


def test_a_server_that_does_not_answer_leaves_the_usual_window() -> None:
    assert discovered("http://127.0.0.1:9").tokens == 32_768


def test_a_configured_window_is_taken_and_nobody_is_asked() -> None:
    with ScriptedServer(script=telling()) as server:
        assert discovered(server.base_url, 8_000) == ContextWindow(tokens=8_000, origin="as configured")
    assert server.received == []


def test_a_public_host_is_not_asked() -> None:
    with pytest.raises(JudgeRefused, match="public"):
        discovered("http://8.8.8.8")


VLLM = "This model's maximum context length is 4096 tokens. However, you requested 9000 tokens (4904 in the messages)."
LLAMA = {
    "error": {
        "code": 400,
        "message": "the request exceeds the available context size. try increasing the context size",
        "type": "exceed_context_size_error",
        "n_prompt_tokens": 9_000,
        "n_ctx": 4_096,
    }
}


@pytest.mark.parametrize(
    ("said", "tokens"),
    [
        ({"object": "error", "message": VLLM, "type": "BadRequestError", "code": 400}, 4_096),
        ({"error": {"message": VLLM, "code": "context_length_exceeded"}}, 4_096),
        (LLAMA, 4_096),
        (
            {"error": {"message": "the request exceeds the available context size (4096 tokens), try increasing it"}},
            4_096,
        ),
        ({"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 9000"}, 4_096),
        ({"message": "The input (9000 tokens) is longer than the model's context length (4096 tokens)."}, 4_096),
        ({"message": "Prompt contains 9000 tokens, too large for model with 4,096 maximum context length"}, 4_096),
        ({"error": {"message": "litellm.ContextWindowExceededError: too long", "code": "400"}}, None),
        ({"error": {"message": "prompt is too long: 210000 tokens > 200000 maximum"}}, None),
    ],
)
def test_a_refusal_of_the_length_is_recognised_with_the_window_where_it_is_told(said: Any, tokens: int | None) -> None:
    for status in (400, 422, 500):
        assert exceeded_window(status, json.dumps(said).encode()) == (True, tokens)


@pytest.mark.parametrize(
    ("written", "tokens"),
    [
        ("32768", 32_768), ("32,768", 32_768), ("32.768", 32_768), ("32.768,00", 32_768), ("32,768.00", 32_768),
        ("32 768", 32_768), ("32\u00a0768", 32_768), ("32\u202f768", 32_768), ("32'768", 32_768),
        ("1_048_576", 1_048_576),
        ("1.048.576", 1_048_576), ("1,048,576.0", 1_048_576), ("32768.00", 32_768), ("32k", 32_000), ("128 K", 128_000),
        ("32Ki", 32_768), ("1M", 1_000_000), ("1.5M", 1_500_000), ("2,5k", 2_500), ("131072,", 131_072),
        ("32.768k", None), ("32,768k", None), ("1,31,072", None), ("32.768.00", None), ("1.048,576", None),
        ("32768.5", None), ("4096,1", None), ("32,7689", None), ("3276 800", None), ("0", None), ("9" * 24, None),
    ],
)  # fmt: skip
def test_a_window_is_read_as_it_is_written_and_what_may_be_several_numbers_is_none(
    written: str, tokens: int | None
) -> None:
    for sentence in (f"maximum context length is {written} tokens.", f"context size ({written} tokens)"):
        said = {"error": {"message": f"The prompt is too long: {sentence}"}}
        assert exceeded_window(400, json.dumps(said).encode()) == (True, tokens)


@pytest.mark.parametrize(
    ("said", "tokens"),
    [
        ("it exceeds the 32.768,00 tokens context", 32_768),
        ("it exceeds the 128k context", 128_000),
        ("Llama 3 128 000 tokens context was exceeded: prompt is too long", None),
        ("it exceeds the 12,32,768 context", None),
    ],
)
def test_a_number_before_its_noun_is_read_too(said: str, tokens: int | None) -> None:
    assert exceeded_window(400, json.dumps({"error": {"message": said}}).encode()) == (True, tokens)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, {"error": {"message": "unknown model"}}),
        (400, {"error": {"message": "response_format json_schema is not supported"}}),
        (400, {"error": {"message": "bad"}, "input": VLLM}),
        (200, {"error": {"message": VLLM}}),
        (429, {"error": {"message": "too many requests: rate limit exceeded"}}),
    ],
)
def test_any_other_refusal_is_none_of_the_length(status: int, said: Any) -> None:
    assert exceeded_window(status, json.dumps(said).encode()) == (False, None)


SCORES = {
    f"{aspect}{key}": value
    for aspect in ("faithfulness", "answer_relevance", "context_relevance")
    for key, value in (("", 1.0), ("_reason", "Didukung."))
}


def narrow(request: Received) -> list[bytes | float]:
    """A server with a window of 4096 tokens, as vLLM refuses what exceeds it with its reply."""
    chars = sum(len(message["content"]) for message in request.body["messages"])
    if chars / 3.3 + request.body["max_tokens"] > 4_096:
        return [http(400, {"object": "error", "message": VLLM, "code": 400})]
    return [http(200, completion(json.dumps(SCORES)))]


def grade(base_url: str, **changes: Any) -> Judgement:
    async def run() -> Judgement:
        inner = GatewayJudge(
            base_url=base_url, model=MODEL, tenant="observatory", context_tokens=32_768, dialects=DialectMemory()
        )
        async with InParts(inner, context_tokens=32_768) as judge:
            return await judge.grade(claim(**changes))

    return asyncio.run(run())


def test_a_server_with_a_smaller_window_than_configured_gets_parts_that_fit_it() -> None:
    turn = triad(context="Modal dasar perseroan paling sedikit Rp50.000.000. " * 600)
    with ScriptedServer(script=narrow) as server:
        judgement = grade(server.base_url, triad=turn, metrics=metrics(context_chars=len(turn.context)))
    assert isinstance(judgement, Graded), judgement
    assert (judgement.usage.calls, judgement.shown.parts) == (2, 1)
    assert judgement.shown.context_shown < 1
    assert [request.body["max_tokens"] for request in server.received] == [4_096, 1_024]


def test_a_refusal_of_the_length_is_an_answer_about_the_turn_whatever_its_status() -> None:
    with ScriptedServer(script=lambda _: [http(500, LLAMA)]) as server:
        judgement = grade(server.base_url)
    assert isinstance(judgement, Ungraded)
    assert (judgement.error_class, judgement.too_long) == (ErrorClass.HTTP_4XX, True)
    assert "4,096 tokens" in judgement.detail
    assert judgement.uses_attempt


def test_a_list_whose_names_are_no_text_leaves_the_usual_window() -> None:
    with ScriptedServer(script=lambda _: [http(200, {"data": [{"id": ["m"]}, {"name": {}}]})]) as server:
        assert context_window(None, base_url=server.base_url, model="m", tenant="t").tokens == 32_768
