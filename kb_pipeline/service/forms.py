"""The filters that pages offer: each with its choices and the one in use.

Belongs here: controls as data. Does not: markup (templates), reading a request (viewing.py).
"""

from collections.abc import Iterable, Sequence
from typing import Any

from kb_pipeline.dashboard.filters import QualityFilter, RetrievalFilter
from kb_pipeline.dashboard.periods import NAMED, Period
from kb_pipeline.service.viewing import Desk

ALL = ("", "all")
_SHOWN_UUID = 8
_ZONES = (
    "UTC", "Asia/Jakarta", "Asia/Makassar", "Asia/Jayapura", "Asia/Singapore", "Asia/Kolkata", "Europe/London",
    "Europe/Berlin", "America/New_York", "America/Los_Angeles", "Australia/Sydney",
)  # fmt: skip

Control = dict[str, Any]


def control(name: str, label: str, value: object, choices: Sequence[tuple[str, str]]) -> Control:
    """One control: its parameter, what it is called, the value in use, and (value, words) of each choice."""
    return {"name": name, "label": label, "value": "" if value is None else str(value), "choices": choices}


def turn_filters(desk: Desk, period: Period, chosen: QualityFilter) -> list[Control]:
    """Tenant, surface, engine, period and zone."""
    values = desk.quality.filter_values(desk.now())
    names = (("tenant", "Tenant"), ("surface", "Surface"), ("engine", "Engine"))
    return [
        *(_named(name, label, getattr(chosen, name), filter(None, values[name])) for name, label in names),
        *_time(period),
    ]


def retrieval_filters(desk: Desk, period: Period, chosen: RetrievalFilter) -> list[Control]:
    """Organisation, specialist, engine, period and zone."""
    engines = desk.retrieval.filter_values(desk.now())[2]
    return [*tenant_filters(desk, chosen), _named("engine", "Engine", chosen.engine, engines), *_time(period)]


def tenant_filters(desk: Desk, chosen: RetrievalFilter) -> list[Control]:
    """Organisation and specialist, each by the beginning of its id."""
    orgs, specialists, _ = desk.retrieval.filter_values(desk.now())
    return [
        _named("org", "Organisation", chosen.org, orgs, shown=_SHOWN_UUID),
        _named("specialist", "Specialist", chosen.specialist, specialists, shown=_SHOWN_UUID),
    ]


def _named(name: str, label: str, current: object, known: Iterable[object], *, shown: int | None = None) -> Control:
    """A control of names with the one in use, whether or not it is among the known ones."""
    values = dict.fromkeys(map(str, [*known, *([current] if current else [])]))
    words = [(value, f"{value[:shown]}…" if shown else value) for value in values]
    return control(name, label, current, [ALL, *words])


def _time(period: Period) -> list[Control]:
    periods = [*NAMED.items(), *([] if period.name in NAMED else [(period.name, period.name)])]
    zones = [(name, name) for name in dict.fromkeys((*_ZONES, str(period.zone)))]
    return [control("window", "Period", period.name, periods), control("tz", "Time zone", period.zone, zones)]
