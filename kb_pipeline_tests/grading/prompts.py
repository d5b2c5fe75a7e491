"""Stored pairs in the template of the public chatbot, as bytes."""

import json
import re
from collections.abc import Iterable, Mapping

from kb_pipeline.grading.bodies import Request, Response, read_request, read_response
from kb_pipeline.grading.extraction import SurfaceTemplate, extract
from kb_pipeline.records import ParseStatus, Triad

REFUSAL_PHRASES = ("Maaf, informasi tersebut tidak tersedia", "I'm sorry, but I", "...")
TEMPLATE = SurfaceTemplate(
    surface="public",
    synthesis_markers=("Susun jawaban", "HASIL ALAT"),
    question_marker="PERTANYAAN:",
    context_marker="HASIL ALAT:",
    passage_pattern=re.compile(r"\[RAG-(?P<rank>\d+)\]\s*\(skor\s*(?P<score>[0-9.,]+)\)"),
    refusal_phrases=REFUSAL_PHRASES,
)
INSTRUCTION = (
    "Susun jawaban hanya dari HASIL ALAT; setiap klaim harus bersumber darinya.\n"
    "Contoh:\nPERTANYAAN: Apa itu contoh?\nHASIL ALAT:\n[RAG-1] (skor 0.99) Ini hanya contoh.\nJAWABAN: Sebuah contoh."
)
QUESTION = "Apa syarat mendirikan yayasan?"
PASSAGES = "[RAG-1] (skor 0.79) Yayasan didirikan dengan akta notaris.\n[RAG-2] (skor 0,61) Kekayaan awal dipisahkan."
ANSWER = "Yayasan didirikan dengan akta notaris."

Turn = str | tuple[str, object]


def prompt(question: str = QUESTION, context: str = PASSAGES) -> str:
    return f"PERTANYAAN: {question}\n\nHASIL ALAT:\n{context}"


def request_body(*turns: Turn, instruction: str = INSTRUCTION) -> bytes:
    """A chat request: the instruction, then user messages (text) or (role, content) pairs."""
    messages = [("system", instruction), *(("user", turn) if isinstance(turn, str) else turn for turn in turns)]
    return as_json({"model": "m", "messages": [{"role": role, "content": content} for role, content in messages]})


def request(*turns: Turn, instruction: str = INSTRUCTION) -> Request:
    read = read_request(request_body(*turns, instruction=instruction))
    assert isinstance(read, Request)
    return read


def choice(content: object = ANSWER, finish_reason: object = "stop", **message: object) -> dict[str, object]:
    spoken = {"role": "assistant", "content": content, **message}
    return {"index": 0, "message": spoken, "finish_reason": finish_reason}


def completion(content: object = ANSWER, finish_reason: object = "stop", **message: object) -> bytes:
    return as_json({"object": "chat.completion", "choices": [choice(content, finish_reason, **message)]})


def chunk(delta: Mapping[str, object], finish_reason: str | None = None, index: int = 0) -> dict[str, object]:
    one = {"index": index, "delta": delta, "finish_reason": finish_reason}
    return {"object": "chat.completion.chunk", "choices": [one]}


CHUNKS = [
    chunk({"role": "assistant", "content": ""}),
    chunk({"content": "Yayasan didirikan "}),
    chunk({"content": "dengan akta notaris."}),
    chunk({}, "stop"),
]


def event_stream(chunks: Iterable[object] = CHUNKS, *, newline: str = "\n", done: bool = True) -> bytes:
    events = [f"data: {json.dumps(each, ensure_ascii=False)}" for each in chunks] + ["data: [DONE]"] * done
    return "".join(event + newline * 2 for event in events).encode()


def as_json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def read(value: object) -> Response:
    """The response in bytes as they are, or in the JSON of anything else."""
    return read_response(value if isinstance(value, bytes) else as_json(value))


def triad(
    *turns: Turn, response: bytes | None = None, template: SurfaceTemplate = TEMPLATE, instruction: str = INSTRUCTION
) -> Triad:
    answered = read_response(response or completion())
    return extract(request(*turns, instruction=instruction), answered, template)


def status_of(*turns: Turn) -> ParseStatus:
    return triad(*turns).parse_status
