"""Text under judgement without its disguises: the forms in which a judge may read what was written otherwise.

Belongs here: look-alike letters, unseen characters, simple encodings. Does not: what the text says.
"""

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import unquote

from kb_pipeline.grading.judging.neutral import without_unseen

# Cyrillic and Greek letters that pass for Latin ones, and signs that pass for a point; NFKD does the other scripts.
_LOOK_ALIKES = dict(
    zip(
        "\u0430\u0432\u0435\u0455\u0456\u0458\u043a\u043c\u043d\u043e\u0440\u0441"
        "\u0442\u0443\u0445\u04bb\u0501\u051b\u051d\u0261\u03b1\u03b2\u03b5\u03b7"
        "\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u03f2\u066b\u066c\u3002\u3001",
        "abesijkmhopctyxhdqwgabenikvoptuxc.,.,",
        strict=True,
    )
)
_LOOK_ALIKE = re.compile("[" + "".join(_LOOK_ALIKES) + "]")
_OTHER_DIGIT = re.compile(r"(?![0-9])\d")
_MARKS = re.compile("[\u0300-\u036f\u200c\u200d\ufe00-\ufe0f]")
_BASE64 = re.compile(r"(?<![\w+/=-])[\w+/-]{16,4096}={0,2}(?![\w+/=])", re.ASCII)
_HEX = re.compile("(?:[0-9a-fA-F]{2})+")
_PERCENT = re.compile(r"(?:%[0-9a-f]{2}.{0,3}?){3}", re.IGNORECASE | re.DOTALL)
_ENTITY = re.compile(r"&(?:#x?[0-9a-f]{1,6}|[a-z]{2,8});", re.IGNORECASE)
_ESCAPED = re.compile(r"\\(?:u([0-9a-f]{4})|x([0-9a-f]{2}))", re.IGNORECASE)
_SPACED = re.compile(r"(?<=\b\w)[ ._*-](?=\w\b)")
_IS_SPACED = re.compile(r"(?:\b[^\W\d][ ._*-]){4}")
# Words of grading, backwards and under ROT13.
_BACKWARDS = ("ssenluf", "ecnaveler", "edarg", "erocs", "ialin", "roks")
_ROTATED = ("snvgushy", "eryrinapr", "tenqr", "fpber", "avynv", "fxbe")


def undisguised(text: str) -> Iterator[str]:
    """`text` in its plain form, then whatever it holds in another: encoded, escaped, spaced, backwards, rotated.

    Plain is lower case, without look-alike letters, unseen characters and marks on letters.
    """
    folded = plain(text)
    yield folded
    yield from (plain(decoded) for decoded in _decoded(text))
    if _IS_SPACED.search(folded):
        yield _SPACED.sub("", folded)
    if any(word in folded for word in _BACKWARDS):
        yield folded[::-1]
    if any(word in folded for word in _ROTATED):
        yield codecs.encode(folded, "rot13")


def plain(text: str) -> str:
    """`text` in lower case, without look-alike letters, unseen characters and marks on letters."""
    text = without_unseen(text)
    if not text.isascii():
        text = _MARKS.sub("", unicodedata.normalize("NFKD", text)).casefold()
        text = _LOOK_ALIKE.sub(lambda found: _LOOK_ALIKES[found[0]], text)
        text = _OTHER_DIGIT.sub(lambda found: str(unicodedata.decimal(found[0])), text)
    return text.casefold()


def _decoded(text: str) -> Iterator[str]:
    if "%" in text and _PERCENT.search(text):
        yield unquote(text)
    if "&" in text and _ENTITY.search(text):
        yield html.unescape(text)
    if "\\" in text and _ESCAPED.search(text):
        yield _ESCAPED.sub(lambda found: chr(int(found[1] or found[2], 16)), text)
    for run in _BASE64.finditer(text):
        if _HEX.fullmatch(run[0]):
            yield from _as_text(bytes.fromhex(run[0]))
        yield from _as_text(_from_base64(run[0]))


def _from_base64(run: str) -> bytes:
    bare = run.rstrip("=").translate(str.maketrans("-_", "+/"))
    try:
        return base64.b64decode(bare + "=" * (-len(bare) % 4))
    except (binascii.Error, ValueError):
        return b""


def _as_text(data: bytes) -> Iterator[str]:
    """The bytes as text, if they are a printable one."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return
    if text and all(character.isprintable() or character.isspace() for character in text):
        yield text
