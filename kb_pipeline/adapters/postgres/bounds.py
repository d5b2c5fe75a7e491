"""How long somebody waits for the database who is waited for himself, and when it is not asked at all.

Belongs here: connections that give up, the circuit breaker before new ones. Does not: pools, the wording of errors.
"""

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from time import monotonic
from typing import Any, Self, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.waiting import Ready, Wait

Result = TypeVar("Result")


class BreakerOpen(Exception):
    """Not now: the last attempt failed less than a pause ago, or another one is on its way."""

    def __init__(self, left_s: float) -> None:
        super().__init__(left_s)
        self.left_s = left_s


class Breaker:
    """A circuit breaker: after a failure nobody tries for a pause, then one does for all of them."""

    def __init__(self, pause_s: float, now: Callable[[], float] = monotonic) -> None:
        self._pause_s, self._now = pause_s, now
        self._failed_at: float | None = None
        self._is_probed = False
        self._lock = Lock()

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Around an attempt: an error of the driver opens the breaker, success closes it. Raises BreakerOpen."""
        is_probe = self._enter()
        try:
            yield
        except psycopg.OperationalError:
            self.trip()
            raise
        else:
            self._failed_at = None
        finally:
            if is_probe:
                self._is_probed = False

    def trip(self) -> None:
        """Somebody got no answer."""
        self._failed_at = self._now()

    def _enter(self) -> bool:
        """Whether this attempt is the one that the others wait for."""
        with self._lock:
            if self._failed_at is None:
                return False
            left = self._failed_at + self._pause_s - self._now()
            if left > 0 or self._is_probed:
                raise BreakerOpen(left)
            self._is_probed = True
            return True


@dataclass(frozen=True, kw_only=True, slots=True)
class Bounds:
    """Seconds that each step may take, for the databases of one server that share a breaker.

    A server that is stopped answers nothing at all, its own time-outs included: so the caller watches the clock too.
    """

    connect_s: int = 2
    greeting_s: float = 1.0
    """For the first words on a connection that is new or comes from the pool."""
    statement_s: float = 8.0
    pool_s: float = 1.0
    """For a connection of the pool, while all are in use."""
    breaker: Breaker = field(default_factory=lambda: Breaker(3.0))


class ImpatientConnection(psycopg.Connection[Any]):
    """A connection that is closed when the server says nothing for too long; raises OperationalError then."""

    bounds: Bounds
    _answer_s = float("inf")

    @classmethod
    def within(cls, bounds: Bounds, *words: Any, **named: Any) -> Self:
        """Connect; raises BreakerOpen and what the driver raises. Greetings are due first."""
        with bounds.breaker.attempt():
            connection = cls.connect(*words, **named)
        connection.bounds = bounds
        connection.be_greeted()
        return connection

    def be_greeted(self) -> None:
        """Allow what a greeting takes, from now on."""
        self._answer_s = self.bounds.greeting_s

    def be_worked_with(self) -> None:
        """Allow what a statement takes, from now on; the server, which can say why, gives up first."""
        self._answer_s = self.bounds.statement_s + 1

    def wait(self, gen: PQGen[Result], *args: Any, **kwargs: Any) -> Result:
        """The driver waits here for whatever the server is to say."""
        return super().wait(self._watched(gen), *args, **kwargs)

    def _watched(self, gen: PQGen[Result]) -> Generator[Wait, Ready | int, Result]:
        until = monotonic() + self._answer_s
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                if ready == Ready.NONE and monotonic() > until:
                    self._give_up()
                wanted = gen.send(ready)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]

    def _give_up(self) -> None:
        self.bounds.breaker.trip()
        self.close()
        raise psycopg.OperationalError(f"no answer within {self._answer_s:g} seconds")
