"""Draft and final text set beside each other, sentence by sentence, in whatever order.

Belongs here: which sentences are one, how alike two texts are. Does not: what a difference means for the draft.
"""

import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise

from rapidfuzz.distance import Indel

from kb_pipeline.records import Alignment
from kb_pipeline.retrieval.outcomes.wording import Wording
from kb_pipeline.support import sentences
from kb_pipeline.support.levelling import level, plain, same_but_for_space
from kb_pipeline.support.particulars import Particulars
from kb_pipeline.support.style import is_farewell, is_signature, telling_part

KEPT_FROM = 0.80
# A draft has some ten sentences. Beyond these bounds the rules of `align` for long texts apply.
MOST_STATEMENTS = 5_000
MOST_PAIRS = 100_000
MOST_WORK = 20_000_000_000
LEAST_REACH = 3
LONGEST_SENTENCE = 2_000
LONGEST_SIMILAR = 50_000
_LONGEST_SIGNATURE = 3
_SHORTEST_LIST = 3
_DASH = re.compile(r"\s[-–•]\s")


# Outcome, evidence and diagnosis of a draft ask for the same, one right after the other.
@lru_cache(maxsize=8)
def align(draft: str, final: str) -> Alignment:
    """Which sentences of the draft stand in the final text, which are gone, which are new.

    Two sentences are one from a similarity of .80 on (normalised insertions and deletions of characters, of what each
    tells in its levelled form) if they agree in all that a small change can turn wrong (particulars.py) and differ in
    one telling word at most (wording.py). Best pairs first, whatever their order; then a sentence against two
    neighbours, for what was split or joined.

    So that the time stays in step with the length, a sentence over 2,000 characters counts as several; beyond 100,000
    pairs of sentences that have no equal, each is only compared with those at about its place; and beyond the first
    5,000 such sentences of a text only equal ones are kept.
    """
    drafts, finals = _statements(draft), _statements(final)
    pairs = list(_equal(drafts, finals))
    lone, new = (_unpaired(each, pairs, side)[:MOST_STATEMENTS] for side, each in enumerate((drafts, finals)))
    best = _best(lone, new)
    pairs += best + _rejoined(_unpaired(lone, best, 0), _unpaired(new, best, 1))
    return Alignment(
        kept=tuple((left.text, right.text) for left, right in sorted(pairs, key=lambda pair: pair[0].places)),
        new=tuple(each.text for each in _unpaired(finals, pairs, 1)),
        removed=tuple(each.text for each in _unpaired(drafts, pairs, 0)),
    )


def similarity(draft: str, final: str) -> float | None:
    """How alike the two texts are, a fraction: insertions and deletions of characters; None for very long ones."""
    if same_but_for_space(draft, final):
        return 1.0
    if max(len(draft), len(final)) > LONGEST_SIMILAR:
        return None
    return Indel.normalized_similarity(draft, final)


class _Statement:
    """A sentence, or two neighbours as one: where it stands, its text, and its forms for comparison."""

    def __init__(self, places: tuple[int, ...], text: str, parts: Sequence["_Statement"] = ()) -> None:
        self.places = places
        self.text = text
        self._parts = parts

    @cached_property
    def plain(self) -> str:
        return plain(self.text)

    @cached_property
    def particulars(self) -> Particulars:
        return Particulars(telling_part(self.plain))

    @cached_property
    def compared(self) -> str:
        """Its words without numbers."""
        return " ".join(part.compared for part in self._parts) if self._parts else self.particulars.rest

    @cached_property
    def wording(self) -> Wording:
        return Wording(self.compared)

    def and_next(self, other: "_Statement") -> "_Statement":
        return _Statement((*self.places, *other.places), f"{self.text} {other.text}", (self, other))


_Pair = tuple[_Statement, _Statement]


def _statements(text: str) -> list[_Statement]:
    items = (item for sentence in _signed(sentences(text)) for item in _items(sentence))
    pieces = [piece for item in items for piece in _pieces(item)]
    return [_Statement((place,), piece) for place, piece in enumerate(pieces)]


def _signed(found: list[str]) -> list[str]:
    """A name below a farewell belongs to it: it tells no more than the farewell does."""
    for back in range(2, min(len(found), _LONGEST_SIGNATURE) + 1):
        if is_farewell(found[-back]) and all(map(is_signature, found[1 - back :])):
            return [*found[:-back], " ".join(found[-back:])]
    return found


