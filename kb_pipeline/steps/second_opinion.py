"""Give every turn of a window its second opinion.

Belongs here: the loop load → decide → save. Does not: the opinion (grading/opinion), SQL.
"""

from collections import Counter
from collections.abc import Callable, Mapping

from kb_pipeline.grading.opinion import VERSION, Opinion, second_opinion
from kb_pipeline.ports import OpinionBook
from kb_pipeline.records import StepReport
from kb_pipeline.windows import Window

COUNTS = ("opinions", "doubted", "wrong_language", "without_claims", "text_expired")


def give_opinions(window: Window, *, book: OpinionBook, on_progress: Callable[[int], None] | None = None) -> StepReport:
    """An opinion by the present rules on each turn of the window that has none by them.

    Counts: `opinions` given, of them `doubted`, in the `wrong_language`, `without_claims` (nothing to support), and
    `doubted/…` per kind; `text_expired` are turns whose text was gone. `on_progress` hears how many more were read.
    """
    counts: Counter[str] = Counter(dict.fromkeys(COUNTS, 0))
    while given := book.give(window, VERSION, second_opinion):
        for opinion in given:
            counts.update(_tally(opinion))
        if on_progress:
            on_progress(len(given))
    return StepReport(counts=dict(counts))


def _tally(opinion: Opinion | None) -> Mapping[str, int]:
    if opinion is None:
        return {"text_expired": 1}
    return {
        "opinions": 1,
        "doubted": int(bool(opinion.flags)),
        "wrong_language": int(opinion.wrong_language),
        "without_claims": int(opinion.support_score is None),
        **{f"doubted/{kind}": 1 for kind in opinion.flags},
    }
