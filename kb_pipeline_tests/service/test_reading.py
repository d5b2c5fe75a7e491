"""What the dashboard says of a period is what the rows of it say, to the ninth digit, in every zone."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.dashboard.filters import QualityFilter
from kb_pipeline.dashboard.periods import DAY, Period, period_between, period_of, zone_of
from kb_pipeline.dashboard.trend import lines
from kb_pipeline.service.reading import QualityReading
from kb_pipeline.settings import Settings
from kb_pipeline.windows import HOUR, Window
from kb_pipeline_tests.service.planting import Planted, plant, some_turns

NOW = datetime(2026, 11, 3, 10, 30, tzinfo=UTC)
EVERYTHING = Window(datetime(2026, 10, 20, tzinfo=UTC), datetime(2026, 11, 3, 10, tzinfo=UTC))
DIRECT = """
SELECT count(*), count(*) FILTER (WHERE judge_status = 'ok'), count(*) FILTER (WHERE judge_status = 'pending'),
  count(*) FILTER (WHERE refused), count(*) FILTER (WHERE had_context), count(*) FILTER (WHERE faithfulness >= 0.7),
  count(*) FILTER (WHERE faithfulness < 0.5), avg(faithfulness::numeric)::float8,
  avg(answer_relevance::numeric)::float8, avg(context_relevance::numeric)::float8, count(faithfulness)
FROM rag_quality
WHERE ts >= %(start)s AND ts < %(end)s
  AND (%(tenant)s::text IS NULL OR tenant = %(tenant)s) AND (%(engine)s::text IS NULL OR engine = %(engine)s)
