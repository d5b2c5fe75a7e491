"""How delivery stands, as Prometheus reads it.

Belongs here: names and meanings of the gauges of the outbox. Does not: an endpoint that serves them.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

from prometheus_client.core import GaugeMetricFamily

from kb_pipeline.records import OutboxHealth

_MEANINGS = {
    "pending": "Alerts that wait to be sent.",
    "unconfirmed": "Alerts that were sent and not seen there yet.",
    "dead": "Alerts that were refused for good and nobody retried.",
    "oldest_pending_seconds": "How long the oldest alert that waits has waited; 0 where none does.",
    "failures": "Failures in a row.",
    "last_confirmed_timestamp_seconds": "When an alert was last seen there; absent where none was.",
}


def delivery_families(health: Sequence[OutboxHealth]) -> Iterator[GaugeMetricFamily]:
    """One gauge a meaning, one sample a destination."""
    for name, meaning in _MEANINGS.items():
        family = GaugeMetricFamily(f"kb_pipeline_alert_outbox_{name}", meaning, labels=("destination",))
        for each in health:
            if (value := _value(each, name)) is not None:
                family.add_metric((each.destination,), value)
        yield family


def _value(health: OutboxHealth, name: str) -> float | None:
    if name == "oldest_pending_seconds":
        return health.oldest_pending_s or 0.0
    if name == "last_confirmed_timestamp_seconds":
        instant: datetime | None = health.last_confirmed_at
        return instant.timestamp() if instant else None
    return float(getattr(health, name))
