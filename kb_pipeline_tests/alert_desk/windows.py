"""Hourly windows in the database, for the tests of the desk, and a clock that stands where it is put."""

import math
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.alert_desk import AlertDesk
from kb_pipeline.grading.judging import PROMPT_VERSION
from kb_pipeline.settings import Settings
from kb_pipeline.windows import HOUR

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
MODEL = "judge-7b"
ORG, SPECIALIST = UUID(int=1), UUID(int=2)


class Stopped:
    """A clock that stands."""

    def __init__(self, at: datetime = NOON + timedelta(minutes=5)) -> None:
        self.at = at

    def now(self) -> datetime:
        return self.at

    def monotonic(self) -> float:
        return 0.0


def settings(database: Database, **sections: dict[str, Any]) -> Settings:
    """Both streets on; alerts go to Keep and a webhook."""
    given: dict[str, dict[str, Any]] = {
        "rag_quality": {"enabled": True, "judge_model": MODEL},
        "retrieval": {"enabled": True, "redis_url": "redis://localhost:6379/0"},
        "alerts": {"keep_url": "http://keep.example.org", "webhook_url": "http://hook.example.org"},
        "service": {"public_url": "https://quality.example.org"},
        "database": {"url": database.url.render_as_string(hide_password=False)},
    }
    for name, keys in sections.items():
        given[name] = given[name] | keys
    return Settings.model_validate(given)


def desk(database: Database, clock: Stopped | None = None, **sections: dict[str, Any]) -> AlertDesk:
    return AlertDesk(settings(database, **sections), database, clock=clock or Stopped())


def put(database: Database, table: str, row: dict[str, Any], key: str) -> None:
    """A row, in place of the one with the same key."""
    names, marks = ", ".join(row), ", ".join(["%s"] * len(row))
    updates = ", ".join(f"{name} = excluded.{name}" for name in row)
    statement = f"INSERT INTO {table} ({names}) VALUES ({marks}) ON CONFLICT ({key}) DO UPDATE SET {updates}"
    with database.connect() as connection:
        connection.execute(statement.encode(), list(row.values()))


def graded(
    database: Database,
    hour: datetime,
    scores: Sequence[float],
    *,
    tenant: str = "portal",
    surface: str = "public",
    engine: str = "rag",
    version: str = PROMPT_VERSION,
    **counts: int,
) -> None:
    """A graded hour of these scores, beside turns that are pending, errors or failed."""
    bins = Counter(math.floor(round(score * 100, 6)) for score in scores)
    histogram = [bins[number] for number in range(101)]
    ungraded = {name: counts.get(name, 0) for name in ("pending", "errors", "failed", "skipped", "disabled")}
    row: dict[str, Any] = {
        "hour": hour, "tenant": tenant, "surface": surface, "engine": engine, "judge_model": MODEL,
        "prompt_version": version, "turns": len(scores) + sum(ungraded.values()), "graded": len(scores), **ungraded,
        "had_context": len(scores), "refused": 0, "truncated": 0, "faithfulness_n": len(scores),
        "faithfulness_sum": sum(scores), "faithfulness_sum_sq": sum(score * score for score in scores),
        "faithfulness_hist": histogram, "top_score_n": 0, "top_score_sum": 0, "context_chars_sum": 0,
        "answer_chars_sum": 0, "judge_calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "judge_ms": 0,
    }  # fmt: skip
    for aspect in ("answer_relevance", "context_relevance"):
        row |= {f"{aspect}_n": 0, f"{aspect}_sum": 0, f"{aspect}_sum_sq": 0, f"{aspect}_hist": [0] * 101}
    put(database, "rag_quality_window", row, "hour, tenant, surface, engine, judge_model, prompt_version")


def called(database: Database, hour: datetime, recognised: int, *, others: int = 0, unparsed: int = 0) -> None:
    """An hour of calls of the ledger; two more are the pipeline's own."""
    row = {
        "hour": hour, "tenant": "portal", "surface": "public", "engine": "rag", "examined": recognised + others + 2,
        "synthesis": recognised, "sampled_out": 0, "other": others, "self": 2, "unreadable": 0,
        "parsed": recognised - unparsed, "parse_attempted": recognised, "parse_status_counts": "{}",
    }  # fmt: skip
    put(database, "rag_call_window", row, "hour, tenant, surface, engine")


def retrieved(database: Database, hour: datetime, retrievals: int, empty: int, *, org: UUID = ORG) -> None:
    """An hour of retrievals."""
    row = {
        "hour": hour, "org_id": org, "specialist_id": SPECIALIST, "engine": "hybrid", "retrievals": retrievals,
        "empty": empty, "top_score_hist": [0] * 22, "latency_hist": [0] * 12, "newest_event_at": hour,
    }  # fmt: skip
    put(database, "kb_retrieval_window", row, "hour, org_id, specialist_id, engine")


def settled(database: Database, outcomes: str, at: datetime = NOON) -> None:
    """The judge's last turns, the newest first: + scored, - an error."""
    for number, sign in enumerate(outcomes):
        is_ok = sign == "+"
        scores = dict.fromkeys(("faithfulness", "answer_relevance", "context_relevance"), 0.9 if is_ok else None)
        row = {
            "event_id": f"event-{number}", "judge_model": MODEL, "prompt_version": PROMPT_VERSION, "ts": at,
            "status": "ok" if is_ok else "error", "idempotency_key": f"event-{number}", **scores,
            "error_class": None if is_ok else "http_5xx", "judged_at": at - timedelta(minutes=number),
        }  # fmt: skip
        put(database, "rag_judge_score", row, "event_id, judge_model, prompt_version")


def bad_hours(
    database: Database, *, until: datetime = NOON, hours: int = 5, tenant: str = "portal", engine: str = "rag"
) -> None:
    """Hours of ten turns with a mean of .3."""
    for back in range(hours):
        graded(database, until - HOUR * back, [0.2, 0.4] * 5, tenant=tenant, engine=engine)
