"""The arrivals sensor: tells Dagster what others wrote, so that freshness policies have something to go by.

Belongs here: reports on assets that no run of ours materializes. Does not: how long they may be silent (retrieval.py).
"""

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta

import dagster as dg

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.retrieval.arrivals import (
    Arrival,
    decision_arrivals,
    retrieval_arrivals,
    search_arrivals,
)
from kb_pipeline.defs.resources import RetrievalStreets
from kb_pipeline.defs.retrieval import CORRECTIONS, EVENTS, SEARCHES

# A report is a row in Dagster's event log for ever, so there is at most one a quarter of an hour and asset.
INTERVAL_S = 900
# The first look goes this far back: further than the longest silence that a policy allows.
FIRST_LOOK = timedelta(days=7)

LOOKS: Mapping[dg.AssetKey, Callable[[Database, datetime], Arrival | None]] = {
    EVENTS: retrieval_arrivals,
    SEARCHES: search_arrivals,
    CORRECTIONS: decision_arrivals,
}


@dg.sensor(
    name="retrieval_arrivals",
    minimum_interval_seconds=INTERVAL_S,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Reports new events and decisions; an asset whose reports stop goes stale.",
)
def retrieval_arrivals_sensor(
    context: dg.SensorEvaluationContext, retrieval: dg.ResourceParam[RetrievalStreets]
) -> dg.SensorResult:
    """One materialization per asset with something new; the cursor keeps the newest instant seen of each.

    A materialization, because a freshness policy looks at nothing else; the rows themselves are others' work.
    """
    seen = _read(context.cursor)
    with retrieval.open() as street:
        since = street.clock.now() - FIRST_LOOK
        found = dict(_looks(street.database, seen, since))
    if not found:
        return dg.SensorResult(skip_reason="Nothing has arrived since the last look.")
    newest = {key: arrival.newest_written_at for key, arrival in found.items()}
    return dg.SensorResult(
        asset_events=[_report(key, arrival) for key, arrival in found.items()],
        cursor=_written(seen | newest),
    )


def _looks(
    database: Database, seen: Mapping[dg.AssetKey, datetime], first: datetime
) -> Iterator[tuple[dg.AssetKey, Arrival]]:
    for key, look in LOOKS.items():
        if arrival := look(database, seen.get(key, first)):
            yield key, arrival


def _report(key: dg.AssetKey, arrival: Arrival) -> dg.AssetMaterialization:
    return dg.AssetMaterialization(
        key,
        description="Arrived since the last look.",
        metadata={
            "rows_arrived": arrival.rows,
            "newest_written_at": dg.MetadataValue.timestamp(arrival.newest_written_at),
            "newest_happened_at": dg.MetadataValue.timestamp(arrival.newest_happened_at),
        },
    )


def _read(cursor: str | None) -> dict[dg.AssetKey, datetime]:
    """What an earlier tick wrote; anything else begins anew."""
    try:
        kept = json.loads(cursor or "{}")
        return {key: datetime.fromisoformat(kept[str(key.path[-1])]) for key in LOOKS if key.path[-1] in kept}
    except (ValueError, TypeError):
        return {}


def _written(seen: Mapping[dg.AssetKey, datetime]) -> str:
    return json.dumps({key.path[-1]: instant.isoformat() for key, instant in seen.items()})
