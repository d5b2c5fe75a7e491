"""What judge versions made of the same turns.

Belongs here: rows to pairs of scores. Does not: figures.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any, cast

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.queries import load
from kb_pipeline.grading.calibration import UNKNOWN_LANGUAGE
from kb_pipeline.grading.comparison import PairedScores, VersionUse
from kb_pipeline.records import JudgeVersion
from kb_pipeline.support import language_of
from kb_pipeline.windows import Window


class PostgresComparisons:
    """Of a question only its language and its redacted preview leave this module."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def versions(self, window: Window) -> Sequence[VersionUse]:
        """Every version that was asked about turns of the window."""
        parameters = {"window_start": window.start, "window_end": window.end}
        with self._database.connect() as connection:
            rows = connection.execute(load("judge_versions"), parameters).fetchall()
        return [
            VersionUse(
                version=JudgeVersion(model=model, prompt_version=prompt),
                graded=graded,
                first_at=first_at,
                ungraded=ungraded,
            )
            for model, prompt, graded, first_at, ungraded in rows
        ]

    @contextmanager
    def pairs(self, window: Window, first: JudgeVersion, second: JudgeVersion) -> Iterator[Iterator[PairedScores]]:
        """Turns of the window that both scored, row by row: memory holds a few."""
        parameters = {
            "window_start": window.start,
            "window_end": window.end,
            "first_model": first.model,
            "first_prompt": first.prompt_version,
            "second_model": second.model,
            "second_prompt": second.prompt_version,
        }
        with self._database.connect() as connection, connection.cursor() as cursor:
            rows = cast(Generator[tuple[Any, ...], None, None], cursor.stream(load("paired_scores"), parameters))
            with closing(rows):
                yield map(_paired, rows)


def _paired(row: tuple[Any, ...]) -> PairedScores:
    event_id, ts, question, preview, *rest = row
    scores, tokens, milliseconds = rest[:6], rest[6:8], rest[8:]
    return PairedScores(
        event_id=event_id,
        ts=ts,
        language=str(language_of(question)) if question else UNKNOWN_LANGUAGE,
        preview=preview,
        scores=tuple(zip(scores[::2], scores[1::2], strict=True)),
        tokens=(tokens[0], tokens[1]),
        milliseconds=(milliseconds[0], milliseconds[1]),
    )
