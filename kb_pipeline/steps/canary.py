"""Ask the canary: the judge grades three turns of our own, and its verdicts are held against the known ones.

Belongs here: the order of that. Does not: the turns and their verdicts (grading/canary), schedules, tables.
"""

from kb_pipeline.grading.canary import CANARY_TURNS, CanaryReport, canary_verdict
from kb_pipeline.ports import Clock, Judge
from kb_pipeline.steps.trial import Trial, ask


def ask_canary(judge: Judge, clock: Clock) -> CanaryReport:
    """Ask `judge` about the three turns and hold its verdicts against the known ones."""
    asked_at = clock.now()
    judgements = ask([Trial(name=f"canary-{turn.name}", triad=turn.triad) for turn in CANARY_TURNS], judge, clock)
    verdict = canary_verdict(list(zip(CANARY_TURNS, judgements, strict=True)))
    return CanaryReport(
        version=judge.version,
        asked_at=asked_at,
        healthy=verdict.healthy,
        asked=verdict.asked,
        right_verdicts=verdict.right_verdicts,
        failures=verdict.failures,
    )
