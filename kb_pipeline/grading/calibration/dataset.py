"""Labelled triads as lines of JSON.

Belongs here: what a line must hold. Does not: opening files, judging.
"""

import json
from dataclasses import dataclass
from typing import Any

from kb_pipeline.records import ParseStatus, Passage, Triad


@dataclass(frozen=True, kw_only=True, slots=True)
class Labelled:
    """One triad and its label: 1.0 faithful, 0.0 not, between them partly, None unlabelled.

    `group` holds what is not independent, for example the answers to one question.
    """

    triad: Triad
    label: float | None
    source: str
    language: str
    label_kind: str
    group: str


def read_labelled(line: str, *, where: str) -> Labelled | str:
    """The labelled triad in one line of JSON, or a sentence that says what is wrong with it and where.

    `question` (text or null), `passages` (texts, or objects with `text`), `answer` (text), `label_faithful` (0 to
    1, true, false or null); optional `source`, `lang`, `group`, `meta.label_kind`, all texts.
    """
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return f"{where}: the line is not JSON; write one object a line"
    problem = _problem(row)
    if problem is not None:
        return f"{where}: {problem}"
    passages = tuple(
        Passage(rank=rank, score=None, text=passage if isinstance(passage, str) else passage["text"])
        for rank, passage in enumerate(row["passages"], start=1)
    )
    label = row["label_faithful"]
    triad = Triad(
        parse_status=ParseStatus.OK,
        question=row.get("question") or "",
        context="\n\n".join(passage.text for passage in passages),
        passages=passages,
        answer=row["answer"],
    )
    meta = row.get("meta") or {}
    return Labelled(
        triad=triad,
        label=None if label is None else float(label),
        source=row.get("source") or "",
        language=row.get("lang") or "",
        label_kind=meta.get("label_kind") or "",
        group=row.get("group") or where,
    )


def _problem(row: Any) -> str | None:
    """What is wrong with a row, as the rest of a sentence; None when nothing is."""
    if not isinstance(row, dict):
        return "the line is JSON, but no object"
    missing = [key for key in ("passages", "answer", "label_faithful") if key not in row]
    if missing:
        return f"{missing[0]!r} is missing; a labelled triad has question, passages, answer and label_faithful"
    if not isinstance(row["answer"], str) or not isinstance(row.get("question"), str | None):
        return "'question' and 'answer' must be texts ('question' may be null)"
    if not isinstance(row["passages"], list) or not all(map(_is_passage, row["passages"])):
        return "'passages' must be a list of texts, or of objects with a text 'text'"
    label = row["label_faithful"]
    if label is not None and not (isinstance(label, int | float) and 0 <= label <= 1):
        return "'label_faithful' must be a number from 0 to 1, true, false or null"
    meta = row.get("meta")
    if not isinstance(meta, dict | None):
        return "'meta' must be an object"
    for key, value in (
        *((key, row.get(key)) for key in ("source", "lang", "group")),
        ("meta.label_kind", (meta or {}).get("label_kind")),
    ):
        if not isinstance(value, str | None):
            return f"{key!r} must be a text"
    return None


def _is_passage(passage: Any) -> bool:
    return isinstance(passage, str) or (isinstance(passage, dict) and isinstance(passage.get("text"), str))
