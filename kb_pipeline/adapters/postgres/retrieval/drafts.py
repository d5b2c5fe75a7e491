"""Reading reviewed drafts: the operator's messages, queue and corrections joined with our retrieval and search events.

Belongs here: streaming of drafts with all that an outcome, its evidence or a diagnosis needs. Does not: what they mean,
what is kept of them (outcomes.py).
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any, LiteralString, cast

from psycopg import sql

from kb_pipeline.adapters.postgres.connection import Connection, Database
from kb_pipeline.adapters.postgres.publication import lock_hour
from kb_pipeline.adapters.postgres.retrieval.queries import load
from kb_pipeline.adapters.postgres.retrieval.views import mapped_views
from kb_pipeline.records import RetrievalEvent, ReviewedDraft, Tenant
from kb_pipeline.retrieval.events.hits import candidates_of, hits_of
from kb_pipeline.retrieval.outcomes import RULE_VERSION
from kb_pipeline.windows import Window, hour_of

STAGE = "outcomes"
# A chunk ends where its texts grow large: one draft may be as long as any message.
CHUNK_CHARS = 8_000_000
MESSAGES, QUEUE, CORRECTIONS = "message", "expert_queue_item", "correction"
VIEWS = (MESSAGES, QUEUE, CORRECTIONS)

Row = tuple[Any, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class LaggingHour:
    """An hour with drafts whose outcome is out of date; `progress` changes whenever the source's words on them do."""

    hour: Window
    drafts: int
    progress: str


class PostgresDrafts:
    """Drafts as schema kb_source shows them now, whichever of its views the operator mapped.

    Without the messages there are no drafts; without the queue only corrections decide; without the corrections only
    acceptances and rejections are known, and an edited draft stays undecided.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def absent_views(self) -> Sequence[str]:
        """The views that outcomes are made of and the operator has not mapped."""
        mapped = mapped_views(self._database)
        return [view for view in VIEWS if view not in mapped]

    @contextmanager
    def changed_in(self, window: Window, *, chunk: int) -> Iterator[Iterator[Sequence[ReviewedDraft]]]:
        """Chunks of at most `chunk` drafts of the window whose outcome is out of date.

        Until the end of the block whoever reads the same hour waits, and then finds what was saved meanwhile.
        """
        with self._reading("select_drafts", window, lagging=True, takes_turns=True) as rows:
            yield _chunked(map(_draft, rows), chunk)

    @contextmanager
    def decided_in(self, window: Window, *, chunk: int) -> Iterator[Iterator[Sequence[ReviewedDraft]]]:
        """Chunks of at most `chunk` drafts decided in the window that have a retrieval event."""
        with self._reading("select_drafts", window, decided=True) as rows:
            yield _chunked(map(_draft, rows), chunk)

    @contextmanager
    def unharvested(self, *, rules: str, chunk: int) -> Iterator[Iterator[Sequence[ReviewedDraft]]]:
        """Chunks of at most `chunk` drafts whose evidence is missing, or of another state or other rules.

        Their `source_state` is the one that their outcome was derived from: evidence follows outcomes, and a draft that
        has changed since is harvested again once its outcome is.
        """
        with self._reading("select_drafts", None, rules=rules) as rows:
            yield _chunked((_draft(row, state=row[16]) for row in rows), chunk)

    def lagging(self, window: Window) -> list[LaggingHour]:
        """The hours of the window with drafts whose outcome is missing or out of date, oldest first."""
        with self._reading("lagging_hours", window) as rows:
            return [
                LaggingHour(hour=hour_of(hour), drafts=drafts, progress=progress) for hour, drafts, progress in rows
            ]

    @contextmanager
    def _reading(
        self,
        statement: LiteralString,
        window: Window | None,
        *,
        rules: str = RULE_VERSION,
        lagging: bool = False,
        decided: bool = False,
        takes_turns: bool = False,
    ) -> Iterator[Iterator[Row]]:
        views = mapped_views(self._database)
        if MESSAGES not in views:
            yield iter(())
            return
        parameters = {
            "window_start": window.start if window else None,
            "window_end": window.end if window else None,
            "rules": rules,
            "lagging": lagging,
            "decided": decided,
        }
        query = _statement(statement, "drafts_of_window" if window else "drafts_to_harvest", views)
        with self._database.connect() as connection, connection.cursor() as cursor:
            if window and takes_turns:
                _lock(connection, window)
            rows = cast(Generator[Row, None, None], cursor.stream(query, parameters, binary=True))
            with closing(rows):
                yield rows


def _statement(statement: LiteralString, candidates: LiteralString, views: frozenset[str]) -> sql.Composed:
    """The named SQL put together for the views that there are."""
    beginning = sql.SQL(load("reviewed_drafts")).format(
        queue=sql.SQL(load("mapped_queue" if QUEUE in views else "absent_queue")),
        corrections=sql.SQL(load("mapped_corrections" if CORRECTIONS in views else "absent_corrections")),
        candidates=sql.SQL(load(candidates)),
    )
    return beginning + sql.SQL(load(statement))


def _lock(connection: Connection, window: Window) -> None:
    for hour in window.hours():
        lock_hour(connection, hour, STAGE)


def _draft(row: Row, *, state: str | None = None) -> ReviewedDraft:
    message_id, org_id, specialist_id, conversation_id, trace_id, drafted_at, draft, status, reason = row[:9]
    opened_at, decided_at, correction_id, final, cited, later_queries, source_state = row[9:16]
    tenant = Tenant(org_id=org_id, specialist_id=specialist_id)
    return ReviewedDraft(
        message_id=message_id,
        tenant=tenant,
        conversation_id=conversation_id,
        trace_id=trace_id,
        drafted_at=drafted_at,
        draft=draft,
        status=status,
        rejection_reason=reason,
        opened_at=opened_at,
        decided_at=decided_at,
        correction_id=correction_id,
        final=final,
        event=_event(tenant, message_id, row[17:]),
        cited=tuple(cited),
        later_queries=tuple(later_queries),
        source_state=state or source_state,
    )


def _event(tenant: Tenant, message_id: Any, row: Row) -> RetrievalEvent | None:
    event_id, conversation_id, engine, query, top_k, result_count, latency_ms, retrieved, occurred_at = row[:9]
    query_rewritten, candidate_pool, kb_version, degraded, trace_id = row[9:]
    if event_id is None:
        return None
    return RetrievalEvent(
        id=event_id,
        tenant=tenant,
        conversation_id=conversation_id,
        message_id=message_id,
        engine=engine,
        query=query,
        top_k=top_k,
        result_count=result_count,
        latency_ms=latency_ms,
        # Other programs may write events too: read them as if they had come from the queue.
        retrieved=hits_of(retrieved, set())[0],
        occurred_at=occurred_at,
        query_rewritten=query_rewritten,
        candidate_pool=candidates_of(candidate_pool, set())[0],
        kb_version=kb_version,
        degraded=degraded,
        trace_id=trace_id,
    )


def _chunked(drafts: Iterator[ReviewedDraft], count: int) -> Iterator[list[ReviewedDraft]]:
    chunk: list[ReviewedDraft] = []
    chars = 0
    for draft in drafts:
        chunk.append(draft)
        chars += len(draft.draft) + len(draft.final or "")
        if len(chunk) >= count or chars >= CHUNK_CHARS:
            yield chunk
            chunk, chars = [], 0
    if chunk:
        yield chunk
