"""kb_empty_result_spike: retrieval finds nothing, much more often than usual.

Belongs here: this rule. Does not: why (kb_gap_task).
"""

from datetime import datetime

from kb_pipeline.alerting.rules.limits import Limits, absent, span_words, thin
from kb_pipeline.alerting.statistics import BASELINE_H, DAY_H, SPANS_H, Past
from kb_pipeline.counting import counted, out_of
from kb_pipeline.records import Finding, Memory, Reading, Severity

MIN_RETRIEVALS = 50
SPIKE_TIMES = 3.0
RECOVERED_TIMES = 1.5


def read(past: Past, memory: Memory, limits: Limits, now: datetime) -> Reading:  # noqa: ARG001 the signature of rules
    """Breach where the lower bound of the empty share is above three times the two weeks before, or the least warning.

    Where a fifth and more is usual, halfway between that and all is the limit: three times may be more than all.

    Good at 1.5 times and below. Where hardly anything was empty before, a third of `empty_share_warn` is the measure,
    and while it fires, what was usual before the fire.
    """
    if not past.count("retrievals", DAY_H):
        return absent("retrieval")
    span = past.shortest("retrievals", MIN_RETRIEVALS)
    if span is None:
        n = past.count("retrievals", SPANS_H[-1])
        return thin(f"{counted(n, 'retrieval')} in {span_words(SPANS_H[-1])}; {MIN_RETRIEVALS} are needed.", n=n)
    usual = _usual(past, span, memory, limits)
    share = past.share("empty", "retrievals", span)
    lower = share.lower(limits.z)
    limit = spike_limit(usual)
    finding = Finding.BREACH if lower > round(limit, 9) else Finding.BETWEEN
    if share.value <= RECOVERED_TIMES * usual:
        finding = Finding.GOOD
    return Reading(
        finding=finding,
        severity=Severity.WARNING if finding is Finding.BREACH else None,
        sentence=(
            f"{out_of(share.k, share.n, 'retrieval')} in {span_words(span)} found nothing ({share.value:.1%}, "
            f"at least {lower:.1%}); above {limit:.1%} is a spike."
        ),
        value=share.value,
        bound=lower,
        threshold=limit,
        n=share.n,
        window_h=span,
        baseline=usual,
    )


def spike_limit(usual: float) -> float:
    """Three times what is usual; where that is much already, halfway from there to everything."""
    return min(SPIKE_TIMES * usual, (1 + usual) / 2)


def _usual(past: Past, span: int, memory: Memory, limits: Limits) -> float:
    if memory.status.is_active and memory.baseline is not None:
        return memory.baseline
    before = past.share("empty", "retrievals", BASELINE_H, before=span)
    least = limits.empty_share_warn / SPIKE_TIMES
    return max(before.value, least) if before.n >= MIN_RETRIEVALS else least
