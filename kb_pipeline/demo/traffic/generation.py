"""Turns and their companions as audited calls with stored bodies and planted truth, in the order of time.

Belongs here: assembling calls, merging them by time, chunks. Does not: tables.
"""

import heapq
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import blake2b, sha256
from itertools import islice
from random import Random

import msgspec

from kb_pipeline.demo.knowledge import Knowledge
from kb_pipeline.demo.search import Retriever
from kb_pipeline.demo.traffic.companions import JUDGE_TENANT, companion
from kb_pipeline.demo.traffic.kinds import COMPANIONS, Kind, PlantedCall, PlantedTruth
from kb_pipeline.demo.traffic.plan import Effect, Traffic, dice
from kb_pipeline.demo.traffic.responses import MODEL, response
from kb_pipeline.demo.traffic.storage import CHAIN_START, BodyStore
from kb_pipeline.demo.traffic.template import synthesis_messages
from kb_pipeline.demo.traffic.turns import QuestionBank, Turn, turns
from kb_pipeline.records import AuditedCall, ParseStatus, Verdict

CHUNK = 500
# Companions complete at most this long before the synthesis call of their turn.
LEAD = timedelta(seconds=6)
OUTCOMES = {
    Kind.CUT: ParseStatus.OK_LENGTH,
    Kind.TOOL_CALLS: ParseStatus.TOOL_CALLS,
    Kind.FAILED: ParseStatus.ERROR,
    Kind.STREAM_CUT: ParseStatus.STREAM_INCOMPLETE,
}
UNANSWERED = frozenset({Kind.TOOL_CALLS, Kind.FAILED, Kind.STREAM_CUT})


@dataclass(frozen=True, kw_only=True, slots=True)
class _Draft:
    """A call before its bodies are stored."""

    call: AuditedCall
    request: bytes
    response: bytes
    truth: PlantedTruth
    body_arrives: datetime | None = None


def generate(
    traffic: Traffic, knowledge: Knowledge, retrieve: Retriever, *, chunk: int = CHUNK, previous: bytes = CHAIN_START
) -> Iterator[Sequence[PlantedCall]]:
    """The calls of the traffic in chunks of at most `chunk`, in the order of time; memory holds one chunk.

    The same for the same traffic, knowledge and retriever. `previous` is the hash that the body chain continues.
    Raises ValueError when the retriever leaves a kind of turn without a question.
    """
    drafts = _in_time_order(traffic, QuestionBank(knowledge, retrieve))
    store = BodyStore(previous)
    while calls := [_stored(draft, store) for draft in islice(drafts, chunk)]:
        yield calls


def _stored(draft: _Draft, store: BodyStore) -> PlantedCall:
    event_id = draft.call.event_id
    body = store.keep(event_id, draft.request, draft.response, dice(event_id))
    return PlantedCall(call=draft.call, body=body, truth=draft.truth, body_arrives=draft.body_arrives)


def _in_time_order(traffic: Traffic, bank: QuestionBank) -> Iterator[_Draft]:
    waiting: list[tuple[datetime, int, _Draft]] = []
    counter = 0
    for turn in turns(traffic, bank):
        while waiting and waiting[0][0] < turn.ts - LEAD:
            yield heapq.heappop(waiting)[2]
        for draft in _drafts(traffic, turn):
            counter += 1
            heapq.heappush(waiting, (draft.call.ts, counter, draft))
    while waiting:
        yield heapq.heappop(waiting)[2]


def _drafts(traffic: Traffic, turn: Turn) -> Iterator[_Draft]:
    random = dice(traffic.seed, "calls", turn.number)
    trace = trace_id(traffic, turn.number)
    for kind, mean in COMPANIONS.items():
        if random.random() < mean or (kind is Kind.REWRITE and turn.question.after):
            ts = max(traffic.window.start, turn.ts - random.random() * LEAD)
            yield _companion_draft(kind, turn, ts, _identity(kind, traffic, turn.number), trace)
    yield _synthesis_draft(turn, _identity("synthesis", traffic, turn.number), trace, random)


