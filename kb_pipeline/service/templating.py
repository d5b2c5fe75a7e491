"""Templates in which every value is escaped, with the formats of numbers and times as filters.

Belongs here: the environment of the templates. Does not: what a page shows.
"""

from functools import cache
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request

from kb_pipeline.counting import counted
from kb_pipeline.dashboard import numbers
from kb_pipeline.support import language_of


@cache
def templates() -> Environment:
    """The environment; an undefined name is an error, nothing is marked safe, and every text is calm unless exact."""
    environment = Environment(
        loader=PackageLoader("kb_pipeline.service"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    environment.filters |= {
        "score": numbers.score,
        "between": numbers.between,
        "rate": numbers.rate,
        "count": numbers.count,
        "counted": counted,
        "short": numbers.short,
        "ms": numbers.milliseconds,
        "path": lambda text: quote(str(text), safe=""),
        "language": lambda text: language_of(text).value if text else "",
        "calm": calm,
        "exact": Exact,
    }
    environment.globals |= {
        "moment": numbers.moment,
        "full_moment": numbers.full_moment,
        "clock": numbers.clock,
        "age": numbers.age,
        "MISSING": numbers.MISSING,
    }
    return environment


class Exact(str):
    """Text that goes back to the server as it is: a key in a form, the value of a choice."""

    __slots__ = ()


def _shown(value: Any) -> Any:
    """A value as a page has it: text calm unless it is exact or markup, nothing for None."""
    if value is None:
        return ""
    is_markup = hasattr(value, "__html__")
    return calm(value) if isinstance(value, str) and not isinstance(value, Exact) and not is_markup else value


def calm(text: str | None) -> str:
    """Text without the characters that reorder or hide what stands around them."""
    return "".join(" " if ord(sign) < ord(" ") or sign in _UNRULY else sign for sign in text or "")


# Bidirectional embeddings, overrides and isolates; invisible separators.
_UNRULY = frozenset(map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x2028, 0x2029, 0xFEFF)))


def render(name: str, request: Request, **values: Any) -> str:
    """A page as text."""
    return templates().get_template(name).render({"path": request.url.path, "is_open": False, **values})
