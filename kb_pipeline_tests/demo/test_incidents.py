"""What goes wrong on the demo's day has hours of its own, wherever the day has room for it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kb_pipeline.demo.incidents import APART, LAST_TURNS, Incidents, incidents_of
from kb_pipeline.demo.judged import IncidentReport
from kb_pipeline.demo.pictures import incident_lines
from kb_pipeline.demo.reference_judge import ReferenceJudge
from kb_pipeline.demo.traffic import Effect, Traffic
from kb_pipeline.demo.traffic.plan import slots
from kb_pipeline.windows import HOUR, Window

NOON = datetime(2026, 7, 9, 12, tzinfo=UTC)


@pytest.mark.slow
@pytest.mark.parametrize("hour", range(24))
@pytest.mark.parametrize(("turns", "hours"), [(240, 24), (72, 8), (2400, 100)])
def test_at_any_time_of_the_day_three_incidents_share_no_hour_and_each_has_turns(
    hour: int, turns: int, hours: int
) -> None:
    traffic = Traffic(turns=turns, hours=hours, end=NOON + timedelta(hours=hour))
    found = incidents_of(traffic)
    assert found.template
    assert found.outage
    assert found.budget
    assert found.template.end - found.template.start == 2 * HOUR
    assert found.template.end + APART <= found.outage.start or found.outage.end + APART <= found.template.start
    assert max(found.template.end, found.outage.end) <= found.budget.start
    assert found.budget.end == traffic.end
    counts = {
        window: sum(slot.ts in window for slot in slots(traffic))
        for window in (found.template, found.outage, found.budget)
    }
    assert found.drop
    assert found.empty
    assert max(found.drop.end, found.empty.end) < traffic.window.start
    assert min(counts.values()) >= 3
    assert counts[found.budget] >= LAST_TURNS


@pytest.mark.parametrize(("turns", "hours"), [(240, 7), (59, 24), (1, 1)])
def test_a_short_or_empty_day_is_a_quiet_one(turns: int, hours: int) -> None:
    traffic = Traffic(turns=turns, hours=hours, end=NOON)
    assert incidents_of(traffic) == Incidents()
    assert Incidents().on(traffic) is traffic


def test_the_template_changes_for_the_turns_of_its_hour_alone() -> None:
    quiet = Traffic(end=NOON)
    incidents = incidents_of(quiet)
    assert incidents.template
    hit = {slot.ts for slot in slots(incidents.on(quiet)) if slot.incidents}
    assert hit == {slot.ts for slot in slots(quiet) if slot.ts in incidents.template}
    assert [each.effect for each in incidents.on(quiet).incidents] == [Effect.QUESTION_RENAMED]


def test_a_judge_that_was_away_listens_at_the_same_address_again() -> None:
    with ReferenceJudge() as judge:
        address = judge.base_url
        with judge.away():
            pass
        assert judge.base_url == address


def test_each_incident_is_a_sentence() -> None:
    hour = Window(NOON, NOON + HOUR)
    counts: dict[str, Any] = {"turns": 9, "unparsed": 8, "judgeable": 7, "graded": 6, "pending": 5}
    advice = {"question_marker": "TANYA:", "context_marker": "HASIL ALAT:", "share": 1.0}
    lines = [
        *incident_lines([IncidentReport(kind="template_change", start=hour.start, advice=advice, **counts)]),
        *incident_lines([IncidentReport(kind="judge_outage", start=hour.start, **counts)]),
        *incident_lines([IncidentReport(kind="budget_spent", start=hour.start, **counts)]),
    ]
    assert [line.partition("  ")[0] for line in lines] == ["12:00 UTC"] * 3
    assert "8 of 9 turns were not parsed" in lines[0]
    assert "'TANYA:', which fits 100.0% of them" in lines[0]
    assert "6 of 7 turns were graded after it came back" in lines[1]
    assert "of 7 turns since then 5 wait until midnight UTC" in lines[2]
