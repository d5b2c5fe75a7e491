"""Judgments: what the evidence of one document and query comes to."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.records import Evidence, EvidenceKind, Judgment, JudgmentStatus
from kb_pipeline.retrieval.labels import HALF_LIFE_DAYS, judge, votes
from kb_pipeline_tests.retrieval.pieces import AS_OF, ago, evidence, pieces

ACCEPTED, CITED, CLICKED, SETTLED = (
    EvidenceKind.ACCEPTED,
    EvidenceKind.CITED,
    EvidenceKind.CLICKED,
    EvidenceKind.SETTLED,
)
LIGHT, REMOVED, SUPPORTS, WRONG = (
    EvidenceKind.LIGHT_EDIT,
    EvidenceKind.REMOVED_ONLY,
    EvidenceKind.SUPPORTS_NEW,
    EvidenceKind.WRONG_SOURCE,
)


def of(*given_evidence: Evidence) -> Judgment:
    return judge(given_evidence, AS_OF)


def in_conversations(kind: EvidenceKind, weight: float, count: int, first: int = 1) -> list[Evidence]:
    """The same from so many conversations."""
    return [evidence(kind, weight, conversation=first + number) for number in range(count)]


def verdict(judgment: Judgment) -> tuple[str, int | None]:
    return str(judgment.status), judgment.grade


def test_no_evidence_is_no_judgment() -> None:
    assert of() == Judgment(
        status=JudgmentStatus.INSUFFICIENT, grade=None, p=0.5, positive=0.0, negative=0.0, conversations=0
    )


@pytest.mark.parametrize(
    ("given_evidence", "expected"),
    [
        (in_conversations(ACCEPTED, 0.5, 1), ("insufficient", None)),
        (in_conversations(CLICKED, 0.2, 2), ("insufficient", None)),
        (in_conversations(CLICKED, 0.2, 3), ("judged", 1)),
        (in_conversations(LIGHT, 0.7, 1), ("judged", 1)),
        (in_conversations(ACCEPTED, 0.5, 2), ("judged", 2)),
        (in_conversations(ACCEPTED, 0.5, 3), ("judged", 2)),
        (in_conversations(ACCEPTED, 0.5, 4), ("judged", 3)),
        (in_conversations(CITED, 1.0, 1), ("judged", 3)),
        (in_conversations(SUPPORTS, 0.6, 1), ("judged", 3)),
        (in_conversations(SUPPORTS, 0.59, 1), ("insufficient", None)),
        (in_conversations(WRONG, -0.5, 1), ("insufficient", None)),
        (in_conversations(WRONG, -0.5, 2), ("judged", 0)),
        (in_conversations(REMOVED, -0.4, 2), ("judged", 0)),
    ],
)
def test_the_grade_follows_the_mass_and_the_kind(given_evidence: list[Evidence], expected: tuple[str, int]) -> None:
    assert verdict(of(*given_evidence)) == expected


def test_much_on_both_sides_is_a_conflict_for_a_person() -> None:
    contested = of(*in_conversations(ACCEPTED, 0.5, 2), *in_conversations(WRONG, -0.5, 2, first=10))
    assert verdict(contested) == ("conflict", None)
    assert (contested.p, contested.positive, contested.negative, contested.conversations) == (0.5, 1.0, 1.0, 4)


@pytest.mark.parametrize(
    ("positive", "negative", "expected"),
    [
        (0.3, 0.3, ("conflict", None)),
        (0.31, 0.29, ("judged", 1)),
        (0.29, 0.31, ("insufficient", None)),
        (0.29, 0.5, ("insufficient", None)),
        (0.25, 0.55, ("judged", 0)),
        (0.29, 0.63, ("judged", 0)),
        (1.0, 0.3, ("judged", 2)),
        (0.9, 0.5, ("conflict", None)),
        (0.9, 0.43, ("judged", 1)),
    ],
)
def test_what_lies_between_a_conflict_and_a_grade(
    positive: float, negative: float, expected: tuple[str, int | None]
) -> None:
    """With less than .3 against it a document is relevant; with less than .3 for it, irrelevant or undecided."""
    judgment = of(evidence(ACCEPTED, positive, conversation=1), evidence(WRONG, -negative, conversation=2))
    assert verdict(judgment) == expected


def test_a_conversation_has_one_vote_for_and_one_against() -> None:
    busy = [evidence(ACCEPTED, 0.5, conversation=1) for _ in range(10)]
    judgment = of(*busy, evidence(CLICKED, 0.2, conversation=1), evidence(WRONG, -0.5, conversation=1))
    assert (judgment.positive, judgment.negative, judgment.conversations) == (0.5, 0.5, 1)


def test_the_heaviest_vote_of_a_conversation_is_the_one_that_weighs_most_by_now() -> None:
    old_citation = evidence(CITED, 1.0, conversation=1, observed_at=ago(2 * HALF_LIFE_DAYS))
    acceptance = evidence(ACCEPTED, 0.5, conversation=1)
    assert [vote.evidence for vote in votes([old_citation, acceptance], AS_OF)] == [acceptance]


def test_evidence_without_a_conversation_is_a_vote_of_its_own() -> None:
    judgment = of(*[evidence(CLICKED, 0.2) for _ in range(4)])
    assert (judgment.positive, judgment.conversations) == (0.8, 0)


def test_a_weight_halves_every_180_days_and_never_grows() -> None:
    aged = [of(evidence(CITED, 1.0, conversation=1, observed_at=ago(days))) for days in (-1, 0, 180, 360)]
    assert [judgment.positive for judgment in aged] == [1.0, 1.0, 0.5, 0.25]
    assert [str(judgment.status) for judgment in aged] == ["judged", "judged", "insufficient", "insufficient"]


@pytest.mark.parametrize(
    ("said", "before", "expected"),
    [
        (-1.0, in_conversations(CITED, 1.0, 5), ("judged", 0)),
        (1.0, in_conversations(WRONG, -0.5, 5), ("judged", 2)),
        (1.0, in_conversations(CITED, 1.0, 1), ("judged", 3)),
        (1.0, [], ("judged", 2)),
        (-1.0, [], ("judged", 0)),
        (1.0, in_conversations(ACCEPTED, 0.5, 2), ("judged", 3)),
    ],
)
def test_a_persons_word_decides_whatever_the_rest_says(
    said: float, before: list[Evidence], expected: tuple[str, int]
) -> None:
    assert verdict(of(*before, evidence(SETTLED, said))) == expected


def test_the_newest_word_decides_and_older_ones_are_no_votes() -> None:
    words = [evidence(SETTLED, said, observed_at=ago(days)) for said, days in ((1.0, 3), (-1.0, 1), (1.0, 2))]
    judgment = of(*words)
    assert verdict(judgment) == ("judged", 0)
    assert judgment.positive == 0.0
    assert of(evidence(SETTLED, 1.0), evidence(SETTLED, -1.0)).grade == 0
    assert of(evidence(SETTLED, -1.0), evidence(SETTLED, 1.0)).grade == 2


def test_a_word_stands_however_old_it_is() -> None:
    assert verdict(of(evidence(SETTLED, -1.0, observed_at=ago(3650)))) == ("judged", 0)


@given(st.lists(pieces(), max_size=12), st.randoms(use_true_random=False))
def test_a_judgment_adds_up_in_any_order(given_evidence: list[Evidence], shuffler: Random) -> None:
    judgment = of(*given_evidence)
    assert 0 < judgment.p < 1
    assert judgment.positive >= 0
    assert judgment.negative >= 0
    assert (judgment.grade is None) == (judgment.status is not JudgmentStatus.JUDGED)
    assert judgment.grade in {None, 0, 1, 2, 3}
    without_words = [each for each in given_evidence if each.kind is not SETTLED]
    shuffler.shuffle(without_words)
    assert of(*without_words) == of(*[each for each in given_evidence if each.kind is not SETTLED])


@given(st.lists(pieces(), max_size=12))
def test_more_evidence_for_a_document_never_lowers_p(given_evidence: Sequence[Evidence]) -> None:
    assert of(*given_evidence, evidence(CITED, 1.0, conversation=99)).p >= of(*given_evidence).p


@given(st.lists(pieces(), max_size=12))
def test_the_same_evidence_twice_from_its_conversation_changes_nothing(given_evidence: list[Evidence]) -> None:
    heard = [replace(each, conversation_id=each.conversation_id or each.tenant.org_id) for each in given_evidence]
    assert of(*heard, *heard) == of(*heard)


@given(st.lists(pieces(), max_size=12), st.integers(0, 1000))
def test_time_alone_makes_no_unanimous_evidence_a_conflict(given_evidence: list[Evidence], days: int) -> None:
    one_sided = [each for each in given_evidence if each.weight > 0]
    later = judge(one_sided, AS_OF + timedelta(days=days))
    assert later.status is not JudgmentStatus.CONFLICT
    assert later.positive <= of(*one_sided).positive
