"""Planted calls into the example upstream tables, each chunk in one transaction.

Belongs here: rows of upstream.ai_calls, ai_call_bodies and planted_truth. Does not: what is planted.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kb_pipeline.adapters.postgres.connection import Connection, Database
from kb_pipeline.demo.queries import load
from kb_pipeline.demo.traffic import PlantedCall
from kb_pipeline.demo.traffic.storage import CHAIN_START


@dataclass(frozen=True, kw_only=True, slots=True)
class Planting:
    """What was written; `late` are the calls whose body row has still to arrive, oldest first.

    `last_hash` ends the body chain: `generate(..., previous=last_hash)` continues it.
    """

    calls: int
    turns: int
    late: tuple[PlantedCall, ...]
    last_hash: bytes


def plant(database: Database, chunks: Iterable[Sequence[PlantedCall]], *, until: datetime | None = None) -> Planting:
    """Write calls, truth, and the bodies that have arrived by `until` (None: only those that arrive with their call).

    A call that is there already stays as it is. The tables of sql/source_example.sql must exist.
    """
    with database.connect() as connection:
        connection.execute(load("create_planted_truth"))
    calls, turns, late, last_hash = 0, 0, list[PlantedCall](), CHAIN_START
    for chunk in chunks:
        arrived = [each for each in chunk if _has_arrived(each, until)]
        with database.connect() as connection:
            connection.execute(load("insert_calls"), _call_columns(chunk))
            connection.execute(load("insert_truth"), _truth_columns(chunk))
            _insert_bodies(connection, arrived)
        late += [each for each in chunk if not _has_arrived(each, until)]
        calls += len(chunk)
        turns += sum(each.truth.kind.is_turn for each in chunk)
        last_hash = chunk[-1].body.body_hash or last_hash
    return Planting(calls=calls, turns=turns, late=tuple(late), last_hash=last_hash)


def deliver(database: Database, late: Sequence[PlantedCall], *, until: datetime) -> tuple[PlantedCall, ...]:
    """Write the late bodies that have arrived by `until`; gives those that are later still."""
    with database.connect() as connection:
        _insert_bodies(connection, [each for each in late if _has_arrived(each, until)])
    return tuple(each for each in late if not _has_arrived(each, until))


def _has_arrived(planted: PlantedCall, until: datetime | None) -> bool:
    return planted.body_arrives is None or (until is not None and planted.body_arrives <= until)


def _insert_bodies(connection: Connection, planted: Sequence[PlantedCall]) -> None:
    columns = {
        "event_ids": [each.call.event_id for each in planted],
        "requests": [each.body.request for each in planted],
        "responses": [each.body.response for each in planted],
        "prev_hashes": [each.body.prev_hash for each in planted],
        "body_hashes": [each.body.body_hash for each in planted],
        "stored_at": [each.body_arrives or each.call.ts for each in planted],
    }
    connection.execute(load("insert_bodies"), columns)


def _call_columns(planted: Sequence[PlantedCall]) -> dict[str, list[Any]]:
    calls = [each.call for each in planted]
    return {
        "event_ids": [call.event_id for call in calls],
        "trace_ids": [call.trace_id for call in calls],
        "ts": [call.ts for call in calls],
        "tenants": [call.tenant for call in calls],
        "surfaces": [call.surface for call in calls],
        "operations": [call.operation for call in calls],
        "engines": [call.engine for call in calls],
        "models": [call.model for call in calls],
        "http_statuses": [call.http_status for call in calls],
    }


def _truth_columns(planted: Sequence[PlantedCall]) -> dict[str, list[Any]]:
    truths = [each.truth for each in planted]
    return {
        "event_ids": [each.call.event_id for each in planted],
        "ts": [each.call.ts for each in planted],
        "kinds": [str(truth.kind) for truth in truths],
        "verdicts": [str(truth.verdict) for truth in truths],
        "parse_statuses": [truth.parse_status and str(truth.parse_status) for truth in truths],
        "faithful": [truth.faithful for truth in truths],
        "relevant": [truth.relevant for truth in truths],
        "refused": [truth.refused for truth in truths],
        "had_context": [truth.had_context for truth in truths],
        "passages": [truth.passages for truth in truths],
        "question_shas": [truth.question_sha for truth in truths],
        "streamed": [truth.streamed for truth in truths],
    }
