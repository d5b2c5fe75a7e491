"""The names of a sentence: its capitalised words, as far as capitals tell.

Belongs here: finding and comparing them. Does not: a list of names.
"""

import re
from collections.abc import Collection, Iterator, Sequence

from kb_pipeline.support import words
from kb_pipeline.support.language import FUNCTION_WORDS, fold, stems
from kb_pipeline.support.leading import LEADING

# After a word, a comma or an opening bracket a capital is the word's own; after a colon or a quotation mark it is not.
_WORD = re.compile(r"[^\W_][\w'&-]*")
_OWN_CAPITAL = re.compile(r"[\w,;&/)%]\s*[(]?$")
_POSSESSIVE = re.compile(r"'s?$")
_NO_NAMES = frozenset(
    "no nomor number bapak ibu pak bu kak kakak saudara saudari sdr mas mbak anda mr mrs ms dr sir madam i i'm i'd "
    "i'll i've ok".split()
)
# A sentence may begin with these instead of those and still speak of the same.
_OPENING = frozenset(
    "menurut berdasarkan sesuai sebagaimana mengenai terkait tentang segera akan oleh selama sejak hingga sampai perlu "
    "jangan tidak bukan belum hanya "
    "according based under pursuant regarding concerning during since until no not never only yes".split()
)
_LEADS_NOWHERE = FUNCTION_WORDS | LEADING | _OPENING
_SHORTEST_ACRONYM = 2
_SHORTEST_TITLE = 3


class Names:
    """The names of a `plain` sentence and, to find them in another, all of its words. `first` is its first word.

    Only words `among` those given count: months, currencies and "paling lambat" are read elsewhere.
    """

    __slots__ = ("first", "forms", "names", "words")

    def __init__(self, text: str, *, among: Collection[str]) -> None:
        tokens = words(text)
        self.words = frozenset(_POSSESSIVE.sub("", word) for token in tokens for word in (token, *token.split("-")))
        self.forms = frozenset(form for word in self.words for form in stems(word))
        readable = frozenset(among)
        self.first = tokens[0] if tokens and text[:1].isupper() and tokens[0] in readable else None
        self.names = () if _is_title(text) else tuple(dict.fromkeys(filter(readable.__contains__, _names(text))))

    def agree(self, other: "Names") -> bool:
        """Whether each name of the one is a word of the other, in the same order, and the first words are no others."""
        return (
            other.words.issuperset(self.names)
            and self.words.issuperset(other.names)
            and _in_order(self.with_first(other), other.with_first(self))
            and not self._replaces_first(other)
        )

    def with_first(self, other: "Names") -> tuple[str, ...]:
        """A first word that the other has for a name is one here too."""
        return (self.first, *self.names) if self.first in other.names else self.names

    def _replaces_first(self, other: "Names") -> bool:
        first, second = self.first, other.first
        if first is None or second is None or not _LEADS_NOWHERE.isdisjoint((first, second)):
            return False
        return other.forms.isdisjoint(stems(first)) and self.forms.isdisjoint(stems(second))


def _in_order(names: Sequence[str], others: Sequence[str]) -> bool:
    common = set(names).intersection(others)
    return [name for name in names if name in common] == [name for name in others if name in common]


def _is_title(text: str) -> bool:
    """Whether capitals say nothing, because most words have one."""
    tokens = [match.group() for match in _WORD.finditer(text[:2_000]) if match.group()[0].isalpha()]
    capitals = sum(token[0].isupper() for token in tokens if fold(token) not in FUNCTION_WORDS)
    plain = sum(token[0].islower() for token in tokens if fold(token) not in FUNCTION_WORDS)
    return text.isupper() or (plain == 0 and capitals >= _SHORTEST_TITLE)


def _names(text: str) -> Iterator[str]:
    found = list(_WORD.finditer(text))
    for number, match in enumerate(found):
        if match.group()[0].isupper() and (_is_own_capital(text, match) or _begins_name(found[number : number + 2])):
            for word in words(_POSSESSIVE.sub("", match.group())):
                if word not in FUNCTION_WORDS and word not in _NO_NAMES:
                    yield word


def _is_own_capital(text: str, match: re.Match[str]) -> bool:
    before = max(0, match.start() - 3)
    return _is_acronym(match.group()) or _OWN_CAPITAL.search(text, before, match.start()) is not None


def _begins_name(pair: Sequence[re.Match[str]]) -> bool:
    """Whether the first word of a sentence is the first of a name: another capital follows."""
    if len(pair) < len(("first", "last")) or pair[0].start() > 0 or fold(pair[0].group()) in _LEADS_NOWHERE:
        return False
    following = pair[1].group()
    return following[0].isupper() and not _is_acronym(following)


def _is_acronym(word: str) -> bool:
    return len(word) >= _SHORTEST_ACRONYM and sum(character.isupper() for character in word) >= _SHORTEST_ACRONYM
