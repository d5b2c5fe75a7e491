"""Addresses of the net and telephone numbers, each in one form.

Belongs here: what must be copied exactly. Does not: amounts and dates.
"""

import re

from kb_pipeline.support.cutting import cut

_ADDRESS = re.compile(
    r"(?:https?://|www\.)[^\s<>\"')\]]{1,500}"
    r"|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"
    r"|(?<![\w.-])(?:[a-z0-9-]{1,63}\.){1,8}(?:id|com|org|net|gov|io)\b(?:/[^\s<>\"')\]]{0,500})?"
)
_MAY_HOLD_ADDRESS = re.compile(r"@|\w\.\w|://")
_SCHEME = re.compile(r"^(?:https?://)?(?:www\.)?")
_TELEPHONE = re.compile(r"(?<![\w.,-])(?:\+\d{1,3}[\s-]?|\(?0)\d{1,4}\)?(?:[\s-]?\d{2,5}){2,4}(?![\w-])")
_COUNTRY = "+62"


def addresses(folded: str) -> tuple[list[str], str]:
    """The addresses and telephone numbers of a levelled sentence, and the sentence without them."""
    links, rest = cut(_ADDRESS, folded, _link) if _MAY_HOLD_ADDRESS.search(folded) else ([], folded)
    numbers, rest = cut(_TELEPHONE, rest, _telephone)
    return links + numbers, rest


def _link(match: re.Match[str]) -> str:
    return _SCHEME.sub("", match.group()).rstrip("/.,;:!?")


def _telephone(match: re.Match[str]) -> str:
    digits = re.sub(r"\D", "", match.group())
    return "0" + digits[2:] if match.group().startswith(_COUNTRY) else digits
