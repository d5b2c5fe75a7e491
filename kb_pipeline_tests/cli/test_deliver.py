"""`alerts deliver`, and what `check` asks Keep, as a user meets them."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kb_pipeline.adapters.clock import SystemClock
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.demo.local_keep import LocalKeep
from kb_pipeline_tests.cli.in_process import Terminal
from kb_pipeline_tests.delivery.flips import Flips, to

pytestmark = pytest.mark.postgres


@pytest.fixture
def keep() -> Iterator[LocalKeep]:
    with LocalKeep() as running:
        yield running


@pytest.fixture
def terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], database: Database
) -> Callable[[dict[str, Any]], Terminal]:
    return lambda alerts: Terminal(tmp_path, capsys, database, {"alerts": alerts})


def test_what_waits_is_sent_and_seen_there(
    terminal: Callable[..., Terminal], keep: LocalKeep, database: Database
) -> None:
    flips = Flips(database, SystemClock())
    flips.fire("a")
    flips.fire("b", poison=True)
    report = terminal(to(keep)).run("alerts", "deliver", "--until-empty", "--json")
    assert report.code == 0
    assert report.json["counts"]["keep"]["confirmed"] == 1
    assert report.json["destinations"][0]["dead"] == 1
    assert [alert["kb_seq"] for alert in keep.received] == [1]
    shown = terminal(to(keep)).run("alerts", "deliver").out
    assert shown.startswith("keep\n")
    assert re.search(r"^  dead +0$", shown, re.MULTILINE), "of this run"
    assert re.search(r"^  dead in all +1$", shown, re.MULTILINE)


def test_what_cannot_be_delivered_in_time_is_an_exit_code_and_a_reason(
    terminal: Callable[..., Terminal], keep: LocalKeep, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    Flips(database, SystemClock()).fire("a")
    keep.conduct.status = 401
    given = terminal(to(keep))
    monkeypatch.setattr("kb_pipeline.cli.delivering.PAUSE_S", 0.01)
    assert given.run("alerts", "deliver", "--until-empty", "--within", "0.1").code == 1
    once = given.run("alerts", "deliver", "--once")
    assert once.code == 0
    assert "401: alerts.keep_api_key is refused" in once.prose
    listed = given.run("alerts", "list")
    assert "waiting  destination=keep" in listed.out
    assert "reason=401: alerts.keep_api_key is refused" in listed.prose


def test_without_a_destination_it_says_what_to_set(terminal: Callable[..., Terminal]) -> None:
    left = terminal({}).run("alerts", "deliver")
    assert left.code == 2
    assert "set alerts.keep_url" in left.sentence


def test_once_and_until_empty_are_not_given_together(terminal: Callable[..., Terminal]) -> None:
    assert "not both" in terminal({}).run("alerts", "deliver", "--once", "--until-empty").sentence


def test_check_says_which_key_keep_refuses(terminal: Callable[..., Terminal], keep: LocalKeep) -> None:
    good = terminal(to(keep)).run("check").out
    assert "ok       alerts: Keep at 127.0.0.1" in good
    assert "shows what arrived" in good
    bad = terminal(to(keep) | {"keep_api_key": "s3cret-and-wrong"}).run("check")
    assert bad.code == 1
    assert "PROBLEM  alerts: Keep at 127.0.0.1" in bad.out
    assert "alerts.keep_api_key is refused" in bad.out
    assert "s3cret-and-wrong" not in bad.out
    assert keep.received == []


def test_check_names_a_url_that_apprise_does_not_know(terminal: Callable[..., Terminal]) -> None:
    pytest.importorskip("apprise", reason="the extra apprise is not installed")
    found = terminal({"apprise_urls": ["json://127.0.0.1", "nobody-knows://x"]}).run("check")
    assert found.code == 1
    assert "PROBLEM  alerts: entry 2 of alerts.apprise_urls" in found.out
