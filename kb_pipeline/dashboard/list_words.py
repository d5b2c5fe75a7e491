"""What a list says of itself: how many rows, in which order, and why there is none.

Belongs here: sentences above lists. Does not: rows, links.
"""

from collections.abc import Mapping

from kb_pipeline.counting import counted
from kb_pipeline.dashboard.retrieval_words import KINDS, STATUSES
from kb_pipeline.records import JUDGED_STATUSES, ParseStatus

WORST, NEWEST = "worst", "newest"
KEPT = "Listed are those whose rows are kept."
_NOTHING_FOLLOWS = "Nothing follows: the list has ended before this page."


def turns_sentence(order: str, published: int, scored: int) -> str:
    """What a list of turns holds, of so many published ones of which so many have a faithfulness score."""
    if order == WORST:
        held = counted(scored, "turn with a faithfulness score", "turns with a faithfulness score")
        return f"{held}, the least faithful first, equal ones from the newest on. {KEPT}"
    held = counted(published, "published turn")
    return f"{held}, the newest first; {scored:,} of them with a faithfulness score. {KEPT}"


def no_turns(order: str, *, is_filtered: bool, is_first: bool) -> str:
    """Why a page of turns is empty."""
    if not is_first:
        return _NOTHING_FOLLOWS
    where = "this period, as these filters leave it," if is_filtered else "this period"
    return f"No turn of {where} has a faithfulness score." if order == WORST else f"No turn of {where} is published."


def no_score_words(parse_status: str, *, has_others: bool) -> str:
    """Why a turn has no faithfulness; `has_others` where the judge gave it other scores."""
    if has_others:
        return "no score for faithfulness"
    return "not graded so far" if ParseStatus(parse_status) in JUDGED_STATUSES else "cannot be judged"


def gaps_sentence(kind: str | None, counts: Mapping[str, int]) -> str:
    """What a list of gaps holds, of one kind or of every one; `counts` by kind."""
    if kind is not None:
        name, meaning = KINDS[kind]
        return f"{counted(counts.get(kind, 0), 'corrected draft')}, the newest first. {name}: {meaning}."
    held = f"{counted(sum(counts.values()), 'corrected draft')}, the newest first"
    none = counts.get("none", 0)
    return f"{held}; {none:,} of them with no gap: {KINDS['none'][1]}." if none else f"{held}."


def no_gaps(*, is_filtered: bool, is_first: bool) -> str:
    """Why a page of gaps is empty."""
    if not is_first:
        return _NOTHING_FOLLOWS
    return f"No corrected draft of this period{' has these filters' if is_filtered else ' was diagnosed'}."


def judgments_sentence(status: str | None, grade: int | None, counts: Mapping[tuple[str, int | None], int]) -> str:
    """What a list of judgments holds; `counts` by status and grade."""
    held = sum(
        count
        for (each, given), count in counts.items()
        if (status is None or each == status) and (grade is None or given == grade)
    )
    narrowed = [*([STATUSES[status]] if status else []), *([f"grade {grade}"] if grade is not None else [])]
    return f"{counted(held, 'judgment')}{', ' if narrowed else ''}{', '.join(narrowed)}, query by query."


def no_judgments(*, is_filtered: bool, is_first: bool) -> str:
    """Why a page of judgments is empty."""
    if not is_first:
        return _NOTHING_FOLLOWS
    return "No judgment has these filters." if is_filtered else "There is no judgment yet; a harvest makes them."
