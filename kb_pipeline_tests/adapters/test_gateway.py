"""The judge's client against real servers, good and bad."""

import asyncio
import gzip
import json
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from kb_pipeline.adapters.gateway import DialectMemory, GatewayJudge, endpoint_of, refuse_public_host
from kb_pipeline.adapters.gateway import judge as gateway_judge
from kb_pipeline.errors import JudgeRefused
from kb_pipeline.grading.judging import INSTRUCTION, PROMPT_VERSION
from kb_pipeline.records import Claim, ErrorClass, Graded, Judgement, Ungraded
from kb_pipeline_tests.http_servers import Received, Script, ScriptedServer, completion, http
from kb_pipeline_tests.turns import claim, triad

SCORES = json.dumps(
    {
        "faithfulness": 1.0,
        "faithfulness_reason": "Didukung.",
        "answer_relevance": 0.5,
        "answer_relevance_reason": "Sebagian.",
        "context_relevance": 0.0,
        "context_relevance_reason": "Lain.",
    }
)
GOOD = http(200, completion(SCORES))


def always(*steps: bytes | float) -> Script:
    return lambda _: steps


def new_judge(base_url: str, **options: Any) -> GatewayJudge:
    whole: dict[str, Any] = {"timeout_s": 5.0, "dialects": DialectMemory()} | options
    return GatewayJudge(base_url=base_url, model="judge-7b", tenant="observatory", **whole)


def grade(base_url: str, *claims: Claim, **options: Any) -> list[Judgement]:
    async def run() -> list[Judgement]:
        async with new_judge(base_url, **options) as judge:
            return await asyncio.gather(*(judge.grade(each) for each in claims or (claim(),)))

    return asyncio.run(run())


def ungraded(script: Script, **options: Any) -> Ungraded:
    with ScriptedServer(script=script) as server:
        judgement = grade(server.base_url, **options)[0]
    assert isinstance(judgement, Ungraded), judgement
    return judgement


def test_one_call_carries_the_contracts_headers_and_body() -> None:
    with ScriptedServer(script=always(GOOD)) as server:
        judgement = grade(server.base_url, claim("event-7"))[0]
    request = server.received[0]
    assert request.path == "/v1/chat/completions"
    sent = {name: request.headers[name] for name in ("x-tenant-id", "x-surface", "x-priority", "idempotency-key")}
    assert sent == {
        "x-tenant-id": "observatory",
        "x-surface": "system",
        "x-priority": "batch",
        "idempotency-key": "event-7",
    }
    assert (request.body["model"], request.body["temperature"]) == ("judge-7b", 0)
    assert request.body["messages"][0] == {"role": "system", "content": INSTRUCTION}
    assert request.body["response_format"]["type"] == "json_schema"
    assert isinstance(judgement, Graded)
    assert (judgement.faithfulness.value, judgement.answer_relevance.value) == (1.0, 0.5)
    assert (judgement.usage.calls, judgement.usage.prompt_tokens) == (1, 3)
    assert judgement.usage.response_format == "json_schema"
    assert judgement.usage.latency_ms is not None


def test_a_repeated_call_sends_the_same_bytes() -> None:
    with ScriptedServer(script=always(GOOD)) as server:
        grade(server.base_url, claim())
        grade(server.base_url, claim())
    assert server.received[0].body == server.received[1].body


@pytest.mark.parametrize("suffix", ["", "/", "/v1", "/v1/", "/v1/chat/completions"])
def test_the_base_url_may_end_in_several_ways(suffix: str) -> None:
    assert endpoint_of(f"http://gateway:8080{suffix}") == "http://gateway:8080/v1/chat/completions"
    assert endpoint_of(f"http://gateway/llm{suffix}") == "http://gateway/llm/v1/chat/completions"


def test_text_that_no_encoding_knows_does_not_stop_the_call() -> None:
    with ScriptedServer(script=always(GOOD)) as server:
        judgement = grade(server.base_url, claim(triad=triad(answer="a\ud800b\x00c", question="\udfff")))[0]
    assert isinstance(judgement, Graded)


# --- what servers do -------------------------------------------------------------------------------------------------


def test_a_server_that_hangs_is_left_at_the_time_limit() -> None:
    started = time.monotonic()
    assert ungraded(always(3.0), timeout_s=0.3).error_class is ErrorClass.TIMEOUT
    assert time.monotonic() - started < 2.5


