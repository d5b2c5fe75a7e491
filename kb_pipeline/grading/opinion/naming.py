"""The names of an answer: runs of capitalised words, and which of their words context and question do not know.

Belongs here: finding them, acronyms, likeness of spelling. Does not: a list of names.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kb_pipeline.grading.opinion.evidence import Evidence
from kb_pipeline.grading.opinion.reading import Sentence
from kb_pipeline.support.language import FUNCTION_WORDS, is_negator
from kb_pipeline.support.leading import LEADING

_NO_NAMES = frozenset(
    # Numerals, forms of address, units
    "i ii iii iv v vi vii viii ix x no nomor number bapak ibu pak bu saudara mas mbak anda mr mrs ms dr sir ok rp idr "
    "usd wib wita wit am pm yes ya unable tahun "
    # Parts of a calendar
    "januari februari maret april mei juni juli agustus september oktober november desember january february march may "
    "june july august october december senin selasa rabu kamis jumat sabtu minggu monday tuesday wednesday thursday "
    "friday saturday sunday "
    # Parts of documents and laws, which are read as references and citations
    "passage passages document documents dokumen sumber source sources step langkah pasal ayat article section undang "
    "peraturan pemerintah presiden menteri keputusan law act regulation uu pp perpres perppu".split()
)
# One country, its people and its language, in both languages.
_COUNTRIES = (
    "inggris england english britain british uk",
    "amerika america american americans us usa",
    "belanda dutch netherlands holland",
    "perancis prancis france french",
    "spanyol spain spanish",
    "jerman germany german germans",
    "jepang japan japanese",
    "cina tiongkok china chinese",
    "yunani greece greek greeks",
    "swiss switzerland",
    "polandia poland polish",
    "denmark danish",
    "swedia sweden swedish",
    "turki turkey turkish",
    "welsh wales",
    "skotlandia scotland scottish scots",
    "irlandia ireland irish",
    "mesir egypt egyptian",
    "arab arabia arabic saudi",
    "korea korean",
    "filipina philippines filipino",
    "selandia zealand",
    "eropa europe european",
    "afrika africa african",
)
_OTHERWISE = {word: group.split() for group in _COUNTRIES for word in group.split()}
# What an Indonesian text may leave unsaid.
_BACKGROUND = frozenset("indonesia indonesian jakarta dki nusantara".split())
_SHORTEST_TITLE = 3
_SHORTEST_PART = 5
_SHORTEST_PREFIX, _LONGEST_PREFIX = 4, 8
_LONGEST_ACRONYM = 8

_OPENING, _OPENING_NAME = 0.3, 0.6
_IN_TITLE = 0.6
_ALIKE = 0.4
_COMMON = 0.6
_PARTLY = 0.8


@dataclass(frozen=True, slots=True)
class Name:
    """The folded words of one name, and where the first stands in its sentence.

    `certainty` in [0, 1]: how surely its capital is that of a name. It is less for the first word of a sentence, less
    still when no other capital follows, and in a heading.
    """

    words: Sequence[str]
    place: int
    certainty: float


def names(sentence: Sentence) -> Iterator[Name]:
    """The names of a sentence; its first word is one by itself, since it has its capital from its place."""
    if sentence.text.islower():
        return
    certainty = _IN_TITLE if _is_title(sentence) else 1.0
    run: list[int] = []
    for place, word in enumerate((*sentence.written, "")):
        if word and word[0].isupper() and _may_name(sentence, place):
            run.append(place)
            continue
        if run[:1] == [0]:
            yield Name(sentence.tokens[:1], 0, certainty * (_OPENING_NAME if run[1:] else _OPENING))
            run = run[1:]
        if run:
            yield Name([sentence.tokens[each] for each in run], run[0], certainty)
        run = []


def _may_name(sentence: Sentence, place: int) -> bool:
    token = sentence.tokens[place]
    if token in _NO_NAMES or len(token) == 1:
        return False
    if place and sentence.written[place].isupper() and len(token) > 1:
        return True
    return token not in FUNCTION_WORDS and token not in LEADING and not is_negator(token)


def _is_title(sentence: Sentence) -> bool:
    capitals = 0
    for word, token in zip(sentence.written, sentence.tokens, strict=True):
        if word[0].isupper():
            capitals += token not in FUNCTION_WORDS
        elif word[0].isalpha() and token not in FUNCTION_WORDS:
            return False
    return capitals >= _SHORTEST_TITLE


def name_doubt(words: Sequence[str], sentence: Sentence, evidence: Evidence) -> float:
    """How doubtful a name of these words is, in [0, 1]: 0 where every word of it is in context or question."""
    foreign = [word for word in words if not (_is_known(word, evidence) or _abbreviates(word, sentence))]
    if not foreign or _is_abbreviated(words, evidence):
        return 0.0
    doubt = max(_spelling_doubt(word, evidence) for word in foreign)
    return doubt * (_PARTLY + (1 - _PARTLY) * len(foreign) / len(words))


def _is_known(word: str, evidence: Evidence) -> bool:
    if evidence.has(word) or evidence.was_asked(word):
        return True
    if len(word) >= _SHORTEST_PART and word in evidence.joined:
        return True
    return any(each in evidence.known or each in evidence.asked for each in _OTHERWISE.get(word, ()))


def _abbreviates(word: str, sentence: Sentence) -> bool:
    """Whether it is made of the initials of words of its own sentence: Multiple Choice Questions (MCQs)."""
    letters = word.removesuffix("s")
    return _SHORTEST_TITLE <= len(letters) <= _LONGEST_ACRONYM and letters in "".join(t[0] for t in sentence.tokens)


def _spelling_doubt(word: str, evidence: Evidence) -> float:
    """Less where the context has a word that begins alike: Inggris and Inggeris, Japan and Japanese."""
    if word in _BACKGROUND:
        return _COMMON
    prefix = word[: min(_LONGEST_PREFIX, max(_SHORTEST_PREFIX, len(word) - 3))]
    return _ALIKE if len(word) > _SHORTEST_PREFIX and f" {prefix}" in evidence.streams[0] else 1.0


def _is_abbreviated(words: Sequence[str], evidence: Evidence) -> bool:
    """Whether the name is the initials of words that are there, or its own initials are: US, U.S., United States."""
    if len(words) == 1:
        return 1 < len(words[0]) <= _LONGEST_ACRONYM and words[0] in evidence.initials
    # "World Health Organization (WHO)" has its acronym behind it.
    parts = words[:-1] if words[-1] == "".join(word[0] for word in words[:-1]) else words
    initials = [word[0] for word in parts]
    return "".join(initials) in evidence.known or any(
        f" {' '.join(initials)} " in stream for stream in evidence.streams
    )
