"""Asking the canary of a judge behind a real server."""

from collections.abc import Iterator

import pytest

from kb_pipeline.adapters.clock import SystemClock
from kb_pipeline.adapters.gateway import DialectMemory, GatewayJudge
from kb_pipeline.demo.reference_judge import ReferenceJudge
from kb_pipeline.steps import trial
from kb_pipeline.steps.canary import ask_canary
from kb_pipeline_tests.gullible_judge import TEMPERS, gullible_judge
from kb_pipeline_tests.http_servers import Received, ScriptedServer, http


def judge(base_url: str) -> GatewayJudge:
    return GatewayJudge(base_url=base_url, model="m", tenant="t", timeout_s=10, dialects=DialectMemory())


def test_the_reference_judge_is_healthy() -> None:
    with ReferenceJudge() as server:
        report = ask_canary(judge(server.base_url), SystemClock())
    assert (report.healthy, report.asked, report.right_verdicts, report.failures) == (True, 3, 3, ())
    assert report.version.model == "m"


@pytest.mark.parametrize("temper", TEMPERS)
def test_a_gullible_judge_is_unhealthy(temper: str) -> None:
    with gullible_judge(TEMPERS[temper]) as server:
        report = ask_canary(judge(server.base_url), SystemClock())
    assert report.healthy is False
    assert report.right_verdicts < report.asked == 3


def test_an_outage_is_tried_again_once_and_leaves_the_judges_health_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "wait_before_retry", lambda *_, **__: 0.0)

    def down(_: Received) -> Iterator[bytes]:
        yield http(503)

    with ScriptedServer(script=down) as server:
        report = ask_canary(judge(server.base_url), SystemClock())
    assert (report.healthy, report.asked, report.right_verdicts) == (None, 0, 0)
    assert report.failures == tuple(f"{name}:http_5xx" for name in ("faithful", "contradicted", "off_topic"))
    keys = [request.headers["idempotency-key"] for request in server.received]
    assert len(keys) == len(set(keys)) == 6


def test_two_askings_never_share_a_key() -> None:
    with gullible_judge(TEMPERS["echo"]) as server:
        for _ in range(2):
            ask_canary(judge(server.base_url), SystemClock())
    keys = [request.headers["idempotency-key"] for request in server.received]
    assert len(set(keys)) == len(keys)
    assert all(key.startswith("canary-") for key in keys)
