"""Faults that a demonstration server injects, drawn from a seed, so that two runs meet the same ones.

Belongs here: which call meets which fault. Does not: the server.
"""

import hashlib
import re
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum


class Fault(StrEnum):
    """What a call meets instead of a reply."""

    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    HANG = "hang"
    MALFORMED = "malformed"


@dataclass(frozen=True, kw_only=True, slots=True)
class Faults:
    """Shares in [0, 1] of the calls that meet each fault; `only_first` spares an event's later calls when it is set.

    `hang_s` is how long a hanging call is silent; `latency_s` delays every reply; `retry_after` is sent with each
    429, in seconds. Raises ValueError when the shares add up to more than 1.
    """

    rate_limited: float = 0.0
    server_error: float = 0.0
    hang: float = 0.0
    malformed: float = 0.0
    only_first: int | None = None
    hang_s: float = 30.0
    latency_s: float = 0.0
    retry_after: float = 1.0
    refuse_json_schema: bool = False
    refuse_json_object: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if sum(share for _, share in self._shares()) > 1:
            raise ValueError("the shares of faults add up to more than 1")

    def of(self, event: str, call: int) -> Fault | None:
        """The fault of call number `call` (from 0) for `event`, the same at each asking."""
        if self.only_first is not None and call >= self.only_first:
            return None
        digest = hashlib.sha256(f"{self.seed}\0{event}\0{call}".encode()).digest()
        draw = int.from_bytes(digest[:8]) / 2**64
        for fault, share in self._shares():
            if draw < share:
                return fault
            draw -= share
        return None

    def _shares(self) -> tuple[tuple[Fault, float], ...]:
        return (
            (Fault.RATE_LIMITED, self.rate_limited),
            (Fault.SERVER_ERROR, self.server_error),
            (Fault.HANG, self.hang),
            (Fault.MALFORMED, self.malformed),
        )


@dataclass(kw_only=True, slots=True)
class CallCount:
    """How often each event was called, by the event id that its idempotency key starts with."""

    calls: Counter[str] = field(default_factory=Counter)

    def next(self, idempotency_key: str) -> tuple[str, int]:
        """The event of a key, and the number of its calls before this one."""
        later = _LATER_KEY.fullmatch(idempotency_key)
        event = later[1] if later else idempotency_key
        self.calls[event] += 1
        return event, self.calls[event] - 1


_LATER_KEY = re.compile(r"(.*):[0-9a-f]{8}:r\d+", re.DOTALL)
