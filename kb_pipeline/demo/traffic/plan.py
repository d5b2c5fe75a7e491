"""When turns happen, and of which kind: volume over the day, the shuffled mix, incidents.

Belongs here: times, kinds and effects of turns from a seed. Does not: their words or bytes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from random import Random

from kb_pipeline.demo.traffic.kinds import DEFAULT_MIX, Kind
from kb_pipeline.windows import HOUR, Window

# Relative volume by UTC hour: office hours of Jakarta (UTC+7), a dip at noon, few turns at night.
DIURNAL = (8, 10, 12, 12, 9, 7, 10, 11, 10, 8, 5, 4, 4, 4, 4, 3, 2, 1, 1, 1, 1, 1, 2, 5)


class Effect(StrEnum):
    """What an incident does to the turns it hits."""

    UNGROUNDED = "ungrounded"
    """Grounded answers become ungrounded or contradicted ones."""
    QUESTION_RENAMED = "question_renamed"
    """The template calls the question something else."""
    CONTEXT_RENAMED = "context_renamed"
    """The template calls the retrieved context something else."""
    SIGNATURE_CHANGED = "signature_changed"
    """The instruction is written anew, so that the call is not recognised any more."""
    LATE_BODY = "late_body"
    """The body row arrives later than the call row."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Incident:
    """One effect on a share of the turns of a window; `delay` is how late a late body is."""

    effect: Effect
    window: Window
    share: float = 1.0
    delay: timedelta = HOUR


@dataclass(frozen=True, kw_only=True, slots=True)
class Traffic:
    """How much traffic to plant: `turns` synthesis turns in the `hours` before `end`, the same for the same seed.

    Raises ValueError for fewer than one turn or hour, or an `end` without a time zone.
    """

    end: datetime
    turns: int = 240
    hours: int = 24
    seed: int = 7
    incidents: tuple[Incident, ...] = ()

    def __post_init__(self) -> None:
        if self.turns < 1 or self.hours < 1:
            raise ValueError(f"turns={self.turns}, hours={self.hours} plant nothing; at least one of each is accepted")
        Window(self.end - HOUR, self.end)

    @property
    def window(self) -> Window:
        """The hours that are filled."""
        return Window(self.end - HOUR * self.hours, self.end)


@dataclass(frozen=True, slots=True)
class Slot:
    """One turn to be: its number, completion, kind, and the incidents that hit it."""

    number: int
    ts: datetime
    kind: Kind
    incidents: tuple[Incident, ...]


def slots(traffic: Traffic) -> Iterator[Slot]:
    """Every turn in the order of time."""
    kinds = _deck(traffic)
    for number, (ts, kind) in enumerate(zip(_moments(traffic), kinds, strict=True)):
        random = dice(traffic.seed, "slot", number)
        hit = tuple(i for i in traffic.incidents if ts in i.window and random.random() < i.share)
        yield Slot(number, ts, _worse(kind, hit, random), hit)


def dice(*parts: object) -> Random:
    """A source of chance that repeats: the same parts give the same sequence."""
    return Random("/".join(map(str, parts)))  # noqa: S311 - it is meant to repeat


def apportion(total: int, weights: Sequence[float]) -> list[int]:
    """`total` in whole parts proportional to the weights, by the largest remainder (Hamilton's method)."""
    exact = [total * weight / sum(weights) for weight in weights]
    parts = [int(part) for part in exact]
    by_remainder = sorted(range(len(exact)), key=lambda i: (parts[i] - exact[i], i))
    for i in by_remainder[: total - sum(parts)]:
        parts[i] += 1
    return parts


def _deck(traffic: Traffic) -> list[Kind]:
    counts = apportion(traffic.turns, list(DEFAULT_MIX.values()))
    deck = [kind for kind, count in zip(DEFAULT_MIX, counts, strict=True) for _ in range(count)]
    dice(traffic.seed, "deck").shuffle(deck)
    return deck


def _moments(traffic: Traffic) -> Iterator[datetime]:
    hours = [_overlap(hour, traffic.window) for hour in traffic.window.hours()]
    weights = [DIURNAL[hour.start.hour] * (hour.end - hour.start) / HOUR for hour in hours]
    random = dice(traffic.seed, "moments")
    for hour, count in zip(hours, apportion(traffic.turns, weights), strict=True):
        step = (hour.end - hour.start) / count if count else HOUR
        yield from (hour.start + step * (i + random.uniform(0.05, 0.95)) for i in range(count))


def _overlap(hour: Window, whole: Window) -> Window:
    return Window(max(hour.start, whole.start), min(hour.end, whole.end))


def _worse(kind: Kind, incidents: tuple[Incident, ...], random: Random) -> Kind:
    if kind is Kind.GROUNDED and any(incident.effect is Effect.UNGROUNDED for incident in incidents):
        return random.choice((Kind.UNGROUNDED, Kind.UNGROUNDED, Kind.CONTRADICTED))
    return kind
