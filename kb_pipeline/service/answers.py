"""The JSON answers of the API on turns and alerts, as OpenAPI describes them, made from what the read service says.

Belongs here: names of fields. Does not: numbers, routes.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Self

from pydantic import BaseModel, Field

from kb_pipeline.adapters.postgres.dashboard.turns import TurnRow
from kb_pipeline.dashboard.periods import Period
from kb_pipeline.dashboard.quality_words import Verdict
from kb_pipeline.dashboard.sums import ASPECTS, Moments, Rate
from kb_pipeline.dashboard.trend import Point
from kb_pipeline.service.listing import opinion_on
from kb_pipeline.service.reading import QualityNow, QualitySummary


class Mean(BaseModel):
    """A mean with its 95 % interval; all null where there is no score."""

    value: float | None
    low: float | None
    high: float | None
    n: int

    @classmethod
    def of(cls, moments: Moments) -> Self:
        """From sums."""
        low, high = moments.interval() or (None, None)
        return cls(value=moments.mean, low=low, high=high, n=moments.n)


class Share(BaseModel):
    """part of whole with its 95 % interval; null where there is no whole."""

    value: float | None
    low: float | None
    high: float | None
    part: int
    whole: int

    @classmethod
    def of(cls, rate: Rate) -> Self:
        """From counts."""
        low, high = rate.interval or (None, None)
        return cls(value=rate.value, low=low, high=high, part=rate.part, whole=rate.whole)


class Span(BaseModel):
    """The period that was looked at, in whole UTC hours."""

    start: datetime
    end: datetime
    zone: str
    rounded: bool = Field(description="Whether the zone is off the full hour, so that its days were rounded to it.")

    @classmethod
    def of(cls, period: Period) -> Self:
        """From a period."""
        window = period.window
        return cls(start=window.start, end=window.end, zone=str(period.zone), rounded=period.is_rounded)


class Sentence(BaseModel):
    """A verdict in words."""

    level: str
    sentence: str
    detail: str

    @classmethod
    def of(cls, verdict: Verdict) -> Self:
        """From a verdict."""
        return cls(level=str(verdict.level), sentence=verdict.sentence, detail=verdict.detail)


class CoverageAnswer(BaseModel):
    """Where every recognised turn is: the parts add up to seen."""

    seen: int
    graded: int
    ungraded: int
    skipped: int
    sampled_out: int
    pending: int
    share: float | None = Field(description="graded / judgeable")


class Cost(BaseModel):
    """What the judge was asked for."""

    calls: int
    prompt_tokens: int
    completion_tokens: int


class VersionAnswer(BaseModel):
    """One judge version: scores of two are not comparable."""

    judge_model: str
    prompt_version: str
    graded: int
    mean_faithfulness: Mean


class Summary(BaseModel):
    """What the turns of a period add up to."""

    period: Span
    count: int = Field(description="published turns")
    graded: int
    ungraded: int
    mean_faithfulness: Mean
    mean_answer_relevance: Mean
    mean_context_relevance: Mean
    grounded_rate: Share
    ungrounded_rate: Share
    refusal_rate: Share
    had_context_rate: Share
    parse_success_rate: Share
    coverage: CoverageAnswer
    judge: Cost
    versions: list[VersionAnswer]
    verdict: Sentence
    trust: Sentence

    @classmethod
    def of(cls, found: QualitySummary, now: QualityNow) -> Self:
        """From what the read service says."""
        tally, calls = found.tally, found.calls
        return cls(
            period=Span.of(found.period),
            count=tally.turns,
            graded=tally.graded,
            ungraded=tally.failures,
            **{f"mean_{aspect}": Mean.of(getattr(tally, aspect)) for aspect in ASPECTS},
            grounded_rate=Share.of(Rate(tally.grounded, tally.faithfulness.n)),
            ungrounded_rate=Share.of(Rate(tally.ungrounded, tally.faithfulness.n)),
            refusal_rate=Share.of(Rate(tally.refused, tally.turns)),
            had_context_rate=Share.of(Rate(tally.had_context, tally.turns)),
            parse_success_rate=Share.of(Rate(calls.parsed, calls.parse_attempted)),
            coverage=_coverage(found),
            judge=Cost(
                calls=tally.judge_calls, prompt_tokens=tally.prompt_tokens, completion_tokens=tally.completion_tokens
            ),
            versions=[
                VersionAnswer(
                    judge_model=model,
                    prompt_version=prompt,
                    graded=each.graded,
                    mean_faithfulness=Mean.of(each.faithfulness),
                )
                for (model, prompt), each in sorted(found.versions.items())
                if model
            ],
            verdict=Sentence.of(now.verdict),
            trust=Sentence.of(now.trust),
        )


def _coverage(found: QualitySummary) -> CoverageAnswer:
    tally = found.tally
    return CoverageAnswer(
        seen=found.seen,
        graded=tally.graded,
        ungraded=tally.failures,
        skipped=tally.skipped,
        sampled_out=found.calls.sampled_out,
        pending=tally.pending,
        share=tally.coverage,
    )


class TrendPoint(BaseModel):
    """What the 24 hours before an instant say; means are null where they are withheld."""

    at: datetime
    judge_model: str
    prompt_version: str
    turns: int
    coverage: float | None
    withheld: bool
    faithfulness: Mean
    answer_relevance: Mean
    context_relevance: Mean
    grounded_rate: Share
    refusal_rate: Share
    had_context_rate: Share

    @classmethod
    def of(cls, point: Point) -> Self:
        """From a point."""
        scores = {name: Moments() if point.is_withheld else point.scores[name] for name in ASPECTS}
        return cls(
            at=point.at,
            judge_model=point.version[0],
            prompt_version=point.version[1],
            turns=point.turns,
            coverage=point.coverage,
            withheld=point.is_withheld,
            **{name: Mean.of(moments) for name, moments in scores.items()},
            **{name: Share.of(rate) for name, rate in point.rates.items()},
        )


class Trend(BaseModel):
    """Points from the oldest to the newest."""

    period: Span
    step_s: int
    points: list[TrendPoint]


class Turn(BaseModel):
    """One published turn: preview, scores, reasons; no text."""

    event_id: str
    ts: datetime
    tenant: str
    surface: str
    engine: str
    question_preview: str | None
    parse_status: str
    judge_status: str = Field(description="ok, or why there are no scores.")
    skip_reason: str | None
    faithfulness: float | None
    answer_relevance: float | None
    context_relevance: float | None
    faithfulness_reason: str | None
    answer_relevance_reason: str | None
    context_relevance_reason: str | None
    support_score: float | None
    disagreement: float | None
    second_opinion: str
    judge_model: str | None
    prompt_version: str | None

    @classmethod
    def of(cls, row: TurnRow, *, warn: float) -> Self:
        """From a row."""
        words = opinion_on(row, warn=warn)
        values = {name: getattr(row, name) for name in cls.model_fields if name != "second_opinion"}
        return cls(**values, second_opinion=f"{words.head}: {words.reason}")


class Turns(BaseModel):
    """Some turns; `next` leads on, null at the end."""

    items: list[Turn]
    next: str | None


class WholeTurn(BaseModel):
    """Everything known of one turn, for auditors; `access_id` is the record of this reading."""

    turn: dict[str, Any]
    scores: list[dict[str, Any]]
    run_id: str | None
    outcome: dict[str, Any] | None
    access_id: int
    opened_at: datetime


class Alert(BaseModel):
    """Where one rule stands with one subject."""

    fingerprint: str
    rule: str
    subject: list[str]
    status: str
    severity: str | None
    since: datetime
    sentence: str
    inhibited_by: str | None
    is_silenced: bool


class AlertChange(BaseModel):
    """One change of an alert's state."""

    transition_id: int
    happened_at: datetime
    fingerprint: str
    rule: str
    from_status: str
    to_status: str
    severity: str | None
    sentence: str


class Alerts(BaseModel):
    """States, and changes from the newest on; `next` leads on, null at the end."""

    counts: dict[str, int] = Field(description="How many of all alerts have each status, listed in states or not.")
    states: list[Alert] = Field(description="The first 500 alerts, those that fire first.")
    history: list[AlertChange]
    next: str | None


class Ready(BaseModel):
    """Whether requests can be answered."""

    status: str


def rows(model: type[BaseModel], found: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Rows as answers, with the columns that the answer has."""
    return [model.model_validate({name: row.get(name) for name in model.model_fields}) for row in found]
