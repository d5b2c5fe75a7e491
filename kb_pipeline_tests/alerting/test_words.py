"""The verdict in words is the alert rule's state, never computed twice."""

from kb_pipeline.alerting.rules.judge import JudgeCondition
from kb_pipeline.alerting.words import QualityLevel, quality_verdict
from kb_pipeline.records import Severity
from kb_pipeline.windows import HOUR
from kb_pipeline_tests.alerting.history import NOON, PUBLIC, Desk, ago, graded, hours_of

NAMED = " / ".join(PUBLIC)


def verdict_after(*scores: float, judge: JudgeCondition | None = None) -> tuple[QualityLevel, str]:
    desk = Desk()
    desk.see(quality={PUBLIC: hours_of([ago(1, graded(scores))])}, judge=judge)
    verdict = quality_verdict(desk.states.values())
    return verdict.level, verdict.sentence


def test_quality_is_good_with_the_numbers_that_say_so() -> None:
    level, sentence = verdict_after(*[0.9] * 40)
    assert level is QualityLevel.GOOD
    assert sentence.startswith(f"Quality is good ({NAMED}): mean faithfulness is 0.90 over 40 graded turns in 24 hours")


def test_quality_is_below_the_line_as_long_as_an_alert_fires_and_then_recovers() -> None:
    desk = Desk()
    desk.see(quality={PUBLIC: hours_of([ago(1, graded([0.3] * 40))])})
    worse = quality_verdict(desk.states.values())
    assert (worse.level, worse.severity) == (QualityLevel.WORSE, Severity.CRITICAL)
    assert worse.sentence.startswith(f"Quality is below the line ({NAMED}): mean faithfulness is 0.30")
    later = NOON + HOUR
    rows = [ago(2, graded([0.3] * 40), end=later), ago(0, graded([0.99] * 900), end=later)]
    desk.see(later, quality={PUBLIC: hours_of(rows, later)})
    assert quality_verdict(desk.states.values()).sentence.startswith(f"Quality is recovering ({NAMED}): ")


def test_quality_is_not_known_for_a_reason_that_is_said() -> None:
    assert quality_verdict([]).sentence == "Quality is not known, because no turn was graded yet."
    assert "3 turns have a faithfulness score" in verdict_after(0.1, 0.1, 0.1)[1]
    assert "by chance" in verdict_after(*[0.65] * 20)[1]
    out = verdict_after(*[0.9] * 40, judge=JudgeCondition(outcomes=(False,) * 6))
    assert out[0] is QualityLevel.UNKNOWN
    assert "the judge gives no scores" in out[1]
