"""Turns for the tests of the judge: a triad, its metrics, a claim on it."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from kb_pipeline.grading.judging import PROMPT_VERSION
from kb_pipeline.records import Claim, JudgeVersion, Metrics, ParseStatus, Triad
from kb_pipeline.windows import Window

WINDOW = Window(datetime(2026, 3, 1, 9, tzinfo=UTC), datetime(2026, 3, 1, 10, tzinfo=UTC))
VERSION = JudgeVersion(model="judge-7b", prompt_version=PROMPT_VERSION)
TRIAD = Triad(
    parse_status=ParseStatus.OK,
    question="Berapa modal dasar perseroan?",
    context="[RAG-1] (skor 0.82) Modal dasar perseroan paling sedikit Rp50.000.000.",
    answer="Modal dasar perseroan paling sedikit 50 juta rupiah.",
)
METRICS = Metrics(
    had_context=True,
    num_passages=1,
    top_score=0.82,
    mean_score=0.82,
    context_chars=70,
    answer_chars=52,
    refused=False,
    answer_truncated=False,
)


def triad(**changes: Any) -> Triad:
    return replace(TRIAD, **changes)


def metrics(**changes: Any) -> Metrics:
    return replace(METRICS, **changes)


def claim(event_id: str = "event-1", **changes: Any) -> Claim:
    whole = Claim(
        event_id=event_id,
        ts=WINDOW.start,
        version=VERSION,
        idempotency_key=event_id,
        calls=0,
        attempts=0,
        triad=TRIAD,
        metrics=METRICS,
    )
    return replace(whole, **changes)
