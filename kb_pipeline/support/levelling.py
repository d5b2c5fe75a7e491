"""The form in which two texts are compared: what changes no word of them is gone.

Belongs here: Unicode forms, white space, markdown, citation marks, invisible characters. Does not: words, numbers.
"""

import re
import unicodedata

_INVISIBLE = re.compile(r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff]")
# [1], [1, 2], [^3], [RAG-4] and 【5†source】 say where something stands, not what.
_CITATION = re.compile(r"\[\^?(?:[A-Za-z]{1,8}[- ]?)?\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\]|【[^】\n]{1,40}】")
_LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\(\s*<?([^\s()<>]{1,500})>?[^()\n]{0,100}\)")
_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9]{0,9}\s*/?>")
_MARKUP = re.compile(r"[*`~|]+|(?<!\w)_+|_+(?!\w)|^#{1,6}\s")
_QUOTES = str.maketrans(
    {**dict.fromkeys("“”„‟«»″", '"'), **dict.fromkeys("‘’‚‛`´ʼ′", "'"), **dict.fromkeys("‐‑‒–—―−", "-")}
)
_EDGES = " .,;:!?…\"'()[]{}-"


# Without any of these a text is plain but for its white space.
_SPECIAL = re.compile(r"[^\s!-~]|[*`~|_<\[#]")


def plain(text: str) -> str:
    """`text` in NFKC on one line, without citation marks, markdown, simple HTML tags and invisible characters.

    Quotation marks and dashes become the plain ones; a markdown link becomes its words and its address.
    """
    if not _SPECIAL.search(text):
        return " ".join(text.split())
    bare = _LINK.sub(r"\1 \2 ", _CITATION.sub(" ", _INVISIBLE.sub("", text)))
    bare = _MARKUP.sub(" ", _TAG.sub(" ", bare.translate(_QUOTES)))
    return " ".join(unicodedata.normalize("NFKC", bare).translate(_QUOTES).split())


def level(plain_text: str) -> str:
    """A `plain` text casefolded and without punctuation at either end: equal where two sentences say the same."""
    folded = plain_text.lower() if plain_text.isascii() else unicodedata.normalize("NFKC", plain_text.casefold())
    # "(b)" keeps both brackets or none; a sentence of marks alone keeps them all.
    return folded.strip(_EDGES) or folded


def same_but_for_space(text: str, other: str) -> bool:
    """Whether the two differ in nothing but white space and the way Unicode writes one character."""
    return text == other or _words(text) == _words(other)


def _words(text: str) -> list[str]:
    return unicodedata.normalize("NFC", text).split()
