"""Earlier windows are rows that the pipeline could have written itself."""

from datetime import UTC, datetime

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.demo.earlier import plant_earlier_windows
from kb_pipeline.records import JudgeVersion

UNTIL = datetime(2026, 7, 9, 5, 20, tzinfo=UTC)
VERSION = JudgeVersion(model="reference-judge", prompt_version="p1")
ASPECTS = ("faithfulness", "answer_relevance", "context_relevance")


def rows(database: Database, statement: str) -> list[tuple[object, ...]]:
    with database.connect() as connection:
        return connection.execute(statement.encode()).fetchall()


def test_two_weeks_of_hours_end_where_the_demo_begins(database: Database) -> None:
    assert plant_earlier_windows(database, until=UNTIL, version=VERSION) == 14 * 24
    spans = rows(database, "SELECT min(hour), max(hour), count(DISTINCT hour) FROM rag_call_window")
    assert spans == [(datetime(2026, 6, 25, 5, tzinfo=UTC), datetime(2026, 7, 9, 4, tzinfo=UTC), 336)]
    versions = "SELECT DISTINCT judge_model, prompt_version FROM rag_quality_window WHERE graded > 0"
    assert rows(database, versions) == [("reference-judge", "p1")]


def test_sums_counts_and_histograms_agree(database: Database) -> None:
    plant_earlier_windows(database, until=UNTIL, version=VERSION, days=3)
    for aspect in ASPECTS:
        wrong = rows(
            database,
            f"""
            SELECT count(*) FROM rag_quality_window AS w, LATERAL (
              SELECT sum(n) AS n, sum(n * (i - 1) / 100.0) AS total, sum(n * ((i - 1) / 100.0) ^ 2) AS squares
              FROM unnest(w.{aspect}_hist) WITH ORDINALITY AS bin (n, i)) AS h
            WHERE h.n <> w.{aspect}_n OR w.{aspect}_n > w.graded
               OR abs(h.total - w.{aspect}_sum) > 1e-9 OR abs(h.squares - w.{aspect}_sum_sq) > 1e-9
            """,
        )
        assert wrong == [(0,)]


def test_a_day_is_the_sum_of_its_hours(database: Database) -> None:
    plant_earlier_windows(database, until=UNTIL, version=VERSION, days=3)
    totals = "sum(turns), sum(graded), round(sum(faithfulness_sum)::numeric, 6), sum(judge_calls)"
    hours = rows(database, f"SELECT {totals} FROM rag_quality_window")
    assert rows(database, f"SELECT {totals} FROM rag_quality_day") == hours
    assert rows(database, "SELECT count(DISTINCT day) FROM rag_quality_day") == [(4,)]


def test_the_ledger_s_windows_count_the_same_turns(database: Database) -> None:
    plant_earlier_windows(database, until=UNTIL, version=VERSION, days=3)
    turns = rows(database, "SELECT sum(turns) FROM rag_quality_window")
    assert turns == rows(database, "SELECT sum(synthesis) FROM rag_call_window")
    odd = "SELECT count(*) FROM rag_call_window WHERE parsed > parse_attempted OR parse_attempted > synthesis"
    assert rows(database, odd) == [(0,)]


def test_the_baseline_is_healthy_and_planting_again_changes_nothing(database: Database) -> None:
    plant_earlier_windows(database, until=UNTIL, version=VERSION)
    everything = "SELECT * FROM rag_quality_window ORDER BY hour, tenant, judge_model"
    before = rows(database, everything)
    mean = rows(database, "SELECT sum(faithfulness_sum) / sum(faithfulness_n) > 0.75 FROM rag_quality_window")
    assert mean == [(True,)]
    plant_earlier_windows(database, until=UNTIL, version=VERSION)
    assert rows(database, everything) == before
