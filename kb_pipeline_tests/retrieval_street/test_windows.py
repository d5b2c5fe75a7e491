"""Hourly windows: what they count, and that they follow their events whatever order these arrive in."""

import json
import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.retrieval.windows import PostgresRetrievalWindows
from kb_pipeline.windows import HOUR, Window, hour_of
from kb_pipeline_tests.builders import table

pytestmark = pytest.mark.postgres

HOUR_OF = hour_of(datetime(2026, 3, 4, 10, tzinfo=UTC))
ORG, SPECIALIST, OTHER_ORG = (UUID(int=number) for number in (1, 2, 3))
LATENCY_BOUNDS = (5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000)


def hits(*scores: Any) -> list[dict[str, Any]]:
    return [{"doc_id": f"d{rank}", "rank": rank, "score": score} for rank, score in enumerate(scores, 1)]


def record(database: Database, minute: float = 1, retrieved: Sequence[Any] = (), **changes: Any) -> UUID:
    """One event of the hour; `minute` may lie outside it."""
    event_id = uuid4()
    row = {
        "id": event_id,
        "org_id": ORG,
        "specialist_id": SPECIALIST,
        "conversation_id": uuid4(),
        "engine": "hybrid",
        "query": "Berapa lama izin keluar?",
        "top_k": 5,
        "result_count": len(retrieved),
        "occurred_at": HOUR_OF.start + timedelta(minutes=minute),
        "retrieved": json.dumps(list(retrieved)),
        **changes,
    }
    names, marks = ", ".join(row), ", ".join(["%s"] * len(row))
    with database.connect() as connection:
        connection.execute(f"INSERT INTO kb_retrieval_event ({names}) VALUES ({marks})".encode(), list(row.values()))
    return event_id


def windows(database: Database) -> list[dict[str, Any]]:
    rows = table(database, "SELECT to_jsonb(w) FROM kb_retrieval_window AS w ORDER BY hour, org_id, engine")
    return [row for (row,) in rows]


def histogram(size: int, *bins: int) -> list[int]:
    """Counts with one in each of the bins, which count from 1."""
    return [bins.count(number) for number in range(1, size + 1)]


@pytest.fixture
def book(database: Database) -> PostgresRetrievalWindows:
    return PostgresRetrievalWindows(database)


def test_a_window_counts_the_retrievals_of_its_hour_tenant_and_engine(
    database: Database, book: PostgresRetrievalWindows
) -> None:
    record(database, 0, hits(0.9, 0.4), latency_ms=12, message_id=uuid4())
    record(database, 59.9, latency_ms=300, degraded=True)
    record(database, 5, hits(0.2), shadow=True, latency_ms=1)
    record(database, 5, hits(0.5), engine="keyword")
    record(database, 5, hits(0.5), org_id=OTHER_ORG)
    record(database, 60)
    record(database, -0.01)
    assert book.aggregate(HOUR_OF) == 3
    ours, keyword, theirs = windows(database)
    assert (keyword["engine"], theirs["org_id"]) == ("keyword", str(OTHER_ORG))
    assert {name: ours[name] for name in ("retrievals", "shadows", "empty", "degraded", "with_message")} == {
        "retrievals": 2,
        "shadows": 1,
        "empty": 1,
        "degraded": 1,
        "with_message": 1,
    }
    assert (ours["result_count_sum"], ours["latency_n"], ours["latency_sum"]) == (2, 2, 312)
    assert (ours["top_score_n"], ours["top_score_sum"]) == (1, 0.9)


def test_the_top_score_is_the_best_finite_one_whatever_its_rank(
    database: Database, book: PostgresRetrievalWindows
) -> None:
    for retrieved in (
        hits(0.2, 0.7, 0.5),
        hits(None, 0.1),
        hits(None, "0.9", True),
        [1, "text", None, {"score": 0.3}],
    ):
        record(database, 1, retrieved)
    with database.connect() as connection:
        connection.execute(
            "UPDATE kb_retrieval_event SET retrieved = retrieved || '[{\"score\": 1e999}]', result_count = 9"
        )
    book.aggregate(HOUR_OF)
    (window,) = windows(database)
    assert window["top_score_n"] == 3
    assert window["top_score_sum"] == pytest.approx(0.7 + 0.1 + 0.3)


SCORES = {
    -0.001: 1, 0: 2, 0.0499: 2, 0.05: 3, 0.15: 5, 0.35: 9, 0.949: 20, 0.95: 21, 1: 21, 1.001: 22, 17.2: 22
}  # fmt: skip


def test_a_score_counts_in_its_twentieth(database: Database, book: PostgresRetrievalWindows) -> None:
    for score in SCORES:
        record(database, 1, hits(score), engine=str(score))
    book.aggregate(HOUR_OF)
    found = {window["engine"]: window["top_score_hist"] for window in windows(database)}
    assert found == {str(score): histogram(22, place) for score, place in SCORES.items()}


def test_a_latency_counts_up_to_and_including_its_bound(database: Database, book: PostgresRetrievalWindows) -> None:
    for bound in LATENCY_BOUNDS:
        record(database, 1, latency_ms=bound)
        record(database, 1, latency_ms=bound + 1)
    record(database, 1, latency_ms=0)
    record(database, 1)
    book.aggregate(HOUR_OF)
    (window,) = windows(database)
    assert window["latency_hist"] == histogram(12, 1, 1, *(place for n in range(1, 11) for place in (n + 1, n + 1)), 12)
    assert window["latency_n"] == 2 * len(LATENCY_BOUNDS) + 1


