"""Keeping examinations: ledger, triads and metrics of a chunk in one transaction.

Belongs here: the staging table and its COPY. Does not: verdicts, which are decided in grading/.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from psycopg.types.json import Jsonb, set_json_dumps

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.queries import load
from kb_pipeline.adapters.postgres.text import storable
from kb_pipeline.grading.extraction import question_sha
from kb_pipeline.records import Examination, Message, Metrics, Passage, Triad

# The types of stage_examination, in its order: binary COPY needs them named.
STAGE_TYPES = (
    *("text", "timestamptz", "text", "text", "text", "text", "text", "text", "int4", "text", "text", "bool"),
    *("text", "text", "jsonb", "jsonb", "text", "text", "text", "text"),
    *("bool", "int4", "float8", "float8", "int4", "int4", "bool", "bool"),
)
_NO_TRIAD = (None,) * 8
_NO_METRICS = (None,) * 8
_encode = msgspec.json.Encoder().encode


class PostgresLedger:
    """Saves examinations; `preview` turns a question into its preview (at most 120 characters, redacted).

    `templates` are fingerprints by surface of what the verdicts were decided by.
    """

    def __init__(
        self, database: Database, *, preview: Callable[[str], str | None], templates: Mapping[str, str] | None = None
    ) -> None:
        self._database = database
        self._preview = preview
        self._templates = Jsonb(dict(templates or {}))

    def save(self, examinations: Sequence[Examination]) -> int:
        """Keep what is not kept yet; returns the number of ledger rows written."""
        with self._database.connect() as connection, connection.cursor() as cursor:
            set_json_dumps(_encode, cursor)
            cursor.execute(load("stage_examinations"))
            with cursor.copy(load("copy_examinations")) as copy:
                copy.set_types(STAGE_TYPES)
                for examination in examinations:
                    copy.write_row(self._row(examination))
            cursor.execute(load("save_examinations"), {"templates": self._templates})
            row = cursor.fetchone()
        return int(row[0]) if row else 0

    def _row(self, examination: Examination) -> tuple[Any, ...]:
        call = examination.call
        facts = (
            call.event_id,
            call.ts,
            call.trace_id,
            call.surface,
            call.tenant,
            call.operation,
            call.engine,
            call.model,
        )
        verdict = (
            call.http_status,
            str(examination.verdict),
            _name(examination.parse_status),
            examination.evidence_intact,
        )
        triad = self._triad(examination.triad) if examination.triad else _NO_TRIAD
        metrics = _metrics(examination.metrics) if examination.metrics else _NO_METRICS
        return (*facts, *verdict, *triad, *metrics)

    def _triad(self, triad: Triad) -> tuple[Any, ...]:
        question = triad.question
        return (
            storable(question),
            storable(triad.context),
            [_passage(each) for each in triad.passages],
            [_message(each) for each in triad.history],
            storable(triad.answer),
            triad.finish_reason and storable(triad.finish_reason),
            question_sha(question) if question else None,
            storable(self._preview(question) or "") if question else None,
        )


def _passage(passage: Passage) -> dict[str, object]:
    return {"rank": passage.rank, "score": passage.score, "text": storable(passage.text)}


def _message(message: Message) -> dict[str, object]:
    return {"role": storable(message.role), "text": storable(message.text)}


def _metrics(metrics: Metrics) -> tuple[Any, ...]:
    return (
        metrics.had_context,
        metrics.num_passages,
        metrics.top_score,
        metrics.mean_score,
        metrics.context_chars,
        metrics.answer_chars,
        metrics.refused,
        metrics.answer_truncated,
    )


def _name(value: object) -> str | None:
    return None if value is None else str(value)
