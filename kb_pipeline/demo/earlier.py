"""Two weeks of earlier windows, so that baselines exist before the first demo hour is graded.

Belongs here: plausible rows of rag_quality_window, rag_call_window and rag_quality_day. Does not: turns and bodies;
these windows have none.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from itertools import product
from random import Random
from typing import Any

import msgspec

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.queries import load as load_query
from kb_pipeline.demo.queries import load
from kb_pipeline.demo.traffic.companions import JUDGE_TENANT
from kb_pipeline.demo.traffic.generation import OUTCOMES
from kb_pipeline.demo.traffic.kinds import COMPANIONS, DEFAULT_MIX, Kind
from kb_pipeline.demo.traffic.plan import DIURNAL, dice
from kb_pipeline.records import PARSED_STATUSES, TEMPLATE_STATUSES, JudgeVersion, ParseStatus
from kb_pipeline.windows import Window, floor_hour

DAYS = 14
TURNS_PER_DAY = 240
TENANTS = {"portal": 0.75, "mobile": 0.25}
FIRST_TENANT = "portal"
ORCHESTRATOR = "orchestrator"
ASPECTS = ("faithfulness", "answer_relevance", "context_relevance")
BINS = 101
Range = tuple[float, float] | None
# From where to where the reference judge's faithfulness, answer relevance and context relevance of a kind lie; None
# where a score is undefined.
RANGES: dict[Kind, tuple[Range, Range, Range]] = {
    Kind.GROUNDED: ((0.8, 1.0), (0.85, 1.0), (0.9, 1.0)),
    Kind.CUT: ((0.8, 1.0), (0.8, 1.0), (0.9, 1.0)),
    Kind.PARTLY_UNGROUNDED: ((0.45, 0.75), (0.8, 1.0), (0.85, 1.0)),
    Kind.CONTRADICTED: ((0.45, 0.9), (0.85, 1.0), (0.95, 1.0)),
    Kind.UNGROUNDED: ((0.05, 0.25), (0.0, 0.1), (0.85, 1.0)),
    Kind.IRRELEVANT: ((0.05, 1.0), (0.0, 0.45), (0.9, 1.0)),
    Kind.REFUSED: (None, (0.0, 0.1), (0.65, 1.0)),
    Kind.NO_CONTEXT_REFUSED: (None, (0.0, 0.0), None),
    Kind.NO_CONTEXT_ASSERTED: ((0.0, 0.0), (0.0, 0.05), None),
}
HALF_SUPPORTED = (0.5, 0.62)
WITHOUT_CONTEXT = frozenset({Kind.NO_CONTEXT_REFUSED, Kind.NO_CONTEXT_ASSERTED})
REFUSING = frozenset({Kind.REFUSED, Kind.NO_CONTEXT_REFUSED})


@dataclass(frozen=True, slots=True)
class _Past:
    """One simulated turn of the past: its scores in the order of ASPECTS; no scores at all when it was not judged."""

    tenant: str
    kind: Kind
    scores: tuple[float | None, float | None, float | None]
    top_score: float | None
    context_chars: int
    answer_chars: int
    judge_ms: int

    @property
    def is_graded(self) -> bool:
        return self.kind in RANGES


def plant_earlier_windows(
    database: Database,
    *,
    until: datetime,
    version: JudgeVersion,
    days: int = DAYS,
    turns_per_day: int = TURNS_PER_DAY,
    seed: int = 7,
    drop: Window | None = None,
) -> int:
    """Write the windows of the `days` before the hour of `until` under this judge version; gives the hours written.

    Within `drop` the answers of the first tenant are half supported, none of them worse.
    The database must be migrated. An hour and dimension that is there already stays as it is.
    """
    end = floor_hour(until)
    hours = list(Window(end - timedelta(days=days), end).hours())
    quality: list[dict[str, Any]] = []
    calls: list[dict[str, Any]] = []
    for hour in hours:
        random = dice(seed, hour.start.isoformat())
        past = list(_past(hour, turns_per_day, random))
        if drop is not None and hour.start in drop:
            past = [_dropped(turn, random) for turn in past]
        quality += _quality_rows(hour, past, version)
        calls += _call_rows(hour, past)
    with database.connect() as connection:
        connection.execute(load("insert_quality_windows"), {"rows": _json(quality)})
        connection.execute(load("insert_call_windows"), {"rows": _json(calls)})
        for day in sorted({hour.start.date() for hour in hours}):
            connection.execute(load_query("aggregate_day"), {"window_start": datetime.combine(day, time(), UTC)})
    return len(hours)


def _past(hour: Window, turns_per_day: int, random: Random) -> Iterator[_Past]:
    mean = turns_per_day * DIURNAL[hour.start.hour] / sum(DIURNAL)
    kinds, shares = list(DEFAULT_MIX), list(DEFAULT_MIX.values())
    for _ in range(round(mean * random.uniform(0.75, 1.25))):
        kind = random.choices(kinds, shares)[0]
        tenant = random.choices(list(TENANTS), list(TENANTS.values()))[0]
        yield _simulated(tenant, kind, random)


def _simulated(tenant: str, kind: Kind, random: Random) -> _Past:
    faithfulness, answer_relevance, context_relevance = RANGES.get(kind, (None, None, None))
    retrieved = kind not in WITHOUT_CONTEXT
    return _Past(
        tenant=tenant,
        kind=kind,
        scores=(_within(faithfulness, random), _within(answer_relevance, random), _within(context_relevance, random)),
        top_score=round(random.uniform(0.45, 1.0), 2) if retrieved else None,
        context_chars=random.randint(300, 1600) if retrieved else 0,
        answer_chars=random.randint(60, 260) if kind in RANGES else 0,
        judge_ms=random.randint(20, 90),
    )


def _dropped(turn: _Past, random: Random) -> _Past:
    faithfulness, *others = turn.scores
    if faithfulness is None or turn.tenant != FIRST_TENANT:
        return turn
    return replace(turn, scores=(_within(HALF_SUPPORTED, random), others[0], others[1]))


def _within(limits: Range, random: Random) -> float | None:
    return None if limits is None else round(random.uniform(*limits), 2)


def _quality_rows(hour: Window, past: Sequence[_Past], version: JudgeVersion) -> Iterator[dict[str, Any]]:
    """Per tenant a row of the judged turns; the skipped ones stand, as published, under no judge version."""
    judge = {"judge_model": version.model, "prompt_version": version.prompt_version}
    for tenant, is_graded in product(TENANTS, (True, False)):
        mine = [turn for turn in past if turn.tenant == tenant and turn.is_graded == is_graded]
        if mine:
            key = _key(hour, tenant, ORCHESTRATOR) | (judge if is_graded else dict.fromkeys(judge, ""))
            yield key | _sums(mine)


def _sums(past: Sequence[_Past]) -> dict[str, Any]:
    graded = [turn for turn in past if turn.is_graded]
    top_scores = [turn.top_score for turn in past if turn.top_score is not None]
    row: dict[str, Any] = {
        "turns": len(past),
        "graded": len(graded),
        "skipped": len(past) - len(graded),
        "had_context": sum(turn.kind not in WITHOUT_CONTEXT for turn in past),
        "refused": sum(turn.kind in REFUSING for turn in past),
        "truncated": sum(turn.kind is Kind.CUT for turn in past),
        "top_score_n": len(top_scores),
        "top_score_sum": sum(top_scores),
        "context_chars_sum": sum(turn.context_chars for turn in past),
        "answer_chars_sum": sum(turn.answer_chars for turn in past),
        "judge_calls": len(graded),
        "prompt_tokens": sum(turn.context_chars // 4 + 400 for turn in graded),
        "completion_tokens": 90 * len(graded),
        "judge_ms": sum(turn.judge_ms for turn in graded),
    }
    for position, aspect in enumerate(ASPECTS):
        row |= _score_sums(aspect, [s for turn in graded if (s := turn.scores[position]) is not None])
    return row | dict.fromkeys(("pending", "errors", "failed", "disabled"), 0)


def _score_sums(aspect: str, scores: Sequence[float]) -> dict[str, Any]:
    # Scores have two decimals; rounding undoes what the binary fraction lost before the floor.
    counts = Counter(round(score * 100) for score in scores)
    return {
        f"{aspect}_n": len(scores),
        f"{aspect}_sum": sum(scores),
        f"{aspect}_sum_sq": sum(score * score for score in scores),
        f"{aspect}_hist": [counts[i] for i in range(BINS)],
    }


def _call_rows(hour: Window, past: Sequence[_Past]) -> Iterator[dict[str, Any]]:
    for tenant in TENANTS:
        mine = [turn for turn in past if turn.tenant == tenant]
        if mine:
            statuses = Counter(OUTCOMES.get(turn.kind, ParseStatus.OK) for turn in mine)
            chats = _companions(len(mine), Kind.ROUTER, Kind.REWRITE, Kind.SUMMARY)
            yield _call_row(_key(hour, tenant, ORCHESTRATOR), other=chats, statuses=statuses)
            yield _call_row(_key(hour, tenant, "search"), other=_companions(len(mine), Kind.SEARCH, Kind.EMBEDDING))
    if past:
        staff = _key(hour, "workbench", "workbench") | {"surface": "staff"}
        yield _call_row(staff, other=_companions(len(past), Kind.STAFF))
        judge = _key(hour, JUDGE_TENANT, "") | {"surface": "system"}
        yield _call_row(judge, own=sum(turn.is_graded for turn in past))


def _call_row(
    key: dict[str, Any], *, other: int = 0, own: int = 0, statuses: Counter[ParseStatus] | None = None
) -> dict[str, Any]:
    statuses = statuses or Counter()
    synthesis = statuses.total()
    return key | {
        "examined": synthesis + other + own,
        "synthesis": synthesis,
        "sampled_out": 0,
        "other": other,
        "self": own,
        "unreadable": 0,
        "parsed": _among(statuses, PARSED_STATUSES),
        "parse_attempted": _among(statuses, TEMPLATE_STATUSES),
        "parse_status_counts": dict(statuses),
    }


def _among(statuses: Counter[ParseStatus], wanted: Iterable[ParseStatus]) -> int:
    return sum(statuses[status] for status in wanted)


def _companions(turns: int, *kinds: Kind) -> int:
    return round(turns * sum(COMPANIONS[kind] for kind in kinds))


def _key(hour: Window, tenant: str, engine: str) -> dict[str, Any]:
    return {"hour": hour.start, "tenant": tenant, "surface": "public", "engine": engine}


def _json(rows: Sequence[dict[str, Any]]) -> str:
    return msgspec.json.encode(rows).decode()
