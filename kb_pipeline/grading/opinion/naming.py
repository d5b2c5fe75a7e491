"""The names of an answer: runs of capitalised words, and which of their words the context does not know.

Belongs here: finding them, acronyms, likeness of spelling. Does not: a list of names.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from kb_pipeline.grading.opinion.reading import Evidence, Sentence
from kb_pipeline.support.language import FUNCTION_WORDS, is_negator
from kb_pipeline.support.leading import LEADING

_NO_NAMES = frozenset(
    "i ii iii iv v vi vii viii ix x no nomor number bapak ibu pak bu saudara mas mbak anda mr mrs ms dr sir ok rp idr usd "
    "januari februari maret april mei juni juli agustus september oktober november desember january february march may "
    "june july august october december senin selasa rabu kamis jumat sabtu minggu monday tuesday wednesday thursday "
    "friday saturday sunday wib wita wit am pm yes".split()
)
_SHORTEST_TITLE = 3
_SHORTEST_PREFIX = 4
_LONGEST_ACRONYM = 8
_MOST_TOKENS = 20_000


class Name(tuple[str, ...]):
    """The folded words of one name; `opens` is set where it begins its sentence with a single word."""

    opens: bool = False
    in_title: bool = False


def names(sentence: Sentence) -> Iterator[Name]:
    """The names of a sentence; a lone first word may be none, and in a heading every word has a capital."""
    in_title = _is_title(sentence)
    run: list[int] = []
    for place, word in enumerate((*sentence.written, "")):
        if word and word[0].isupper() and sentence.tokens[place] not in _NO_NAMES and _may_name(sentence, place):
            run.append(place)
        elif run:
            name = Name(sentence.tokens[each] for each in run)
            name.opens, name.in_title = run == [0], in_title
            yield name
            run = []


def _may_name(sentence: Sentence, place: int) -> bool:
    token = sentence.tokens[place]
    if place and sentence.written[place].isupper() and len(token) > 1:
        return True
    return token not in FUNCTION_WORDS and token not in LEADING and not is_negator(token)


def _is_title(sentence: Sentence) -> bool:
    capitals = [
        word[0].isupper()
        for word, token in zip(sentence.written, sentence.tokens, strict=True)
        if word[0].isalpha() and token not in FUNCTION_WORDS
    ]
    return all(capitals) and len(capitals) >= _SHORTEST_TITLE


def name_doubt(name: Name, evidence: Evidence) -> float:
    """How doubtful a name is, in [0, 1]: 0 where every word of it is in context or question."""
    foreign = [word for word in name if not (evidence.has(word) or evidence.was_asked(word))]
    if not foreign or _is_abbreviated(name, evidence):
        return 0.0
    doubt = max(_spelling_doubt(word, evidence) for word in foreign)
    if name.opens:
        return 0.3 * doubt
    return (0.6 if name.in_title else 1.0) * doubt * (0.8 + 0.2 * len(foreign) / len(name))


def _spelling_doubt(word: str, evidence: Evidence) -> float:
    """Less where the context has a word that begins alike: Inggris and Inggeris, Japan and Japanese."""
    if len(word) <= _SHORTEST_PREFIX:
        return 1.0
    prefix = word[: max(_SHORTEST_PREFIX, len(word) - 3)]
    return 0.4 if any(token.startswith(prefix) for token in evidence.known) else 1.0


def _is_abbreviated(name: Name, evidence: Evidence) -> bool:
    """Whether the name is the initials of words of the context, or its own initials stand there."""
    if len(name) == 1:
        return 1 < len(name[0]) <= _LONGEST_ACRONYM and name[0] in _initials(evidence)
    return "".join(word[0] for word in name) in evidence.known


def _initials(evidence: Evidence) -> str:
    return "".join(token[0] for token in evidence.tokens[:_MOST_TOKENS])


def order_swapped(mine: Sequence[str], theirs: Sequence[str]) -> bool:
    """Whether two names that stand in both come in another order."""
    known = [word for word in mine if word in theirs]
    places = [theirs.index(word) for word in known]
    return any(first > second for first, second in pairwise(places))
