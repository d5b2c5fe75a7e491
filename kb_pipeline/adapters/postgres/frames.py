"""The windows as a pandas DataFrame, for a notebook or a report.

Belongs here: reading windows into frames, the means that their sums give. Does not: text of turns.
"""

import pandas as pd

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.queries import load
from kb_pipeline.windows import Window

ASPECTS = ("faithfulness", "answer_relevance", "context_relevance")


def quality_frame(database: Database, window: Window) -> pd.DataFrame:
    """One row per hour, tenant, surface, engine and judge version that begins in the window, oldest first.

    Columns: those of rag_quality_window without the histograms, and `mean_…` of each aspect, NaN where none has a
    score. Add the sums of rows and divide by the sum of their n to average over more than one; never average means.
    """
    parameters = {"window_start": window.start, "window_end": window.end}
    with database.connect() as connection, connection.cursor() as cursor:
        rows = cursor.execute(load("quality_windows"), parameters).fetchall()
        columns = [column.name for column in cursor.description or ()]
    frame = pd.DataFrame(rows, columns=columns)
    frame["hour"] = pd.to_datetime(frame["hour"], utc=True)
    for aspect in ASPECTS:
        # Without a score the quotient is NaN, which pandas leaves out of a mean; it is never 0.
        frame[f"mean_{aspect}"] = frame[f"{aspect}_sum"].astype(float) / frame[f"{aspect}_n"].where(
            frame[f"{aspect}_n"] > 0
        )
    return frame
