"""A sign of life while something takes long and nobody sees a moving line.

Belongs here: when it is given. Does not: where it goes, what it says.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

EVERY_S = 10.0


@contextmanager
def heartbeat(say: Callable[[str], None], state: Callable[[], str], *, every_s: float | None = None) -> Iterator[None]:
    """While the block runs, `say` hears every ten seconds (`every_s`) how long it has run and the `state` of the work.

    It is called in another thread. Where its stream was closed it is called no more, and the work goes on.
    """
    began, ended = time.monotonic(), threading.Event()

    def beat() -> None:
        with suppress(OSError, ValueError):
            while not ended.wait(every_s or EVERY_S):
                say(f"{time.monotonic() - began:.0f} s: {state()}")

    thread = threading.Thread(target=beat, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
