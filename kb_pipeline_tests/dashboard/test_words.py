"""The sentences of the dashboard, and the numbers in them."""

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.dashboard import list_words, numbers
from kb_pipeline.dashboard.charts import time_ticks
from kb_pipeline.dashboard.periods import period_of, zone_of
from kb_pipeline.dashboard.quality_words import (
    AlertStand,
    Level,
    Limits,
    Progress,
    Standing,
    Verdict,
    emptiness,
    quality_verdict,
)
from kb_pipeline.dashboard.retrieval_words import EngineHealth, bars, retrieval_verdict, shown_engines
from kb_pipeline.dashboard.sums import Moments, Rate, Tally, bin_from, quantile
from kb_pipeline.dashboard.trust_words import Measurement, trust, worse
from kb_pipeline.grading.aggregates import CallCounts
from kb_pipeline.verdicts import wilson

LIMITS = Limits(warn=0.70, crit=0.55, min_graded=20, z=1.645)


def moments(mean: float, n: int, spread: float = 0.2) -> Moments:
    return Moments(n, mean * n, n * (mean * mean + spread * spread))


def standing(day: Moments, week: Moments, coverage: float | None = 1.0) -> Standing:
    tally = Tally(turns=day.n, graded=day.n, faithfulness=day)
    return Standing(day=tally, week=Tally(faithfulness=week), coverage=coverage)


@pytest.mark.parametrize(
    ("day", "week", "level", "sentence"),
    [
        (moments(0.85, 352), moments(0.85, 2400), Level.GOOD, "Quality is good and steady."),
        (moments(0.74, 352), moments(0.85, 2400), Level.WATCH, "Quality is still good, but getting worse."),
        (moments(0.68, 100), moments(0.70, 700), Level.WATCH, "Quality may be below the warning line."),
        (moments(0.63, 352), moments(0.85, 2400), Level.WARNING, "Quality is below the warning line."),
        (moments(0.47, 352), moments(0.8, 2400), Level.CRITICAL, "Too many answers are not backed by their sources."),
        (moments(0.2, 7), moments(0.8, 2400), Level.NONE, "Too few graded answers for a verdict."),
        (Moments(), Moments(), Level.NONE, "Too few graded answers for a verdict."),
    ],
)
def test_each_state_has_its_sentence(day: Moments, week: Moments, level: Level, sentence: str) -> None:
    verdict = quality_verdict(standing(day, week), LIMITS)
    assert (verdict.level, verdict.sentence) == (level, sentence)
    if day.n >= LIMITS.min_graded:
        assert f"{day.mean:.2f}" in verdict.detail


def test_a_mean_of_too_few_of_the_turns_is_withheld() -> None:
    verdict = quality_verdict(standing(moments(0.2, 352), moments(0.8, 2400), coverage=0.79), LIMITS)
    assert verdict.sentence == "The mean is withheld: too many answers are ungraded."


def test_where_an_alert_has_a_state_the_verdict_is_that_state() -> None:
    low = standing(moments(0.47, 352), moments(0.8, 2400))
    assert quality_verdict(low, LIMITS, AlertStand(level=Level.WARNING)).level is Level.WARNING
    high = standing(moments(0.9, 352), moments(0.9, 2400))
    verdict = quality_verdict(high, LIMITS, AlertStand(level=Level.CRITICAL), when="13:05")
    assert verdict.level is Level.CRITICAL
    assert "has not resolved yet. Alert sent 13:05." in verdict.detail


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50))
def test_an_interval_holds_its_mean_and_is_never_wider_than_wilson_nor_of_no_width(scores: list[float]) -> None:
    found = Moments(len(scores), sum(scores), sum(score * score for score in scores))
    low, high = found.interval() or (1.0, 0.0)
    widest = wilson(sum(scores), len(scores))
    assert 0 <= low <= (found.mean or 0) + 1e-9
    assert (found.mean or 0) - 1e-9 <= high <= 1
    assert widest[0] - 1e-9 <= low
    assert high <= widest[1] + 1e-9
    assert high > low


def test_for_scores_of_0_and_1_the_interval_is_wilsons() -> None:
    assert Moments(10, 7, 7).interval() == pytest.approx(wilson(7, 10))


