"""Turns that exceed the judge's window, in parts: nothing is lost, everything fits, scores stay between the parts'."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb_pipeline.grading.judging import build_messages, idempotency_key, nonce_of
from kb_pipeline.grading.judging.combining import added, combined
from kb_pipeline.grading.judging.cost import FIXED_CHARS, characters_within, estimate_tokens
from kb_pipeline.grading.judging.parts import (
    GAP,
    MOST_ANSWER_CHARS,
    MOST_CONTEXT_CHARS,
    MOST_PARTS,
    Parts,
    TooLong,
    Whole,
    plan_parts,
)
from kb_pipeline.grading.judging.pieces import pieces_of
from kb_pipeline.grading.judging.planted import planted_in
from kb_pipeline.grading.judging.prompt import history_lines, reply_tokens
from kb_pipeline.grading.metrics import measure
from kb_pipeline.records import Graded, Message, Metrics, Passage, Score, Triad, Ungraded, Usage
from kb_pipeline.support import sentences
from kb_pipeline_tests.turns import METRICS, TRIAD, VERSION, triad

WORDS = st.sampled_from(
    "biaya akta notaris yayasan modal tiga hari kerja Rp250.000 tidak dapat the fee is paid dan di Menteri —".split()
)
SENTENCES = st.lists(WORDS, min_size=1, max_size=40).map(lambda words: " ".join(words) + ". ")
TEXTS = st.lists(st.one_of(SENTENCES, st.text(max_size=80)), max_size=40).map("".join)


def long_turn(bodies: list[str], answer: str, **changes: object) -> Triad:
    """A turn with one passage for each body."""
    passages = [Passage(rank=rank, score=0.5, text=body.strip()) for rank, body in enumerate(bodies, start=1)]
    context = "\n".join(f"[RAG-{each.rank}] (skor 0.5) {each.text}" for each in passages)
    return triad(context=context, passages=tuple(passages), answer=answer, **changes)


def measured(turn: Triad, **changes: object) -> Metrics:
    return replace(measure(turn, refusal_phrases=()), **changes)  # type: ignore[arg-type]


def size(turn: Triad) -> int:
    """What the turn takes of the room."""
    history = sum(len(line) + 1 for line in history_lines(turn.history))
    return len(turn.question) + history + len(turn.context) + len(turn.answer)


def parts_of(turn: Triad, room: int) -> Parts:
    plan = plan_parts(turn, measured(turn), room)
    assert isinstance(plan, Parts), plan
    return plan


TURNS = st.builds(
    lambda bodies, answer, history: long_turn(bodies, answer, history=history),
    st.lists(TEXTS, max_size=12),
    TEXTS,
    st.lists(st.builds(Message, role=st.just("user"), text=TEXTS), max_size=9).map(tuple),
)
ROOMS = st.integers(min_value=1_200, max_value=8_000)


@settings(max_examples=60, deadline=None)
@given(TURNS, ROOMS)
def test_no_part_loses_a_character_of_the_answer_and_every_part_fits(turn: Triad, room: int) -> None:
    plan = plan_parts(turn, measured(turn), room)
    if isinstance(plan, Whole):
        assert size(plan.triad) <= room
        assert replace(plan.triad, history=()) == replace(turn, history=())
    elif isinstance(plan, Parts):
        assert "".join(part.triad.answer for part in plan.parts) == turn.answer
        assert 1 <= plan.calls <= MOST_PARTS
        assert all(size(part.triad) <= room for part in plan.parts)
        assert plan == plan_parts(turn, measured(turn), room)
        assert 0 <= plan.context_shown <= 1
    else:
        assert plan.reason


@settings(max_examples=50, deadline=None)
@given(TURNS, st.integers(min_value=1, max_value=4_000))
def test_the_pieces_of_a_context_are_the_context(turn: Triad, longest: int) -> None:
    pieces = pieces_of(turn, longest=longest)
    assert "".join(piece.text for piece in pieces) == turn.context
    assert all(turn.context[piece.start : piece.end] == piece.text for piece in pieces)
    assert all(len(piece.text) <= longest for piece in pieces)


def test_every_sentence_of_a_long_answer_stands_in_some_part() -> None:
    said = [f"Syarat ke-{number} adalah dokumen {'penting ' * 12}bernomor {number * 37}." for number in range(60)]
    plan = parts_of(long_turn(["Syarat dan dokumen. " * 40] * 30, " ".join(said)), 5_000)
    assert plan.calls > 1
    shown = [sentence for part in plan.parts for sentence in sentences(part.triad.answer)]
    assert shown == said


def filler(number: int) -> str:
    return f"Pasal {number} mengatur tata cara rapat, daftar hadir, notulen dan pengumuman. " * 18


FACT = "Biaya pengesahan di Kabupaten Wonogiri adalah Rp275.000 per permohonan."


@pytest.mark.parametrize("at", [0, 100, 199])
@pytest.mark.parametrize("room", [2_000, 7_000, 90_000])
def test_a_supporting_sentence_is_shown_wherever_it_stands_among_200_passages(at: int, room: int) -> None:
    bodies = [filler(number) for number in range(200)]
    bodies[at] += FACT
    turn = long_turn(bodies, "Rapat dicatat dalam notulen. " + FACT)
    assert len(turn.context) > 200_000
    plan = parts_of(turn, room)
    (part,) = [part for part in plan.parts if FACT in part.triad.answer]
    assert FACT in part.triad.context
    assert plan.context_shown < 1


def test_where_many_sentences_need_many_passages_each_still_has_its_likest() -> None:
    facts = [f"Syarat untuk bidang{number} adalah izin{number} dari kantor{number}." for number in range(40)]
    bodies = [f"{fact} " + f"Uraian bidang{n} izin{n} kantor{n} tata cara. " * 12 for n, fact in enumerate(facts)]
    others = [f"Catatan bidang{n} dan izin{n}. " + "Uraian lain lagi. " * 40 for n in range(40)] * 2
    turn = long_turn(bodies + others, " ".join(facts))
    plan = parts_of(turn, 9_000)
    assert plan.calls <= MOST_PARTS
    for part in plan.parts:
        assert all(fact in part.triad.context for fact in facts if fact in part.triad.answer)


@pytest.mark.parametrize("room", range(1_800, 2_000, 7))
def test_a_part_filled_to_the_brim_fits(room: int) -> None:
    bodies = [text for n in range(400) for text in (f"syarat{n} kata{n % 40} uraian", "lain")]
    answer = "".join(f"Kata{number} dan syarat{number}. " for number in range(24))
    assert all(size(part.triad) <= room for part in parts_of(long_turn(bodies, answer), room).parts)


def test_a_turn_that_fits_is_asked_about_as_it_is() -> None:
    room = size(TRIAD)
    assert plan_parts(TRIAD, METRICS, room) == Whole(triad=TRIAD, history_left_out=0)
    assert not isinstance(plan_parts(TRIAD, METRICS, room - 1), Whole)


def test_passages_are_shown_in_their_order_and_say_where_text_is_left_out() -> None:
    bodies = [filler(number) for number in range(40)]
    bodies[7] = bodies[30] = FACT
    (part,) = parts_of(long_turn(bodies, FACT, question="Wonogiri?"), 7_000).parts
    stretches = [stretch.strip() for stretch in part.triad.context.split(GAP)]
    assert stretches == ["", f"[RAG-8] (skor 0.5) {FACT}", f"[RAG-31] (skor 0.5) {FACT}", ""]
    assert [passage.rank for passage in part.triad.passages] == [8, 31]
    assert part.metrics.num_passages == 2


def test_a_context_without_passages_and_a_passage_longer_than_the_window_are_cut_between_sentences() -> None:
    text = " ".join(filler(number) for number in range(40)) + FACT
    for turn in (triad(context=text, answer=FACT), long_turn([text], FACT)):
        (part,) = parts_of(turn, 5_000).parts
        assert FACT in part.triad.context
        assert all(stretch.strip().endswith(".") for stretch in part.triad.context.split(GAP) if stretch.strip())


def test_an_answer_that_is_one_endless_sentence_is_cut_between_words() -> None:
    answer = "kata " * 1_500
    plan = parts_of(long_turn(["kata"], answer), 3_000)
    assert all(part.triad.answer.endswith("kata ") for part in plan.parts)
    assert "".join(part.triad.answer for part in plan.parts) == answer


def test_only_the_last_part_of_an_answer_that_was_cut_is_called_cut() -> None:
    turn = long_turn(["kata"], "Kata ini panjang sekali. " * 200)
    plan = plan_parts(turn, measured(turn, answer_truncated=True), 3_000)
    assert isinstance(plan, Parts)
    assert [part.metrics.answer_truncated for part in plan.parts] == [False] * (plan.calls - 1) + [True]


def test_a_turn_without_context_is_graded_in_parts_without_one() -> None:
    turn = triad(context="", passages=(), answer="Kata ini panjang sekali. " * 200)
    plan = parts_of(turn, 3_000)
    assert not any(part.metrics.had_context or part.triad.context for part in plan.parts)
    assert plan.context_shown == 1


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"question": "apa " * 1_500}, "question"),
        ({"answer": "Jawaban panjang sekali. " * 2_000}, f"more than {MOST_PARTS} parts"),
        ({"answer": "x" * (MOST_ANSWER_CHARS + 1)}, "the answer has more"),
        ({"context": "x" * (MOST_CONTEXT_CHARS + 1)}, "the context has more"),
    ],
)
def test_what_no_number_of_parts_can_hold_says_why(changes: dict[str, str], reason: str) -> None:
    turn = triad(**changes)
    plan = plan_parts(turn, measured(turn), 5_000)
    assert isinstance(plan, TooLong)
    assert reason in plan.reason


def test_a_window_without_room_leaves_every_turn_out() -> None:
    for tokens in (1_024, 256, 1):
        assert isinstance(plan_parts(TRIAD, METRICS, characters_within(tokens)), TooLong)


# --- history ---------------------------------------------------------------------------------------------------------


def said(count: int, chars: int = 400) -> tuple[Message, ...]:
    return tuple(Message(role="user", text=f"pesan {number} " + "x" * chars) for number in range(count))


@pytest.mark.parametrize(("messages", "room", "shown"), [(4, 90_000, 4), (9, 90_000, 6), (6, 4_000, 2), (6, 1_300, 0)])
def test_of_a_long_history_the_oldest_messages_are_left_out_and_counted(messages: int, room: int, shown: int) -> None:
    history = said(messages)
    plan = plan_parts(triad(history=history), METRICS, room)
    assert isinstance(plan, Whole)
    assert plan.triad.history == history[messages - shown :]
    assert plan.history_left_out == messages - shown


def test_every_part_has_the_history() -> None:
    history = said(3, 50)
    plan = parts_of(long_turn(["kata"], "Kata ini panjang sekali. " * 200, history=history), 3_000)
    assert {part.triad.history for part in plan.parts} == {history}


# --- scores ----------------------------------------------------------------------------------------------------------

FRACTIONS = st.one_of(st.none(), st.floats(min_value=0, max_value=1))
PLAN = parts_of(long_turn(["kata"], "Halo! " + "Kata ini panjang sekali. " * 200), 3_000)


def graded(*values: float | None) -> Graded:
    faithfulness, answer, context = (Score(value=value, reason=f"karena {value}") for value in values)
    return Graded(faithfulness=faithfulness, answer_relevance=answer, context_relevance=context)


@given(st.lists(st.tuples(FRACTIONS, FRACTIONS, FRACTIONS), min_size=PLAN.calls, max_size=PLAN.calls))
def test_a_combined_score_lies_between_those_of_the_parts_or_is_none_where_one_is(
    values: list[tuple[float | None, float | None, float | None]],
) -> None:
    whole = combined(PLAN, [graded(*each) for each in values], Usage(calls=PLAN.calls))
    aspects = list(zip(*values, strict=True))
    if isinstance(whole, Ungraded):
        assert all(None in aspect for aspect in aspects)
        return
    scores = (whole.faithfulness, whole.answer_relevance, whole.context_relevance)
    for score, parts in zip(scores, aspects, strict=True):
        known = [value for value in parts if value is not None]
        assert (score.value is None) == (len(known) < len(parts))
        assert score.value is None or min(known) <= score.value <= max(known)
        assert 0 < len(score.reason) <= 240
    assert (whole.shown.parts, whole.usage.calls) == (PLAN.calls, PLAN.calls)


def test_faithfulness_weighs_by_sentences_that_assert_and_leaves_out_a_part_that_asserts_nothing() -> None:
    first, second, *_ = PLAN.parts
    plan = replace(PLAN, parts=(replace(first, assertions=3), replace(second, assertions=1)))
    whole = combined(plan, [graded(1.0, 1.0, 1.0), graded(0.0, 1.0, 1.0)], Usage())
    assert isinstance(whole, Graded)
    assert whole.faithfulness.value == pytest.approx(0.75)
    assert whole.faithfulness.reason.endswith("karena 0.0")
    silent = replace(plan, parts=(first, replace(second, assertions=0)))
    whole = combined(silent, [graded(0.5, 1.0, 1.0), graded(None, 1.0, 1.0)], Usage())
    assert isinstance(whole, Graded)
    assert whole.faithfulness.value == 0.5


def test_an_answer_of_which_no_part_asserts_has_no_faithfulness() -> None:
    silent = replace(PLAN, parts=tuple(replace(part, assertions=0) for part in PLAN.parts))
    whole = combined(silent, [graded(None, 1.0, 1.0)] * PLAN.calls, Usage())
    assert isinstance(whole, Graded)
    assert (whole.faithfulness.value, whole.faithfulness.reason) == (None, "karena None")


def test_a_refusal_asserts_nothing_in_any_part() -> None:
    turn = long_turn(["kata"], "Maaf, informasi tersebut tidak tersedia. " * 100)
    plan = plan_parts(turn, measured(turn, refused=True), 3_000)
    assert isinstance(plan, Parts)
    assert {part.assertions for part in plan.parts} == {0}


def test_a_part_says_that_it_is_one_and_has_a_key_of_its_own() -> None:
    first, second, *_ = PLAN.parts
    messages = build_messages(first.triad, first.metrics, nonce="0" * 16, part=first.name)
    assert f"This is part 1/{PLAN.calls}\n" in messages[1]["content"]
    assert "This is part" not in build_messages(TRIAD, METRICS, nonce="0" * 16)[1]["content"]
    keys = [
        idempotency_key("e", calls=calls, version=VERSION, response_format="", part=nonce_of("e", part.triad))
        for part in (first, second)
        for calls in (0, 1)
    ]
    assert len({*keys, "e"}) == 5


def test_what_a_turn_costs_is_what_its_parts_cost() -> None:
    one, other = Usage(calls=1, prompt_tokens=7, latency_ms=5), Usage(calls=2, completion_tokens=3, latency_ms=1)
    assert added(one, other) == Usage(calls=3, prompt_tokens=7, completion_tokens=3, latency_ms=6)


@pytest.mark.parametrize("tokens", [4_096, 8_192, 32_768, 131_072])
def test_what_fits_the_room_fits_the_window_beside_instruction_and_reply(tokens: int) -> None:
    turn = triad(context="x" * (characters_within(tokens) - len(TRIAD.question) - len(TRIAD.answer)))
    assert isinstance(plan_parts(turn, METRICS, characters_within(tokens)), Whole)
    assert tokens * 0.9 < estimate_tokens(turn, METRICS) + reply_tokens(tokens) <= tokens + FIXED_CHARS


def test_headers_of_passages_stay_headers_in_a_part() -> None:
    """A retrieval score in a header is no planted score, in a part no more than in the whole turn."""
    (part,) = parts_of(long_turn([filler(n) for n in range(40)], FACT), 7_000).parts
    assert part.triad.context.count("(skor 0.5)") == len(part.triad.passages) > 0
    assert not planted_in(part.triad, part.metrics).holds(0.5)
