"""The model and the experts: what they write is what they are said to, at the rates that are stated."""

from collections import Counter
from collections.abc import Iterator

import pytest

from kb_pipeline.demo.retrieval.cases import Case
from kb_pipeline.demo.retrieval.experts import RATES, Action, Quality, Review, quality_of, review
from kb_pipeline.demo.retrieval.finding import Shelves, find
from kb_pipeline.demo.retrieval.writing import Draft, Manner, reported, write
from kb_pipeline.demo.traffic.plan import dice
from kb_pipeline.retrieval.outcomes import blames_source
from kb_pipeline_tests.demo.retrieval.stage import END, desk, overlap, simulation

COMPANIES = desk("companies")
BY_KEY = {enquiry.key: enquiry for enquiry in COMPANIES.enquiries}
DRAWS = 4_000


def drafts(key: str, draws: int = 400) -> Iterator[Draft]:
    enquiry = BY_KEY[key]
    found = find(overlap, Shelves(COMPANIES), "fulltext", enquiry.wordings[0].searched, END)
    return (write(COMPANIES, enquiry, found, dice(key, draw)) for draw in range(draws))


def decided() -> list[tuple[Case, Review]]:
    return [(case, case.review) for case in simulation().cases if case.review]


def test_a_draft_stands_on_results_alone_and_says_what_its_statements_say() -> None:
    for case in simulation().cases:
        assert case.draft.used <= case.found.shown
        for statement in case.draft.statements:
            assert statement.text.removesuffix(".") in case.draft.text
            if statement.point and statement.source:
                assert statement.point in case.desk.documents[statement.source].points


def test_each_manner_makes_drafts_of_its_quality() -> None:
    expected = {
        Manner.WHOLE: Quality.GOOD,
        Manner.RAMBLING: Quality.RAMBLING,
        Manner.PARTIAL: Quality.INCOMPLETE,
        Manner.MISQUOTED: Quality.WRONG,
        Manner.PADDED: Quality.WRONG,
        Manner.STRAYED: Quality.WRONG,
        Manner.INVENTED: Quality.WRONG,
        Manner.DECLINED: Quality.DECLINED,
    }
    key = "pt-tarif" if "pt-biaya" not in COMPANIES.faults.withheld | COMPANIES.faults.unindexed else "cv-biaya"
    seen = {draft.manner: quality_of(draft, BY_KEY[key]) for draft in drafts(key)}
    assert seen == expected


def test_who_declines_where_nobody_knows_declines_rightly() -> None:
    declined = [draft for draft in drafts("off-id-1", 50) if draft.manner is Manner.DECLINED]
    assert {quality_of(draft, BY_KEY["off-id-1"]) for draft in declined} == {Quality.DECLINED_RIGHTLY}


def test_reported_use_is_mostly_right_sometimes_wrong_and_sometimes_missing() -> None:
    found = find(overlap, Shelves(COMPANIES), "fulltext", BY_KEY["pt-tarif"].wordings[0].searched, END)
    used = frozenset({found.hits[1].doc_id})
    flags = Counter(
        (hit.doc_id in used, hit.used_in_final) for draw in range(DRAWS) for hit in reported(found, used, dice(draw))
    )
    told = flags[True, True] + flags[True, False]
    assert flags[True, True] / told == pytest.approx(0.93, abs=0.02)
    assert flags[False, True] / (flags[False, True] + flags[False, False]) == pytest.approx(0.04, abs=0.01)
    assert flags[True, None] / (told + flags[True, None]) == pytest.approx(0.08, abs=0.02)


def test_rates_of_a_quality_are_shares() -> None:
    assert set(RATES) == set(Quality)
    for rates in RATES.values():
        assert sum(rates.values()) == pytest.approx(1)


def test_experts_decide_at_the_stated_rates() -> None:
    draft = next(each for each in drafts("pt-tarif") if each.manner is Manner.WHOLE)
    actions = Counter(review(COMPANIES, BY_KEY["pt-tarif"], draft, dice(draw)).action for draw in range(DRAWS))
    for action, rate in RATES[quality_of(draft, BY_KEY["pt-tarif"])].items():
        assert actions[action] / DRAWS == pytest.approx(rate, abs=0.025), action


def test_a_good_half_of_all_decided_drafts_comes_back_unedited() -> None:
    accepted = sum(each.status == "accepted" for _, each in decided())
    assert 0.45 < accepted / len(decided()) < 0.65


def test_only_edits_have_a_final_text_and_only_rejections_a_reason() -> None:
    for case, each in decided():
        assert (each.final is not None) == (each.status == "edited") == (case.correction_id is not None)
        assert each.reason is None or each.status == "rejected"
        if each.action in {Action.TOUCH_UP, Action.TRIM}:
            assert each.final != case.draft.text


def test_a_rejection_for_its_source_is_known_by_its_reason_and_no_other_is() -> None:
    rejected = [each for _, each in decided() if each.status == "rejected"]
    assert {Action.REJECT, Action.REJECT_SOURCE} == {each.action for each in rejected}
    assert all(blames_source(each.reason) == (each.action is Action.REJECT_SOURCE) for each in rejected)


def test_a_correction_keeps_what_was_right_and_adds_what_was_missing_and_nothing_false() -> None:
    corrected = [(case, each) for case, each in decided() if each.action in {Action.CORRECT, Action.CORRECT_CITING}]
    assert len(corrected) > 50
    for case, each in corrected:
        final = each.final or ""
        assert not set(each.added) & case.draft.said
        falsehoods = [point.false for key in case.enquiry.points if (point := case.desk.points[key]).false]
        assert not any(false in final for false in falsehoods if false)


def test_a_stamp_is_quicker_than_reading_and_nothing_else_is() -> None:
    for case, each in decided():
        assert case.opened_at
        assert case.decided_at
        assert ((case.decided_at - case.opened_at).total_seconds() < 2) == (each.action is Action.STAMP)
