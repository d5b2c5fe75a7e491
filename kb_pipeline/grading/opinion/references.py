"""References to the law by value: Pasal 5 ayat (2), Article 5(2), UU Nomor 40 Tahun 2007 = UU 40/2007.

Belongs here: reading and finding them. Does not: other numbers.
"""

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

_CANONICAL = {
    "pasal": "article", "article": "article", "articles": "article", "art": "article", "section": "section",
    "sections": "section", "sec": "section", "§": "section", "ayat": "paragraph", "paragraph": "paragraph",
    "para": "paragraph", "bab": "chapter", "chapter": "chapter", "lampiran": "annex", "annex": "annex",
    "huruf": "letter", "angka": "item", "butir": "item", "clause": "clause", "klausul": "clause", "nomor": "number",
    "no": "number", "number": "number", "bagian": "section",
}  # fmt: skip
# Behind one of these a number is no quantity.
INTRODUCING = frozenset(_CANONICAL) | frozenset(
    "uu undang pp perpres perppu perpu keppres perda peraturan keputusan law act regulation directive decree passage "
    "passages dokumen document documents sumber source sources kutipan".split()
)
_WORD = "|".join(sorted(_CANONICAL, key=len, reverse=True))
_LISTED = r"\(?\d{1,4}[a-z]?\)?"
_ARTICLE = re.compile(
    rf"(?P<word>{_WORD})\.?\s{{0,3}}"
    rf"(?P<numbers>{_LISTED}(?:\s{{0,2}}(?:,|-|–|dan|and|atau|or|&|s\.?d\.?|sampai)\s{{0,2}}{_LISTED}){{0,9}})(?![\w/])"
    r"(?P<inner>\s?\(\d{1,3}\))?"
)
_LAW = re.compile(
    r"(?P<kind>undang-undang|uu|perppu|perpu|peraturan pemerintah|pp|peraturan presiden|perpres|keppres"
    r"|keputusan presiden|peraturan menteri|permen[a-z]{0,12}|peraturan daerah|perda|law|act|regulation|directive"
    r"|decree)"
    r"(?:\s[a-z]{2,20}){0,4}?\s{0,3}\(?(?:(?:nomor|no|number)\.?\s{0,2})?(?P<number>\d{1,4})"
    r"(?:\s{0,2}/\s{0,2}|\s(?:tahun|of|year|thn\.?)\s)(?P<year>\d{4})(?!\d)"
)
_KINDS = {
    "undang-undang": "uu", "law": "", "act": "", "regulation": "", "directive": "", "decree": "",
    "peraturan pemerintah": "pp", "peraturan presiden": "perpres", "perpu": "perppu", "keputusan presiden": "keppres",
    "peraturan daerah": "perda", "peraturan menteri": "permen",
}  # fmt: skip
_NUMBER = re.compile(r"\d{1,4}[a-z]?")
_MOST_INSIDE = 30
_ELSEWHERE = 0.6
_OTHERWISE_CALLED = 0.3


class Reference(NamedTuple):
    """One reference: the kind of division or law, its number, and what it stands in ("5" for ayat 2 of Pasal 5)."""

    kind: str
    number: str
    inside: str = ""


def references(folded: str) -> list[Reference]:
    """The references of a folded text, in order; a law is ("law", "40/2007", its kind)."""
    return list(_read(folded))


def _read(folded: str) -> Iterator[Reference]:
    laws: list[tuple[int, int]] = []
    for match in _LAW.finditer(folded):
        if _is_inside_word(folded, match.start()):
            continue
        kind = match["kind"]
        kind = "permen" if kind.startswith("permen") else _KINDS.get(kind, kind)
        laws.append(match.span())
        yield Reference("law", f"{int(match['number'])}/{match['year']}", kind)
    yield from _articles(folded, laws)


def _articles(folded: str, laws: Collection[tuple[int, int]]) -> Iterator[Reference]:
    within = {place for start, end in laws for place in range(start, end)}
    article, article_end = "", -_MOST_INSIDE
    for match in _ARTICLE.finditer(folded):
        if match.start() in within or _is_inside_word(folded, match.start()):
            continue
        kind = _CANONICAL[match["word"]]
        numbers = [number.lstrip("0") or "0" for number in _NUMBER.findall(match["numbers"])]
        inside = article if kind == "paragraph" and match.start() - article_end < _MOST_INSIDE else ""
        for number in numbers:
            yield Reference(kind, number, inside)
        if kind == "article":
            article, article_end = numbers[-1], match.end()
        if match["inner"]:
            yield Reference("paragraph", match["inner"].strip(" ()"), numbers[-1])


def _is_inside_word(text: str, place: int) -> bool:
    # A pattern that begins with a look back is slow.
    return place > 0 and text[place - 1].isalnum()


def reference_doubt(claim: Reference, known: Collection[Reference], numbers: Collection[int]) -> float:
    """How doubtful a reference is, in [0, 1]: 0 where context or question has it; `numbers` are all that they hold."""
    if claim in known:
        return 0.0
    same = [other for other in known if (other.kind, other.number) == (claim.kind, claim.number)]
    if any(not other.inside or not claim.inside for other in same):
        return 0.0
    if same and claim.kind != "law":
        # The paragraph is there, but in another article.
        return _ELSEWHERE
    if claim.number.isdigit() and int(claim.number) in numbers and all(other.kind != claim.kind for other in known):
        return _OTHERWISE_CALLED
    return 1.0
