"""What calibrates the judge: scores of turns beside the outcomes of their drafts, and the rows that come of it.

Belongs here: reading labels, the table rag_judge_calibration. Does not: figures.
"""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import date
from typing import Any

from psycopg.rows import kwargs_row
from psycopg.types.json import Jsonb

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.queries import load
from kb_pipeline.grading.calibration import (
    BAD,
    GOOD,
    UNKNOWN_LANGUAGE,
    ExpertAgreement,
    ExpertLabel,
    Figure,
    ScoreSums,
)
from kb_pipeline.records import JudgeVersion, Outcome
from kb_pipeline.support import language_of
from kb_pipeline.windows import Window


class PostgresCalibration:
    """Reads both streets, whose tables meet in the trace alone; of a question only its language leaves this module."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def expert_labels(self, window: Window) -> tuple[list[ExpertLabel], list[ScoreSums]]:
        """Graded turns of the window with a decided draft, and the sums of all that were graded, at one instant."""
        parameters = {
            "window_start": window.start,
            "window_end": window.end,
            "outcomes": sorted(map(str, GOOD | BAD)),
        }
        with self._database.connect() as connection:
            connection.execute(load("expect_set_reading"))
            labels = connection.cursor(row_factory=kwargs_row(_label)).execute(load("expert_labels"), parameters)
            sums = connection.cursor(row_factory=kwargs_row(_sums)).execute(load("score_sums"), parameters)
            return labels.fetchall(), sums.fetchall()

    def replace(self, day: date, rows: Sequence[ExpertAgreement]) -> None:
        """Make these the rows of the day."""
        with self._database.connect() as connection:
            connection.execute(load("forget_calibration"), {"day": day})
            with connection.cursor() as cursor:
                cursor.executemany(load("save_calibration"), [{"day": day, **_parameters(row)} for row in rows])


def _label(
    *,
    judge_model: str,
    prompt_version: str,
    surface: str,
    score: float,
    outcome: str,
    conversation: str,
    question: str | None,
) -> ExpertLabel:
    return ExpertLabel(
        version=JudgeVersion(model=judge_model, prompt_version=prompt_version),
        surface=surface,
        score=score,
        outcome=Outcome(outcome),
        language=str(language_of(question)) if question else UNKNOWN_LANGUAGE,
        group=conversation,
    )


def _sums(*, judge_model: str, prompt_version: str, surface: str, n: int, total: float, total_sq: float) -> ScoreSums:
    version = JudgeVersion(model=judge_model, prompt_version=prompt_version)
    return ScoreSums(version=version, surface=surface, n=n, total=total, total_sq=total_sq)


def _parameters(row: ExpertAgreement) -> dict[str, Any]:
    return {
        "judge_model": row.version.model,
        "prompt_version": row.version.prompt_version,
        "language": row.language,
        "label_kind": row.label_kind,
        "n": row.n,
        "positives": row.positives,
        "threshold": row.threshold,
        "statistics": Jsonb({name: _kept(figure) for name, figure in row.figures.items()}),
    }


def _kept(figure: Figure) -> dict[str, Any]:
    """A value with its interval, or null with its reason."""
    if figure.value is None:
        return {"value": None, "n": figure.n, "reason": figure.reason}
    return {name: value for name, value in asdict(figure).items() if name != "reason"}
