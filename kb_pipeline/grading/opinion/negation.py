"""Whether a sentence denies what its closest neighbours affirm, or the other way round.

Belongs here: negators and their places, words with an opposite. Does not: finding the neighbours.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from kb_pipeline.grading.opinion.reading import Sentence
from kb_pipeline.support.language import FUNCTION_WORDS, is_negator, stems
from kb_pipeline.support.polarity import Polarity, Pole

# Before one of these nothing is denied: not only, no later than, tidak lebih dari.
_AFFIRMING = frozenset(
    "only just merely necessarily sure doubt later earlier more less fewer long longer hanya sekadar sekedar cuma saja "
    "diragukan lebih kurang".split()
)
# What stands without something in the context need not do so in the answer.
_WITHOUT = frozenset("without tanpa nor neither".split())
# Words that deny by themselves: "fails to pay" is "does not pay".
_DENYING = frozenset(
    "kecuali except unless gagal fail fails failed unable mustahil impossible dilarang forbidden prohibited larangan "
    "unlike lacks lack lacking kurang hardly rarely jarang few little instead rather bukannya tanpa without none avoid "
    "avoids avoiding difficult hard prevent prevents refuse refuses refused sulit sukar susah menghindari dihindari "
    "terhindar mencegah dicegah menolak ditolak".split()
)
_REACH = 7
_MOST_NEGATORS = 8
_MOST_PLACES = 20
_BEFORE, _AFTER, _AROUND = 2, 1, 5
_CLOSE = 0.7

_OPPOSITE = 0.55
_MOOD = 0.3
_LEAST = 0.4


class _Bounds(NamedTuple):
    """What a missing denial is worth, beside 1 where the words around it stand as close as here, but for `slack`."""

    slack: int
    far_apart: float
    one_side: float


_OF_ANSWER = _Bounds(slack=4, far_apart=0.4, one_side=0.5)
_OF_CONTEXT = _Bounds(slack=2, far_apart=0.0, one_side=0.0)


class _Beside(NamedTuple):
    """A word beside a negator, and where it stands in the other sentence."""

    place: int
    places: Sequence[int]


def negation_doubt(sentence: Sentence, neighbours: Sequence[Sentence], closeness: float) -> float:
    """How doubtful it is that the sentence denies and affirms what its neighbours do, in [0, 1].

    The least of all neighbours, since any may be the one it rests on.
    """
    if not neighbours or any(f" {sentence.key} " in f" {each.key} " for each in neighbours):
        return 0.0
    doubts = [max(_unmatched(sentence, each), closeness**2 * _dropped(each, sentence)) for each in neighbours]
    if not any(doubts) and closeness >= _CLOSE:
        return closeness * min(_opposed(sentence, each) for each in neighbours)
    return min(doubts) * (_LEAST + (1 - _LEAST) * closeness)


def _unmatched(mine: Sentence, theirs: Sentence) -> float:
    """How surely a negator of the answer's sentence has none at its place in the context's."""
    return max(
        (_strength(mine.tokens, place, theirs, _OF_ANSWER) for place in _denials(mine)[:_MOST_NEGATORS]), default=0.0
    )


def _dropped(theirs: Sentence, mine: Sentence) -> float:
    """How surely the answer's sentence left out a negator of the context's; both words beside it must be there."""
    places = [place for place in _denials(theirs) if theirs.tokens[place] not in _WITHOUT]
    return max((_strength(theirs.tokens, place, mine, _OF_CONTEXT) for place in places[:_MOST_NEGATORS]), default=0.0)


def _denials(sentence: Sentence) -> Sequence[int]:
    """The places of the negators that deny: not those of "not only" and "No. 5"."""
    tokens = sentence.tokens
    return [
        place
        for place in sentence.negators
        if _AFFIRMING.isdisjoint(following := tokens[place + 1 : place + 2])
        and not (tokens[place] == "no" and following and following[0][0].isdigit())
    ]


def _strength(tokens: Sequence[str], negator: int, other: Sentence, bounds: _Bounds) -> float:
    """How surely nothing denies in `other` what the negator denies here; the words beside it tell where that is."""
    before = _nearest(tokens, range(negator - 1, max(-1, negator - _REACH), -1), other.places)
    after = _nearest(tokens, range(negator + 1, min(len(tokens), negator + _REACH)), other.places)
    gap = _narrowest(before, after)
    if before and after and gap:
        if _denies(other, gap[0] - _BEFORE, gap[1] + _AFTER):
            return 0.0
        return 1.0 if gap[1] - gap[0] - (after.place - before.place) <= bounds.slack else bounds.far_apart
    side = after or before
    if side is None or any(_denies(other, place - _AROUND, place + _AROUND) for place in side.places):
        return 0.0
    return bounds.one_side


def _denies(sentence: Sentence, first: int, last: int) -> bool:
    """Whether a word between two places denies."""
    return any(first <= place <= last for place in _denials(sentence)) or not _DENYING.isdisjoint(
        sentence.tokens[max(0, first) : last + 1]
    )


def _nearest(tokens: Sequence[str], order: range, places: Mapping[str, Sequence[int]]) -> _Beside | None:
    for place in order:
        token = tokens[place]
        if token not in FUNCTION_WORDS and not is_negator(token):
            known = sorted({each for form in stems(token) for each in places.get(form, ())})
            if known:
                return _Beside(place, known[:_MOST_PLACES])
    return None


def _narrowest(before: _Beside | None, after: _Beside | None) -> tuple[int, int] | None:
    """The two places, in their order, with the least between them."""
    if before is None or after is None:
        return None
    pairs = [(right - left, left, right) for left in before.places for right in after.places if right > left]
    return min(pairs)[1:] if pairs else None


def _opposed(sentence: Sentence, other: Sentence) -> float:
    """Whether one has a word where the other has its opposite: increased and decreased; less for must and may."""
    mine, theirs = (_poles(each.tokens) for each in (sentence, other))
    gone, come = mine - theirs, theirs - mine
    axes = {axis for axis, _ in gone}.intersection(axis for axis, _ in come)
    return (_OPPOSITE if axes - _AXES_OF_MOOD else _MOOD) if axes else 0.0


def _poles(tokens: Sequence[str]) -> frozenset[Pole]:
    return frozenset[Pole]().union(*map(_poles_of, tokens))


@lru_cache(maxsize=16_384)
def _poles_of(token: str) -> frozenset[Pole]:
    return frozenset(Polarity(token).poles)


_AXES_OF_MOOD = frozenset(axis for axis, _ in _poles(("must", "may")))