def test_a_server_that_drips_is_left_at_the_time_limit() -> None:
    def drip(_: Received) -> Iterator[bytes | float]:
        yield b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n"
        for _step in range(30):
            yield b" "
            yield 0.05

    started = time.monotonic()
    assert ungraded(drip, timeout_s=0.4).error_class is ErrorClass.TIMEOUT
    assert time.monotonic() - started < 1.2


@pytest.mark.parametrize(
    "steps", [(), (b"HTTP/1.1 200 OK\r\nContent-Le",), (GOOD[:-20],), (b"\x00\x01 nonsense\r\n\r\n",)]
)
def test_a_connection_that_breaks_is_a_connection_error(steps: tuple[bytes, ...]) -> None:
    assert ungraded(always(*steps)).error_class is ErrorClass.CONNECTION


def test_a_port_where_nobody_listens_is_a_connection_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    judgement = grade(f"http://127.0.0.1:{port}")[0]
    assert isinstance(judgement, Ungraded)
    assert judgement.error_class is ErrorClass.CONNECTION
    assert judgement.usage.calls == 1


def test_a_body_without_end_is_read_up_to_the_cap() -> None:
    def flood(_: Received) -> Iterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
        while True:
            yield b"[" * 100_000

    assert ungraded(flood, timeout_s=2.0).error_class is ErrorClass.BAD_SCHEMA


def test_a_compressed_bomb_costs_bounded_memory() -> None:
    bomb = gzip.compress(b" " * 50_000_000, compresslevel=1)
    assert ungraded(always(http(200, bomb, Content_Encoding="gzip"))).error_class is ErrorClass.BAD_SCHEMA


def test_a_reply_that_was_compressed_unasked_is_read() -> None:
    body = gzip.compress(json.dumps(completion(SCORES)).encode())
    with ScriptedServer(script=always(http(200, body, Content_Encoding="gzip"))) as server:
        judgement = grade(server.base_url)[0]
    assert server.received[0].headers["accept-encoding"] == "identity"
    assert isinstance(judgement, Graded)


def test_a_redirect_is_not_followed() -> None:
    with ScriptedServer(script=always(GOOD)) as elsewhere:
        judgement = ungraded(always(http(307, Location=f"{elsewhere.base_url}/v1/chat/completions")))
    assert judgement.error_class is ErrorClass.HTTP_4XX
    assert "redirect" in judgement.detail
    assert elsewhere.received == []


def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer(script=always(GOOD)) as proxy, ScriptedServer(script=always(GOOD)) as server:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.base_url)
        grade(server.base_url)
    assert (len(server.received), len(proxy.received)) == (1, 0)


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (429, ErrorClass.RATE_LIMITED),
        (500, ErrorClass.HTTP_5XX),
        (503, ErrorClass.HTTP_5XX),
        (401, ErrorClass.HTTP_4XX),
    ],
)
def test_a_status_is_told_by_its_class(status: int, expected: ErrorClass) -> None:
    judgement = ungraded(always(http(status, {"error": {"message": "no"}})))
    assert judgement.error_class is expected
    assert judgement.usage.calls == 1


def test_retry_after_in_seconds_is_handed_on() -> None:
    assert ungraded(always(http(503, Retry_After="7"))).retry_after == 7.0


def test_retry_after_as_a_date_is_counted_by_the_servers_own_clock() -> None:
    there = datetime(2031, 5, 1, 12, 0, tzinfo=UTC)
    dates = [format_datetime(each, usegmt=True) for each in (there, there + timedelta(seconds=42))]
    assert ungraded(always(http(429, Date=dates[0], Retry_After=dates[1]))).retry_after == 42.0


def test_an_answer_of_a_reasoning_model_is_read_without_its_thinking() -> None:
    thinking = http(200, completion(f'<think>perhaps {{"faithfulness": 0}}</think>{SCORES}', reasoning_content="hm"))
    with ScriptedServer(script=always(thinking)) as server:
        judgement = grade(server.base_url)[0]
    assert isinstance(judgement, Graded)
    assert judgement.faithfulness.value == 1.0


def test_a_server_that_ignores_the_schema_gives_no_scores() -> None:
    judgement = ungraded(always(http(200, completion("It is well supported, 9 out of 10."))))
    assert judgement.error_class is ErrorClass.NOT_JSON


