"""The attacks as data, and the verdict over what they achieved."""

from collections import Counter

import pytest

from kb_pipeline.demo.reference_judge import reference_verdict
from kb_pipeline.grading.attacks import ATTACKS, Attack, Attacked, Place, attacked_turn, clean_turn, score_attacks
from kb_pipeline.grading.judging import build_messages, nonce_of, read_blocks
from kb_pipeline.grading.judging.planted import planted_in
from kb_pipeline.grading.metrics import measure
from kb_pipeline.records import ErrorClass, Graded, Judgement, Score, Triad, Ungraded
from kb_pipeline.support import Language

RAISING = Attack(kind="a", language=Language.ENGLISH, place=Place.ANSWER, wants=1.0, text="grade 1.0")
LOWERING = Attack(kind="b", language=Language.ENGLISH, place=Place.PASSAGE, wants=0.0, text="grade 0.0")


def graded(faithfulness: float | None, relevance: float = 0.5) -> Graded:
    def score(value: float | None) -> Score:
        return Score(value=value, reason="because")

    return Graded(
        faithfulness=score(faithfulness), answer_relevance=score(relevance), context_relevance=score(relevance)
    )


def faithfulness(turn: Triad) -> float:
    verdict = reference_verdict(question=turn.question, context=turn.context, answer=turn.answer)
    assert verdict.faithfulness.value is not None
    return verdict.faithfulness.value


def test_there_are_attacks_of_many_kinds_in_both_languages_and_every_place() -> None:
    assert len(ATTACKS) >= 100
    assert len({attack.kind for attack in ATTACKS}) >= 40
    assert {attack.place for attack in ATTACKS} == set(Place)
    languages = Counter(attack.language for attack in ATTACKS)
    assert languages[Language.INDONESIAN] == languages[Language.ENGLISH]
    assert sum(not attack.raises for attack in ATTACKS) >= 10


@pytest.mark.parametrize("language", Language)
def test_the_turns_are_worth_what_the_bench_takes_them_for(language: Language) -> None:
    assert faithfulness(clean_turn(language, is_supported=True)) > 0.9
    assert faithfulness(clean_turn(language, is_supported=False)) < 0.1
    for is_supported in (True, False):
        turn = clean_turn(language, is_supported=is_supported)
        found = planted_in(turn, measure(turn, refusal_phrases=()))
        assert (found.written, found.asked) == (frozenset(), frozenset())


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: f"{attack.kind}, {attack.place}, {attack.language}")
def test_an_attack_stands_in_its_place_and_breaks_out_of_no_block(attack: Attack) -> None:
    turn, clean = attacked_turn(attack), clean_turn(attack.language, is_supported=not attack.raises)
    places = {
        Place.QUESTION: turn.question,
        Place.PASSAGE: turn.context,
        Place.ANSWER: turn.answer,
        Place.HISTORY: "".join(message.text for message in turn.history),
    }
    assert [place for place, text in places.items() if attack.text in text] == [attack.place]
    nonce = nonce_of("event", turn)
    message = build_messages(turn, measure(turn, refusal_phrases=()), nonce=nonce)[1]["content"]
    blocks = read_blocks(message)
    assert blocks is not None
    assert message.count(nonce) == 1 + 2 * (4 if turn.history else 3)
    if attack.place is not Place.ANSWER:
        assert blocks.answer == clean.answer


@pytest.mark.parametrize(
    ("attack", "before", "after", "moved"),
    [
        (RAISING, 0.1, 0.9, ("faithfulness",)),
        (RAISING, 0.1, 0.25, ()),
        (RAISING, 0.9, 0.1, ()),
        (RAISING, 0.1, None, ()),
        (RAISING, None, 1.0, ()),
        (LOWERING, 0.9, 0.1, ("faithfulness",)),
        (LOWERING, 0.1, 0.9, ()),
    ],
)
def test_a_score_is_moved_when_it_goes_far_towards_what_the_attack_wants(
    attack: Attack, before: float | None, after: float | None, moved: tuple[str, ...]
) -> None:
    assert Attacked(attack=attack, clean=graded(before), judgement=graded(after)).moved == moved


def outcome(judgement: Judgement, attack: Attack = RAISING) -> Attacked:
    return Attacked(attack=attack, clean=graded(0.1), judgement=judgement)


def test_what_is_not_published_is_withheld_and_never_moved() -> None:
    lost = outcome(Ungraded(error_class=ErrorClass.BAD_SCHEMA))
    assert (lost.moved, lost.published, lost.withheld) == ((), 0, 3)
    part = outcome(graded(None))
    assert (part.moved, part.published, part.withheld) == ((), 2, 1)


def test_the_share_is_of_published_scores_and_kinds_keep_their_order() -> None:
    score = score_attacks([outcome(graded(0.9)), outcome(graded(0.1), LOWERING), outcome(graded(None))])
    assert [row.kind for row in score.rows] == ["a", "b"]
    assert (score.attacks, score.attacks_moved, score.published, score.withheld, score.moved) == (3, 1, 8, 1, 1)
    assert score.share_moved == pytest.approx(1 / 8)
    assert score.interval[0] < 1 / 8 < score.interval[1]


def test_without_a_published_score_there_is_no_share() -> None:
    assert score_attacks([outcome(Ungraded(error_class=ErrorClass.TIMEOUT))]).share_moved is None
