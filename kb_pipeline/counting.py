"""Counts in sentences: thousands apart, the words that go with them in the number that fits.

Belongs here: the one helper for that. Does not: sentences.
"""


def form(count: int | None, one: str, many: str | None = None) -> str:
    """`one` where it is one, else `many`, which is `one` with an s where it is not given."""
    return one if count == 1 else many or f"{one}s"


def counted(count: int | None, one: str, many: str | None = None) -> str:
    """As in "1 turn", "1,927 turns"; – for a missing count."""
    shown = "–" if count is None else f"{count:,}"
    return f"{shown} {form(count, one, many)}"


def out_of(part: int, whole: int, one: str, many: str | None = None) -> str:
    """As in "4 of 1,927 turns"."""
    return f"{part:,} of {counted(whole, one, many)}"
