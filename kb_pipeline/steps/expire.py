"""Let go of what is past its retention, and of what the source let go of.

Belongs here: ages turned into instants, the order of deletion. Does not: SQL.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from kb_pipeline.records import StepReport

PARTITIONS_AHEAD = timedelta(days=92)


class Retention(Protocol):
    """Where turns are kept."""

    def expire_text(self, before: datetime) -> int: ...
    def expire_previews(self, before: datetime) -> int: ...
    def expire_quality(self, before: datetime) -> int: ...
    def erase_deleted(self) -> int: ...
    def erase_purged_text(self) -> int: ...
    def ensure_partitions(self, first: datetime, last: datetime) -> int: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Ages:
    """How long text, previews and rows are kept, in days."""

    triad_text_days: int
    preview_days: int
    quality_days: int


def expire(now: datetime, *, retention: Retention, ages: Ages) -> StepReport:
    """Erase what the source erased, then what is too old; the counts are turns touched."""
    return StepReport(
        counts={
            "turns_deleted_at_source": retention.erase_deleted(),
            "texts_purged_at_source": retention.erase_purged_text(),
            "turns_expired": retention.expire_quality(now - timedelta(days=ages.quality_days)),
            "previews_expired": retention.expire_previews(now - timedelta(days=ages.preview_days)),
            "texts_expired": retention.expire_text(now - timedelta(days=ages.triad_text_days)),
        }
    )


def make_partitions(now: datetime, *, retention: Retention) -> StepReport:
    """Make the partitions from this month to three months ahead."""
    return StepReport(counts={"partitions_made": retention.ensure_partitions(now, now + PARTITIONS_AHEAD)})
