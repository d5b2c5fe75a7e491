"""Examine the calls of a window that were not examined yet.

Belongs here: the loop load → decide → save. Does not: the decision (grading/examination.py), SQL.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from kb_pipeline.grading.examination import ExaminationRules, examine
from kb_pipeline.ports import AuditTrail, Ledger
from kb_pipeline.records import Examination, StepReport, Verdict
from kb_pipeline.windows import Window

CHUNK = 500
BATCH_CHARS = 8_000_000


def collect(
    window: Window,
    *,
    trail: AuditTrail,
    ledger: Ledger,
    rules: ExaminationRules,
    chunk: int = CHUNK,
    on_progress: Callable[[int], None] | None = None,
) -> StepReport:
    """Examine and keep every new call of the window, a chunk at a time.

    The report counts `examined`, one entry per verdict and `parse_status/…` per status of the synthesis calls.
    `on_progress` hears how many more calls were examined.
    """
    counts: Counter[str] = Counter()
    for examinations in examined(window, trail=trail, rules=rules, chunk=chunk):
        ledger.save(examinations)
        counts.update(_tally(examinations))
        if on_progress:
            on_progress(len(examinations))
    verdicts = {str(verdict): counts[str(verdict)] for verdict in Verdict}
    return StepReport(counts={"examined": sum(verdicts.values()), **verdicts, **counts})


def examined(
    window: Window, *, trail: AuditTrail, rules: ExaminationRules, chunk: int = CHUNK
) -> Iterator[Sequence[Examination]]:
    """The examinations of the window's new calls in chunks, nothing kept."""
    with trail.unexamined(window, chunk=chunk) as chunks:
        for pairs in chunks:
            yield from _bounded(examine(call, body, rules) for call, body in pairs)


def _bounded(examinations: Iterable[Examination]) -> Iterator[list[Examination]]:
    """Cut a chunk where its decompressed text grows large: small bodies may hold much text."""
    batch: list[Examination] = []
    chars = 0
    for examination in examinations:
        batch.append(examination)
        chars += len(examination.triad.context) if examination.triad else 0
        if chars >= BATCH_CHARS:
            yield batch
            batch, chars = [], 0
    if batch:
        yield batch


def _tally(examinations: Sequence[Examination]) -> Iterator[str]:
    for examination in examinations:
        yield str(examination.verdict)
        if examination.verdict is Verdict.SYNTHESIS:
            yield f"parse_status/{examination.parse_status}"
