"""Text under judgement is hostile: what could pass for structure is turned into mere text.

Belongs here: neutralising text before it enters a prompt, cleaning text that comes out of a reply. Does not: the
prompt.
"""

import re
import unicodedata

# Characters that are not seen but read: controls, bidirectional overrides, zero-width and tag characters.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)
_LINE_END = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_SURROGATE = re.compile("[\ud800-\udfff]")
# <|im_start|>, </s>, <start_of_turn>, <think>, DeepSeek's full-width bars: every chat template's tokens are short tags.
_ANGLED = re.compile(r"<([|｜/!]?[^<>\n]{1,64})>")
_DOUBLE_ANGLED = re.compile(r"<<|>>")
# [INST], [/INST], [SYSTEM_PROMPT], [TOOL_CALLS]
_BRACKETED = re.compile(r"\[(/?[A-Z_]{3,24})\]")
_BORDER = re.compile(
    r"^((?:[^\S\n]|[>|*#-])*)(BEGIN|END)(?=[ _]*(?:HISTORY|QUESTION|CONTEXT|ANSWER)\b)", re.MULTILINE | re.IGNORECASE
)
_REPLY_KEY = re.compile(r"(faith)(fulness)|(answer|context)_(relevance)", re.IGNORECASE)
_ESCAPE = re.compile(r"\\(?=[ux][0-9a-fA-F]{2})")


def neutralise(text: str, *, nonce: str = "") -> str:
    """`text` as it may stand inside a data block: readable as before, but nothing in it can act.

    Unseen characters go; control tokens of chat templates, borders of our own blocks, the nonce, the reply's keys and
    escaped characters lose their form, never their words.
    """
    text = without_unseen(_SURROGATE.sub("\ufffd", _LINE_END.sub("\n", text)))
    text = _DOUBLE_ANGLED.sub(lambda found: "‹‹" if found[0] == "<<" else "››", text)
    text = _ANGLED.sub(r"‹\1›", text)
    text = _BRACKETED.sub(r"［\1］", text)
    text = _BORDER.sub(r"\1(\2)", text)
    text = _REPLY_KEY.sub(_hyphenated, text)
    text = _ESCAPE.sub("⧵", text)
    return text.replace(nonce, "…") if nonce else text


def without_unseen(text: str) -> str:
    """`text` without controls, bidirectional overrides, zero-width and tag characters."""
    return _UNSEEN.sub("", text)


def clean_line(text: str, *, limit: int) -> str:
    """`text` as one printable line of at most `limit` characters, cut at a word if one is near, never in a cluster."""
    visible = _UNSEEN.sub(" ", _SURROGATE.sub("\ufffd", text[: _LONGEST_LOOK * limit]))
    line = " ".join(
        "".join(" " if unicodedata.category(character) in _ODD else character for character in visible).split()
    )
    if len(line) <= limit:
        return line
    cut = limit - 1
    while cut > 0 and _continues(line, cut):
        cut -= 1
    space = line.rfind(" ", cut - _WORD_REACH, cut + 1)
    return line[: space if space > 0 else cut].rstrip(" ,;:") + "…"


_ODD = frozenset({"Cc", "Cs", "Co", "Zl", "Zp"})
_LONGEST_LOOK = 8
_WORD_REACH = 40
_JOINER = "\u200d"


def _continues(line: str, position: int) -> bool:
    """Whether the character at `position` belongs to the one before: a mark, a variation selector, a joined emoji."""
    character = line[position]
    return (
        unicodedata.category(character) in {"Mn", "Me", "Mc"}
        or character == _JOINER
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or line[position - 1] == _JOINER
    )


def _hyphenated(found: re.Match[str]) -> str:
    return "-".join(part for part in found.groups() if part)