@pytest.mark.parametrize(("threshold", "first"), [(0.7, 71), (0.0, 1), (1.0, 101), (0.29, 30), (0.705, 72), (0.57, 58)])
def test_the_first_bin_of_a_threshold_holds_nothing_below_it(threshold: float, first: int) -> None:
    assert bin_from(threshold) == first


def test_a_quantile_lies_within_its_bin() -> None:
    assert quantile([0, 10, 20, 40], [1, 2, 1], 0.5) == pytest.approx(15)
    assert quantile([0, 10, 20], [0, 0], 0.5) is None


PROGRESS = {
    "is_enabled": True, "has_judge": True, "examined": 1204, "recognised": 37, "parsed": 36, "attempted": 37,
    "waiting": 36, "failures": 0, "skipped": 1, "newest_call_at": None, "is_filtered": False, "elsewhere": 0,
}  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"is_enabled": False}, "grading is switched off"),
        ({"is_filtered": True, "elsewhere": 4}, "nothing matches these filters"),
        ({"examined": 0, "recognised": 0}, "no audited call was read"),
        ({"recognised": 0}, "no call was recognised"),
        ({"has_judge": False}, "no judge is configured"),
        ({"failures": 36, "waiting": 0}, "the judge does not answer"),
        ({}, "the judge was not asked so far"),
        ({"waiting": 0}, "none of the turns can be judged"),
    ],
)
def test_an_empty_page_says_why(changed: dict[str, object], reason: str) -> None:
    found = emptiness(Progress(**{**PROGRESS, **changed}))  # type: ignore[arg-type]
    assert reason in found.sentence


def engine(name: str, empty: int, searches: int) -> EngineHealth:
    return EngineHealth(
        name=name, found_nothing=Rate(empty, searches), per_day=(), score_counts=(),
        median_score=None,
        latency_n=0, p50=None, p95=None, p99=None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("engines", "sentence"),
    [
        ([(28, 1520), (8, 1204), (20, 316)], "Search usually finds something."),
        ([(32, 1520), (8, 1204), (24, 316)], "Search usually finds something; b search misses too often."),
        ([(60, 1520), (8, 1204), (52, 316)], "Search usually finds something; b search misses too often."),
        ([(300, 1520), (150, 1204), (150, 316)], "Search misses too often."),
        ([(0, 0)], "No retrievals in this period."),
        ([(1, 9), (1, 9)], "Too few retrievals for a verdict."),
    ],
)
def test_retrieval_is_summed_up_by_wilsons_lower_bound(engines: list[tuple[int, int]], sentence: str) -> None:
    health = [engine(name, *counts) for name, counts in zip(("All", "a", "b"), engines, strict=False)]
    assert retrieval_verdict(health, 0.05, {}).sentence == sentence


def test_of_many_engines_that_miss_two_are_named_and_the_others_counted() -> None:
    health = [engine("All", 60, 9000), *(engine(f"e{number}", 5, 60) for number in range(40))]
    verdict = retrieval_verdict(health, 0.02, {})
    assert verdict.sentence == "Search usually finds something; e0, e1 and 38 others search misses too often."
    assert len(verdict.detail) < 200
    shown, more = shown_engines(health)
    assert [each.name for each in shown] == ["All", *(f"e{number}" for number in range(8))]
    assert more == 32


@pytest.mark.parametrize(
    ("days", "length", "count"), [(1, 1, 1), (92, 1, 92), (93, 7, 14), (365, 7, 53), (1830, 30, 61)]
)
def test_a_long_period_has_fewer_bars_that_add_up_to_its_days(days: int, length: int, count: int) -> None:
    per_day = [Rate(number % 5, number) for number in range(1, days + 1)]
    found, chart = bars(per_day)
    assert (found, len(chart)) == (length, count)
    assert sum(bar.whole for bar in chart) == sum(day.whole for day in per_day)
    assert chart[0] == Rate(sum(day.part for day in per_day[:length]), sum(day.whole for day in per_day[:length]))


def test_numbers_are_written_as_people_read_them_and_missing_is_never_0() -> None:
    assert [numbers.score(0.7449), numbers.rate(0.7745), numbers.count(1927), numbers.short(11_900_000)] == [
        "0.74", "77.5\u202f%", "1,927", "11.9\u202fM",
    ]  # fmt: skip
    assert {numbers.score(None), numbers.rate(None), numbers.count(None), numbers.between(None)} == {"–"}


