"""The windows worked out a second time, in Python from the published rows: what the database says must equal it."""

from collections import Counter, defaultdict
from collections.abc import Hashable
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from psycopg.rows import dict_row

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.windows import floor_hour
from kb_pipeline_tests.builders import table

ASPECTS = ("faithfulness", "answer_relevance", "context_relevance")
COUNTS = {
    "ok": "graded", "pending": "pending", "error": "errors", "failed": "failed", "skipped": "skipped",
    "disabled": "disabled",
}  # fmt: skip
Key = tuple[Hashable, ...]


def assert_adds_up(database: Database, *, rejudged: bool = False) -> None:
    """Every recognised turn is published once, every window is the sum of its rows, every day that of its hours."""
    turns = _rows(database, "SELECT * FROM rag_quality")
    assert sorted(turn["event_id"] for turn in turns) == [
        event_id
        for (event_id,) in table(
            database, "SELECT event_id FROM rag_call WHERE verdict = 'synthesis' AND erased_at IS NULL ORDER BY 1"
        )
    ]
    hours = _rows(database, "SELECT * FROM rag_quality_window")
    assert _windows(hours, "hour") == _summed(turns)
    days = _rows(database, "SELECT * FROM rag_quality_day")
    assert _windows(days, "day") == _of_days(hours)
    assert _rows(database, "SELECT * FROM rag_stale_hour") == []
    twice = table(database, "SELECT event_id FROM rag_judge_score GROUP BY 1 HAVING count(*) > 1")
    assert bool(twice) == rejudged
    _assert_calls_add_up(database)


def _assert_calls_add_up(database: Database) -> None:
    found = Counter(
        (floor_hour(call["ts"]), call["tenant"], call["surface"], call["engine"], call["verdict"])
        for call in _rows(database, "SELECT * FROM rag_call")
    )
    kept: Counter[Key] = Counter()
    for window in _rows(database, "SELECT * FROM rag_call_window"):
        for verdict in ("synthesis", "other", "sampled_out", "self", "unreadable"):
            key = (window["hour"], window["tenant"], window["surface"], window["engine"], verdict)
            kept[key] += window[verdict]
    assert +kept == found


def _summed(turns: list[dict[str, Any]]) -> dict[Key, dict[str, Any]]:
    windows: dict[Key, dict[str, Any]] = defaultdict(_nothing)
    for turn in turns:
        judge = (turn["judge_model"] or "", turn["prompt_version"] or "")
        window = windows[floor_hour(turn["ts"]), turn["tenant"], turn["surface"], turn["engine"], *judge]
        window[COUNTS[turn["judge_status"]]] += 1
        for name in ("had_context", "refused"):
            window[name] += turn[name]
        for aspect in ASPECTS:
            if turn[aspect] is not None:
                window[f"{aspect}_sum"] += turn[aspect]
                window[f"{aspect}_hist"][int(Fraction(str(turn[aspect])) * 100)] += 1
    return _rounded(windows)


def _of_days(hours: list[dict[str, Any]]) -> dict[Key, dict[str, Any]]:
    days: dict[Key, dict[str, Any]] = defaultdict(_nothing)
    for hour in hours:
        start: datetime = hour["hour"]
        day = days[(start.astimezone(UTC).date(), *_dimensions(hour))]
        for name in day:
            if name.endswith("_hist"):
                day[name] = [a + b for a, b in zip(day[name], hour[name], strict=True)]
            else:
                day[name] += hour[name]
    return _rounded(days)


def _windows(rows: list[dict[str, Any]], start: str) -> dict[Key, dict[str, Any]]:
    return _rounded({(row[start], *_dimensions(row)): {name: row[name] for name in _nothing()} for row in rows})


def _dimensions(row: dict[str, Any]) -> Key:
    return (row["tenant"], row["surface"], row["engine"], row["judge_model"], row["prompt_version"])


def _nothing() -> dict[str, Any]:
    sums = {f"{aspect}_sum": 0.0 for aspect in ASPECTS}
    histograms = {f"{aspect}_hist": [0] * 101 for aspect in ASPECTS}
    return dict.fromkeys((*COUNTS.values(), "had_context", "refused"), 0) | sums | histograms


def _rounded(windows: dict[Key, dict[str, Any]]) -> dict[Key, dict[str, Any]]:
    return {
        key: {name: round(value, 9) if isinstance(value, float) else value for name, value in window.items()}
        for key, window in windows.items()
    }


def _rows(database: Database, statement: str) -> list[dict[str, Any]]:
    with database.connect() as connection, connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(statement).fetchall()
