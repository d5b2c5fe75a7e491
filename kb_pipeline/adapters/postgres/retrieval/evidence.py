"""Evidence, appended and superseded, and the ground truth that is made of it.

Belongs here: kb_query, kb_evidence and kb_ground_truth. Does not: what counts as evidence (kb_pipeline/retrieval), the
rules of a judgment (retrieval/labels.py, which judge.sql repeats and a test holds it against).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, LiteralString
from uuid import UUID

from psycopg.types.json import Jsonb

from kb_pipeline.adapters.postgres.connection import Connection, Database
from kb_pipeline.adapters.postgres.retrieval.currency import of_today, stage_knowledge
from kb_pipeline.adapters.postgres.retrieval.queries import load
from kb_pipeline.adapters.postgres.retrieval.views import mapped_views
from kb_pipeline.records import Evidence, EvidenceKind, ReviewedDraft
from kb_pipeline.retrieval import labels
from kb_pipeline.retrieval.evidence import WEIGHTS
from kb_pipeline.retrieval.queries import query_sha

BATCH = 5_000
SEARCH_WEIGHTS = {"cited": WEIGHTS[EvidenceKind.CITED], "clicked": 0.2}
LABEL_RULES = {
    "half_life_days": labels.HALF_LIFE_DAYS,
    "least_mass": labels.LEAST_MASS,
    "conflict_side": labels.CONFLICT_SIDE,
    "conflict_below": labels.CONFLICT_BELOW,
    "irrelevant_up_to": labels.IRRELEVANT_UP_TO,
    "relevant_from": labels.RELEVANT_FROM,
    "strong_mass": labels.STRONG_MASS,
    "fair_mass": labels.FAIR_MASS,
    "prior": labels.PRIOR,
}


Preview = Callable[[str], str | None]
Key = tuple[UUID, UUID, str]


@dataclass(slots=True)
class _Sighting:
    """A query as a batch of events saw it: its first words, None where all have expired, and from when to when."""

    query: str | None
    first: datetime
    last: datetime


class PostgresEvidence:
    """The book of evidence; `preview` makes at most 120 redacted characters of a query.

    Any number of harvests may run at once: they take turns draft by draft, and the last one to judge judges all.
    """

    def __init__(self, database: Database, *, preview: Preview) -> None:
        self._database = database
        self._preview = preview

    def note_queries(self) -> int:
        """Bring kb_query up to date, in batches of events that it took no note of, however late they were written."""
        changed = self._note("queries_to_note", "mark_queries_noted")
        return changed + self._note("search_queries_to_note", "mark_search_queries_noted")

    def replace(self, rules: str, drafts: Sequence[tuple[ReviewedDraft, Sequence[Evidence]]]) -> int:
        """Make this the evidence of each draft; identical evidence stays untouched, also where other rules made it.

        A draft whose query has expired cannot be read anew: what it said while there were words stays.
        """
        message_ids = [draft.message_id for draft, _ in drafts]
        read_anew = [draft.message_id for draft, _ in drafts if draft.event is not None and draft.event.query]
        states = [f"{draft.source_state}|{rules}" for draft, _ in drafts]
        with self._database.connect() as connection:
            connection.execute(load("lock_harvest"))
            connection.execute(load("stage_evidence"))
            _copy(connection, [each for _, evidence in drafts for each in evidence])
            connection.execute(load("supersede_draft_evidence"), {"message_ids": read_anew})
            added = connection.execute(load("append_evidence"), {"rules": rules}).rowcount
            connection.execute(load("mark_drafts_harvested"), {"message_ids": message_ids, "states": states})
        return added

    def note_searches(self, rules: str) -> int:
        """Append what experts' clicks and citations say of the query they searched for themselves.

        A citation counts for the draft's own query too, there as the draft's evidence: the two are different queries;
        where they are one, both votes are of one conversation, and count once. A click or citation without a search
        that it followed waits for one.
        """
        is_mapped = "kb_chunk" in mapped_views(self._database)
        with self._database.connect() as connection:
            connection.execute(load("lock_harvest"))
            connection.execute(load("stage_evidence"))
            connection.execute(load("stage_searches"), {"rules": rules})
            connection.execute(load("stage_search_evidence"), SEARCH_WEIGHTS)
            if is_mapped:
                connection.execute(load("date_documents"))
            connection.execute(load("supersede_search_evidence"))
            added = connection.execute(load("append_evidence"), {"rules": rules}).rowcount
            connection.execute(load("mark_searches_harvested"), {"rules": rules})
        return added

    def judge(self, as_of: datetime, rules: str) -> int:
        """Bring every judgment up to date; weights decay by whole UTC days, so that a second run changes nothing.

        Evidence of a document that is gone at `as_of`, or was changed after the evidence, does not count; where the
        knowledge base is not mapped nobody can tell, and all of it counts.
        """
        views = mapped_views(self._database)
        with self._database.connect() as connection:
            connection.execute(load("prepare_judging"))
            stage_knowledge(connection, views, as_of)
            parameters = {"decay_as_of": midnight(as_of), "rules": rules, **LABEL_RULES}
            row = connection.execute(of_today("judge"), parameters).fetchone()
        return int(row[0]) if row else 0

    def _note(self, due: LiteralString, mark: LiteralString) -> int:
        changed = 0
        while True:
            with self._database.connect() as connection:
                rows = connection.execute(load(due), {"limit": BATCH}).fetchall()
                if not rows:
                    return changed
                noted = [(row[0], _sha(row), row) for row in rows]
                changed += self._note_batch(connection, noted)
                parameters = {"ids": [each for each, _, _ in noted], "query_shas": [sha for _, sha, _ in noted]}
                connection.execute(load(mark), parameters)

    def _note_batch(self, connection: Connection, noted: Sequence[tuple[UUID, str | None, tuple[Any, ...]]]) -> int:
        seen = _sightings(noted)
        parameters = {
            "org_ids": [org for org, _, _ in seen],
            "specialist_ids": [specialist for _, specialist, _ in seen],
            "query_shas": [sha for _, _, sha in seen],
            "queries": [each.query for each in seen.values()],
            "previews": [None if each.query is None else self._preview(each.query) for each in seen.values()],
            "first_seen": [each.first for each in seen.values()],
            "last_seen": [each.last for each in seen.values()],
        }
        return connection.execute(load("note_queries"), parameters).rowcount


def midnight(instant: datetime) -> datetime:
    """The start of the instant's day in UTC."""
    return instant.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def _sha(row: tuple[Any, ...]) -> str | None:
    """The key of an event's query: of its words where they are at hand, whatever the writer said."""
    query, written = row[3], row[4]
    return query_sha(query) if query is not None else written


