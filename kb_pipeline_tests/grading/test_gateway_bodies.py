"""Bodies of real servers, kept beside the repository, give their recorded status and answer."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
import zstandard

from kb_pipeline.grading.bodies import Request, read_request, read_response
from kb_pipeline.grading.extraction import extract
from kb_pipeline.records import ParseStatus, Triad
from kb_pipeline_tests.docs_pages import REPOSITORY
from kb_pipeline_tests.grading.prompts import TEMPLATE, as_json, completion, prompt, request

DATA = REPOSITORY.parent / "shared" / "data"
BODIES = DATA / "gateway_bodies"
RAG_TEMPLATE = replace(
    TEMPLATE, question_marker="QUESTION:", context_marker="CONTEXTS:", passage_pattern=re.compile(r"\[(?P<rank>\d+)\]")
)


def recorded() -> list[object]:
    manifest = BODIES / "manifest.jsonl"
    if not manifest.exists():
        return [pytest.param({}, marks=pytest.mark.skip("the recorded bodies are not at hand"), id="absent")]
    entries = map(json.loads, manifest.read_text(encoding="utf-8").splitlines())
    return [pytest.param(entry, id=Path(entry["file"]).name) for entry in entries]


def stored_row(name: str) -> bytes:
    file = DATA / "gateway_rows" / name
    if not file.exists():
        pytest.skip("the recorded rows are not at hand")
    return file.read_bytes()


def read_rag(stored: bytes) -> Triad:
    asked = read_request(stored)
    assert isinstance(asked, Request)
    return extract(asked, read_response(completion()), RAG_TEMPLATE)


@pytest.mark.parametrize("entry", recorded())
@pytest.mark.parametrize("compressed", [False, True], ids=["plain", "zstd"])
def test_a_recorded_body_gives_its_status_and_answer_for_a_good_request(
    entry: dict[str, object], *, compressed: bool
) -> None:
    body = (BODIES / str(entry["file"])).read_bytes()
    read = extract(request(prompt()), read_response(zstandard.compress(body) if compressed else body), TEMPLATE)
    expected = entry["expect"]
    assert isinstance(expected, dict)
    assert read.parse_status == expected["parse_status"]
    assert read.answer == (expected["answer_text"] or "")
    assert read.finish_reason == expected["finish_reason"]


def test_a_recorded_prompt_with_ten_passages_is_read_whole() -> None:
    read = read_rag(stored_row("request_id_rag_full.json"))
    assert read.parse_status is ParseStatus.OK
    assert [passage.rank for passage in read.passages] == list(range(1, 11))
    assert "OUTPUT" not in read.context
    assert "\n" not in read.question


def test_the_same_prompt_as_a_gateway_cut_it_is_truncated() -> None:
    assert read_rag(stored_row("request_id_rag_litellm_truncated.json")).parse_status is ParseStatus.TRUNCATED_PROMPT


def test_recorded_prompts_in_another_template_give_their_ten_passages() -> None:
    file = DATA / "nomiracl_id" / "id_prompts_sample.jsonl"
    if not file.exists():
        pytest.skip("the recorded prompts are not at hand")
    for line in file.read_text(encoding="utf-8").splitlines():
        read = read_rag(as_json({"messages": [{"role": "user", "content": json.loads(line)["prompt"]}]}))
        assert (read.parse_status, len(read.passages), bool(read.question)) == (ParseStatus.OK, 10, True)


@pytest.mark.parametrize("name", ["otel_genai_span_tool_calls.json", "openinference_span_io_only.json"])
def test_the_messages_of_a_tracers_span_are_found(name: str) -> None:
    asked = read_request(stored_row(name))
    assert isinstance(asked, Request)
    assert [message.role for message in asked.messages] == ["user", "assistant", "tool"]


def test_a_row_whose_bodies_were_not_kept_is_redacted() -> None:
    row = json.loads(stored_row("litellm_spendlogs_row.json"))
    assert read_request(row["messages"].encode()) is ParseStatus.REDACTED
    assert read_response(row["response"].encode()).parse_status is ParseStatus.REDACTED
