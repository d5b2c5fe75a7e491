"""What a comparison means for whoever wants to change the judge, in one plain sentence.

Belongs here: the rule and its words. Does not: figures.
"""

from dataclasses import dataclass
from enum import StrEnum

from kb_pipeline.counting import counted
from kb_pipeline.grading.comparison.figures import AspectFigures, Comparison

# As many as the corrected mean of the calibration asks for.
ENOUGH = 30
# A shift that moves no threshold given with two decimals by more than two of its last steps.
MATERIAL = 0.02
# "Moderate" ends here on the scale of Landis and Koch (1977).
SUBSTANTIAL = 0.60


class Finding(StrEnum):
    """What a comparison has found."""

    TOO_FEW = "too_few"
    SHIFTED = "shifted"
    SAME = "same"
    SAME_ON_AVERAGE = "same_on_average"
    UNDECIDED = "undecided"


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """A finding and the sentence that tells it with its numbers."""

    finding: Finding
    sentence: str


def verdict(comparison: Comparison) -> Verdict:
    """The verdict on faithfulness, whose mean and thresholds raise alarms.

    Too few below 30 turns. Shifted where the interval of the mean shift leaves out 0 and reaches beyond .02; the same
    where it lies within ±.02, of single turns too if kappa at the warning threshold is at least .60 (or both versions
    put every turn on one side); else undecided.
    """
    figures = comparison.aspects[0]
    shift, n = figures.shift, figures.n
    if shift is None or n < ENOUGH:
        few = f"no difference shown; n={n:,} is too few: rejudge at least {ENOUGH} turns"
        return Verdict(finding=Finding.TOO_FEW, sentence=few)
    moved = f"{shift.value:+.3f} [{shift.low:+.3f}, {shift.high:+.3f}]"
    if shift.low > -MATERIAL and shift.high < MATERIAL:
        return _same(figures, moved)
    if shift.low > 0 or shift.high < 0:
        return Verdict(
            finding=Finding.SHIFTED,
            sentence=f"mean faithfulness shifts by {moved}, n={n:,}: set thresholds anew before switching",
        )
    most = max(-shift.low, shift.high)
    return Verdict(
        finding=Finding.UNDECIDED,
        sentence=(
            f"no difference shown, mean faithfulness moves by {moved}; n={n:,} leaves room for a shift of {most:.3f}: "
            "rejudge more turns before switching"
        ),
    )


def _same(figures: AspectFigures, moved: str) -> Verdict:
    warning = figures.thresholds[0]
    means = f"mean faithfulness stays within {MATERIAL} ({moved}, n={figures.n:,})"
    if warning.kappa is None or warning.kappa >= SUBSTANTIAL:
        return Verdict(finding=Finding.SAME, sentence=f"{means}: thresholds can stay")
    return Verdict(
        finding=Finding.SAME_ON_AVERAGE,
        sentence=(
            f"{means}, but the two disagree on single turns (kappa {warning.kappa:.2f} at {warning.threshold}): "
            f"{counted(warning.fell + warning.rose, 'turn changes sides', 'turns change sides')}; look at the largest "
            "differences before switching"
        ),
    )
