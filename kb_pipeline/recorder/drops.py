"""Why an event did not reach the queue; with the reader's reasons of rejection, a closed list for a metric's label.

Belongs here: the list. Does not: counting (metrics.py).
"""

from enum import StrEnum

from kb_pipeline.retrieval.events import Reason


class DropReason(StrEnum):
    """What happened to an event that is gone."""

    BUFFER_FULL = "buffer_full"
    """The queue has not taken events for so long that no more may wait in memory."""
    TOO_LARGE = "too_large"
    """The event as JSON is larger than max_event_bytes."""
    CLOSED = "closed"
    """Recorded after the recorder was closed, or still waiting when the time for closing was over."""
    REFUSED = "refused"
    """The queue's server took other events and refused this one, for example by its access rules."""
    UNREADABLE = "unreadable"
    """What was given is no event, or making it failed."""


def rejected(reason: Reason) -> str:
    """The label of an event that the reader would reject."""
    return f"rejected:{reason}"


LABELS = (*DropReason, *map(rejected, Reason))
"""Every label there is."""
