"""Where a sentence ends, in Indonesian and English prose with lists, markdown, numbers and abbreviations.

Belongs here: splitting text. Does not: comparing it.
"""

import re

_ABBREVIATIONS = frozenset(
    # Titles and forms of address
    "dr drs dra prof ir hj h kh st mr mrs ms jr sr bpk bp sdr sdri tn ny yth alm "
    # Companies, addresses, law
    "pt cv tbk ltd inc co corp no jl jln gg kec kab kel prov ps ay hlm hal tgl rp art sec fig eq vol ed "
    # Connectives
    "dll dsb dst dkk tsb spt mis cth etc vs eg ie cf al ca approx a.n d.a u.p s.d a.l e.g i.e u.s a.m p.m".split()
)
_LIST_MARKER = re.compile(r"^\s*(?:[-*•·▪–]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)]|#{1,6}|>)\s+")
_TABLE_RULE = re.compile(r"^[\s|:\-=_*]+$")
# It begins where a run of marks begins, so that a long run is looked at once.
_END = re.compile(r"(?<![.!?…])(?P<mark>[.!?…]++)(?P<closing>[\"'”’»)\]*_]*+)(?P<space>\s++)")
_INITIALS = re.compile(r"(?:\w\.)+\w")
_SHORT_WORD = 3
_TAIL = 40
_LAST_WORD = re.compile(r"[\w.]+$")
# All up to the last white space, without giving any of it back.
_LAST_SPACE = re.compile(r".*\s", re.DOTALL)
_MARKUP = re.compile(r"(\*\*|__|~~|`+|<br\s*/?>)")


def sentences(text: str) -> list[str]:
    """The sentences of `text` in order, without list markers and markdown; no words, no sentence."""
    return [
        piece
        for block in _blocks(text)
        for piece in (" ".join(part.split()) for part in _split(block))
        if any(character.isalnum() for character in piece)
    ]


def segments(text: str, *, longest: int) -> list[str]:
    """`text` in pieces of at most `longest` characters which, joined, are `text` again, character for character.

    A piece is a sentence with the space behind it, a list item or a line of a table; one that is longer than `longest`
    is cut between words, and a word that is longer still within. Raises ValueError when `longest` is not positive.
    """
    if longest <= 0:
        raise ValueError(f"longest is {longest}; it must be more than 0")
    return [piece for block in _whole_blocks(text) for part in _split(block) for piece in _cut(part, longest)]


def _whole_blocks(text: str) -> list[str]:
    """Paragraphs and list items as they stand, with their line ends; joined they are `text`."""
    blocks: list[list[str]] = []
    joins = False
    for line in text.splitlines(keepends=True):
        stripped = line.strip()
        marker = _LIST_MARKER.match(line)
        if joins and stripped and not marker and not stripped.startswith("|"):
            blocks[-1].append(line)
        else:
            blocks.append([line])
        joins = bool(stripped) and not _TABLE_RULE.match(stripped) and not (marker and "#" in marker.group())
    return ["".join(lines) for lines in blocks]


def _cut(text: str, longest: int) -> list[str]:
    pieces = []
    start = 0
    while len(text) - start > longest:
        found = _LAST_SPACE.match(text, start, start + longest)
        end = found.end() if found else start + longest
        pieces.append(text[start:end])
        start = end
    return [*pieces, text[start:]] if start < len(text) else pieces


def _blocks(text: str) -> list[str]:
    """Paragraphs and list items, each as one line; a line that only wraps is joined to the one before."""
    blocks: list[list[str]] = []
    joins = False
    for line in _MARKUP.sub(" ", text).splitlines():
        stripped = line.strip()
        marker = _LIST_MARKER.match(line)
        if not stripped or _TABLE_RULE.match(stripped):
            joins = False
        elif joins and not marker and not stripped.startswith("|"):
            blocks[-1].append(stripped)
        else:
            blocks.append([line[marker.end() :].strip() if marker else stripped])
            joins = not (marker and marker.group().lstrip().startswith("#"))
    return [" ".join(lines) for lines in blocks]


def _split(block: str) -> list[str]:
    pieces: list[str] = []
    start = 0
    for end in _END.finditer(block):
        tail = block[max(start, end.start() - _TAIL) : end.start()]
        if _ends_sentence(tail, end["mark"], block[end.end() : end.end() + 1]):
            pieces.append(block[start : end.end()])
            start = end.end()
    pieces.append(block[start:])
    return pieces


def _ends_sentence(before: str, mark: str, following: str) -> bool:
    """Whether `mark`, after the text `before` and a space ahead of `following`, ends a sentence."""
    if mark != ".":
        return bool(before.strip())
    last = _LAST_WORD.search(before)
    if last is None:
        return bool(before.strip())
    word = last.group().casefold().rstrip(".")
    if word in _ABBREVIATIONS or (len(word) == 1 and word.isalpha()):
        return False
    # A short word or initials (M.H., U.S.) before a small letter abbreviate something.
    return not (following.islower() and (len(word) < _SHORT_WORD or _INITIALS.fullmatch(word)))
