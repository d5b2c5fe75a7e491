"""Batches: what arrives together is kept together, one bad event spoils nobody else's, an outage loses nothing."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_pipeline.adapters.clock import SystemClock
from kb_pipeline.adapters.postgres.retrieval.events import Event, EventsRefused, Kept, Stored
from kb_pipeline.errors import DatabaseError
from kb_pipeline.worker import batching
from kb_pipeline.worker.batching import MOST_EVENTS, Batcher, HandedBack, SavingThread
from kb_pipeline.worker.faults import Faults
from kb_pipeline.worker.metrics import WorkerMetrics
from kb_pipeline_tests.recorder.events import click, retrieval

Answer = Kept | BaseException


class Store:
    """Keeps events in memory; `spoil` raises for a batch that it does not like."""

    def __init__(self, spoil: Callable[[Sequence[Event]], None] = lambda _: None) -> None:
        self.batches: list[list[Event]] = []
        self._spoil = spoil

    async def __call__(self, events: Sequence[Event]) -> Stored:
        await asyncio.sleep(0)
        self._spoil(events)
        self.batches.append(list(events))
        return Stored(kept=(Kept.WRITTEN,) * len(events))


class Desk:
    """A batcher at work, with its faults and metrics."""

    def __init__(self, save: Callable[[Sequence[Event]], Coroutine[Any, Any, Stored]]) -> None:
        clock = SystemClock()
        self.metrics = WorkerMetrics()
        self.faults = Faults(clock, lambda kind, is_there: self.metrics.fault.labels(kind).set(is_there))
        self.batcher = Batcher(save, faults=self.faults, metrics=self.metrics, clock=clock)

    async def keep(self, events: Sequence[Event]) -> list[Answer]:
        """Give all events at once; what became of each."""
        running = asyncio.ensure_future(self.batcher.run())
        try:
            return await asyncio.gather(*map(self.batcher.keep, events), return_exceptions=True)
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

    def value(self, name: str, **labels: str) -> float:
        return self.metrics.registry.get_sample_value(name, labels) or 0.0


def refusing(poison: Sequence[Event]) -> Callable[[Sequence[Event]], None]:
    def spoil(events: Sequence[Event]) -> None:
        if any(event in poison for event in events):
            raise EventsRefused("the database refuses a statement: CheckViolation; the event was not kept")

    return spoil


def test_events_that_arrive_together_are_kept_in_one_batch_of_bounded_size() -> None:
    store = Store()
    events = [retrieval() for _ in range(MOST_EVENTS + 10)]
    assert asyncio.run(Desk(store).keep(events)) == [Kept.WRITTEN] * len(events)
    assert [len(batch) for batch in store.batches] == [MOST_EVENTS, 10]


@settings(max_examples=40)
@given(size=st.integers(1, 40), data=st.data())
def test_of_a_batch_exactly_the_bad_events_are_refused_and_all_others_kept(size: int, data: st.DataObject) -> None:
    events = [retrieval() for _ in range(size)]
    bad = data.draw(st.sets(st.integers(0, size - 1)))
    store = Store(refusing([events[place] for place in bad]))
    answers = asyncio.run(Desk(store).keep(events))
    assert {place for place, answer in enumerate(answers) if isinstance(answer, EventsRefused)} == bad
    kept = [event for batch in store.batches for event in batch]
    assert kept == [event for place, event in enumerate(events) if place not in bad]


def test_one_bad_event_among_many_costs_few_inserts() -> None:
    events = [retrieval() for _ in range(MOST_EVENTS)]
    calls: list[int] = []
    refuse = refusing(events[17:18])

    def spoil(batch: Sequence[Event]) -> None:
        calls.append(len(batch))
        refuse(batch)

    asyncio.run(Desk(Store(spoil)).keep(events))
    assert len(calls) <= 2 * MOST_EVENTS.bit_length()


def test_an_error_that_nobody_foresaw_spoils_its_own_event_only() -> None:
    events = [retrieval() for _ in range(5)]

    def spoil(batch: Sequence[Event]) -> None:
        if events[3] in batch:
            raise ZeroDivisionError

    answers = asyncio.run(Desk(Store(spoil)).keep(events))
    assert [type(answer) for answer in answers] == [Kept, Kept, Kept, ZeroDivisionError, Kept]


def test_an_outage_is_waited_out_said_once_and_no_event_is_lost(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(batching, "FIRST_PAUSE_S", 0.001)
    monkeypatch.setattr(batching, "LONGEST_PAUSE_S", 0.002)
    failures = [DatabaseError("the database at h/d cannot be used: gone; check database.url and the server")] * 5
    seen: list[float] = []

    def spoil(_batch: Sequence[Event]) -> None:
        seen.append(desk.value("kb_pipeline_worker_fault", kind="database"))
        if failures:
            raise failures.pop()

    caplog.set_level("INFO")
    desk = Desk(Store(spoil))
    assert asyncio.run(desk.keep([retrieval(), click()])) == [Kept.WRITTEN] * 2
    assert seen == [0.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    assert [record.message.partition(",")[0] for record in caplog.records] == [
        "the database at h/d cannot be used: gone; check database.url and the server",
        "the database keeps events again",
    ]
    assert desk.faults.present() == []


def test_an_outage_in_the_middle_of_a_bisection_ends_it_with_the_right_event_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(batching, "FIRST_PAUSE_S", 0.001)
    events = [retrieval() for _ in range(8)]
    refuse = refusing(events[5:6])
    calls = 0

    def spoil(batch: Sequence[Event]) -> None:
        nonlocal calls
        calls += 1
        if calls % 2 == 0:
            raise DatabaseError("the database was lost; run the command again")
        refuse(batch)

    answers = asyncio.run(Desk(Store(spoil)).keep(events))
    assert [isinstance(answer, EventsRefused) for answer in answers] == [place == 5 for place in range(8)]


def test_a_worker_that_stops_during_an_outage_hands_its_events_back() -> None:
    def spoil(_batch: Sequence[Event]) -> None:
        raise DatabaseError("the database was lost; run the command again")

    async def stopped() -> list[Answer]:
        desk = Desk(Store(spoil))
        asyncio.get_running_loop().call_later(0.01, desk.batcher.stop_waiting)
        return await desk.keep([retrieval(), retrieval()])

    assert [type(answer) for answer in asyncio.run(stopped())] == [HandedBack] * 2


def test_a_stopping_worker_still_keeps_what_it_has_while_the_database_answers() -> None:
    async def stopping() -> list[Answer]:
        desk = Desk(Store())
        desk.batcher.stop_waiting()
        return await desk.keep([retrieval()])

    assert asyncio.run(stopping()) == [Kept.WRITTEN]


def test_what_became_of_events_is_counted_by_type_and_result() -> None:
    verdicts = [Kept.WRITTEN, Kept.DUPLICATE, Kept.CONFLICT, Kept.ID_TAKEN, Kept.WRITTEN]

    async def save(events: Sequence[Event]) -> Stored:
        return Stored(kept=tuple(verdicts[: len(events)]))

    desk = Desk(save)
    asyncio.run(desk.keep([retrieval(), retrieval(), retrieval(), retrieval(), click()]))
    counted = {
        (kind, result): desk.value("kb_pipeline_worker_events_total", type=kind, result=result)
        for kind in ("retrieval", "search")
        for result in ("written", "duplicate", "conflict")
    }
    assert {pair for pair, count in counted.items() if count == 1} == {
        ("retrieval", "written"), ("retrieval", "duplicate"), ("retrieval", "conflict"), ("search", "written"),
    }  # fmt: skip
    assert sum(counted.values()) == 4
    assert desk.value("kb_event_conflict_total") == 1
    assert desk.value("kb_pipeline_worker_rejected_total", reason="id_taken") == 1
    assert desk.value("kb_pipeline_worker_batch_events_sum") == 5


def test_a_blocking_save_does_not_hold_up_the_event_loop() -> None:
    free = threading.Event()

    def save(events: Sequence[Event]) -> Stored:
        assert free.wait(30)
        return Stored(kept=(Kept.WRITTEN,) * len(events))

    async def both() -> list[Answer]:
        keeping = asyncio.ensure_future(Desk(SavingThread(save)).keep([retrieval()]))
        await asyncio.sleep(0.01)
        free.set()
        return await keeping

    assert asyncio.run(both()) == [Kept.WRITTEN]


def test_what_a_blocking_save_raises_arrives_where_the_event_came_from() -> None:
    def save(_events: Sequence[Event]) -> Stored:
        raise EventsRefused("no")

    [answer] = asyncio.run(Desk(SavingThread(save)).keep([retrieval()]))
    assert isinstance(answer, EventsRefused)