def _sightings(noted: Sequence[tuple[UUID, str | None, tuple[Any, ...]]]) -> dict[Key, _Sighting]:
    """What a batch saw, by query; an event whose words expired before its query was hashed has no key."""
    seen: dict[Key, _Sighting] = {}
    for _, sha, (_, org, specialist, query, _, at) in sorted(noted, key=lambda each: each[2][5]):
        if sha is None:
            continue
        sighting = seen.setdefault((org, specialist, sha), _Sighting(query, at, at))
        sighting.query = query if sighting.query is None else sighting.query
        sighting.last = max(sighting.last, at)
    return seen


def _copy(connection: Connection, evidence: Sequence[Evidence]) -> None:
    with connection.cursor() as cursor, cursor.copy(load("copy_evidence")) as copy:
        for row in map(_row, evidence):
            copy.write_row(row)


def _row(evidence: Evidence) -> tuple[Any, ...]:
    return (
        evidence.tenant.org_id,
        evidence.tenant.specialist_id,
        evidence.query_sha,
        evidence.doc_id,
        evidence.chunk_id,
        evidence.kind.value,
        evidence.weight,
        evidence.conversation_id,
        evidence.event_id,
        evidence.message_id,
        evidence.correction_id,
        evidence.search_event_id,
        evidence.document_from,
        evidence.observed_at,
        Jsonb(dict(evidence.facts)),
    )