def trace_id(traffic: Traffic, number: int) -> str:
    """The trace of the turn of this number, which its calls share."""
    return _identity("trace", traffic, number)


def _companion_draft(kind: Kind, turn: Turn, ts: datetime, event_id: str, trace_id: str) -> _Draft:
    made = companion(kind, turn, call_id=f"c-{event_id}")
    call = AuditedCall(
        event_id=event_id,
        trace_id=None if made.tenant == JUDGE_TENANT else trace_id,
        ts=ts,
        surface=made.surface,
        tenant=made.tenant,
        operation=made.operation,
        engine=made.engine,
        model=made.model,
        http_status=200,
    )
    verdict = Verdict.SELF if kind is Kind.JUDGE else Verdict.OTHER
    truth = PlantedTruth(kind=kind, verdict=verdict)
    return _Draft(call=call, request=made.request, response=made.response, truth=truth)


def _synthesis_draft(turn: Turn, event_id: str, trace_id: str, random: Random) -> _Draft:
    status, body = response(turn, call_id=f"c-{event_id}", random=random)
    call = AuditedCall(
        event_id=event_id,
        trace_id=trace_id,
        ts=turn.ts,
        surface="public",
        tenant=turn.tenant,
        operation="chat",
        engine="orchestrator",
        model=MODEL,
        http_status=status,
    )
    delays = [incident.delay for incident in turn.incidents if incident.effect is Effect.LATE_BODY]
    return _Draft(
        call=call,
        request=synthesis_request(turn),
        response=body,
        truth=truth_of(turn),
        body_arrives=turn.ts + max(delays) if delays else None,
    )


def synthesis_request(turn: Turn) -> bytes:
    """The body of the synthesis request of a turn."""
    streaming = {"stream": True} if turn.look.streamed else {}
    return msgspec.json.encode({"model": MODEL, "messages": synthesis_messages(turn), "temperature": 0.2, **streaming})


def truth_of(turn: Turn) -> PlantedTruth:
    """What a flawless reader would find of the turn."""
    if turn.has(Effect.SIGNATURE_CHANGED):
        return PlantedTruth(kind=turn.kind, verdict=Verdict.OTHER, streamed=turn.look.streamed)
    answered = turn.kind not in UNANSWERED
    template_kept = not (turn.has(Effect.CONTEXT_RENAMED) or turn.has(Effect.QUESTION_RENAMED))
    return PlantedTruth(
        kind=turn.kind,
        verdict=Verdict.SYNTHESIS,
        parse_status=_expected_status(turn),
        faithful=turn.answer.faithful if answered else None,
        relevant=turn.answer.relevant if answered else None,
        refused=turn.answer.refused if answered else None,
        had_context=bool(turn.hits) if template_kept else None,
        passages=len(turn.hits) if template_kept else None,
        question_sha=sha256(unicodedata.normalize("NFC", turn.wording).encode()).hexdigest() if template_kept else None,
        streamed=turn.look.streamed,
    )


def _expected_status(turn: Turn) -> ParseStatus:
    """What is wrong with the response outranks what is wrong with the request."""
    if turn.kind in UNANSWERED:
        return OUTCOMES[turn.kind]
    if turn.has(Effect.QUESTION_RENAMED):
        return ParseStatus.NO_QUESTION
    if turn.has(Effect.CONTEXT_RENAMED):
        return ParseStatus.CONTEXT_FALLBACK
    return OUTCOMES.get(turn.kind, ParseStatus.OK)


def _identity(role: str, traffic: Traffic, number: int) -> str:
    planted = f"{role}/{traffic.seed}/{traffic.end.isoformat()}/{traffic.hours}/{traffic.turns}/{number}"
    return f"{'tr' if role == 'trace' else 'ev'}-{blake2b(planted.encode(), digest_size=12).hexdigest()}"
