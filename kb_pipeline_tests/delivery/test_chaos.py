"""Everything that delivery needs is killed in turn, and every fingerprint ends in its last state, in order."""

import random
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Self

import pytest

from kb_pipeline.adapters.clock import SystemClock
from kb_pipeline.adapters.embedded import EmbeddedPostgres
from kb_pipeline.adapters.embedded.postmaster import Postmaster
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.migrations import apply_roles, migrate
from kb_pipeline.demo.local_keep import KEY, READ_KEY, Alerts
from kb_pipeline_tests.builders import table
from kb_pipeline_tests.delivery.flips import Flips
from kb_pipeline_tests.queue_servers import free_port

pytestmark = [pytest.mark.slow, pytest.mark.postgres]

FINGERPRINTS, TRANSITIONS = 60, 300
PATIENCE_S = 120
# A daemon: it outlives its database, and delivers with waits that a test has the time for.
SENDER = """
import sys, time
from kb_pipeline.adapters.clock import SystemClock
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.alerting.delivery import Pace
from kb_pipeline.errors import DatabaseError
from kb_pipeline_tests.delivery.flips import delivering
url, keep, key, read_key = sys.argv[1:]
pace = Pace(batch=20, back_off_s=.01, back_off_cap_s=.1, held_s=.2, lost_s=2, lost_cap_s=4, request_s=5)
desk = delivering(Database(url), SystemClock(), keep_url=keep, keep_api_key=key, keep_read_key=read_key)
print("ready", flush=True)
while True:
    try:
        desk.deliver(budget_s=2, pace=pace)
    except DatabaseError:
        pass
    time.sleep(.02)
"""


class Mortal:
    """A process that has said its first line, and can be killed and started again; a context manager."""

    def __init__(self, *command: str) -> None:
        self._command = command

    def __enter__(self) -> Self:
        self._process = subprocess.Popen([sys.executable, *self._command], stdout=subprocess.PIPE, text=True)
        assert self._process.stdout
        assert self._process.stdout.readline()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def kill_and_start(self) -> None:
        self.__exit__()
        time.sleep(0.1)
        self.__enter__()


def keep_at(port: int, file: Path) -> tuple[str, ...]:
    options = ("--port", str(port), "--file", str(file), "--visible-after-s", "0.15")
    return ("-m", "kb_pipeline.demo.local_keep", *options)


def kill_and_start(server: EmbeddedPostgres, folder: Path) -> None:
    """kill -9 of all of PostgreSQL, and its start."""
    postmaster = Postmaster.read(folder / "cluster")
    assert postmaster
    children = subprocess.run(["pgrep", "-P", str(postmaster.pid)], capture_output=True, text=True, check=False)
    subprocess.run(["kill", "-9", str(postmaster.pid), *children.stdout.split()], check=False)
    while postmaster.is_running():
        time.sleep(0.02)
    server.__exit__(None, None, None)
    server.__enter__()


def test_300_transitions_of_60_fingerprints_survive_kills_of_receiver_sender_and_database(
    servers_folder: Path, tmp_path: Path
) -> None:
    kept, port, folder = tmp_path / "kept.jsonl", free_port(), servers_folder / "chaos"
    with EmbeddedPostgres(folder, fsync=False) as server:
        database = Database(server.url())
        migrate(database)
        apply_roles(database)
        sender = ("-c", SENDER, server.url(), f"http://127.0.0.1:{port}", KEY, READ_KEY)
        with Mortal(*keep_at(port, kept)) as keep, Mortal(*sender) as deliverer:
            last = told(
                Flips(database, SystemClock()),
                {
                    60: keep.kill_and_start,
                    120: deliverer.kill_and_start,
                    180: partial(kill_and_start, server, folder),
                    240: keep.kill_and_start,
                },
            )
            settle(database)
        check(database, Alerts(kept), last)
        database.dispose()


def told(flips: Flips, kills: Mapping[int, Callable[[], object]]) -> Counter[str]:
    """Write all transitions, one of them poison, with a kill before some; how many each subject has."""
    dice, last = random.Random(7), Counter[str]()
    order = [f"t{number % FINGERPRINTS:02}" for number in range(TRANSITIONS)]
    dice.shuffle(order)
    poisoned = order.index("t30")
    for number, name in enumerate(order):
        if number in kills:
            kills[number]()
        if number == poisoned:
            flips.fire(name, poison=True)
        elif last[name] % 2:
            flips.resolve(name)
        else:
            flips.fire(name)
        last[name] += 1
        time.sleep(dice.uniform(0, 0.02))
    return last


def settle(database: Database) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if not table(database, "SELECT 1 FROM kb_alert_outbox WHERE state IN ('pending', 'sent') LIMIT 1"):
            return
        time.sleep(0.1)
    raise AssertionError(table(database, "SELECT * FROM kb_alert_outbox WHERE state IN ('pending', 'sent')"))


def check(database: Database, keep: Alerts, last: Mapping[str, int]) -> None:
    ends = {alert["fingerprint"].split(":")[1]: alert for alert in keep.latest().values()}
    assert len(ends) == FINGERPRINTS
    wrong = [name for name, number in last.items() if ends[name]["kb_seq"] != number]
    assert wrong == []
    states = dict(table(database, "SELECT fingerprint, notice ->> 'status' FROM kb_alert_state"))
    assert {alert["fingerprint"]: alert["status"] for alert in ends.values()} == states
    numbers: dict[str, list[int]] = defaultdict(list)
    for alert in keep.received:
        numbers[alert["fingerprint"]].append(alert["kb_seq"])
    assert [name for name, found in numbers.items() if found != sorted(found)] == []
    dead = table(database, "SELECT fingerprint, reason FROM kb_alert_outbox WHERE state = 'dead'")
    assert len(dead) == 1
    assert "labels: value is not a valid dict" in dead[0][1]
    delivered = table(database, "SELECT fingerprint, kb_seq FROM kb_alert_outbox WHERE state = 'confirmed'")
    assert len(delivered) == TRANSITIONS - 1
    # Each was taken at least once.
    assert len({(name, number) for name, found in numbers.items() for number in found}) == TRANSITIONS - 1
