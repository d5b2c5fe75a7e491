"""The other ends: what they send, how they meet servers that misbehave, and that no secret leaves by a word."""

import json
import logging
from collections.abc import Iterable
from http.client import HTTPConnection

import pytest
from pydantic import SecretStr

from kb_pipeline.adapters.notify import AppriseService, KeepServer, Webhook
from kb_pipeline.adapters.notify import wire as wires
from kb_pipeline.alerting.delivery import Answer, Outcome, Proof
from kb_pipeline.demo.local_keep import LocalKeep
from kb_pipeline_tests.http_servers import Received, ScriptedServer, http

KEY, READ_KEY = "key-that-sends", "key-that-reads"
ALERT = {
    "fingerprint": "rule|metric|prod:a", "kb_seq": 3, "name": "rule", "status": "firing", "severity": "critical",
    "lastReceived": "2026-03-04T12:00:00.000Z", "message": "Mean faithfulness is 0.5.", "labels": {"n": "30"},
    "url": "https://quality.example.org/alerts",
}  # fmt: skip


def served(*steps: bytes | float) -> ScriptedServer:
    def script(_: Received) -> Iterable[bytes | float]:
        return steps

    return ScriptedServer(script=script)


def sent(server: ScriptedServer, *, within_s: float = 5) -> Answer:
    with KeepServer(server.base_url, key=SecretStr(KEY)) as keep:
        return keep.send([ALERT], within_s=within_s)


def test_keep_gets_a_list_with_the_key_in_its_header() -> None:
    with served(http(202, {"task_name": "x"})) as server:
        assert sent(server).outcome is Outcome.ACCEPTED
    (request,) = server.received
    assert request.path == "/alerts/event"
    assert request.headers["x-api-key"] == KEY
    assert request.headers["content-type"] == "application/json"
    assert request.body == [ALERT]


def test_what_arrived_is_read_with_the_other_key_in_either_form_that_keep_takes() -> None:
    def script(request: Received) -> Iterable[bytes]:
        if isinstance(request.body, list):
            return [http(422, {"detail": [{"loc": ["body", "fingerprints"], "msg": "field required"}]})]
        return [http(200, [{"fingerprint": "x", "kb_fingerprint": "a", "kb_seq": "7", "status": "acknowledged"}, 3])]

    with (
        ScriptedServer(script=script) as server,
        KeepServer(server.base_url, key=None, read_key=SecretStr(READ_KEY)) as keep,
    ):
        assert keep.proof is Proof.READ_BACK
        first, second = (keep.standing(["a", "b"], within_s=5) for _ in range(2))
    assert first.seen == second.seen == {"a": 7}
    assert first.answer is None
    assert [request.headers["x-api-key"] for request in server.received] == [READ_KEY] * 3
    assert [type(request.body) for request in server.received] == [list, dict, dict]


@pytest.mark.parametrize("body", [b"<html>", b"{}", b"null", b"[" * 100_000, b""])
def test_an_answer_that_is_no_list_of_alerts_confirms_nothing(body: bytes) -> None:
    with served(http(200, body)) as server, KeepServer(server.base_url, key=None, read_key=SecretStr("r")) as keep:
        standing = keep.standing(["a"], within_s=5)
    assert standing.answer is not None
    assert standing.seen == {}


def test_a_refusal_names_the_places_in_the_list_and_repeats_nothing_else_of_the_answer() -> None:
    detail = [
        {"loc": ["body"], "msg": "value is not a valid dict", "input": KEY},
        {"loc": ["body", "list[AlertDto]", 4, "labels"], "msg": "str type expected"},
        {"loc": "body", "msg": 3},
        None,
    ]
    with served(http(422, {"detail": detail})) as server:
        answer = sent(server)
    assert answer.refused == (4,)
    assert answer.sentence == "422: body: value is not a valid dict; body.list[AlertDto].4.labels: str type expected"


