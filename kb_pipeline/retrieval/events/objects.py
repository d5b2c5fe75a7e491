"""One JSON object by its property names, as our columns spell them (doc_id) or as JavaScript does (docId).

Belongs here: that look-up. Does not: what a property may hold.
"""

from collections.abc import Mapping
from functools import cache


def value_of(data: Mapping[str, object], name: str) -> object:
    """The property's value under either spelling; None where it is missing or null."""
    value = data.get(name)
    return data.get(camel_case(name)) if value is None else value


@cache
def camel_case(name: str) -> str:
    """JavaScript's spelling of a column's name."""
    first, *others = name.split("_")
    return first + "".join(other.capitalize() for other in others)