"""


def reading(database: Database) -> QualityReading:
    return QualityReading(database, Settings())


def direct(database: Database, window: Window, chosen: QualityFilter) -> tuple[Any, ...]:
    bounds = {"start": window.start, "end": window.end, "tenant": chosen.tenant, "engine": chosen.engine}
    with database.connect() as connection:
        return connection.execute(DIRECT, bounds).fetchone() or ()


def summed(database: Database, period: Period, chosen: QualityFilter) -> tuple[Any, ...]:
    tally = reading(database).summary(period, chosen).tally
    means = (tally.faithfulness.mean, tally.answer_relevance.mean, tally.context_relevance.mean)
    counts = (
        tally.turns,
        tally.graded,
        tally.pending,
        tally.refused,
        tally.had_context,
        tally.grounded,
        tally.ungrounded,
    )
    return (*counts, *means, tally.faithfulness.n)


def test_a_summary_is_the_direct_aggregate_of_the_rows(database: Database) -> None:
    plant(database, some_turns(EVERYTHING, 1500))
    filters = [QualityFilter(), QualityFilter(tenant="mobile"), QualityFilter(tenant="portal", engine="hybrid")]
    periods = [
        period_of(name, now=NOW, zone=zone_of(zone))
        for name in ("1h", "24h", "7d", "14d")
        # Berlin's clock went back on 25 October, New York's on 1 November; Kolkata is off the full hour.
        for zone in ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Asia/Jakarta")
    ]
    periods += [
        period_between(date(2026, 10, 25), date(2026, 10, 25), now=NOW, zone=zone_of("Europe/Berlin")),
        period_between(date(2026, 10, 24), date(2026, 11, 1), now=NOW, zone=zone_of("America/New_York")),
    ]
    for period in periods:
        for chosen in filters:
            expected = direct(database, period.window, chosen)
            assert summed(database, period, chosen) == pytest.approx(expected, abs=1e-9), (period, chosen)


def test_the_last_point_of_a_trend_is_the_verdicts_number_and_each_point_the_24_hours_before_it(
    database: Database,
) -> None:
    plant(database, [turn for turn in some_turns(EVERYTHING, 1500) if turn.version != ("judge-a", "p2")])
    chosen, read = QualityFilter(tenant="portal"), reading(database)
    newest = read.last_day(period_of("24h", now=NOW, zone=zone_of("UTC")).window.end, chosen)
    for name in ("24h", "7d"):
        period = period_of(name, now=NOW, zone=zone_of("Asia/Jakarta"))
        trend = read.trend(period, chosen)
        assert trend[-1] == read.now(read.summary(period, chosen), now=NOW).last
        for point in trend:
            expected = direct(database, Window(point.at - DAY, point.at), chosen)
            assert point.scores["faithfulness"].mean == pytest.approx(expected[7], abs=1e-9)
            assert point.turns == expected[0]
    long = read.trend(period_of("90d", now=NOW, zone=zone_of("UTC")), chosen)
    assert long[-1] == newest
    at = next(point for point in long if point.at == datetime(2026, 11, 1, tzinfo=UTC))
    assert at.scores["faithfulness"].mean == pytest.approx(
        direct(database, Window(at.at - DAY, at.at), chosen)[7], abs=1e-9
    )


def test_a_gap_is_not_bridged_and_a_new_judge_version_starts_a_line(database: Database) -> None:
    start = datetime(2026, 11, 1, tzinfo=UTC)

    def turn(hour: int, status: str, version: tuple[str, str]) -> Planted:
        scores = (0.8, 0.9, 0.7) if status == "ok" else (None, None, None)
        ts = start + HOUR * hour
        return Planted(event_id=f"{hour:03d}-{status}", ts=ts, scores=scores, status=status, version=version)

    one, two = ("judge-a", "p1"), ("judge-b", "p1")
    turns = [turn(hour, "ok", one if hour < 30 else two) for hour in range(54)]
    turns += [turn(hour, "error", two) for hour in range(36, 54)]
    plant(database, turns)
    period = period_of("58h", now=NOW, zone=zone_of("UTC"))
    trend = reading(database).trend(period, QualityFilter(), HOUR)
    runs = lines(trend, "faithfulness")
    assert [run[0].version for run in runs] == [one, two]
    assert {point.version for point in runs[0]} == {one}
    withheld = [point for point in trend if point.is_withheld]
    assert withheld
    assert not {point.at for point in withheld} & {point.at for run in runs for point in run}


@pytest.mark.parametrize(
    ("settings", "reason"),
    [({"enabled": False}, "switched off"), ({"enabled": True}, "no audited call was read")],
)
def test_an_empty_database_has_no_score_and_says_why(database: Database, settings: dict[str, Any], reason: str) -> None:
    read = QualityReading(database, Settings.model_validate({"rag_quality": settings}))
    found = read.summary(period_of("7d", now=NOW, zone=zone_of("UTC")), QualityFilter())
    now = read.now(found, now=NOW)
    assert found.tally.faithfulness.mean is None
    assert now.emptiness is not None
    assert reason in now.emptiness.sentence


def test_the_state_of_an_alert_decides_where_there_are_alerts(
    database: Database, new_database: Callable[[str], Database]
) -> None:
    del new_database
    end = datetime(2026, 11, 3, 11, tzinfo=UTC)
    turns = [
        Planted(event_id=f"t{number}", ts=end - HOUR * 2 * (1 + number % 10), scores=(0.9, 0.9, 0.9))
        for number in range(60)
    ]
    plant(database, turns)
    with database.connect() as connection:
        connection.execute(
            "INSERT INTO kb_alert_state (fingerprint, rule, metric, subject, status, severity, since, sentence,"
            " reading, memory, before, version)"
            " VALUES ('f', 'rag_low_faithfulness', 'm', '{prod,portal,public,rag}', 'firing',"
            " 'warning', now(), 'It was low.', '{}', '{}', '{}', 1)"
        )
    read, period = reading(database), period_of("7d", now=NOW, zone=zone_of("UTC"))
    found = {
        engine: read.now(read.summary(period, QualityFilter(engine=engine)), now=NOW).verdict.sentence
        for engine in ("rag", "hybrid", None)
    }
    below = "Quality is below the warning line."
    assert found == {"rag": below, "hybrid": "Too few graded answers for a verdict.", None: below}
