"""Turns and windows for the service to read: rows of rag_quality, and windows made of them as the pipeline makes them.

Belongs here: planting. Does not: assertions.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from random import Random
from typing import Any

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.queries import load
from kb_pipeline.records import PARSED_STATUSES, TEMPLATE_STATUSES
from kb_pipeline.windows import HOUR, Window, floor_hour

VERSION = ("judge-a", "p1")
INSERT = """
INSERT INTO rag_quality (event_id, trace_id, ts, tenant, engine, surface, question_preview, parse_status, had_context,
  num_passages, context_chars, answer_chars, refused, answer_truncated, judge_status, error_class, skip_reason,
  judge_model, prompt_version, faithfulness, answer_relevance, context_relevance, faithfulness_reason,
  answer_relevance_reason, context_relevance_reason, judged_at)
VALUES (%(event_id)s, 'trace-' || %(event_id)s, %(ts)s, %(tenant)s, %(engine)s, %(surface)s, %(preview)s, 'ok',
  %(context)s, 1, 10, 10, %(refused)s, false, %(status)s, CASE WHEN %(status)s = 'error' THEN 'timeout' END,
  CASE WHEN %(status)s = 'skipped' THEN 'no_question' END, %(model)s, %(prompt)s, %(f)s, %(a)s, %(c)s, %(reason)s,
  %(reason)s, %(reason)s, now())
"""
INSERT_CALL = """
INSERT INTO rag_call (event_id, trace_id, ts, tenant, surface, engine, http_status, verdict, parse_status)
VALUES (%(event_id)s, 'trace-' || %(event_id)s, %(ts)s, %(tenant)s, %(surface)s, %(engine)s, 200, 'synthesis', 'ok')
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Planted:
    """One turn; scores only where its status is ok."""

    event_id: str
    ts: datetime
    scores: tuple[float | None, float | None, float | None] = (None, None, None)
    status: str = "ok"
    tenant: str = "portal"
    surface: str = "public"
    engine: str = "rag"
    preview: str | None = "Berapa biaya pendaftaran?"
    reason: str = "Kutipan tidak memuat biayanya."
    refused: bool = False
    context: bool = True
    version: tuple[str, str] = VERSION


def plant(database: Database, turns: Sequence[Planted]) -> None:
    """Write the turns, with their calls, and every window that holds one of them."""
    with database.connect() as connection, connection.cursor() as cursor:
        for month in {turn.ts.strftime("%Y-%m") for turn in turns}:
            cursor.execute("SELECT kb_ensure_rag_quality_partition(%s::timestamptz)", (f"{month}-02",))
        cursor.executemany(INSERT_CALL, [_row(turn) for turn in turns])
        cursor.executemany(INSERT, [_row(turn) for turn in turns])
    aggregate(database, {floor_hour(turn.ts) for turn in turns})


def aggregate(database: Database, hours: Iterable[datetime]) -> None:
    """Make the windows of these hours, and the days that hold them."""
    statuses = {
        "parsed_statuses": [str(status) for status in PARSED_STATUSES],
        "template_statuses": [str(status) for status in TEMPLATE_STATUSES],
    }
    with database.connect() as connection:
        for hour in sorted(hours):
            bounds = {"window_start": hour, "window_end": hour + HOUR}
            connection.execute(load("aggregate_quality"), bounds)
            connection.execute(load("aggregate_calls"), bounds | statuses)
            connection.execute(load("aggregate_day"), bounds)


def some_turns(window: Window, count: int, seed: int = 1) -> list[Planted]:
    """Turns at random instants of a window, of every status, two tenants, two engines and two judge versions."""
    random = Random(seed)
    return [_some(number, window, random) for number in range(count)]


def _some(number: int, window: Window, random: Random) -> Planted:
    status = random.choices(["ok", "error", "pending", "skipped"], [0.85, 0.03, 0.02, 0.1])[0]
    first, second, third = (random.choice([0.0, 1.0, 0.7, 0.69, random.random()]) for _ in range(3))
    faithfulness = None if random.random() < 0.1 else first
    return Planted(
        event_id=f"turn-{number:06d}",
        ts=window.start + (window.end - window.start) * random.random(),
        scores=(faithfulness, second, third) if status == "ok" else (None, None, None),
        status=status,
        tenant=random.choice(["portal", "mobile"]),
        engine=random.choice(["rag", "hybrid"]),
        refused=random.random() < 0.1,
        context=random.random() < 0.9,
        version=random.choice([VERSION, ("judge-a", "p2")]) if status != "skipped" else ("", ""),
    )


def _row(turn: Planted) -> dict[str, Any]:
    model, prompt = turn.version
    f, a, c = turn.scores
    return {
        "event_id": turn.event_id,
        "ts": turn.ts,
        "tenant": turn.tenant,
        "engine": turn.engine,
        "surface": turn.surface,
        "preview": turn.preview,
        "context": turn.context,
        "refused": turn.refused,
        "status": turn.status,
        "model": model or None,
        "prompt": prompt or None,
        "f": f,
        "a": a,
        "c": c,
        "reason": turn.reason,
    }
