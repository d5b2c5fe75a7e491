"""The read service of retrieval: sums over any period, read from hours and whole days, are those of the hours."""

import json
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID

import pytest

from kb_pipeline.adapters.clock import SystemClock
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.dashboard.filters import RetrievalFilter
from kb_pipeline.dashboard.periods import Period, period_between, period_of, zone_of
from kb_pipeline.dashboard.retrieval_words import ALL, LATENCY_BINS, SCORE_BINS, EngineHealth
from kb_pipeline.service.remembering import Memory
from kb_pipeline.service.retrieval_reading import RetrievalReading
from kb_pipeline.settings import Settings
from kb_pipeline.windows import HOUR
from kb_pipeline_tests.builders import table

pytestmark = pytest.mark.postgres

NOW = datetime(2026, 4, 9, 13, 20, tzinfo=UTC)
DAYS = 70
ORGS = (UUID(int=1), UUID(int=2))
SPECIALIST = UUID(int=9)
INSERT = (
    "INSERT INTO kb_retrieval_window (hour, org_id, specialist_id, engine, retrievals, empty, top_score_hist,"
    " latency_hist, newest_event_at) SELECT hour, org_id, specialist_id, engine, retrievals, empty, top_score_hist,"
    " latency_hist, now() FROM jsonb_to_recordset(%s) AS r(hour timestamptz, org_id uuid, specialist_id uuid,"
    " engine text, retrievals int, empty int, top_score_hist int[], latency_hist int[])"
)


def plant(database: Database, random: Random) -> list[dict[str, Any]]:
    """Hours of two tenants and two engines over more than two months, with the days that they add up to."""
    rows = []
    for number in range(DAYS * 24):
        if random.random() < 0.6:
            continue
        retrievals = random.randint(1, 40)
        rows.append(
            {
                "hour": (NOW.replace(minute=0) - number * HOUR).isoformat(),
                "org_id": str(random.choice(ORGS)),
                "specialist_id": str(SPECIALIST),
                "engine": random.choice(("hybrid", "keyword")),
                "retrievals": retrievals,
                "empty": random.randint(0, retrievals),
                "top_score_hist": [random.randint(0, 9) for _ in range(SCORE_BINS)],
                "latency_hist": [random.randint(0, 9) for _ in range(LATENCY_BINS)],
            }
        )
    with database.connect() as connection:
        connection.execute(INSERT, (json.dumps(rows),))
        connection.execute(
            "SELECT kb_add_up_retrieval_day(day) FROM (SELECT DISTINCT date_trunc('day', hour, 'UTC') AS day"
            " FROM kb_retrieval_window) AS days"
        )
    return rows


def direct(
    rows: list[dict[str, Any]], period: Period, chosen: RetrievalFilter
) -> dict[str, tuple[int, int, list[int], int]]:
    """Retrievals, empty ones, score bins and latencies of each engine, straight from the hours."""
    found: dict[str, tuple[int, int, list[int], int]] = {}
    for row in rows:
        inside = period.window.start <= datetime.fromisoformat(row["hour"]) < period.window.end
        if (
            not inside
            or (chosen.org and str(chosen.org) != row["org_id"])
            or chosen.engine not in {None, row["engine"]}
        ):
            continue
        for name in (ALL, row["engine"]):
            served, empty, scores, latencies = found.get(name, (0, 0, [0] * SCORE_BINS, 0))
            scores = [a + b for a, b in zip(scores, row["top_score_hist"], strict=True)]
            latencies += sum(row["latency_hist"])
            found[name] = served + row["retrievals"], empty + row["empty"], scores, latencies
    return found


def shown(health: EngineHealth) -> tuple[int, int, list[int], int]:
    return health.found_nothing.whole, health.found_nothing.part, list(health.score_counts), health.latency_n


@pytest.mark.parametrize("zone", ["UTC", "Asia/Jakarta", "America/New_York", "Asia/Kolkata"])
def test_a_summary_of_any_length_is_the_sum_of_its_hours(database: Database, zone: str) -> None:
    rows = plant(database, Random(zone))
    reading = RetrievalReading(database, Settings(), Memory(SystemClock().monotonic, kept_s=-1))
    there = zone_of(zone)
    named = [period_of(name, now=NOW, zone=there) for name in ("24h", "7d", "30d", "45d", "90d")]
    # The clocks of New York change on 8 March 2026.
    spans = [(date(2026, 3, 1), date(2026, 3, 9)), (date(2026, 2, 20), date(2026, 4, 2))]
    between = [period_between(first, last, now=NOW, zone=there) for first, last in spans]
    for period in (*named, *between):
        for chosen in (RetrievalFilter(), RetrievalFilter(org=ORGS[0]), RetrievalFilter(engine="keyword")):
            engines = reading.summary(period, chosen).engines
            assert {each.name: shown(each) for each in engines} == direct(rows, period, chosen)
            assert all(sum(day.whole for day in each.per_day) == each.found_nothing.whole for each in engines)
            assert len(engines[0].per_day) == len(period.days)


def test_filters_offer_the_tenants_of_the_last_90_days_the_busiest_first(database: Database) -> None:
    plant(database, Random(3))
    reading = RetrievalReading(database, Settings(), Memory(SystemClock().monotonic, kept_s=-1))
    orgs, specialists, engines = reading.filter_values(NOW)
    busiest = "SELECT org_id FROM kb_retrieval_window GROUP BY 1, engine ORDER BY sum(retrievals) DESC LIMIT 1"
    assert (set(orgs), specialists, engines) == (set(ORGS), [SPECIALIST], ["hybrid", "keyword"])
    assert [(orgs[0],)] == table(database, busiest)
    assert reading.filter_values(NOW + timedelta(days=200)) == ([], [], [])
