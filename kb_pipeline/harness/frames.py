"""Labelled queries as a pandas DataFrame, for a notebook.

Belongs here: the frame's columns. Does not: reading.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd

from kb_pipeline.harness.labelled import LabelledQuery

TIMES = ("first_observed_at", "last_observed_at", "as_of")
COLUMNS = (
    "query_id", "text", "org_id", "specialist_id", "doc_id", "grade", "conversations", "kinds", *TIMES, "rule_version",
)  # fmt: skip


def frame_of(queries: Iterable[LabelledQuery]) -> pd.DataFrame:
    """One row per judgment, in the order of the queries; what a source does not know is None, NaN or NaT.

    `grade` is a whole number, times are UTC, `kinds` a space-separated text.
    """
    frame = pd.DataFrame(list(_rows(queries)), columns=list(COLUMNS))
    for name in TIMES:
        frame[name] = pd.to_datetime(frame[name], utc=True)
    return frame.astype({"grade": "int64", "conversations": "Int64"})


def _rows(queries: Iterable[LabelledQuery]) -> Iterator[tuple[Any, ...]]:
    for query in queries:
        tenant = query.tenant
        whose = (str(tenant.org_id), str(tenant.specialist_id)) if tenant else (None, None)
        for document, grade in query.grades.items():
            known = query.provenance.get(document)
            facts = (
                (
                    known.conversations,
                    " ".join(known.kinds),
                    known.first_observed_at,
                    known.last_observed_at,
                    known.as_of,
                    known.rule_version,
                )
                if known
                else (None,) * 6
            )
            yield (query.id, query.text, *whose, document, grade, *facts)
