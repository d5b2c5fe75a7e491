"""Running a coroutine to its end from synchronous code, wherever that stands; stopped, it still cleans up.

Belongs here: event loops, threads, signals. Does not: what is run.
"""

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

Result = TypeVar("Result")
STARTING_S = 5.0


def run_to_end(main: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
    """The result of `main()`, run in an event loop of its own.

    Here, or in a thread where this one already runs a loop, or where somebody handles signals in a way of his own: an
    exception that his handler raises in the middle of an event loop would be lost there. Ctrl-C cancels the coroutine,
    and so does SIGTERM unless the process handles it itself; its clean-up runs before KeyboardInterrupt, or what the
    handler raised, or SystemExit(143) goes on.
    """
    if _runs_a_loop() or _somebody_handles_signals():
        return _run_in_thread(main)
    return _run_here(main)


def _runs_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _somebody_handles_signals() -> bool:
    usual = (signal.default_int_handler, signal.SIG_DFL, signal.SIG_IGN)
    is_main = threading.current_thread() is threading.main_thread()
    return is_main and any(signal.getsignal(each) not in usual for each in (signal.SIGINT, signal.SIGTERM))


def _run_here(main: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
    terminated = False

    async def until_terminated() -> Result:
        nonlocal terminated
        task = asyncio.current_task()

        def terminate() -> None:
            nonlocal terminated
            terminated = True
            if task is not None:
                task.cancel()

        with _sigterm_calls(terminate):
            return await main()

    try:
        with asyncio.Runner() as runner:
            return runner.run(until_terminated())
    except asyncio.CancelledError:
        if terminated:
            raise SystemExit(128 + signal.SIGTERM) from None
        raise


class _sigterm_calls:  # noqa: N801 a context manager reads like a function
    """Within the block SIGTERM calls `callback` in the running loop, where nobody else handles it."""

    def __init__(self, callback: Callable[[], None]) -> None:
        self._callback = callback
        self._is_ours = (
            threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        )

    def __enter__(self) -> None:
        if self._is_ours:
            with suppress(NotImplementedError):
                asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self._callback)

    def __exit__(self, *_: object) -> None:
        if self._is_ours:
            with suppress(NotImplementedError):
                asyncio.get_running_loop().remove_signal_handler(signal.SIGTERM)


def _run_in_thread(main: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
    results: list[Result] = []
    failures: list[BaseException] = []
    started: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any] | None]] = []
    # Not Thread.join: interrupted once, Python 3.11 takes a running thread for ended.
    has_started, has_ended = threading.Event(), threading.Event()

    async def noted() -> Result:
        started.append((asyncio.get_running_loop(), asyncio.current_task()))
        has_started.set()
        return await main()

    def work() -> None:
        try:
            with asyncio.Runner() as runner:
                results.append(runner.run(noted()))
        except BaseException as error:  # noqa: BLE001 it is raised again in the caller's thread
            failures.append(error)
        finally:
            has_ended.set()

    thread = threading.Thread(target=work, name="judge-window")
    thread.start()
    try:
        has_ended.wait()
    except BaseException:
        has_started.wait(STARTING_S)
        for loop, task in started:
            if task is not None:
                with suppress(RuntimeError):
                    loop.call_soon_threadsafe(task.cancel)
        has_ended.wait()
        raise
    if failures:
        raise failures[0]
    return results[0]
