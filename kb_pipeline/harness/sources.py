"""Where a harness gets its queries: the protocol, and the simplest source.

Belongs here: what every source can do. Does not: databases, files.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from kb_pipeline.harness.labelled import Judgments, LabelledQuery

if TYPE_CHECKING:
    import pandas as pd


class QuerySource(Protocol):
    """Labelled queries, each once; iterating again reads them again.

    A source of your own subclasses it and writes `__iter__`; the rest follows from that.
    """

    @abstractmethod
    def __iter__(self) -> Iterator[LabelledQuery]:
        """The queries, in an order that does not change from one reading to the next."""
        ...

    def judgments(self) -> Judgments:
        """Grades by query id and document id."""
        return {query.id: query.grades for query in self}

    def excluded(self) -> Mapping[str, frozenset[str]]:
        """By query id the documents that no ranking of that query may profit from; only queries that have some."""
        return {query.id: query.excluded for query in self if query.excluded}

    def left_out(self) -> Mapping[str, int]:
        """How many of what this source does not hand out, by reason."""
        return {}

    def to_frame(self) -> "pd.DataFrame":
        """One row per judgment; `kb_pipeline.harness.frames.COLUMNS` names the columns."""
        # A command that makes no frame does not wait for pandas.
        from kb_pipeline.harness.frames import frame_of  # noqa: PLC0415

        return frame_of(self)


class QueryList(QuerySource):
    """Queries in memory."""

    def __init__(self, queries: Sequence[LabelledQuery], left_out: Mapping[str, int] | None = None) -> None:
        self._queries = queries
        self._left_out = dict(left_out or {})

    def __iter__(self) -> Iterator[LabelledQuery]:
        return iter(self._queries)

    def __len__(self) -> int:
        return len(self._queries)

    def left_out(self) -> Mapping[str, int]:
        return self._left_out
