"""Coverage of a window."""

from kb_pipeline.grading.aggregates import Coverage


def test_coverage_adds_up_only_when_every_turn_has_one_place() -> None:
    whole = Coverage(seen=6, sampled_out=1, graded=2, ungraded=1, skipped=1, pending=1)
    assert whole.adds_up
    assert not Coverage(seen=7, sampled_out=1, graded=2, ungraded=1, skipped=1, pending=1).adds_up
