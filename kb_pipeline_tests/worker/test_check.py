"""`kb-pipeline check` on the queue: whether its server answers and is fit for one, and how to mend it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kb_pipeline.cli import failures
from kb_pipeline.cli.root import kb_pipeline as group
from kb_pipeline.settings import RetrievalSettings
from kb_pipeline.worker import QueueServer as Configured
from kb_pipeline.worker import probe_now
from kb_pipeline_tests.queue_servers import QueueServer, free_port, stranger
from kb_pipeline_tests.servers import PostgresServer

Check = Callable[[dict[str, Any]], dict[str, Any] | None]


@pytest.fixture
def check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Check:
    """Runs `kb-pipeline check` with a retrieval section; what it says of the queue."""

    def run(section: dict[str, Any]) -> dict[str, Any] | None:
        (tmp_path / "kb.yaml").write_text(json.dumps({"retrieval": section}))
        assert failures.run(group, ["--config", str(tmp_path / "kb.yaml"), "check", "--json"]) == 1
        report = json.loads(capsys.readouterr().out)
        found = [each for each in report["checks"] if each["name"] == "queue"]
        return found[0] if found else None

    return run


def test_a_server_that_is_fit_is_named_with_its_address(check: Check, queue_server: QueueServer) -> None:
    said = check({"enabled": True, "redis_url": queue_server.url})
    assert said
    assert said["ok"]
    assert said["message"].endswith(f"answers at redis://127.0.0.1:{queue_server.port}/0")


def test_while_retrieval_is_dormant_nobody_asks_for_a_queue(check: Check) -> None:
    assert check({"redis_url": f"redis://127.0.0.1:{free_port()}"}) is None


def test_a_server_that_does_not_answer_is_a_problem_with_a_remedy(check: Check) -> None:
    said = check({"enabled": True, "redis_url": f"redis://:geheim@127.0.0.1:{free_port()}/0"})
    assert said
    assert not said["ok"]
    assert said["remedy"] == "check retrieval.redis_url and the server"
    assert "geheim" not in json.dumps(said)


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n"])
def test_a_server_that_is_none_of_a_queue_is_a_problem(check: Check, answer: bytes) -> None:
    with stranger(answer) as url:
        said = check({"enabled": True, "redis_url": url})
    assert said
    assert not said["ok"]


def test_a_wrong_password_is_a_problem(check: Check, own_server: QueueServer) -> None:
    own_server.start().change_password("geheim")
    said = check({"enabled": True, "redis_url": f"redis://:falsch@127.0.0.1:{own_server.port}/0"})
    assert said
    assert not said["ok"]
    assert "falsch" not in json.dumps(said)


def test_a_server_that_forgets_jobs_to_make_room_is_a_problem(check: Check, own_server: QueueServer) -> None:
    own_server.start().configure("maxmemory-policy", "allkeys-lru")
    said = check({"enabled": True, "redis_url": own_server.url})
    assert said
    assert (said["ok"], said["remedy"]) == (False, "set it to noeviction")


@pytest.mark.postgres
def test_a_database_that_carries_the_queue_is_asked_too(check: Check, postgres_server: PostgresServer) -> None:
    said = check({"enabled": True, "queue_database_url": postgres_server.url()})
    assert said
    assert said["ok"]
    assert "schema bullmq" in said["message"]
    nobody = check({"enabled": True, "queue_database_url": f"postgresql://kb:geheim@127.0.0.1:{free_port()}/kb"})
    assert nobody
    assert (nobody["ok"], nobody["remedy"]) == (False, "check retrieval.queue_database_url and the server")
    assert "geheim" not in json.dumps(nobody)


def test_an_unhelpful_silence_is_an_answer_too(monkeypatch: pytest.MonkeyPatch) -> None:
    from kb_pipeline.errors import QueueError
    from kb_pipeline.worker import queue_server

    monkeypatch.setattr(queue_server, "PROBE_SECONDS", 0.2)
    with stranger(None) as url, pytest.raises(QueueError, match="no answer in time"):
        probe_now(Configured.configured(RetrievalSettings(enabled=True, redis_url=url)))


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("redis://user:geheim@h:6380/2?db=1", "redis://h:6380/2"),
        ("rediss://h", "rediss://h"),
        ("redis://", "redis://localhost"),
        ("unix:///run/valkey.sock?password=geheim", "unix:///run/valkey.sock"),
    ],
)
def test_an_address_is_shown_without_its_secrets(url: str, address: str) -> None:
    assert Configured.configured(RetrievalSettings(enabled=True, redis_url=url)).address == address
