"""Simulated drafts into the example upstream tables of the chat application, and its knowledge base beside them.

Belongs here: rows of upstream.messages, expert_queue_items, corrections, audit_log, kb_chunks. Does not: our tables.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.demo.queries import load
from kb_pipeline.demo.retrieval.cases import Case
from kb_pipeline.demo.retrieval.conversations import Simulation
from kb_pipeline.demo.retrieval.engines import chunk_of
from kb_pipeline.demo.retrieval.world import Desk
from kb_pipeline.demo.search import Chunk, insert_chunks
from kb_pipeline.retrieval.queries import query_sha


def plant(database: Database, simulation: Simulation, desks: Sequence[Desk]) -> None:
    """Write everything that the application would have written; safe to repeat but for the audit log.

    The tables of sql/source_example.sql must exist.
    """
    cases = simulation.cases
    with database.connect() as connection:
        connection.execute(load("insert_messages"), _messages(cases))
        connection.execute(load("insert_queue_items"), _queue_items(cases))
        connection.execute(load("insert_corrections"), _corrections(cases))
        connection.execute(load("insert_loaded_contexts"), _loaded_contexts(cases))
    for desk in desks:
        insert_chunks(database, desk.tenant, _chunks(desk, simulation))


def _chunks(desk: Desk, simulation: Simulation) -> list[Chunk]:
    """The desk's knowledge base: without what is withheld, with the late document from its publication on."""
    shelves = simulation.shelves[desk.name]
    chunks = [chunk_of(each) for each in desk.documents.values() if each.doc_id not in desk.faults.withheld]
    if desk.faults.late and shelves.published_at and shelves.published_at < simulation.plan.end:
        late = chunk_of(desk.documents[desk.faults.late])
        source = simulation.sources[desk.name]
        chunks.append(replace(late, valid_from=shelves.published_at, source_correction_id=source))
    return chunks


def _messages(cases: Sequence[Case]) -> dict[str, list[Any]]:
    """Per case what the client wrote, and the draft."""
    said = [
        row
        for case in cases
        for row in (
            (case.asked.message_id, case, "client", case.asked.wording.text, None, case.asked.at),
            (case.message_id, case, "draft", case.draft.text, case.event.trace_id, case.drafted_at),
        )
    ]
    return {
        "ids": [row[0] for row in said],
        "conversation_ids": [row[1].conversation_id for row in said],
        "org_ids": [row[1].desk.tenant.org_id for row in said],
        "specialist_ids": [row[1].desk.tenant.specialist_id for row in said],
        "roles": [row[2] for row in said],
        "contents": [row[3] for row in said],
        "trace_ids": [row[4] for row in said],
        "created_at": [row[5] for row in said],
    }


def _queue_items(cases: Sequence[Case]) -> dict[str, list[Any]]:
    return {
        "message_ids": [case.message_id for case in cases],
        "statuses": [case.status for case in cases],
        "reasons": [case.review.reason if case.review else None for case in cases],
        "created_at": [case.drafted_at for case in cases],
        "opened_at": [case.opened_at for case in cases],
        "decided_at": [case.decided_at for case in cases],
    }


def _corrections(cases: Sequence[Case]) -> dict[str, list[Any]]:
    corrected = [(case, case.review.final) for case in cases if case.correction_id and case.review]
    return {
        "ids": [case.correction_id for case, _ in corrected],
        "message_ids": [case.message_id for case, _ in corrected],
        "expert_ids": [case.expert_id for case, _ in corrected],
        "original_texts": [case.draft.text for case, _ in corrected],
        "corrected_texts": [final for _, final in corrected],
        "created_at": [case.decided_at for case, _ in corrected],
    }


def _loaded_contexts(cases: Sequence[Case]) -> dict[str, list[Any]]:
    events = [case.event for case in cases]
    return {
        "message_ids": [event.message_id for event in events],
        "conversation_ids": [event.conversation_id for event in events],
        "trace_ids": [event.trace_id for event in events],
        "doc_ids": [msgspec.json.encode([hit.doc_id for hit in event.retrieved]).decode() for event in events],
        "top_k": [event.top_k for event in events],
        "query_hashes": [query_sha(event.query) for event in events],
        "created_at": [event.occurred_at for event in events],
    }
