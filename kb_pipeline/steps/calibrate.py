"""Calibrate: send labelled triads to a judge and set its scores beside the labels.

Belongs here: the order of a calibration. Does not: formulas (grading/calibration), files, tables on a screen.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from kb_pipeline.errors import KbPipelineError
from kb_pipeline.grading.calibration import Agreement, Labelled, Observation, agreement, read_labelled
from kb_pipeline.grading.judging import idempotency_key, nonce_of
from kb_pipeline.grading.metrics import measure
from kb_pipeline.ports import Clock, Judge
from kb_pipeline.records import Claim, Graded, Judgement, JudgeVersion, StepReport, Ungraded
from kb_pipeline.steps.judge.loop import run_to_end
from kb_pipeline.steps.judge.pacing import Pace, wait_before_retry
from kb_pipeline.support import word_overlap

THRESHOLD = 0.7
MOST_PROBLEMS = 20
_MAX_ATTEMPTS = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Calibration:
    """A judge's agreement with a labelled set; one row per source, language and kind of label.

    `baseline` has the same rows for plain word overlap, on the same triads. Counts: lines, unlabelled, partial (labels
    between 0 and 1, which are left out), unusable (lines with a problem), graded, ungraded, error_<class>, calls,
    prompt_tokens, completion_tokens. `problems` has the first 20 sentences about lines.
    """

    version: JudgeVersion
    threshold: float
    rows: tuple[Agreement, ...]
    baseline: tuple[Agreement, ...]
    counts: StepReport
    problems: tuple[str, ...]


def calibrate(
    lines: Iterable[str],
    judge: Judge,
    *,
    name: str,
    clock: Clock,
    concurrency: int,
    timeout_s: float,
    refusal_phrases: Sequence[str] = (),
    threshold: float = THRESHOLD,
    seed: int = 0,
    on_progress: Callable[[StepReport], None] | None = None,
) -> Calibration:
    """The agreement of `judge` with the labelled triads in `lines` of JSON, which `name` names in sentences.

    Lines are read as slots free, at most `concurrency` calls are in flight; `timeout_s` is the judge's own limit.
    Raises KbPipelineError when no line is usable or the judge is down.
    """
    study = _Study(
        judge,
        clock=clock,
        concurrency=concurrency,
        timeout_s=timeout_s,
        refusal_phrases=refusal_phrases,
        on_progress=on_progress,
    )
    run_to_end(lambda: study.grade_all(study.usable(lines, name)))
    if not study.graded:
        first = f": {study.problems[0]}" if study.problems else ""
        raise KbPipelineError(f"{name} holds no triad with label_faithful 0 or 1 that could be graded{first}")
    return Calibration(
        version=judge.version,
        threshold=threshold,
        rows=study.rows("score", threshold=threshold, seed=seed),
        baseline=study.rows("overlap", threshold=threshold, seed=seed),
        counts=study.report(),
        problems=tuple(study.problems),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Result:
    """One triad that was judged: the judge's faithfulness, None without one, and its plain word overlap."""

    labelled: Labelled
    score: float | None
    overlap: float

    def observed(self, figure: Literal["score", "overlap"]) -> Observation | None:
        """The observation of a figure; without a score by the judge there is none of either."""
        value = None if self.score is None else getattr(self, figure)
        is_faithful = self.labelled.label == 1
        return None if value is None else Observation(score=value, is_faithful=is_faithful, group=self.labelled.group)


