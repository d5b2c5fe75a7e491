"""rag_low_faithfulness: the mean faithfulness of a window is below the threshold, and that is no chance.

Belongs here: this rule. Does not: hysteresis (machine.py), thresholds (limits.py).
"""

from datetime import datetime

from kb_pipeline.alerting.rules.limits import Limits, absent, span_words, thin
from kb_pipeline.alerting.statistics import DAY_H, SAYS_SOMETHING, SHORT_H, SPANS_H, Mean, Past
from kb_pipeline.counting import counted, form, out_of
from kb_pipeline.records import Finding, Memory, Reading, Severity

# So far above the threshold the mean must be again.
RECOVERED_BY = 0.03
# Of fewer judgeable turns than this a mean says nothing: those not graded may be the bad ones.
LEAST_COVERAGE = 0.80


def read(past: Past, memory: Memory, limits: Limits, now: datetime) -> Reading:  # noqa: ARG001 the signature of rules
    """Breach where the upper Wilson bound of the mean is below `faithfulness_warn`, and the last six hours agree.

    Critical where the bound is below `faithfulness_crit`. Good where the mean is .03 above `faithfulness_warn`. The
    window is the shortest of 1, 3, 7 and 28 days that has `min_graded` scores.
    """
    gap = withheld(past, limits)
    if isinstance(gap, Reading):
        return gap
    span, coverage = gap
    mean = past.mean(span)
    upper = mean.upper(limits.z)
    recent = past.mean(SHORT_H)
    agrees = recent.n < SAYS_SOMETHING or recent.value < limits.faithfulness_warn
    finding, severity = _finding(mean, upper, limits, agrees=agrees)
    return Reading(
        finding=finding,
        severity=severity,
        sentence=_sentence(mean, upper, span, limits),
        value=mean.value,
        bound=upper,
        threshold=limits.faithfulness_crit if severity is Severity.CRITICAL else limits.faithfulness_warn,
        n=mean.n,
        window_h=span,
        coverage=coverage,
    )


def withheld(past: Past, limits: Limits) -> Reading | tuple[int, float]:
    """The window in hours and its coverage, or the reading that says why there is nothing to average."""
    if not past.count("turns", DAY_H):
        return absent("turn")
    longest = SPANS_H[-1]
    span = past.shortest("scored", limits.min_graded)
    if span is None:
        n = past.count("scored", longest)
        have = counted(n, "turn has", "turns have")
        sentence = f"{have} a faithfulness score in {span_words(longest)}; {limits.min_graded:,} are needed."
        return thin(sentence, n=n, window_h=longest)
    graded = past.share("graded", "judgeable", span)
    if graded.value < LEAST_COVERAGE:
        sentence = (
            f"{out_of(graded.k, graded.n, 'judgeable turn')} of {span_words(span)} {form(graded.k, 'is', 'are')} "
            f"graded; below {LEAST_COVERAGE:.0%} their mean is withheld."
        )
        return thin(sentence, n=past.count("scored", span), window_h=span, coverage=graded.value)
    return span, graded.value


def _finding(mean: Mean, upper: float, limits: Limits, *, agrees: bool) -> tuple[Finding, Severity | None]:
    if upper < limits.faithfulness_warn and agrees:
        return Finding.BREACH, Severity.CRITICAL if upper < limits.faithfulness_crit else Severity.WARNING
    if mean.value >= round(limits.faithfulness_warn + RECOVERED_BY, 9):
        return Finding.GOOD, None
    return Finding.BETWEEN, None


def _sentence(mean: Mean, upper: float, span: int, limits: Limits) -> str:
    facts = f"Mean faithfulness is {mean.value:.2f} over {counted(mean.n, 'graded turn')} in {span_words(span)}"
    bound = f" (at most {upper:.2f} by its Wilson bound)" if limits.z else ""
    return f"{facts}{bound}; the threshold is {limits.faithfulness_warn:.2f}."
