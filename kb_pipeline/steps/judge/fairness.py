"""In which order a run visits the hours of a backlog, and how many turns it may judge at each visit.

Belongs here: the rule. Does not: how many turns an hour has (a visit finds that out).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from kb_pipeline.windows import Window

# Of a run's turns this share, at least one, goes to the newest closed hour before the backlog is taken up.
SHARE_OF_NEWEST = 0.2


@dataclass(frozen=True, kw_only=True, slots=True)
class Visit:
    """An hour's turn in a run: at most `at_most` of its turns are judged, and what is left of the run's batch."""

    hour: Window
    at_most: int


def visits(hours: Sequence[Window], *, max_batch: int, now: datetime) -> list[Visit]:
    """Every hour, given oldest first, in this order; the newest closed one first of all for its share.

    It comes again in its place, for what its share did not cover; what it leaves of the share is the others'. So a
    backlog of any length is caught up oldest first, and the newest figures are never a backlog old.
    """
    closed = [hour for hour in hours if hour.end <= now]
    in_turn = [Visit(hour=hour, at_most=max_batch) for hour in hours]
    if len(closed) < 2:  # noqa: PLR2004 a single one has nothing to wait behind
        return in_turn
    share = max(1, int(max_batch * SHARE_OF_NEWEST))
    return [Visit(hour=closed[-1], at_most=share), *in_turn]
