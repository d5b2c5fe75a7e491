"""Lists of turns: the same whichever way they are read, complete over all pages, and never late."""

from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta

import pytest
from psycopg import sql

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.dashboard import turns
from kb_pipeline.adapters.postgres.dashboard.turns import Place, TurnRow, listing, newest_turns, worst_turns
from kb_pipeline.dashboard.filters import QualityFilter
from kb_pipeline.windows import HOUR, Window
from kb_pipeline_tests.builders import table
from kb_pipeline_tests.service.planting import Planted, plant, some_turns

pytestmark = pytest.mark.postgres

WINDOW = Window(datetime(2026, 10, 30, 3, tzinfo=UTC), datetime(2026, 11, 3, 10, tzinfo=UTC))
READERS = {"worst_turns": worst_turns, "newest_turns": newest_turns}
FILTERS = (
    QualityFilter(tenant="rare"), QualityFilter(tenant="portal"), QualityFilter(surface="staff", engine="rag"),
    QualityFilter(tenant="nobody"),
)  # fmt: skip


def planted() -> list[Planted]:
    """Turns of which one in sixty is of a rare tenant, some of them outside the window."""
    around = Window(WINDOW.start - timedelta(days=1), WINDOW.end + timedelta(days=1))
    return [
        replace(turn, tenant="rare", surface="staff") if number % 60 == 0 else turn
        for number, turn in enumerate(some_turns(around, 500, seed=8))
    ]


def place_of(row: TurnRow) -> Place:
    return Place(ts=row.ts, event_id=row.event_id, score=row.faithfulness or 0.0)


def paged(database: Database, name: str, chosen: QualityFilter, size: int) -> list[str]:
    """Every turn of a list, page by page."""
    found: list[TurnRow] = []
    while True:
        after = place_of(found[-1]) if found else None
        page = READERS[name](database, WINDOW, chosen, limit=size, after=after)
        found += page
        if len(page) < size:
            return [row.event_id for row in found]


def listed(everything: list[Planted], name: str, chosen: QualityFilter) -> list[str]:
    """What the list must be, straight from what was planted."""
    wanted = {field: value for field, value in asdict(chosen).items() if value}
    passing = [
        turn for turn in everything
        if WINDOW.start <= turn.ts < WINDOW.end and all(getattr(turn, field) == wanted[field] for field in wanted)
        and (name == "newest_turns" or turn.scores[0] is not None)
    ]  # fmt: skip
    newest = sorted(sorted(passing, key=lambda turn: turn.event_id), key=lambda turn: turn.ts, reverse=True)
    ordered = newest if name == "newest_turns" else sorted(newest, key=lambda turn: turn.scores[0] or 0.0)
    return [turn.event_id for turn in ordered]


def test_a_list_is_the_same_over_its_hours_and_in_the_order_of_an_index(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = planted()
    plant(database, everything)
    for by_hours in (True, False):
        monkeypatch.setattr(turns, "_few_pass", lambda *_, way=by_hours: way)
        for name in READERS:
            for chosen in FILTERS:
                assert paged(database, name, chosen, 7) == listed(everything, name, chosen), (by_hours, name, chosen)


def test_few_turns_of_a_long_period_are_read_by_their_hours_alone(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(database, planted())
    ways: list[bool] = []

    def noted(name: str, *, by_hours: bool) -> sql.Composed:
        ways.append(by_hours)
        return listing(name, by_hours=by_hours)

    monkeypatch.setattr(turns, "listing", noted)
    for chosen in (QualityFilter(), QualityFilter(tenant="portal"), QualityFilter(tenant="rare")):
        worst_turns(database, WINDOW, chosen, limit=6)
    assert ways == [False, False, True]


def test_a_turn_whose_window_lags_behind_is_in_the_list(database: Database) -> None:
    plant(database, planted())
    at = WINDOW.end - 5 * HOUR
    late = Planted(event_id="late", ts=at + timedelta(minutes=9), scores=(0.0, 0.0, 0.0), tenant="late")
    plant(database, [late])
    hour = late.ts.replace(minute=0)
    table(database, "DELETE FROM rag_quality_window WHERE tenant = 'late' RETURNING 1")
    table(database, "DELETE FROM rag_quality_day WHERE tenant = 'late' RETURNING 1")
    table(database, "INSERT INTO rag_stale_hour (hour, stage) VALUES (%s, 'aggregate') RETURNING 1", hour)
    found = worst_turns(database, WINDOW, QualityFilter(tenant="late"), limit=6)
    assert [row.event_id for row in found] == ["late"]