@pytest.mark.parametrize(
    ("status", "words"),
    [(401, "alerts.keep_api_key is refused"), (403, "is refused"), (404, "no Keep API"), (301, "leads elsewhere")],
)
def test_what_a_person_has_to_mend_is_named(status: int, words: str) -> None:
    with served(http(status, b"", Location="http://127.0.0.1:1/")) as server:
        answer = sent(server)
    assert answer.outcome is Outcome.HELD
    assert words in answer.sentence
    assert len(server.received) == 1


@pytest.mark.parametrize("key", ["kunci-é", "two\nlines", "half \ud83d"])
def test_a_key_that_no_header_can_carry_is_named_and_raises_nothing(key: str) -> None:
    with served(http(202)) as server, KeepServer(server.base_url, key=SecretStr(key)) as keep:
        answer = keep.send([ALERT], within_s=5)
    assert answer.outcome is Outcome.HELD
    assert "key cannot be used" in answer.sentence
    assert server.received == []


def test_a_redirect_is_not_followed_so_that_no_key_goes_elsewhere() -> None:
    with (
        served(http(202)) as elsewhere,
        served(http(307, b"", Location=f"{elsewhere.base_url}/alerts/event")) as server,
    ):
        assert sent(server).outcome is Outcome.HELD
    assert elsewhere.received == []


def test_nobody_there_is_certain_and_silence_or_an_end_is_not() -> None:
    with served() as gone:
        pass
    nobody = sent(gone)
    assert (nobody.status, nobody.is_lost, nobody.outcome) == (0, True, Outcome.LATER)
    for steps in ([], [b"HTTP/1.1 2"], [http(202)[:40]], [b"\0\1 nonsense\r\n\r\n"]):
        with served(*steps) as server:
            answer = sent(server)
        assert (answer.status, answer.is_lost, answer.outcome) == (0, False, Outcome.LATER), steps


@pytest.mark.parametrize(
    "steps", [[9.0], [b"HTTP/1.1 202 x\r\n", *[b"a: b\r\n", 0.1] * 90], [http(202, b"x" * 90)[:-9], 9.0]]
)
def test_a_server_that_is_slow_in_any_part_is_given_up_in_time(steps: list[bytes | float]) -> None:
    with served(*steps) as server:
        answer = sent(server, within_s=0.2)
    assert answer.sentence.startswith("no answer: none within")
    assert not answer.is_lost


def test_an_answer_without_end_is_not_taken_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wires, "MAX_REPLY_BYTES", 1000)
    with (
        served(http(200, b"[" + b" " * 5000 + b"]")) as server,
        KeepServer(server.base_url, key=None, read_key=SecretStr("r")) as keep,
    ):
        assert keep.standing(["a"], within_s=5).answer is not None


def test_what_the_server_asks_to_be_left_alone_is_read() -> None:
    for text, expected in (("7", 7), ("99999999", 86_400), ("soon", None), ("-3", None)):
        with served(http(429, b"", Retry_After=text)) as server:
            assert sent(server).retry_after_s == expected


def test_a_webhook_gets_one_object_and_the_name_and_password_of_its_address() -> None:
    with served(http(204)) as server:
        url = server.base_url.replace("http://", "http://bot:p%40ss@") + "/hook?token=s3cret"
        with Webhook(url) as webhook:
            assert webhook.send([ALERT], within_s=5).outcome is Outcome.ACCEPTED
    (request,) = server.received
    assert request.body == ALERT
    assert request.path == "/hook?token=s3cret"
    assert request.headers["authorization"] == "Basic Ym90OnBAc3M="
    assert request.headers["idempotency-key"] == "rule|metric|prod:a|3"


def test_check_asks_keep_without_leaving_anything_there() -> None:
    with LocalKeep() as keep:
        for read_key, oks, words in (
            (keep.read_key, [True, True], "shows what arrived"),
            (keep.key, [True, False], "alerts.keep_read_key is refused"),
            (None, [True, True], "is not set"),
        ):
            given = SecretStr(read_key) if read_key else None
            with KeepServer(keep.base_url, key=SecretStr(keep.key), read_key=given) as server:
                found = list(server.check(within_s=5))
            assert [each.ok for each in found] == oks
            assert words in found[1].message
        with KeepServer(keep.base_url, key=SecretStr("other"), read_key=None) as server:
            refused = next(server.check(within_s=5))
        assert "alerts.keep_api_key is refused" in refused.message
        assert refused.remedy
        assert keep.received == []


