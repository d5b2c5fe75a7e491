r"""The header of passages, from lines that begin alike but for their numbers.

Belongs here: counting such beginnings, telling ranks from scores, the pattern. Does not: whether the pattern is good.

`[RAG-1] (skor 0.79) Yayasan …` and `[RAG-2] (skor 0,61) Akta …` begin alike for eight pieces when every number counts
as the same. Numbers that count 1, 2, 3 within a prompt are ranks; decimals and percentages are scores.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kb_pipeline.grading.templates.prompts import Prompt

MOST_PATTERNS = 4
_WINDOW = 200
_MOST_PIECES = 40
_MOST_LINES = 3000
_FEW_LINES = 3
# A header comes to its first number soon: what goes before it is no sentence.
_LONGEST_LEAD = 32
_MOST_WORDS_BEFORE = 3
_PIECE = re.compile(r"(?<![\w.])-?\d{1,15}(?:[.,]\d{1,15})*%?|\d{1,15}(?:[.,]\d{1,15})*%?|\s+|[^\W\d_]+|[\W_]|\d")
_INLINE_START = re.compile(r"(?<!\S)(?=[\[(<#]|[^\W\d_]{1,20}[ -]?\d|\d)")
_NUMBER = "0"
_FEWEST = 3
_LISTED = 60
_FEWEST_SHARE = 0.15
_ALIKE = 0.75
_MOSTLY = 0.8
_SPECIAL = frozenset(r"\.^$*+?{}[]|()")
_RANK = r"(?P<rank>\d+)"
_SCORE = r"(?P<score>-?\d+(?:[.,]\d+)?%?)"
_ANY_NUMBER = r"-?\d+(?:[.,]\d+)*%?"
_DECIMAL = re.compile(r"-?\d{1,6}[.,]\d{1,10}%?|\d{1,3}%")
# What names a score behind a title: at most two words with what stands between them and the number.
_NAMED_SCORE = re.compile(
    r"([(\[|,;\u2013\u2014-]?[ ]?(?:[^\W\d_]{2,20}[ ])?[^\W\d_]{2,20}[ ]?[:=]?[ ]?)(-?\d{1,6}[.,]\d{1,10}%?|\d{1,3}%)"
)
_JSON_TEXT = re.compile(r"[^\w\"]*\"\w+\":\s*\"")


@dataclass(frozen=True, slots=True)
class _Sighting:
    """The beginning of one line: its pieces with every number as "0", and the numbers themselves."""

    pieces: tuple[str, ...]
    numbers: tuple[str, ...]
    line: str
    prompt: int


def header_patterns(prompts: Sequence[Prompt]) -> list[str]:
    """Patterns of what could head passages, those that repeat within most prompts first; at most four."""
    by_base: dict[tuple[str, ...], list[_Sighting]] = defaultdict(list)
    for number, prompt in enumerate(prompts):
        for sighting in _sightings(prompt.text, number):
            by_base[sighting.pieces[: sighting.pieces.index(_NUMBER) + 1]].append(sighting)
    repeating = {base: _repeating(seen) for base, seen in by_base.items()}
    enough = max(_FEWEST, _FEWEST_SHARE * len(prompts))
    ranked = sorted((base for base in by_base if repeating[base] >= enough), key=lambda base: (-repeating[base], base))
    patterns = (_pattern(base, by_base[base]) for base in ranked[: 2 * MOST_PATTERNS])
    return list(dict.fromkeys(pattern for pattern in patterns if pattern))[:MOST_PATTERNS]


def lists_passages(prompts: Sequence[Prompt], configured: re.Pattern[str]) -> bool:
    """Whether half of the prompts, as turns do, hold a list: the configured header, or another, twice or more."""
    sample = prompts[:_LISTED]
    patterns = [configured, *map(re.compile, header_patterns(sample))]
    return any(2 * sum(len(p.findall(each.text)) > 1 for each in sample) >= len(sample) for p in patterns)


def _sightings(text: str, prompt: int) -> Iterator[_Sighting]:
    lines = text.split("\n", _MOST_LINES)[:_MOST_LINES]
    position, starts = 0, list[int]()
    for line in lines:
        if line.strip():
            starts.append(position + len(line) - len(line.lstrip()))
        position += len(line) + 1
    if len(lines) <= _FEW_LINES:
        starts += [match.start() for match in _INLINE_START.finditer(text)][:_MOST_LINES]
    for start in dict.fromkeys(starts):
        window = text[start : start + _WINDOW]
        if any(map(str.isdecimal, window[:_LONGEST_LEAD])) and (sighting := _sighting(window, prompt)):
            yield sighting


def _sighting(window: str, prompt: int) -> _Sighting | None:
    found = _PIECE.findall(window)[:_MOST_PIECES]
    pieces = tuple(_NUMBER if each[-1].isdecimal() or each[-1] == "%" != each else _spaced(each) for each in found)
    if _NUMBER not in pieces:
        return None
    before = found[: pieces.index(_NUMBER)]
    if sum(each[0].isalpha() for each in before) > _MOST_WORDS_BEFORE or sum(map(len, before)) > _LONGEST_LEAD:
        return None
    numbers = tuple(each for each, piece in zip(found, pieces, strict=True) if piece == _NUMBER)
    return _Sighting(pieces, numbers, window.partition("\n")[0], prompt)


def _spaced(piece: str) -> str:
    if not piece.isspace():
        return piece
    return "\n" if "\n" in piece else " "


def _repeating(seen: Sequence[_Sighting]) -> int:
    """In how many prompts it stands at least twice."""
    return sum(count > 1 for count in Counter(sighting.prompt for sighting in seen).values())


def _pattern(base: tuple[str, ...], seen: Sequence[_Sighting]) -> str | None:
    grown, alike = _grown(base, seen)
    roles = _roles(alike, grown.count(_NUMBER))
    if "rank" not in roles and "score" not in roles:
        return None
    last = max(i for i, role in enumerate(roles) if role)
    end = [i for i, piece in enumerate(grown) if piece == _NUMBER][last] + 1
    pattern = _written(grown[:end], roles) + _closing(grown[end:])
    if "score" in roles:
        return pattern
    return pattern + (_behind_a_title(seen) or _what_follows(grown[end:]))


def _grown(base: tuple[str, ...], seen: Sequence[_Sighting]) -> tuple[tuple[str, ...], list[_Sighting]]:
    """The longest beginning that most of the lines share, and those lines."""
    alike, grown = list(seen), base
    while len(grown) < _MOST_PIECES:
        following = Counter(each.pieces[len(grown)] for each in alike if len(each.pieces) > len(grown))
        piece, count = following.most_common(1)[0] if following else ("", 0)
        if count < _ALIKE * len(seen):
            break
        alike = [each for each in alike if len(each.pieces) > len(grown) and each.pieces[len(grown)] == piece]
        grown = (*grown, piece)
    return grown, alike


def _roles(alike: Sequence[_Sighting], count: int) -> list[str]:
    """What each number is: rank, score, or "" for anything else; each at most once."""
    columns = [[(each.prompt, each.numbers[i]) for each in alike] for i in range(count)]
    roles = [""] * count
    for i, column in enumerate(columns):
        if "rank" not in roles and _counts_up(column):
            roles[i] = "rank"
        elif "score" not in roles and sum(
            _DECIMAL.fullmatch(value) is not None for _, value in column
        ) >= _MOSTLY * len(column):
            roles[i] = "score"
    return roles


def _counts_up(column: Sequence[tuple[int, str]]) -> bool:
    """Whether the numbers begin at 0 or 1 in most prompts and go up by one there."""
    by_prompt: dict[int, list[str]] = defaultdict(list)
    for prompt, value in column:
        by_prompt[prompt].append(value)
    good = sum(_is_count(values) for values in by_prompt.values())
    return good >= _MOSTLY * len(by_prompt)


def _is_count(values: Sequence[str]) -> bool:
    if not all(value.isdecimal() and len(value) < _MOST_PIECES for value in values):
        return False
    numbers = [int(value) for value in values]
    steps = [after - before == 1 for before, after in pairwise(numbers)]
    return numbers[0] in {0, 1} and sum(steps) >= _MOSTLY * len(steps)


def _written(pieces: Sequence[str], roles: Sequence[str]) -> str:
    pattern, number = "", 0
    for piece in pieces:
        if piece == _NUMBER:
            pattern += {"rank": _RANK, "score": _SCORE}.get(roles[number], _ANY_NUMBER)
            number += 1
        else:
            pattern += _escaped(piece)
    return pattern


def _escaped(text: str) -> str:
    """The text as a regular expression: `re.escape` writes what people can hardly read."""
    spaced = re.sub(r"\s+", " ", text)
    return "".join(r"\s*" if sign == " " else "\\" + sign if sign in _SPECIAL else sign for sign in spaced)


def _closing(pieces: Sequence[str]) -> str:
    """The brackets and colons right behind the last number; the key of a JSON text with its quote."""
    rest = "".join(pieces)
    if quoted := _JSON_TEXT.match(rest):
        return _escaped(quoted.group())
    closing = ""
    for piece in pieces:
        if piece.isspace() or piece.isalnum():
            break
        closing += piece
    return _escaped(closing)


def _what_follows(pieces: Sequence[str]) -> str:
    """White space or the end of the line, where a header without a score always has it: "12." is none in "12.05"."""
    for piece in pieces:
        if piece.isspace():
            return r"(?=\s*\n)" if piece == "\n" else r"(?=\s)"
        if piece.isalnum():
            break
    return ""


def _behind_a_title(seen: Sequence[_Sighting]) -> str:
    """The rest of a header whose score stands behind a title: from the title on; "" where most have no such score."""
    found = [matches[-1] for each in seen if (matches := _NAMED_SCORE.findall(each.line))]
    named = Counter(name for name, _ in found)
    name, count = named.most_common(1)[0] if named else ("", 0)
    if count < _ALIKE * len(seen):
        return ""
    ends = Counter(_end_of_score(each.line, name) for each in seen if name in each.line)
    end, _ = ends.most_common(1)[0]
    return rf"[^\n]{{0,160}}?{_escaped(name)}{_SCORE}{_escaped(end)}"


def _end_of_score(line: str, name: str) -> str:
    number = _DECIMAL.match(line, line.rfind(name) + len(name))
    following = line[number.end() : number.end() + 1] if number else ""
    return following if following in {")", "]", "|", ">", "}", ":"} else ""