def test_times_are_those_of_the_zone() -> None:
    zone, now = ZoneInfo("Asia/Jakarta"), datetime(2026, 7, 16, 7, 7, tzinfo=UTC)
    at = [
        datetime(2026, 7, 16, 2, 3, tzinfo=UTC),
        datetime(2026, 7, 15, 9, 48, tzinfo=UTC),
        datetime(2026, 7, 3, tzinfo=UTC),
    ]
    assert [numbers.moment(each, zone, now) for each in at] == ["Today 09:03", "Wed 16:48", "3 July"]
    assert numbers.span(datetime(2026, 7, 9, 7, tzinfo=UTC), now, zone, now) == "9–16 July 2026, until 14:07 WIB"


def measured(parsed: int, attempted: int, tally: Tally, *, waits: timedelta = timedelta()) -> Measurement:
    calls = CallCounts(
        examined=attempted, synthesis=attempted, sampled_out=0, other=0, self_calls=0, unreadable=0, parsed=parsed,
        parse_attempted=attempted,
    )  # fmt: skip
    return Measurement(tally=tally, calls=calls, usual=calls, canary=None, agreement=None, waiting=1, waits=waits)


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (measured(1527, 1579, Tally(graded=1500)),
         "With care: 1,527 of 1,579 turns could be read by the template's markers."),
        (measured(1000, 1579, Tally(graded=1500)), "No: 1,000 of 1,579 turns could be read by the template's markers."),
        (measured(0, 0, Tally(graded=1, errors=3)), "No: only 25.0\u202f% of the answers have a grade."),
        (measured(0, 0, Tally(graded=1), waits=timedelta(hours=3)), "With care: 1 turn waits, the oldest for 3 h."),
    ],
)  # fmt: skip
def test_what_stands_behind_a_doubt_goes_on_where_its_sentence_ends(found: Measurement, sentence: str) -> None:
    verdict = trust(found)
    assert verdict.sentence == sentence
    assert verdict.detail
    assert sentence.partition(": ")[2][1:] not in verdict.detail


def test_lists_say_how_many_rows_they_have() -> None:
    counts = {"kb_gap": 1, "none": 1200}
    assert list_words.gaps_sentence("kb_gap", counts) == (
        "1 corrected draft, the newest first. Knowledge missing: no document supports the correction."
    )
    assert list_words.gaps_sentence(None, counts).startswith("1,201 corrected drafts, the newest first; 1,200 of them")
    judged = {("judged", 3): 1, ("judged", 0): 4, ("conflict", None): 2}
    assert list_words.judgments_sentence(None, None, judged) == "7 judgments, query by query."
    assert list_words.judgments_sentence("judged", 3, judged) == "1 judgment, judged, grade 3, query by query."
    assert list_words.judgments_sentence("judged", 0, judged) == "4 judgments, judged, grade 0, query by query."


def test_a_period_of_one_hour_is_not_1_hours() -> None:
    now = datetime(2026, 7, 16, 7, 7, tzinfo=UTC)
    words = [period_of(name, now=now, zone=zone_of("UTC")).words for name in ("1h", "36h", "1d", "7d")]
    assert words == ["1 hour", "36 hours", "1 day", "7 days"]


def test_a_longer_period_does_not_hide_that_the_last_day_cannot_be_trusted() -> None:
    good = Verdict(level=Level.GOOD, sentence="Yes, the measurement is healthy.", detail="")
    bad = Verdict(level=Level.CRITICAL, sentence="No: 169 of 206 turns could be read.", detail="d")
    assert worse(bad, good).sentence == "No: in the last 24 hours 169 of 206 turns could be read."
    assert worse(good, bad) == bad
    assert worse(good, good) == good


def test_an_engine_without_retrievals_is_a_matter_of_the_filters() -> None:
    assert "filters" in retrieval_verdict([engine("All", 0, 0)], 0.1, {}, is_filtered=True).detail
    assert "worker" in retrieval_verdict([engine("All", 0, 0)], 0.1, {}).detail


def test_the_months_of_a_year_are_named_so_few_that_no_two_touch() -> None:
    period = period_of("365d", now=datetime(2026, 7, 16, tzinfo=UTC), zone=ZoneInfo("UTC"))
    labels = [tick.label for tick in time_ticks(period)]
    assert 3 <= len(labels) <= 4
    assert all(re.fullmatch(r"[A-Z][a-z]{2} \d{4}", label) for label in labels)
