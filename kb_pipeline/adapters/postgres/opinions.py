"""Second opinions, kept in rag_metric beside the other counts of a turn.

Belongs here: reading turns without one, writing it, marking the hour. Does not: the opinion.
"""

from collections.abc import Callable, Sequence
from typing import Any

from psycopg.types.json import Jsonb

from kb_pipeline.adapters.postgres.connection import Connection, Database
from kb_pipeline.adapters.postgres.queries import load
from kb_pipeline.adapters.postgres.turns import turn_of
from kb_pipeline.grading.opinion import Opinion
from kb_pipeline.records import Metrics, Triad
from kb_pipeline.windows import Window

CHUNK = 200
CHUNK_CHARS = 8_000_000


class PostgresOpinions:
    """Gives opinions a chunk at a time: at most `chunk` turns, and no more text than memory should hold at once."""

    def __init__(self, database: Database, *, chunk: int = CHUNK, chunk_chars: int = CHUNK_CHARS) -> None:
        self._database = database
        self._sizes = {"chunk": chunk, "chunk_chars": chunk_chars}

    def give(
        self, window: Window, version: str, opinion_of: Callable[[Triad, Metrics], Opinion]
    ) -> Sequence[Opinion | None]:
        """Ask for the opinion on the next turns of the window that have none by `version`, and keep it.

        In one transaction, with the turns locked, so that a text read anew meanwhile never keeps an opinion on the old
        one. None stands for a turn whose text is gone; an empty sequence means that no turn is left, or that another
        run is about the rest.
        """
        parameters = {"window_start": window.start, "window_end": window.end, "version": version, **self._sizes}
        with self._database.connect() as connection:
            rows = connection.execute(load("turns_without_opinion"), parameters).fetchall()
            opinions = [_opinion(row, opinion_of) for row in rows]
            _save(connection, version, [(row[0], opinion) for row, opinion in zip(rows, opinions, strict=True)])
            connection.execute(load("touch_hours"), {"ts": [ts for _, ts, *_ in rows]})
        return opinions


def _opinion(row: Sequence[Any], opinion_of: Callable[[Triad, Metrics], Opinion]) -> Opinion | None:
    _, _, is_expired, *turn = row
    return None if is_expired else opinion_of(*turn_of(turn))


def _save(connection: Connection, version: str, opinions: Sequence[tuple[str, Opinion | None]]) -> None:
    with connection.cursor() as cursor:
        cursor.executemany(
            load("save_opinion"),
            [
                {
                    "event_id": event_id,
                    "version": version,
                    "support_score": opinion and opinion.support_score,
                    "opinion": opinion and Jsonb(opinion.as_json()),
                }
                for event_id, opinion in opinions
            ],
        )