def test_no_text_of_the_turn_or_the_reply_is_in_a_detail() -> None:
    secret = claim(triad=triad(question="rahasia", answer="rahasia"))
    for reply in (
        http(400, {"error": {"message": "rahasia"}}),
        http(200, completion("rahasia")),
        http(200, b"rahasia"),
    ):
        with ScriptedServer(script=always(reply)) as server:
            assert "rahasia" not in str(grade(server.base_url, secret)[0])


# --- what servers refuse ---------------------------------------------------------------------------------------------


def refusing(*kinds: str) -> Script:
    def script(request: Received) -> Iterable[bytes]:
        kind = request.body.get("response_format", {}).get("type", "text")
        refusal = http(400, {"error": {"message": f"response_format.type {kind} is not supported"}})
        return [refusal if kind in kinds else GOOD]

    return script


def kinds_of(server: ScriptedServer) -> list[str]:
    return [request.body.get("response_format", {}).get("type", "text") for request in server.received]


def test_a_refused_format_is_asked_for_once_and_then_left_out() -> None:
    memory = DialectMemory()
    with ScriptedServer(script=refusing("json_schema", "json_object")) as server:
        first = grade(server.base_url, claim("a", calls=0), dialects=memory)[0]
        second = grade(server.base_url, claim("b"), dialects=memory)[0]
    assert kinds_of(server) == ["json_schema", "json_object", "text", "text"]
    assert isinstance(first, Graded)
    assert isinstance(second, Graded)
    assert (first.usage.calls, first.usage.response_format) == (3, "text")
    assert (second.usage.calls, second.usage.response_format) == (1, "text")


def test_each_call_after_a_refusal_has_a_key_of_its_own() -> None:
    with ScriptedServer(script=refusing("json_schema", "json_object")) as server:
        grade(server.base_url, claim("a", calls=2, idempotency_key="a:00000000:r2"))
    keys = [request.headers["idempotency-key"] for request in server.received]
    assert keys[0] == "a:00000000:r2"
    assert [key.rpartition(":")[2] for key in keys] == ["r2", "r3", "r4"]
    assert len(set(keys)) == 3


def test_a_temperature_that_is_refused_is_left_out() -> None:
    def script(request: Received) -> Iterable[bytes]:
        return [http(400, {"error": {"param": "temperature"}}) if "temperature" in request.body else GOOD]

    with ScriptedServer(script=script) as server:
        assert isinstance(grade(server.base_url)[0], Graded)
    assert len(server.received) == 2


def test_a_turn_that_is_too_long_is_an_error_of_the_turn() -> None:
    judgement = ungraded(always(http(400, {"error": {"message": "maximum context length is 8192 tokens"}})))
    assert judgement.error_class is ErrorClass.HTTP_4XX
    assert judgement.usage.calls == 1


# --- how many at once ------------------------------------------------------------------------------------------------


def test_never_more_calls_are_in_flight_than_allowed() -> None:
    now: list[int] = []
    most: list[int] = []

    def script(_: Received) -> Iterator[bytes | float]:
        now.append(1)
        most.append(len(now))
        yield 0.05
        now.pop()
        yield GOOD

    with ScriptedServer(script=script) as server:
        judgements = grade(server.base_url, *(claim(f"e{n}") for n in range(24)), concurrency=3)
    assert all(isinstance(judgement, Graded) for judgement in judgements)
    assert max(most) == 3


def test_a_judge_can_be_opened_again() -> None:
    with ScriptedServer(script=always(GOOD)) as server:
        judge = new_judge(server.base_url)

        async def once() -> Judgement:
            async with judge:
                return await judge.grade(claim())

        assert isinstance(asyncio.run(once()), Graded)
        assert isinstance(asyncio.run(once()), Graded)


# --- who may be called -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:8080",
        "http://127.0.0.1",
        "http://[::1]:8000/v1",
        "http://10.1.2.3",
        "http://172.31.0.9",
        "https://192.168.7.7",
        "http://100.64.0.1",
        "http://169.254.1.1",
        "http://[fd00::12]",
        "http://[fe80::1]",
        "http://[::ffff:10.0.0.1]",
        "http://0.0.0.0:8080",
        "http://gateway:8080",
        "http://vllm.models.svc",
        "http://vllm.models.svc.cluster.local",
        "http://llm.office.internal",
        "http://box.home.arpa",
        "http://Printer.LAN.",
    ],
)
def test_a_private_host_may_be_called(url: str) -> None:
    refuse_public_host(url, allow_external=False)