def test_no_secret_is_in_a_log_a_repr_or_an_answer(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    secrets = (KEY, READ_KEY, "s3cret", "p4ss")
    caplog.set_level(logging.DEBUG)
    told: list[object] = []
    with served(http(500, {"detail": KEY})) as server:
        url = server.base_url.replace("http://", "http://bot:p4ss@") + "/s3cret"
        keep = KeepServer(server.base_url, key=SecretStr(KEY), read_key=SecretStr(READ_KEY))
        webhook = Webhook(url)
        service = AppriseService(url.replace("http://", "json://"), place=1)
        with keep, webhook, service:
            told += [keep.send([ALERT], within_s=5), keep.standing(["a"], within_s=5), list(keep.check(within_s=5))]
            told += [webhook.send([ALERT], within_s=5), service.send([ALERT], within_s=5), vars(keep), vars(webhook)]
            told += [vars(service), keep, webhook, service]
    assert len(server.received) == 6
    written = caplog.text + "".join(capsys.readouterr()) + repr(told)
    assert [secret for secret in secrets if secret in written] == []


def test_apprise_sends_a_title_and_a_text_to_each_service_by_itself() -> None:
    with served(http(200)) as server:
        service = AppriseService(server.base_url.replace("http://", "json://") + "/hook", place=2)
        assert service.destination == "apprise-2"
        assert service.objection() == ""
        assert service.send([ALERT], within_s=5).outcome is Outcome.ACCEPTED
        resolved = ALERT | {"status": "resolved"}
        service.send([resolved], within_s=5)
    fired, over = (request.body for request in server.received)
    assert fired["title"] == "[critical] rule"
    assert fired["type"] == "failure"
    assert "Mean faithfulness is 0.5." in fired["message"]
    assert "https://quality.example.org/alerts" in fired["message"]
    assert (over["title"], over["type"]) == ("[resolved] rule", "success")


def test_a_service_that_refuses_or_is_silent_is_tried_again_and_never_given_up() -> None:
    for steps in ([http(400)], [http(500)], [9.0], []):
        with served(*steps) as server:
            service = AppriseService(server.base_url.replace("http://", "json://"), place=1)
            answer = service.send([ALERT], within_s=1)
        assert answer.outcome is Outcome.LATER


def test_an_apprise_url_that_nobody_knows_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    service = AppriseService("nobody-knows://x", place=3)
    assert "entry 3 of alerts.apprise_urls" in service.objection()
    assert service.send([ALERT], within_s=1).outcome is Outcome.HELD
    monkeypatch.setitem(__import__("sys").modules, "apprise", None)
    assert "install kb-pipeline[apprise]" in service.objection()


def test_a_local_keep_takes_a_bare_object_that_fails_its_schema_and_loses_it() -> None:
    with LocalKeep() as keep:
        host = HTTPConnection(keep.base_url.removeprefix("http://"))
        statuses = []
        for body in ({"name": "x"}, [{"name": "x"}], ALERT, []):
            host.request("POST", "/alerts/event", json.dumps(body), {"X-API-KEY": keep.key})
            reply = host.getresponse()
            reply.read()
            statuses.append(reply.status)
        host.close()
        assert statuses == [202, 422, 202, 202]
    assert [alert["kb_seq"] for alert in keep.received] == [3]


def test_a_number_too_long_to_be_one_of_ours_is_not_read() -> None:
    alerts = [{"fingerprint": "a", "kb_seq": "9" * 5_000}, {"fingerprint": "b", "kb_seq": "7"}]
    with (
        served(http(200, alerts)) as server,
        KeepServer(server.base_url, key=SecretStr(KEY), read_key=SecretStr(READ_KEY)) as keep,
    ):
        assert keep.standing(["a", "b"], within_s=5).seen == {"b": 7}
