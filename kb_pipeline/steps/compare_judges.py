"""Set two judge versions side by side over the turns that both scored.

Belongs here: load → tally → compare. Does not: formulas, SQL, words for a terminal.
"""

from collections.abc import Callable, Sequence

from kb_pipeline.errors import KbPipelineError
from kb_pipeline.grading.comparison import Tally, VersionUse, name_of, two_versions
from kb_pipeline.grading.comparison.figures import Comparison, compare
from kb_pipeline.ports import ComparisonBook
from kb_pipeline.windows import Window


def compare_judges(
    window: Window,
    *,
    book: ComparisonBook,
    first: str | None,
    second: str | None,
    thresholds: Sequence[float],
    on_progress: Callable[[int], None] | None = None,
) -> Comparison:
    """The comparison of the versions named, or of the two most used (see two_versions).

    Raises NoSuchVersion, and KbPipelineError where the window has no scores, one version's alone, or no turn in common.
    """
    uses = book.versions(window)
    chosen = two_versions(uses, first, second)
    if chosen is None:
        raise KbPipelineError(_nothing_to_compare(window, uses))
    tally = Tally()
    with book.pairs(window, chosen[0].version, chosen[1].version) as pairs:
        for turn in pairs:
            tally.add(turn)
            if on_progress:
                on_progress(1)
    if not tally.turns:
        names = " and ".join(name_of(use.version) for use in chosen)
        raise KbPipelineError(f"no turn has scores of both {names} {_period(window)}; {_REJUDGE}")
    return compare(tally, *chosen, thresholds=thresholds)


_REJUDGE = "kb-pipeline rejudge fills in the scores of one version beside those of another"


def _nothing_to_compare(window: Window, uses: Sequence[VersionUse]) -> str:
    scored = [name_of(use.version) for use in uses if use.graded]
    if not scored:
        return f"no turn {_period(window)} has a score; grade some first: kb-pipeline grade --since T"
    return f"{scored[0]} alone has scores {_period(window)}; {_REJUDGE}"


def _period(window: Window) -> str:
    start, end = (instant.isoformat(timespec="minutes") for instant in (window.start, window.end))
    return f"from {start} to {end}"
