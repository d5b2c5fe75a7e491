"""Calls that go with a turn and must not be graded: router, rewriting, search, embedding, staff, the judge itself.

Belongs here: their requests and responses, several of which quote the synthesis markers. Does not: synthesis calls.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from kb_pipeline.demo.traffic.kinds import Kind
from kb_pipeline.demo.traffic.responses import MODEL, completion
from kb_pipeline.demo.traffic.template import INSTRUCTION, passages_text, synthesis_messages, user_text
from kb_pipeline.demo.traffic.turns import Turn

SMALL_MODEL = "qwen-4b"
EMBEDDER = "bge-m3"
JUDGE_TENANT = "ahu-observatory"
DIMENSIONS = 8

ROUTER = (
    "Tentukan niat pengguna: informasi, status, atau obrolan. Balas satu kata saja. Niat informasi akan diteruskan ke "
    "pencarian, dan temuannya tersaji sebagai HASIL ALAT pada langkah berikutnya."
)
REWRITE = (
    "Tulis ulang kalimat terakhir pengguna menjadi satu kueri pencarian yang berdiri sendiri. "
    "Contoh masukan: PERTANYAAN: Kalau firma? Contoh keluaran: biaya pendaftaran firma"
)
SUMMARY = "Ringkas catatan teknis di bawah ini menjadi satu kalimat untuk riwayat percakapan. Jangan menambah isi."
JUDGE = f"""\
You grade an answer against its context and reply with JSON only. The answer was written under this instruction:
<<<
{INSTRUCTION}
>>>"""
VERDICT = '{"faithfulness": 1.0, "answer_relevance": 0.9, "context_relevance": 0.8, "faithfulness_reason": "sesuai"}'


@dataclass(frozen=True, kw_only=True, slots=True)
class Companion:
    """Where a call comes from, and its bodies."""

    tenant: str
    surface: str
    operation: str
    engine: str
    model: str
    request: bytes
    response: bytes


def companion(kind: Kind, turn: Turn, *, call_id: str) -> Companion:
    """The call of this kind that goes with the turn; raises KeyError for a kind of turn."""
    return _MAKERS[kind](turn, call_id)


def _router(turn: Turn, call_id: str) -> Companion:
    return _public_chat(turn, call_id, ROUTER, turn.wording, "informasi")


def _rewrite(turn: Turn, call_id: str) -> Companion:
    return _public_chat(turn, call_id, REWRITE, f"PERTANYAAN: {turn.wording}", turn.question.query)


def _summary(turn: Turn, call_id: str) -> Companion:
    return _public_chat(turn, call_id, SUMMARY, f"{INSTRUCTION}\n\n{user_text(turn)}", turn.question.query)


def _staff(turn: Turn, call_id: str) -> Companion:
    request = {"model": MODEL, "messages": synthesis_messages(turn), "temperature": 0.2}
    answer = _reply(turn.answer.text or "Silakan lihat dokumen terlampir.", turn, call_id)
    return _companion(request, answer, tenant="workbench", surface="staff", engine="workbench", model=MODEL)


def _judge(turn: Turn, call_id: str) -> Companion:
    material = f"{user_text(turn)}\n\nJAWABAN: {turn.answer.text}"
    request = {"model": MODEL, "messages": _messages(JUDGE, material), "temperature": 0}
    return _companion(request, _reply(VERDICT, turn, call_id), tenant=JUDGE_TENANT, surface="system", model=MODEL)


def _search(turn: Turn, call_id: str) -> Companion:
    found = [{"doc_id": hit.doc_id, "score": hit.score, "text": hit.text} for hit in turn.hits]
    request = {"query": turn.question.query, "top_k": 5, "note": passages_text(turn.hits[:1])}
    answer = msgspec.json.encode({"id": call_id, "results": found})
    return _companion(request, answer, tenant=turn.tenant, operation="search", engine="search", model="fulltext")


def _embedding(turn: Turn, call_id: str) -> Companion:
    vector = [round(((turn.number * 31 + i * 17) % 199) / 99.5 - 1, 4) for i in range(DIMENSIONS)]
    request = {"model": EMBEDDER, "input": [turn.question.query]}
    data = [{"object": "embedding", "index": 0, "embedding": vector}]
    answer = msgspec.json.encode({"id": call_id, "object": "list", "model": EMBEDDER, "data": data})
    return _companion(request, answer, tenant=turn.tenant, operation="embedding", engine="search", model=EMBEDDER)


def _public_chat(turn: Turn, call_id: str, system: str, user: str, reply: str) -> Companion:
    request = {"model": SMALL_MODEL, "messages": _messages(system, user), "temperature": 0}
    answer = _reply(reply, turn, call_id)
    return _companion(request, answer, tenant=turn.tenant, engine="orchestrator", model=SMALL_MODEL)


def _companion(
    request: Mapping[str, Any],
    response: bytes,
    *,
    tenant: str,
    model: str,
    surface: str = "public",
    operation: str = "chat",
    engine: str = "",
) -> Companion:
    return Companion(
        tenant=tenant,
        surface=surface,
        operation=operation,
        engine=engine,
        model=model,
        request=msgspec.json.encode(request),
        response=response,
    )


def _messages(system: str, user: str) -> list[dict[str, str]]:
    return [{"role": "system", "content": system}, {"role": "user", "content": user}]


def _reply(text: str, turn: Turn, call_id: str) -> bytes:
    return completion({"role": "assistant", "content": text}, call_id=call_id, created=int(turn.ts.timestamp()))


_MAKERS: Mapping[Kind, Callable[[Turn, str], Companion]] = {
    Kind.ROUTER: _router,
    Kind.REWRITE: _rewrite,
    Kind.SUMMARY: _summary,
    Kind.SEARCH: _search,
    Kind.EMBEDDING: _embedding,
    Kind.STAFF: _staff,
    Kind.JUDGE: _judge,
}