def _items(sentence: str) -> list[str]:
    """The items of a list that somebody wrote on one line: "syaratnya: - KTP - NPWP"; one dash alone makes no list."""
    items = _DASH.split(sentence)
    is_list = len(items) >= _SHORTEST_LIST or items[0].endswith(":")
    return [item for item in items if any(map(str.isalnum, item))] if is_list else [sentence]


def _pieces(sentence: str) -> Iterator[str]:
    while len(sentence) > LONGEST_SENTENCE:
        end = sentence.rfind(" ", 1, LONGEST_SENTENCE)
        end = end if end > 0 else LONGEST_SENTENCE
        yield sentence[:end]
        sentence = sentence[end:].lstrip()
    if sentence:
        yield sentence


def _equal(drafts: Sequence[_Statement], finals: Sequence[_Statement]) -> Iterator[_Pair]:
    waiting: dict[tuple[str, bool], deque[_Statement]] = defaultdict(deque)
    for final in finals:
        waiting[_key(final)].append(final)
    for draft in drafts:
        same = waiting.get(_key(draft))
        if same:
            yield draft, same.popleft()


def _key(statement: _Statement) -> tuple[str, bool]:
    return level(statement.plain), statement.plain.rstrip(" \"')]").endswith("?")


def _unpaired(statements: Sequence[_Statement], pairs: Sequence[_Pair], side: int) -> list[_Statement]:
    taken = {place for pair in pairs for place in pair[side].places}
    return [each for each in statements if taken.isdisjoint(each.places)]


def _best(drafts: Sequence[_Statement], finals: Sequence[_Statement]) -> list[_Pair]:
    """The most alike pairs that agree, each statement and each place once; ties go to the earlier."""
    found: list[_Pair] = []
    taken: tuple[set[int], set[int]] = (set(), set())
    for _, left, right in _alike(drafts, finals):
        if taken[0].isdisjoint(left.places) and taken[1].isdisjoint(right.places) and _agree(left, right):
            found.append((left, right))
            taken[0].update(left.places)
            taken[1].update(right.places)
    return found


def _agree(left: _Statement, right: _Statement) -> bool:
    return left.particulars.agree(right.particulars) and left.wording.is_near(right.wording)


def _alike(drafts: Sequence[_Statement], finals: Sequence[_Statement]) -> list[tuple[float, _Statement, _Statement]]:
    within = _reach(drafts, finals)
    candidates = [(final.compared, final) for final in finals]
    found = []
    for place, draft in enumerate(drafts):
        text = draft.compared
        for other, final in candidates[slice(*within(place))]:
            alike = Indel.normalized_similarity(text, other, score_cutoff=KEPT_FROM)
            if alike >= KEPT_FROM:
                found.append((alike, draft, final))
    return sorted(found, key=lambda each: (-each[0], each[1].places, each[2].places))


def _reach(drafts: Sequence[_Statement], finals: Sequence[_Statement]) -> Callable[[int], tuple[int, int]]:
    """Which of the finals a draft is compared with: all of them, or a band around its place."""
    pairs = len(drafts) * len(finals)
    work = sum(len(each.compared) for each in drafts) * sum(len(each.compared) for each in finals)
    if pairs <= MOST_PAIRS and work <= MOST_WORK:
        return lambda _: (0, len(finals))
    share = min(MOST_PAIRS / pairs, MOST_WORK / work)
    reach = max(LEAST_REACH, int(share * len(finals) / 2))

    def band(place: int) -> tuple[int, int]:
        middle = place * len(finals) // len(drafts)
        return max(0, middle - reach), middle + reach + 1

    return band


def _rejoined(drafts: Sequence[_Statement], finals: Sequence[_Statement]) -> list[_Pair]:
    """Pairs of one statement and two neighbours: a sentence that was split, two that were joined."""
    split = _best(drafts, _neighbours(finals))
    drafts, finals = _unpaired(drafts, split, 0), _unpaired(finals, split, 1)
    return split + _best(_neighbours(drafts), finals)


def _neighbours(statements: Sequence[_Statement]) -> list[_Statement]:
    return [
        first.and_next(second) for first, second in pairwise(statements) if first.places[-1] + 1 == second.places[0]
    ]
