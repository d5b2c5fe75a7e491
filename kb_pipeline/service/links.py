"""Addresses that ask for the same period and filters again.

Belongs here: parameters of links. Does not: routes, filter forms.
"""

from collections.abc import Mapping
from urllib.parse import quote, urlencode

from kb_pipeline.dashboard.filters import QualityFilter, RetrievalFilter
from kb_pipeline.dashboard.periods import Period

Query = dict[str, str]


def span_query(period: Period) -> Query:
    """The parameters of a period, but for its zone, which the browser keeps."""
    if " to " in period.name:
        first, last = period.name.split(" to ")
        return {"from": first, "to": last}
    return {"window": period.name}


def turns_query(period: Period, chosen: QualityFilter, **more: object) -> Query:
    """The parameters that ask for the same period and turns, with more of them."""
    named = {"tenant": chosen.tenant, "surface": chosen.surface, "engine": chosen.engine}
    return span_query(period) | {"tz": str(period.zone)} | _given({**named, **more})


def retrievals_query(period: Period, chosen: RetrievalFilter, **more: object) -> Query:
    """The parameters that ask for the same period and retrievals, with more of them."""
    return span_query(period) | {"tz": str(period.zone)} | _given({**_tenant(chosen), "engine": chosen.engine, **more})


def judgments_query(chosen: RetrievalFilter, **more: object) -> Query:
    """The parameters that ask for the same judgments, which belong to no period and no engine."""
    return _given({**_tenant(chosen), **more})


def address(path: str, query: Query) -> str:
    """A path with its parameters."""
    return f"{path}?{urlencode(query)}" if query else path


def turn_address(event_id: str, period: Period) -> str:
    """The page of one turn, from which the period's worse and better ones are reached."""
    return address(f"/turns/{quote(event_id, safe='')}", span_query(period))


def _tenant(chosen: RetrievalFilter) -> dict[str, object]:
    return {"org": chosen.org, "specialist": chosen.specialist}


def _given(named: Mapping[str, object]) -> Query:
    """What has a value, as text; a grade of 0 is one."""
    return {name: str(value) for name, value in named.items() if value is not None and value != ""}
