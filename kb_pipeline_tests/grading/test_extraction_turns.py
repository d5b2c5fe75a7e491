"""The turn is the last user message and what surrounds it; the past is history, the template's example nothing."""

import pytest

from kb_pipeline.grading.extraction import is_synthesis
from kb_pipeline.records import Message, ParseStatus
from kb_pipeline_tests.grading.prompts import (
    ANSWER,
    INSTRUCTION,
    PASSAGES,
    QUESTION,
    TEMPLATE,
    Turn,
    completion,
    prompt,
    request,
    triad,
)

ASKED = f"PERTANYAAN: {QUESTION}"
CONTEXT = f"HASIL ALAT:\n{PASSAGES}"
OLD = prompt("Apa itu CV?", "[RAG-1] (skor 0.9) CV adalah persekutuan.")


@pytest.mark.parametrize(
    ("instruction", "recognised"),
    [
        (INSTRUCTION, True),
        ("Susun\n  jawaban dari HASIL\tALAT.", True),
        ("Susun jawaban.", False),
        ("susun jawaban dari hasil alat.", False),
        ("", False),
    ],
)
def test_a_synthesis_call_has_all_markers_in_its_instruction(instruction: str, *, recognised: bool) -> None:
    assert is_synthesis(request(prompt(), instruction=instruction), TEMPLATE) is recognised


def test_the_markers_may_be_spread_over_system_and_developer_messages() -> None:
    spread = request(("developer", [{"type": "text", "text": "HASIL ALAT"}]), prompt(), instruction="Susun jawaban.")
    assert is_synthesis(spread, TEMPLATE)


def test_markers_in_a_user_message_make_no_synthesis_call() -> None:
    assert not is_synthesis(request(INSTRUCTION, instruction="Ringkas teks ini."), TEMPLATE)


@pytest.mark.parametrize(
    "turns",
    [
        [ASKED, CONTEXT],
        [CONTEXT, ASKED],
        [
            (
                "user",
                [
                    {"type": "text", "text": ASKED},
                    {"type": "image_url", "image_url": {}},
                    {"type": "text", "text": CONTEXT},
                ],
            )
        ],
        [ASKED, ("assistant", None), ("tool", CONTEXT)],
        [ASKED, ("assistant", "Sebentar, saya cari."), ("tool", PASSAGES)],
        [ASKED, ("tool", PASSAGES.split("\n")[0]), ("tool", PASSAGES.split("\n")[1])],
        [("tool", CONTEXT), ASKED],
        [("system", CONTEXT), ASKED],
        [ASKED, ("developer", CONTEXT)],
        [("user", OLD), ("assistant", "CV adalah persekutuan."), ("user", ASKED), ("user", CONTEXT)],
    ],
    ids=range(10),
)
def test_the_sections_may_stand_in_different_messages(turns: list[Turn]) -> None:
    read = triad(*turns)
    assert (read.parse_status, read.question, len(read.passages)) == (ParseStatus.OK, QUESTION, 2)
    assert "persekutuan" not in read.context


@pytest.mark.parametrize(
    "turns",
    [
        [ASKED],
        [OLD, ("assistant", "CV adalah persekutuan."), ASKED],
        [OLD, ASKED],
        [
            ("user", "PERTANYAAN: Apa itu CV?"),
            ("assistant", ""),
            ("tool", CONTEXT),
            ("assistant", "Persekutuan."),
            ASKED,
        ],
        [("user", "PERTANYAAN: Apa itu CV?"), ("assistant", ""), ("tool", CONTEXT), ASKED],
        [("system", f"Contoh:\n{prompt('Apa contoh?')}"), ASKED],
        [("system", f"Susun jawaban seperti ini.\n{CONTEXT}"), ASKED],
    ],
    ids=range(7),
)
def test_neither_an_old_context_nor_an_example_is_taken_for_this_turns(turns: list[Turn]) -> None:
    read = triad(*turns)
    assert (read.parse_status, read.question, read.context, read.passages) == (ParseStatus.OK, QUESTION, "", ())


def test_the_first_system_message_is_the_instruction_whatever_it_holds() -> None:
    read = triad(("system", "Susun jawaban dari HASIL ALAT."), ASKED, instruction=f"Bentuknya:\n{CONTEXT}")
    assert (read.parse_status, read.context) == (ParseStatus.OK, "")


@pytest.mark.parametrize(
    "turns",
    [
        [prompt(), ("assistant", ANSWER), ""],
        [prompt(), "  \n"],
        [prompt(), ("assistant", ANSWER), ("user", None)],
        [prompt(), ("assistant", ANSWER), ("user", [{"type": "image_url", "image_url": {}}])],
        [prompt(), ("assistant", ANSWER), "Terus?"],
        [("tool", prompt())],
        [("assistant", prompt())],
        [],
    ],
    ids=range(8),
)
def test_no_other_message_stands_in_for_a_last_user_message_without_a_question(turns: list[Turn]) -> None:
    read = triad(*turns)
    assert (read.parse_status, read.question) == (ParseStatus.NO_QUESTION, "")


def test_a_tools_result_without_markers_is_the_fallback_context_of_its_turn() -> None:
    read = triad(ASKED, ("assistant", None), ("tool", '{"status": "diterima"}'))
    assert (read.parse_status, read.context) == (ParseStatus.CONTEXT_FALLBACK, '{"status": "diterima"}')