class _Study:
    """The triads graded so far, and what was left out."""

    def __init__(
        self,
        judge: Judge,
        *,
        clock: Clock,
        concurrency: int,
        timeout_s: float,
        refusal_phrases: Sequence[str],
        on_progress: Callable[[StepReport], None] | None,
    ) -> None:
        self._judge, self._clock, self._concurrency = judge, clock, concurrency
        self._refusal_phrases, self._on_progress = refusal_phrases, on_progress
        self._pace = Pace(ceiling=concurrency, timeout_s=timeout_s, now=clock.monotonic())
        self._counts: Counter[str] = Counter()
        self._results: list[_Result] = []
        self.problems: list[str] = []

    @property
    def graded(self) -> int:
        return self._counts["graded"]

    def usable(self, lines: Iterable[str], name: str) -> Iterator[Labelled]:
        """The triads with a whole label; every other line is counted."""
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            self._counts["lines"] += 1
            labelled = read_labelled(line, where=f"{name}:{number}")
            if isinstance(labelled, str):
                self._counts["unusable"] += 1
                self.problems += [labelled] if len(self.problems) < MOST_PROBLEMS else []
            elif labelled.label is None:
                self._counts["unlabelled"] += 1
            elif labelled.label not in {0.0, 1.0}:
                self._counts["partial"] += 1
            else:
                yield labelled

    async def grade_all(self, triads: Iterable[Labelled]) -> None:
        """Grade the triads with at most `concurrency` calls in flight."""
        async with self._judge:
            in_flight: set[asyncio.Task[None]] = set()
            try:
                for labelled in triads:
                    in_flight.add(asyncio.create_task(self._grade(labelled)))
                    if len(in_flight) >= self._concurrency:
                        in_flight = await _less(in_flight, asyncio.FIRST_COMPLETED)
                await _less(in_flight, asyncio.ALL_COMPLETED)
            finally:
                for task in in_flight:
                    task.cancel()

    async def _grade(self, labelled: Labelled) -> None:
        metrics = measure(labelled.triad, refusal_phrases=self._refusal_phrases)
        version = self._judge.version
        event_id = f"calibration-{nonce_of(f'{version.model} {version.prompt_version}', labelled.triad)}"
        claim = Claim(
            event_id=event_id,
            ts=self._clock.now(),
            version=version,
            idempotency_key=event_id,
            calls=0,
            attempts=0,
            triad=labelled.triad,
            metrics=metrics,
        )
        judgement = await self._judgement(claim)
        score = judgement.faithfulness.value if isinstance(judgement, Graded) else None
        self._counts["graded" if score is not None else "ungraded"] += 1
        overlap = word_overlap(labelled.triad.answer, labelled.triad.context)
        self._results.append(_Result(labelled=labelled, score=score, overlap=overlap))
        if self._on_progress is not None:
            self._on_progress(self.report())

    async def _judgement(self, claim: Claim) -> Judgement:
        """The outcome of the claim after the tries that can help; raises when the judge is down."""
        tries = 1
        while True:
            judgement = await self._call(claim)
            if isinstance(judgement, Graded):
                return judgement
            wait = wait_before_retry(claim, judgement, tries=tries, max_attempts=_MAX_ATTEMPTS)
            if wait is None:
                self._counts[f"error_{judgement.error_class}"] += 1
                return judgement
            await asyncio.sleep(wait)
            claim, tries = _next_call(claim, judgement), tries + 1

    async def _call(self, claim: Claim) -> Judgement:
        started_at = self._clock.monotonic()
        judgement = await self._judge.grade(claim)
        now = self._clock.monotonic()
        self._count(judgement)
        if isinstance(judgement, Graded):
            self._pace.succeeded(started_at=started_at, now=now)
            return judgement
        self._pace.failed(judgement.error_class, started_at=started_at, now=now)
        if self._pace.is_suspended(now=now):
            raise KbPipelineError(
                f"the judge gave no scores several times in a row ({judgement.error_class}); "
                "see what `kb-pipeline check` says of it"
            )
        return judgement

    def _count(self, judgement: Judgement) -> None:
        self._counts["calls"] += judgement.usage.calls
        self._counts["prompt_tokens"] += judgement.usage.prompt_tokens or 0
        self._counts["completion_tokens"] += judgement.usage.completion_tokens or 0

    def rows(self, figure: Literal["score", "overlap"], *, threshold: float, seed: int) -> tuple[Agreement, ...]:
        """One row per source, language and kind of label, in their order."""
        grouped: dict[tuple[str, str, str], list[Observation | None]] = defaultdict(list)
        for result in self._results:
            labelled = result.labelled
            grouped[labelled.source, labelled.language, labelled.label_kind].append(result.observed(figure))
        return tuple(
            agreement(
                [observation for observation in observations if observation is not None],
                source=source,
                language=language,
                label_kind=label_kind,
                threshold=threshold,
                ungraded=observations.count(None),
                seed=seed,
            )
            for (source, language, label_kind), observations in sorted(grouped.items())
        )

    def report(self) -> StepReport:
        """The counts so far."""
        return StepReport(counts=dict(self._counts))


def _next_call(claim: Claim, failed: Ungraded) -> Claim:
    """The claim of the call after one that failed."""
    calls = claim.calls + failed.usage.calls
    used_format = failed.usage.response_format or ""
    key = idempotency_key(claim.event_id, calls=calls, version=claim.version, response_format=used_format)
    attempts = claim.attempts + failed.uses_attempt
    return replace(claim, calls=calls, attempts=attempts, idempotency_key=key)


async def _less(tasks: set[asyncio.Task[None]], until: str) -> set[asyncio.Task[None]]:
    """The tasks still running once `until` holds; raises what an ended one raised."""
    if not tasks:
        return tasks
    done, running = await asyncio.wait(tasks, return_when=until)
    for task in done:
        task.result()
    return running
