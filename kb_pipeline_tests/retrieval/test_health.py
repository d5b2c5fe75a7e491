"""When the retrieval street itself is in doubt."""

import pytest

from kb_pipeline.retrieval.health import arrival, completeness, empty_share, unbroken
from kb_pipeline.verdicts import Level


@pytest.mark.parametrize(
    ("loaded", "recorded", "level"),
    [
        (0, 0, Level.PASSED),
        (1, 0, Level.PASSED),
        (2, 0, Level.FAILED),
        (1000, 999, Level.PASSED),
        (1000, 995, Level.WARNED),
        (1000, 980, Level.FAILED),
        (200, 197, Level.WARNED),
        (10, 8, Level.FAILED),
    ],
)
def test_missing_events_warn_and_fail_by_their_bound_and_never_on_one(loaded: int, recorded: int, level: Level) -> None:
    assert completeness(loaded, recorded).level is level


def test_without_an_audit_log_the_checks_pass_and_say_so() -> None:
    for verdict in (completeness(None, 0), arrival(None, 0), arrival(None, 7)):
        assert verdict.level is Level.PASSED
        assert "not mapped" in verdict.reason


def test_an_hour_of_which_no_event_arrived_fails_when_the_audit_log_has_retrievals() -> None:
    assert arrival(7, 0).level is Level.FAILED
    assert arrival(7, 1).level is Level.PASSED
    assert arrival(0, 0).level is Level.PASSED


@pytest.mark.parametrize(
    ("retrievals", "empty", "level"),
    [
        (0, 0, Level.PASSED),
        (1, 1, Level.PASSED),
        (2, 2, Level.WARNED),
        (100, 5, Level.PASSED),
        (100, 8, Level.PASSED),
        (100, 12, Level.WARNED),
        (10_000, 600, Level.WARNED),
        (10_000, 510, Level.PASSED),
    ],
)
def test_too_many_empty_retrievals_are_a_warning_when_it_is_no_chance(
    retrievals: int, empty: int, level: Level
) -> None:
    assert empty_share(retrievals, empty, warn_above=0.05).level is level


def test_a_share_that_is_allowed_to_be_anything_never_warns() -> None:
    assert empty_share(50, 50, warn_above=1.0).level is Level.PASSED


def test_broken_rows_are_named_by_kind_with_their_number() -> None:
    assert unbroken({"judgments_without_evidence": 0}, "All is well.").reason == "All is well."
    broken = unbroken({"judgments_without_evidence": 2, "evidence_without_its_query": 1, "others": 0}, "")
    assert broken.level is Level.FAILED
    assert broken.reason == "2 × judgments without evidence; 1 × evidence without its query."