def test_earlier_messages_become_history_without_their_context_and_their_thinking() -> None:
    read = triad(
        ("user", OLD),
        ("assistant", "<think>Hm.</think>CV adalah persekutuan."),
        ("user", "Oke"),
        ("assistant", None),
        prompt(),
    )
    assert read.history == (
        Message(role="user", text="Apa itu CV?"),
        Message(role="assistant", text="CV adalah persekutuan."),
        Message(role="user", text="Oke"),
    )
    assert (read.question, read.parse_status) == (QUESTION, ParseStatus.OK)


@pytest.mark.parametrize(
    ("response", "status"),
    [
        (completion(finish_reason="length"), ParseStatus.OK_LENGTH),
        (completion(None, "tool_calls", tool_calls=[{"id": "c"}]), ParseStatus.TOOL_CALLS),
        (completion(""), ParseStatus.EMPTY_ANSWER),
        (b'{"error": "x"}', ParseStatus.ERROR),
        (b'data: {"choices":[{"delta":{"content":"Y"}}]}\n\n', ParseStatus.STREAM_INCOMPLETE),
    ],
)
def test_what_is_wrong_with_the_response_outranks_what_is_wrong_with_the_request(
    response: bytes, status: ParseStatus
) -> None:
    assert triad(prompt(), response=response).parse_status is status
    wrong = triad("halo", response=response).parse_status
    assert wrong is (ParseStatus.NO_QUESTION if status is ParseStatus.OK_LENGTH else status)


def test_a_failed_response_leaves_question_and_context_readable() -> None:
    read = triad(prompt(), response=b'{"error": "x"}')
    assert (read.question, len(read.passages), read.answer) == (QUESTION, 2, "")


@pytest.mark.parametrize(
    "context",
    [
        "[RAG-1] (skor 0.79) Satu... (litellm_truncated skipped 5854 chars. Truncation is a rule (see docs).) ...dua.",
        "[RAG-1] (skor 0.79) Satu... (litellm_truncated skipped 5854 chars) ...kor 0.2) dua\n[RAG-9] (skor 0.1) tiga.",
        "Ditemukan 9 do... (litellm_truncated skipped 912 chars) ... tiga.\n[RAG-4] (skor 0.1) Empat.",
        "[RAG-1] (skor 0.79) Satu [... 1234 characters omitted ...] dua.",
        "[RAG-1] (skor 0.79) Satu <truncated 20480 bytes> dua.",
        "[RAG-1] (skor 0.79) Satu [5,432 chars truncated] dua.",
        "[RAG-1] (skor 0.79) Satu ...[truncated]... dua.",
        "[RAG-1] (skor 0.79) Satu ... (dipotong 900 karakter) ... dua.",
        "[RAG-1] (skor 0.79) Satu ...[TRUNCATED]",
        "[RAG-1] (skor 0.79) Satu [truncated]",
        "[RAG-1] (skor 0.79) Satu… [content truncated]",
        "[RAG-1] (skor 0.79) Satu... 5432 more characters",
        "[RAG-1] (skor 0.79) Satu...(truncated, 12345 bytes)",
        "[RAG-1] (skor 0.79) Satu …[+1234 chars]\n[RAG-2] (skor 0.1) Dua.",
        "[RAG-1] (skor 0.79) Satu ...[1234 chars] dua.",
        "[RAG-1] (skor 0.79) Satu ... [+5000 more]",
        "[RAG-1] (skor 0.79) Satu [Langfuse: truncated due to size exceeding limit]",
        "[RAG-1] (skor 0.79) Satu --- truncated ---",
    ],
)
def test_the_mark_of_a_gateways_cut_makes_the_prompt_truncated(context: str) -> None:
    assert triad(prompt(context=context)).parse_status is ParseStatus.TRUNCATED_PROMPT


def test_a_cut_that_took_the_context_marker_along_is_noticed() -> None:
    start = "Apa syaratnya? " * 60
    text = f"PERTANYAAN: {start}... (litellm_truncated skipped 2000 chars) ... akta.\n[RAG-7] (skor 0.1) tujuh"
    assert triad(text).parse_status is ParseStatus.TRUNCATED_PROMPT


@pytest.mark.parametrize(
    ("question", "context"),
    [
        ("Apa arti (litellm_truncated skipped 35 chars) pada jawaban tadi?", PASSAGES),
        ("Kenapa jawaban berakhir dengan [truncated]?", PASSAGES),
        (QUESTION, "[RAG-1] (skor 0.5) Log yang panjang diberi tanda truncated oleh server (lihat bab 3)."),
        (QUESTION, "[RAG-1] (skor 0.5) Gaji dipotong pajak (5 persen)..."),
        (QUESTION, "[RAG-1] (skor 0.5) Satu... [dipotong]\n[RAG-2] (skor 0.4) Dua... [dipotong]"),
        (QUESTION, "[RAG-1] (skor 0.5) Pasal 5 (dihapus)."),
        (QUESTION, "[RAG-1] (skor 0.5) Selengkapnya..."),
        (QUESTION, "[RAG-1] (skor 0.5) Ukuran 5 MB (5.123 bytes)... lihat [+62 811] dan [100 chars]."),
        (QUESTION, "[RAG-1] (skor 0.5) Nama maksimal 100 karakter (sisanya dipotong)."),
    ],
)
def test_whoever_writes_about_cuts_does_not_make_one(question: str, context: str) -> None:
    assert triad(prompt(question, context)).parse_status is ParseStatus.OK