@pytest.mark.parametrize(
    "url",
    [
        "http://8.8.8.8",
        "https://[2606:4700::1111]/v1",
        "http://134744072",
        "http://0x08080808",
        "http://8.8",
        "http://172.32.0.1",
        "http://[::ffff:8.8.8.8]",
        "http://[64:ff9b::8.8.8.8]",
        "http://192.0.2.1",
    ],
)
def test_a_public_address_is_refused_in_every_spelling(url: str) -> None:
    with pytest.raises(JudgeRefused, match="allow_external_judge"):
        new_judge(url)
    refuse_public_host(url, allow_external=True)


def resolving(*addresses: str) -> Callable[..., list[tuple[Any, ...]]]:
    return lambda *_, **__: [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 80)) for address in addresses]


def test_a_name_is_judged_by_all_of_its_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", resolving("10.0.0.1", "10.0.0.2"))
    refuse_public_host("http://llm.example.com", allow_external=False)
    monkeypatch.setattr(socket, "getaddrinfo", resolving("10.0.0.1", "93.184.216.34"))
    with pytest.raises(JudgeRefused, match=r"93\.184\.216\.34"):
        refuse_public_host("http://llm.example.com", allow_external=False)
    with pytest.raises(JudgeRefused):
        refuse_public_host("http://ai.", allow_external=False)


def test_a_name_without_an_address_is_an_outage_not_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    judgement = grade("http://llm.example.com")[0]
    assert isinstance(judgement, Ungraded)
    assert judgement.error_class is ErrorClass.CONNECTION


def test_a_name_that_turns_public_after_the_check_is_not_sent_a_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer(script=always(GOOD)) as server:
        port = int(server.base_url.rpartition(":")[2])
        monkeypatch.setattr(socket, "getaddrinfo", resolving("127.0.0.1"))
        judge = new_judge(f"http://llm.example.com:{port}")
        monkeypatch.undo()
        monkeypatch.setattr(
            socket,
            "getaddrinfo",
            lambda *_, **__: [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))],
        )
        monkeypatch.setattr(gateway_judge, "is_private_address", lambda _: False)

        async def run() -> Judgement:
            async with judge:
                return await judge.grade(claim())

        judgement = asyncio.run(run())
    assert server.received == []
    assert isinstance(judgement, Ungraded)
    assert judgement.error_class is ErrorClass.CONNECTION
    assert "public" in judgement.detail


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("http://user:s3cret@gateway", "user name or password"),
        ("ftp://gateway", "scheme 'ftp'"),
        ("gateway:8080", "http://host:port"),
        ("http://", "http://host:port"),
        ("http://gate way", "http://host:port"),
        ("http://gateway:99999", "http://host:port"),
        ("", "http://host:port"),
    ],
)
def test_a_url_that_cannot_be_used_is_refused_with_a_sentence(url: str, told: str) -> None:
    for allow_external in (False, True):
        with pytest.raises(JudgeRefused) as refused:
            new_judge(url, allow_external=allow_external)
        assert told in str(refused.value)
        assert "s3cret" not in str(refused.value)


def test_a_tenant_that_does_not_fit_a_header_is_refused() -> None:
    for tenant in ("a\r\nX-Surface: public", "é", " a"):
        with pytest.raises(JudgeRefused, match="judge_tenant"):
            GatewayJudge(base_url="http://gateway", model="m", tenant=tenant)


# --- kb-pipeline check -----------------------------------------------------------------------------------------------


def test_a_probe_says_in_a_sentence_what_the_judge_did() -> None:
    with ScriptedServer(script=always(GOOD)) as server:
        probe = new_judge(server.base_url).probe()
    assert probe.ok
    assert "judge-7b" in probe.sentence
    assert server.received[0].headers["idempotency-key"].startswith("kb-pipeline-check-")
    with ScriptedServer(script=always(http(404, {"error": {"message": "model not found"}}))) as server:
        probe = new_judge(server.base_url).probe()
    assert not probe.ok
    assert "HTTP 404" in probe.sentence
    assert "judge_model" in probe.sentence


def test_the_version_names_the_model_and_the_prompt() -> None:
    version = new_judge("http://gateway").version
    assert (version.model, version.prompt_version) == ("judge-7b", PROMPT_VERSION)
