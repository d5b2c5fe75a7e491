"""Windows as frames."""

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.frames import quality_frame
from kb_pipeline.windows import HOUR, Window
from kb_pipeline_tests.builders import REFUSAL, Upstream, closed_hour, response_body, street
from kb_pipeline_tests.judges import WatchedJudge


def test_a_frame_has_a_row_per_window_and_means_that_are_missing_where_no_score_is(database: Database) -> None:
    upstream = Upstream(database)
    upstream.turns(3, closed_hour(2))
    upstream.turn("refusal", closed_hour(1).start, response=response_body(REFUSAL))
    with WatchedJudge() as judge, street(database, judge_base_url=judge.url) as grading:
        grading.grade()
    frame = quality_frame(database, Window(closed_hour(2).start, closed_hour(1).end))
    assert list(frame["hour"]) == [closed_hour(2).start, closed_hour(1).start]
    assert list(frame["turns"]) == [3, 1]
    assert frame["mean_faithfulness"][0] == pytest.approx(1.0)
    assert frame["mean_faithfulness"].isna().tolist() == [False, True]
    assert frame["mean_faithfulness"].mean() == pytest.approx(1.0)


def test_a_time_without_traffic_is_an_empty_frame_with_the_same_columns(database: Database) -> None:
    frame = quality_frame(database, Window(closed_hour().start, closed_hour().start + HOUR))
    assert frame.empty
    assert {"hour", "turns", "mean_faithfulness"} <= set(frame.columns)
