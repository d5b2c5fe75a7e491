"""Reading one kind of thing out of a text, so that nobody after it reads it as something else.

Belongs here: that one step. Does not: patterns, meanings.
"""

import re
from collections.abc import Callable
from typing import TypeVar

BAR = " | "
Read = TypeVar("Read")


def cut(pattern: re.Pattern[str], text: str, read: Callable[[re.Match[str]], Read | None]) -> tuple[list[Read], str]:
    """What `read` makes of each match, and the text with a bar in place of those that it made something of."""
    found: list[Read] = []

    def replace(match: re.Match[str]) -> str:
        value = read(match)
        if value is None:
            return match.group()
        found.append(value)
        return BAR

    return found, pattern.sub(replace, text)
