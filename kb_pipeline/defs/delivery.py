"""Delivery of alerts in Dagster: a sensor that drains the outbox, and the asset that shows how it stands.

Belongs here: those two. Does not: what is sent when (steps/deliver_alerts.py).
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import dagster as dg

from kb_pipeline.defs.hourly import KINDS, OWNERS
from kb_pipeline.defs.resources import AlertDesks
from kb_pipeline.defs.tables import table_metadata
from kb_pipeline.records import OutboxHealth, StepReport

DELIVERY = "alert_delivery"
DELIVERED = "delivered_alerts"
INTERVAL_S = 30
# A tick of Dagster may take a minute; a round keeps well below, so that a receiver that hangs holds nobody up.
BUDGET_S = 15.0
# A report is a row in Dagster's event log for ever: one when something was delivered, else one a quarter of an hour.
REPORT_EVERY = timedelta(minutes=15)
_NEWS = ("accepted", "confirmed", "dead")


def delivery_definitions() -> dg.Definitions:
    """The asset and its sensor, for a configuration with a destination."""
    spec = dg.AssetSpec(
        DELIVERED,
        deps=["alert_evaluation"],
        group_name="alerts",
        owners=OWNERS,
        kinds=set(KINDS),
        metadata=table_metadata("kb_alert_outbox"),
        description="How the outbox of alerts stands: what waits, for how long, what was given up.",
    )
    return dg.Definitions(assets=[spec], sensors=[_delivery()])


def _delivery() -> dg.SensorDefinition:
    @dg.sensor(
        name=DELIVERY,
        minimum_interval_seconds=INTERVAL_S,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Delivers the alerts that wait in the outbox; what fails is tried again and fails no run.",
    )
    def alert_delivery(
        context: dg.SensorEvaluationContext, alert_desk: dg.ResourceParam[AlertDesks]
    ) -> dg.SensorResult | dg.SkipReason:
        try:
            with alert_desk.open() as desk:
                reports, health, now = desk.deliver(budget_s=BUDGET_S), desk.delivery(), desk.clock.now()
        except Exception as error:  # noqa: BLE001 whatever it was, delivery is tried again and fails nothing
            return dg.SkipReason(
                f"Nothing could be delivered in this tick ({type(error).__name__}); the next one tries."
            )
        sentence = delivery_sentence(reports, health)
        if not _is_due(reports, context.cursor, now):
            return dg.SkipReason(sentence)
        report = dg.AssetMaterialization(DELIVERED, description=sentence, metadata=_metadata(reports, health))
        return dg.SensorResult(asset_events=[report], cursor=now.isoformat())

    return alert_delivery


def delivery_sentence(reports: Mapping[str, StepReport], health: Sequence[OutboxHealth]) -> str:
    """How each destination stands, in words."""
    parts = []
    for each in health:
        counts = reports[each.destination].counts if each.destination in reports else {}
        words = f"{each.destination}: {counts.get('accepted', 0)} sent, {each.pending} wait, "
        words += f"{each.unconfirmed} unconfirmed, {each.dead} given up"
        parts.append(f"{words}, held ({each.reason})" if each.reason else words)
        parts.extend(reports[each.destination].notes if each.destination in reports else ())
    return "; ".join(parts) + "."


def _is_due(reports: Mapping[str, StepReport], cursor: str | None, now: datetime) -> bool:
    if any(report.counts[name] for report in reports.values() for name in _NEWS):
        return True
    try:
        return now - datetime.fromisoformat(cursor or "") >= REPORT_EVERY
    except (ValueError, TypeError):
        return True


def _metadata(reports: Mapping[str, StepReport], health: Sequence[OutboxHealth]) -> dict[str, Any]:
    confirmed = [each.last_confirmed_at for each in health if each.last_confirmed_at]
    return {
        "pending": sum(each.pending for each in health),
        "unconfirmed": sum(each.unconfirmed for each in health),
        "oldest_pending_s": max((each.oldest_pending_s or 0.0 for each in health), default=0.0),
        "dead": sum(each.dead for each in health),
        **({"last_confirmed_at": dg.MetadataValue.timestamp(max(confirmed))} if confirmed else {}),
        "by_destination": dg.MetadataValue.json(
            {name: json.loads(json.dumps(dict(report.counts))) for name, report in reports.items()}
        ),
    }
