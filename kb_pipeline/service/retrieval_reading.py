"""The read service of the retrieval street: engines, gaps, ground truth.

Belongs here: which numbers belong together. Does not: HTTP, SQL, arithmetic.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.dashboard.retrieval import Judgments, PostgresRetrieval
from kb_pipeline.dashboard.filters import RetrievalFilter
from kb_pipeline.dashboard.periods import Period
from kb_pipeline.dashboard.quality_words import Verdict
from kb_pipeline.dashboard.retrieval_words import EngineHealth, engines, retrieval_verdict
from kb_pipeline.service.remembering import Memory
from kb_pipeline.settings import Settings

_TASKS = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class RetrievalSummary:
    """How each engine does over a period, why drafts were wrong, and the ground truth that there is by now."""

    period: Period
    chosen: RetrievalFilter
    engines: Sequence[EngineHealth]
    verdict: Verdict
    limit: float
    gaps: Mapping[str, tuple[int, str | None]]
    tasks: Sequence[Mapping[str, Any]]
    judgments: Judgments


class RetrievalReading:
    """Reads the retrieval street for people."""

    def __init__(self, database: Database, settings: Settings, memory: Memory) -> None:
        self._memory = memory
        self.rows = PostgresRetrieval(database)
        self._limit = settings.retrieval.empty_share_warn

    def summary(self, period: Period, chosen: RetrievalFilter) -> RetrievalSummary:
        """All of it."""
        return self._memory.recall(("retrieval", period, chosen), lambda: self._summary(period, chosen))

    def _summary(self, period: Period, chosen: RetrievalFilter) -> RetrievalSummary:
        health = engines(period, self.rows.served(period, chosen), self.rows.histograms(period.window, chosen))
        gaps = self.rows.gap_kinds(period.window, chosen)
        return RetrievalSummary(
            period=period,
            chosen=chosen,
            engines=health,
            verdict=retrieval_verdict(
                health,
                self._limit,
                {kind: count for kind, (count, _) in gaps.items()},
                is_filtered=chosen != RetrievalFilter(),
            ),
            limit=self._limit,
            gaps=gaps,
            tasks=self.rows.tasks(chosen, limit=_TASKS),
            judgments=self.rows.judgments(chosen),
        )

    def filter_values(self, now: datetime) -> tuple[list[UUID], list[UUID], list[str]]:
        """Organisations, specialists and engines of the last 90 days."""
        since = (now - timedelta(days=90)).date()
        found = self._memory.recall(("tenants", since), lambda: self.rows.tenants(since))
        orgs = list(dict.fromkeys(org for org, _, _ in found))
        specialists = list(dict.fromkeys(specialist for _, specialist, _ in found))
        return orgs, specialists, sorted({engine for _, _, engine in found})
