"""An answer is made once for all who ask within a few seconds, and again afterwards."""

import threading

import pytest

from kb_pipeline.service.remembering import KEPT_S, Memory


def test_an_answer_is_kept_for_a_few_seconds_by_what_was_asked() -> None:
    clock, made = [0.0], []
    memory = Memory(lambda: clock[0])

    def make(name: str) -> str:
        made.append(name)
        return name

    assert [memory.recall(name, lambda name=name: make(name)) for name in ("a", "b", "a")] == ["a", "b", "a"]  # type: ignore[misc]
    assert made == ["a", "b"]
    clock[0] = KEPT_S + 0.1
    memory.recall("a", lambda: make("a"))
    assert made == ["a", "b", "a"]


def test_many_who_ask_at_once_make_it_once() -> None:
    memory, made, gate = Memory(lambda: 0.0), [], threading.Event()

    def make() -> int:
        gate.wait(5)
        made.append(1)
        return 7

    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(memory.recall("x", make))) for _ in range(8)]
    for thread in threads:
        thread.start()
    gate.set()
    for thread in threads:
        thread.join(5)
    assert (found, made) == ([7] * 8, [1])


def test_what_could_not_be_made_is_tried_again() -> None:
    memory = Memory(lambda: 0.0)

    def fail() -> int:
        raise OSError("away")

    with pytest.raises(OSError, match="away"):
        memory.recall("x", fail)
    assert memory.recall("x", lambda: 3) == 3


def test_it_forgets_what_was_asked_longest_ago() -> None:
    memory, made = Memory(lambda: 0.0), []
    for number in range(300):
        memory.recall(number, lambda: made.append(1))
    memory.recall(299, lambda: made.append(1))
    memory.recall(0, lambda: made.append(1))
    assert len(made) == 301
