"""Earlier windows are rows that the pipeline could have written itself."""

from datetime import UTC, datetime, timedelta

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.demo.earlier import plant_earlier_windows
from kb_pipeline.records import JudgeVersion
from kb_pipeline.windows import Window

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


def test_a_drop_halves_the_support_of_one_tenants_answers_and_of_no_others(database: Database) -> None:
    drop = Window(UNTIL - timedelta(days=1), UNTIL - timedelta(hours=12))
    plant_earlier_windows(database, until=UNTIL, version=VERSION, days=2, drop=drop)
    means = (
        "SELECT tenant, hour >= %s AND hour < %s, sum(faithfulness_sum) / sum(faithfulness_n)"
        " FROM rag_quality_window WHERE judge_model <> '' GROUP BY 1, 2"
    )
    with database.connect() as connection:
        rows = connection.execute(means, (drop.start, drop.end)).fetchall()
    found = {(tenant, is_in): mean for tenant, is_in, mean in rows}
    assert 0.5 <= found["portal", True] <= 0.62
    assert min(found["portal", False], found["mobile", False], found["mobile", True]) > 0.7
