"""Verdicts on the retrieval street itself: whether events arrive, retrieval finds anything, and rows belong together.

Belongs here: pure decisions from counts. Does not: counting, how a verdict is shown or delivered.
"""

from collections.abc import Mapping

from kb_pipeline.counting import counted, form, out_of
from kb_pipeline.verdicts import MIN_CASES, Health, Z, failed, passed, warned, wilson

# Of the retrievals that the application's audit log knows, this share has an event.
LEAST_RECORDED = 0.99
# From so many cases on a share says something; before, hours are taken together.
MIN_RETRIEVALS = 100
UNMAPPED = "kb_source.audit_log is not mapped, so nothing says how many retrievals there were."


def completeness(loaded: int | None, recorded: int) -> Health:
    """Whether the retrievals of the audit log have their events; `loaded` is None where no audit log is mapped.

    Fails when the upper Wilson bound (one-sided 95 %) of the share is below 99 %, warns when two or more are missing.
    """
    if loaded is None:
        return passed(UNMAPPED)
    sentence = f"{out_of(recorded, loaded, 'retrieval')} of the audit log {form(recorded, 'has', 'have')} an event."
    if loaded - recorded < MIN_CASES:
        return passed(sentence)
    verdict = failed if wilson(recorded, loaded, z=Z)[1] < LEAST_RECORDED else warned
    return verdict(f"{sentence} Compare kb_retrieval_events_dropped_total of the producer and the worker's log.")


def arrival(loaded: int | None, recorded: int) -> Health:
    """Whether events of the newest closed hour arrived at all; `loaded` is None where no audit log is mapped."""
    if loaded is None:
        return passed(UNMAPPED)
    if loaded and not recorded:
        return failed(
            f"The audit log has {counted(loaded, 'retrieval')} in the newest closed hour and no event arrived; "
            "is kb-pipeline worker running?"
        )
    return passed(
        f"{counted(recorded, 'event')} arrived in the newest closed hour; the audit log has "
        f"{counted(loaded, 'retrieval')}."
    )


def empty_share(retrievals: int, empty: int, *, warn_above: float) -> Health:
    """Whether retrieval finds nothing too often.

    Warns when the lower Wilson bound (one-sided 95 %) of the share of empty retrievals is above `warn_above`.
    """
    sentence = f"{out_of(empty, retrievals, 'retrieval')} found nothing."
    if empty < MIN_CASES or wilson(empty, retrievals, z=Z)[0] <= warn_above:
        return passed(sentence)
    return warned(f"{sentence} More than {warn_above:.0%} is too many; look at the index and at kb_gap_task.")


def unbroken(broken: Mapping[str, int], sound: str) -> Health:
    """Whether none of the counted kinds of broken rows occurs; `sound` says what holds then."""
    found = {kind: count for kind, count in broken.items() if count}
    if not found:
        return passed(sound)
    return failed("; ".join(f"{count} × {kind.replace('_', ' ')}" for kind, count in found.items()) + ".")
