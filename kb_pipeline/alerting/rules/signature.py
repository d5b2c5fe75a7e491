"""rag_signature_lost: there is traffic, and hardly a call of it is recognised as a turn any more.

Belongs here: this rule: the half of a template change that leaves the parse rate at a happy 100 %. Does not: markers.
"""

from datetime import datetime

from kb_pipeline.alerting.rules.limits import Limits, absent, span_words, thin
from kb_pipeline.alerting.statistics import BASELINE_H, DAY_H, SHARE_CASES, SHORT_H, SPANS_H, Past
from kb_pipeline.counting import form, out_of
from kb_pipeline.records import Finding, Memory, Reading, Severity

LOST_SHARE = 0.25
BACK_SHARE = 0.5
SPANS = (SHORT_H, *SPANS_H[:3])


def read(past: Past, memory: Memory, limits: Limits, now: datetime) -> Reading:  # noqa: ARG001 the signature of rules
    """Breach where the upper bound of the share of recognised calls is below a quarter of the two weeks before.

    The window is the shortest of 6 hours, 1, 3 and 7 days with 20 calls. Good above half. While it fires, what was
    usual before the fire stays the measure.
    """
    if not past.count("read", DAY_H):
        return absent("call")
    span = past.shortest("read", SHARE_CASES, SPANS)
    if span is None:
        return thin(f"Fewer than {SHARE_CASES} calls in {span_words(SPANS[-1])}.", n=past.count("read", SPANS[-1]))
    before = past.share("recognised", "read", BASELINE_H, before=span)
    usual = memory.baseline if memory.status.is_active else before.value if before.n >= SHARE_CASES else None
    share = past.share("recognised", "read", span)
    if not usual:
        return thin("What came before is too little to compare with.", n=share.n, window_h=span)
    finding = Finding.BREACH if share.upper(limits.z) < LOST_SHARE * usual else Finding.BETWEEN
    if share.value > BACK_SHARE * usual:
        finding = Finding.GOOD
    return Reading(
        finding=finding,
        severity=Severity.CRITICAL if finding is Finding.BREACH else None,
        sentence=(
            f"{out_of(share.k, share.n, 'call')} in {span_words(span)} {form(share.k, 'is', 'are')} recognised as "
            f"turns ({share.value:.0%}); {usual:.0%} is usual."
        ),
        value=share.value,
        bound=share.upper(limits.z),
        threshold=LOST_SHARE * usual,
        n=share.n,
        window_h=span,
        baseline=usual,
    )
