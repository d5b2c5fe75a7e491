"""What the pipeline found, beside what was planted.

Belongs here: agreement per kind and over all, the AUC of the scores against the planted labels. Does not: planting.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from psycopg.rows import class_row

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.demo.queries import load
from kb_pipeline.demo.traffic import Kind
from kb_pipeline.grading.calibration import Observation, auc
from kb_pipeline.windows import Window


@dataclass(frozen=True, kw_only=True, slots=True)
class KindResult:
    """One planted kind. Counts of calls; each `…_agrees` is out of its `…_compared`, `verdict_agrees` of `examined`.

    `waiting`: its body has not arrived. `missing`: it has, and the ledger knows nothing of the call.
    """

    kind: str
    planted: int
    waiting: int
    missing: int
    examined: int
    verdict_agrees: int
    status_compared: int
    status_agrees: int
    wrongly_published: int
    graded: int
    refused_compared: int
    refused_agrees: int
    context_compared: int
    context_agrees: int
    question_compared: int
    question_agrees: int
    unfaithful: int
    mean_faithfulness: float | None
    mean_answer_relevance: float | None

    @property
    def is_turn(self) -> bool:
        """Whether calls of this kind are synthesis turns."""
        return Kind(self.kind).is_turn


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """Found against planted over a window. A share is None where there was nothing to compare."""

    kinds: tuple[KindResult, ...]
    auc_faithfulness: float | None
    auc_answer_relevance: float | None
    labelled: int

    @property
    def planted_calls(self) -> int:
        return self._sum(lambda kind: kind.planted)

    @property
    def planted_turns(self) -> int:
        return self._sum(lambda kind: kind.planted if kind.is_turn else 0)

    @property
    def ungrounded(self) -> int:
        """Planted turns whose answer has a claim that the passages do not support."""
        return self._sum(lambda kind: kind.unfaithful)

    @property
    def examined(self) -> int:
        return self._sum(lambda kind: kind.examined)

    @property
    def graded(self) -> int:
        return self._sum(lambda kind: kind.graded)

    @property
    def missing(self) -> int:
        """Calls with a body that the ledger does not know."""
        return self._sum(lambda kind: kind.missing)

    @property
    def waiting(self) -> int:
        """Calls whose body has not arrived."""
        return self._sum(lambda kind: kind.waiting)

    @property
    def wrongly_published(self) -> int:
        """Published rows of calls that are no synthesis turns."""
        return self._sum(lambda kind: kind.wrongly_published)

    @property
    def verdict_agreement(self) -> float | None:
        """Share of the examined calls with the planted verdict."""
        return self._share(lambda kind: kind.verdict_agrees, lambda kind: kind.examined)

    @property
    def parse_status_agreement(self) -> float | None:
        """Share of the planted turns whose body has arrived with the planted parse_status; a missing turn disagrees."""
        return self._share(lambda kind: kind.status_agrees, lambda kind: kind.status_compared)

    @property
    def refused_agreement(self) -> float | None:
        """Share of the answered turns whose `refused` is as planted."""
        return self._share(lambda kind: kind.refused_agrees, lambda kind: kind.refused_compared)

    @property
    def context_agreement(self) -> float | None:
        """Share of the turns with the planted had_context and number of passages."""
        return self._share(lambda kind: kind.context_agrees, lambda kind: kind.context_compared)

    @property
    def question_agreement(self) -> float | None:
        """Share of the turns whose question was read to the letter."""
        return self._share(lambda kind: kind.question_agrees, lambda kind: kind.question_compared)

    def _sum(self, count: Callable[[KindResult], int]) -> int:
        return sum(map(count, self.kinds))

    def _share(self, part: Callable[[KindResult], int], whole: Callable[[KindResult], int]) -> float | None:
        total = self._sum(whole)
        return self._sum(part) / total if total else None


def compare(database: Database, window: Window) -> Comparison:
    """The comparison over the calls planted in the window."""
    values = {"window_start": window.start, "window_end": window.end}
    with database.connect() as connection:
        with connection.cursor(row_factory=class_row(KindResult)) as cursor:
            kinds = cursor.execute(load("compare_kinds"), values).fetchall()
        scores = connection.execute(load("labelled_scores"), values).fetchall()
    faithfulness = [(label, score) for label, score, _, _ in scores if label is not None and score is not None]
    relevance = [(label, score) for _, _, label, score in scores if label is not None and score is not None]
    return Comparison(
        kinds=tuple(kinds),
        auc_faithfulness=_auc(faithfulness),
        auc_answer_relevance=_auc(relevance),
        labelled=len(faithfulness),
    )


def _auc(labelled: Iterable[tuple[bool, float]]) -> float | None:
    """The chance that a true label scores above a false one; None without both labels."""
    observations = (Observation(score=score, is_faithful=label, group="") for label, score in labelled)
    return auc([(each, 1) for each in sorted(observations, key=lambda each: each.score)])
