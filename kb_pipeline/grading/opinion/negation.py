"""Whether a sentence denies what its closest neighbours affirm, or the other way round.

Belongs here: negators and their places, words with an opposite. Does not: finding the neighbours.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kb_pipeline.grading.opinion.reading import Sentence
from kb_pipeline.support.language import FUNCTION_WORDS, is_negator, stems
from kb_pipeline.support.polarity import Polarity, in_one_word

# Before one of these nothing is denied: not only, no later than, tidak lebih dari.
_AFFIRMING = frozenset(
    "only just merely necessarily sure doubt later earlier more less fewer long longer hanya sekadar sekedar cuma saja "
    "diragukan lebih kurang".split()
)
# What stands without something in the context need not do so in the answer.
_WITHOUT = frozenset("without tanpa nor neither".split())
# Words that deny by themselves: "fails to pay" is "does not pay".
_DENYING = frozenset(
    "kecuali except unless gagal fail fails failed unable mustahil impossible dilarang forbidden prohibited larangan unlike "
    "lacks lack lacking kurang hardly rarely jarang few little instead rather bukannya tanpa without none avoid avoids "
    "avoiding difficult hard prevent prevents refuse refuses refused sulit sukar susah menghindari dihindari terhindar "
    "mencegah dicegah menolak ditolak".split()
)
_REACH = 7
_MOST_NEGATORS = 8
_MOST_PLACES = 20
_BEFORE, _AFTER, _AROUND = 2, 1, 5
_SLACK, _SLACK_OF_CONTEXT = 4, 2
_CLOSE = 0.7

_ONE_SIDE = 0.5
_FAR_APART = 0.4
_OPPOSITE = 0.6
_MOOD = 0.3
_LEAST = 0.4


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
    mine = sentence.tokens
    doubts = [max(_unmatched(mine, each.tokens), closeness * _dropped(each.tokens, mine)) for each in neighbours]
    if not any(doubts) and closeness >= _CLOSE:
        return closeness * min(_opposed(sentence, each) for each in neighbours)
    return min(doubts) * (_LEAST + (1 - _LEAST) * closeness)


def _unmatched(mine: Sequence[str], theirs: Sequence[str]) -> float:
    """How surely a negator of the answer's sentence has none at its place in the context's."""
    negators = _negators(mine)
    return _strongest(mine, negators, theirs, slack=_SLACK, far=_FAR_APART, one_side=_ONE_SIDE)


def _dropped(theirs: Sequence[str], mine: Sequence[str]) -> float:
    """How surely the answer's sentence left out a negator of the context's; both words beside it must be there."""
    negators = [place for place in _negators(theirs) if theirs[place] not in _WITHOUT]
    return _strongest(theirs, negators, mine, slack=_SLACK_OF_CONTEXT, far=0.0, one_side=0.0)


def _negators(tokens: Sequence[str]) -> list[int]:
    return [
        place
        for place, token in enumerate(tokens)
        if is_negator(token) and _AFFIRMING.isdisjoint(tokens[place + 1 : place + 2]) and not _is_numero(tokens, place)
    ]


def _is_numero(tokens: Sequence[str], place: int) -> bool:
    """Whether it is the "no" of "No. 5"."""
    return tokens[place] == "no" and any(token[0].isdigit() for token in tokens[place + 1 : place + 2])


def _strongest(
    tokens: Sequence[str], negators: Sequence[int], others: Sequence[str], *, slack: int, far: float, one_side: float
) -> float:
    if not negators:
        return 0.0
    places = _places(others)
    denying = [*_negators(others), *(place for place, token in enumerate(others) if token in _DENYING)]
    strength = 0.0
    for negator in negators[:_MOST_NEGATORS]:
        before = _nearest(tokens, range(negator - 1, max(-1, negator - _REACH), -1), places)
        after = _nearest(tokens, range(negator + 1, min(len(tokens), negator + _REACH)), places)
        gap = _narrowest(before, after)
        if before and after and gap:
            is_denied = any(gap[0] - _BEFORE <= place <= gap[1] + _AFTER for place in denying)
            fits = gap[1] - gap[0] - (after.place - before.place) <= slack
            strength = max(strength, 0.0 if is_denied else 1.0 if fits else far)
        elif side := after or before:
            is_denied = any(abs(place - each) <= _AROUND for each in side.places for place in denying)
            strength = max(strength, 0.0 if is_denied else one_side)
    return strength


def _places(tokens: Sequence[str]) -> Mapping[str, Sequence[int]]:
    """Where each form of a telling word stands."""
    found: dict[str, list[int]] = {}
    for place, token in enumerate(tokens):
        if token not in FUNCTION_WORDS:
            for form in stems(token):
                found.setdefault(form, []).append(place)
    return found


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
    mine, theirs = (frozenset(Polarity(in_one_word(each.key)).poles) for each in (sentence, other))
    gone, come = mine - theirs, theirs - mine
    axes = {axis for axis, _ in gone}.intersection(axis for axis, _ in come)
    return (_OPPOSITE if axes - _AXES_OF_MOOD else _MOOD) if axes else 0.0


_AXES_OF_MOOD = frozenset(axis for axis, _ in Polarity("must may").poles)
