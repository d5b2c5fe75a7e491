"""rag_ungrounded_spike: the share of turns below the floor is larger than allowed, in six hours and in the window.

Belongs here: this rule. Does not: the floor, which is counted with the hours.
"""

from datetime import datetime

from kb_pipeline.alerting.rules.faithfulness import withheld
from kb_pipeline.alerting.rules.limits import Limits, span_words
from kb_pipeline.alerting.statistics import SHORT_H, Past
from kb_pipeline.counting import form, out_of
from kb_pipeline.records import Finding, Memory, Reading, Severity

CRITICAL_TIMES = 2.0
RECOVERED_SHARE = 0.8


def read(past: Past, memory: Memory, limits: Limits, now: datetime) -> Reading:  # noqa: ARG001 the signature of rules
    """Breach where the lower Wilson bound of the share is above `ungrounded_share`, over six hours and the window.

    Critical above twice the limit; good at .8 of it and below.
    """
    gap = withheld(past, limits)
    if isinstance(gap, Reading):
        return gap
    span, coverage = gap
    share = past.share("below_floor", "scored", span)
    lower = share.lower(limits.z)
    recent = past.share("below_floor", "scored", SHORT_H)
    agrees = recent.lower(limits.z) > limits.ungrounded_share
    finding, severity = Finding.BETWEEN, None
    if lower > limits.ungrounded_share and agrees:
        is_critical = lower > CRITICAL_TIMES * limits.ungrounded_share
        finding, severity = Finding.BREACH, Severity.CRITICAL if is_critical else Severity.WARNING
    elif share.value <= round(RECOVERED_SHARE * limits.ungrounded_share, 9):
        finding = Finding.GOOD
    return Reading(
        finding=finding,
        severity=severity,
        sentence=(
            f"{out_of(share.k, share.n, 'graded turn')} in {span_words(span)} {form(share.k, 'is', 'are')} below the "
            f"floor of faithfulness ({share.value:.0%}, at least {lower:.0%}); the limit is "
            f"{limits.ungrounded_share:.0%}."
        ),
        value=share.value,
        bound=lower,
        threshold=limits.ungrounded_share,
        n=share.n,
        window_h=span,
        coverage=coverage,
    )
