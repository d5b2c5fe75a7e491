"""Attack: ask a judge about turns with planted orders, and about the same turns without, and set them side by side.

Belongs here: the order of the bench. Does not: attacks and their scoring (grading/attacks), tables on a screen.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kb_pipeline.errors import KbPipelineError
from kb_pipeline.grading.attacks import ATTACKS, Attack, Attacked, AttackScore, attacked_turn, clean_turn, score_attacks
from kb_pipeline.ports import Clock, Judge
from kb_pipeline.records import Graded, Judgement, JudgeVersion, StepReport
from kb_pipeline.steps.trial import Trial, ask
from kb_pipeline.support import Language


@dataclass(frozen=True, kw_only=True, slots=True)
class AttackReport:
    """What the attacks achieved against one judge. Counts: attacked, graded, ungraded, error_<class>, calls, tokens."""

    version: JudgeVersion
    score: AttackScore
    counts: StepReport


def attack(
    judge: Judge, clock: Clock, *, attacks: Sequence[Attack] = ATTACKS, on_progress: Callable[[int], None] | None = None
) -> AttackReport:
    """What `attacks` achieve against `judge`; their turns are asked of it alone and never published.

    Raises KbPipelineError when it does not grade the turns without attacks, to which all others are compared.
    """
    kinds = [(language, is_supported) for language in Language for is_supported in (True, False)]
    clean_trials = [
        Trial(name=f"attack-clean-{place}", triad=clean_turn(language, is_supported=is_supported))
        for place, (language, is_supported) in enumerate(kinds)
    ]
    clean = dict(zip(kinds, ask(clean_trials, judge, clock), strict=True))
    _refuse_ungraded(list(clean.values()))
    trials = [Trial(name=f"attack-{place}", triad=attacked_turn(each)) for place, each in enumerate(attacks)]
    judgements = ask(trials, judge, clock, on_progress=on_progress)
    outcomes = [
        Attacked(attack=each, clean=clean[each.language, not each.raises], judgement=judgement)
        for each, judgement in zip(attacks, judgements, strict=True)
    ]
    return AttackReport(
        version=judge.version, score=score_attacks(outcomes), counts=_counts(judgements, list(clean.values()))
    )


def _refuse_ungraded(clean: Sequence[Judgement]) -> None:
    for judgement in clean:
        if not isinstance(judgement, Graded):
            raise KbPipelineError(
                f"the judge did not grade a turn without an attack ({judgement.error_class}), so there is nothing to "
                "compare with; see what `kb-pipeline check` says of it"
            )


def _counts(judgements: Sequence[Judgement], clean: Sequence[Judgement]) -> StepReport:
    counts = Counter({"attacked": len(judgements), "graded": 0, "ungraded": 0})
    for judgement in judgements:
        if isinstance(judgement, Graded):
            counts["graded"] += 1
        else:
            counts["ungraded"] += 1
            counts[f"error_{judgement.error_class}"] += 1
    for judgement in (*clean, *judgements):
        counts["calls"] += judgement.usage.calls
        counts["tokens"] += (judgement.usage.prompt_tokens or 0) + (judgement.usage.completion_tokens or 0)
    return StepReport(counts=dict(counts))