def test_windows_add_up_to_the_window_of_all_their_events(database: Database, book: PostgresRetrievalWindows) -> None:
    chance = random.Random(11)
    for _ in range(60):
        scores = [round(chance.uniform(-0.2, 1.2), 3) for _ in range(chance.randrange(4))]
        record(database, chance.randrange(180), hits(*scores), latency_ms=chance.randrange(20_000))
    book.aggregate(Window(HOUR_OF.start, HOUR_OF.start + 3 * HOUR))
    parts = windows(database)
    assert len(parts) == 3
    table(database, "UPDATE kb_retrieval_event SET occurred_at = %s RETURNING 1", HOUR_OF.start)
    book.aggregate(Window(HOUR_OF.start, HOUR_OF.start + 3 * HOUR))
    (whole,) = windows(database)
    for name in ("retrievals", "empty", "result_count_sum", "top_score_n", "latency_n", "latency_sum"):
        assert sum(part[name] for part in parts) == whole[name]
    assert sum(part["top_score_sum"] for part in parts) == pytest.approx(whole["top_score_sum"])
    for name in ("top_score_hist", "latency_hist"):
        assert [sum(counts) for counts in zip(*(part[name] for part in parts), strict=True)] == whole[name]


def test_an_hour_aggregated_again_touches_no_row(database: Database, book: PostgresRetrievalWindows) -> None:
    record(database, 1, hits(0.3), latency_ms=4)
    record(database, 2, hits(0.1, 0.7), latency_ms=40)
    assert book.aggregate(HOUR_OF) == 1
    before = table(database, "SELECT xmin::text, w.* FROM kb_retrieval_window AS w")
    assert book.aggregate(HOUR_OF) == 0
    assert table(database, "SELECT xmin::text, w.* FROM kb_retrieval_window AS w") == before


def test_a_late_event_changes_its_window_and_a_deleted_one_takes_it_along(
    database: Database, book: PostgresRetrievalWindows
) -> None:
    record(database, 1)
    book.aggregate(HOUR_OF)
    record(database, 1)
    assert book.aggregate(HOUR_OF) == 1
    assert windows(database)[0]["retrievals"] == 2
    table(database, "DELETE FROM kb_retrieval_event RETURNING 1")
    assert book.aggregate(HOUR_OF) == 1
    assert windows(database) == []


COUNTS = (
    "retrievals", "shadows", "empty", "degraded", "with_message", "result_count_sum", "top_score_n", "latency_n",
    "latency_sum",
)  # fmt: skip


def days(database: Database) -> list[dict[str, Any]]:
    rows = table(database, "SELECT to_jsonb(d) FROM kb_retrieval_day AS d ORDER BY day, org_id, engine")
    return [row for (row,) in rows]


def is_the_sum(day: dict[str, Any], hours: list[dict[str, Any]]) -> bool:
    """Whether the day holds what its hours do, bin by bin."""
    mine = [hour for hour in hours if hour["hour"][:10] == day["day"]]
    mine = [hour for hour in mine if all(hour[key] == day[key] for key in ("org_id", "specialist_id", "engine"))]
    columns = [[hour[name] for hour in mine] for name in ("top_score_hist", "latency_hist")]
    sums = [[sum(bins) for bins in zip(*column, strict=True)] for column in columns]
    return (
        bool(mine)
        and all(day[name] == sum(hour[name] for hour in mine) for name in COUNTS)
        and [day["top_score_hist"], day["latency_hist"]] == sums
        and day["top_score_sum"] == pytest.approx(sum(hour["top_score_sum"] for hour in mine), rel=1e-12)
    )


def test_a_day_is_the_sum_of_its_utc_hours_and_follows_when_they_change(
    database: Database, book: PostgresRetrievalWindows
) -> None:
    random_ = random.Random(5)
    midnight = HOUR_OF.start.replace(hour=0)
    whole = Window(midnight - 2 * HOUR, midnight + 26 * HOUR)
    for _ in range(120):
        at = random_.uniform(0, 28 * 60) - 120
        minute = at - 10 * 60
        found = hits(*(random_.uniform(-0.2, 1.2) for _ in range(random_.randint(0, 3))))
        org = random_.choice((ORG, OTHER_ORG))
        record(
            database, minute, found, org_id=org, latency_ms=random_.randint(0, 12_000), shadow=random_.random() < 0.1
        )
    book.aggregate(whole)
    assert len(days(database)) == 6
    assert all(is_the_sum(day, windows(database)) for day in days(database))
    table(database, "DELETE FROM kb_retrieval_event WHERE org_id = %s RETURNING 1", OTHER_ORG)
    book.aggregate(whole)
    assert {day["org_id"] for day in days(database)} == {str(ORG)}
    assert all(is_the_sum(day, windows(database)) for day in days(database))


def test_hours_of_one_day_that_are_added_up_at_the_same_time_lose_nothing(
    database: Database, book: PostgresRetrievalWindows
) -> None:
    midnight = HOUR_OF.start.replace(hour=0)
    for hour in range(24):
        record(database, (hour - 10) * 60 + 1, hits(0.5), latency_ms=7)
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda hour: book.aggregate(hour_of(midnight + hour * HOUR)), range(24)))
    assert [day["retrievals"] for day in days(database)] == [24]
