"""The judge beside the experts: its scores of drafts against what experts made of them.

Belongs here: which outcome is which label, the figures of a row, the corrected mean. Does not: reading rows, schedules.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, variance

from kb_pipeline.grading.calibration.agreement import (
    RESAMPLES,
    Observation,
    Statistic,
    auc,
    balanced_accuracy,
    estimates,
    in_order,
    kappa,
    precision,
    recall,
    spearman,
)
from kb_pipeline.records import JudgeVersion, Outcome

GOOD = frozenset({Outcome.ACCEPTED, Outcome.EDITED_LIGHT})
BAD = frozenset({Outcome.EDITED_HEAVY, Outcome.REJECTED})
EVERY_OUTCOME = "expert_outcome"
EVERY_LANGUAGE = "all"
UNKNOWN_LANGUAGE = "unknown"
# Below this many labels the correction is noisier than what it corrects.
ENOUGH_LABELS = 30
_MIN_LABELS = 2
_Z = 1.96


@dataclass(frozen=True, kw_only=True, slots=True)
class ExpertLabel:
    """One graded turn with the outcome of its draft; `score` is its faithfulness, turns of a `group` belong together.

    `language` is that of the question, `unknown` where its text has expired.
    """

    version: JudgeVersion
    surface: str
    score: float
    outcome: Outcome
    language: str
    group: str

    @property
    def is_good(self) -> bool:
        """Whether the expert let stand what the draft asserts."""
        return self.outcome in GOOD


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoreSums:
    """Scores of all graded turns of a surface by one judge version, labelled or not, as sums."""

    version: JudgeVersion
    surface: str
    n: int
    total: float
    total_sq: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """A figure with its 95 % interval over `n` labels; without a value `reason` says why, as a code.

    no_labels, too_few_labels (fewer than 2, for a corrected mean fewer than 30), one_class, same_scores,
    none_at_threshold, no_unlabelled_turns.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    reason: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ExpertAgreement:
    """One row: how the scores of a judge version agree with the labels of a language and kind.

    `figures` are balanced_accuracy, precision, recall, kappa, auc and spearman; the row of all languages and all
    outcomes has corrected_mean too.
    """

    version: JudgeVersion
    language: str
    label_kind: str
    n: int
    positives: int
    threshold: float
    figures: dict[str, Figure]


def expert_agreements(
    labels: Sequence[ExpertLabel],
    sums: Sequence[ScoreSums],
    *,
    threshold: float,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> list[ExpertAgreement]:
    """The rows of every judge version, the same for the same labels in any order.

    A version that graded turns and has no label yet has one row, which says so.
    """
    versions = {label.version for label in labels} | {each.version for each in sums}
    return [
        _row(version, chosen, language, kind, threshold=threshold, seed=seed, resamples=resamples, sums=sums)
        for version in sorted(versions, key=lambda each: (each.model, each.prompt_version))
        for language, kind, chosen in _kinds([label for label in labels if label.version == version])
    ]


def corrected_mean(labels: Sequence[ExpertLabel], sums: Sequence[ScoreSums]) -> Figure:
    """The share of good drafts among all graded turns, from many scores and few labels.

    Prediction-powered inference: with scores f, labels y, N turns without and n with a label, the estimate is mean(f)
    over the N plus mean(y - f) over the n, its variance var(f) / N + var(y - f) / n: Angelopoulos, Bates, Fannjiang,
    Jordan and Zrnic, Prediction-powered inference, Science 382 (2023). Sample variances, interval by the normal
    distribution, not cut at 0 and 1. It holds as far as the labelled turns are drawn like the others: only turns of
    surfaces where experts decide are counted. None below 30 labels and without two turns that have none.
    """
    n = len(labels)
    if n < ENOUGH_LABELS:
        return _without("too_few_labels", n)
    others, mean, spread = _unlabelled(labels, sums)
    if others < _MIN_LABELS:
        return _without("no_unlabelled_turns", n)
    corrections = [label.is_good - label.score for label in labels]
    value = mean + fmean(corrections)
    margin = _Z * sqrt(spread / others + variance(corrections) / n)
    return Figure(value=value, low=value - margin, high=value + margin, n=n)


def _unlabelled(labels: Sequence[ExpertLabel], sums: Sequence[ScoreSums]) -> tuple[int, float, float]:
    """Count, mean and variance of the scores without a label, on the surfaces that have labels."""
    surfaces = {label.surface for label in labels}
    counted = [each for each in sums if each.surface in surfaces]
    n = sum(each.n for each in counted) - len(labels)
    if n < _MIN_LABELS:
        return n, 0.0, 0.0
    total = sum(each.total for each in counted) - sum(label.score for label in labels)
    total_sq = sum(each.total_sq for each in counted) - sum(label.score**2 for label in labels)
    return n, total / n, max(0.0, (total_sq - total**2 / n) / (n - 1))


def _kinds(labels: Sequence[ExpertLabel]) -> Iterator[tuple[str, str, list[ExpertLabel]]]:
    """Every language and kind of label that has labels, and in any case the row of all."""
    by_language: dict[str, list[ExpertLabel]] = {EVERY_LANGUAGE: list(labels)}
    for label in labels:
        by_language.setdefault(label.language, []).append(label)
    for language, chosen in sorted(by_language.items()):
        yield language, EVERY_OUTCOME, chosen
        for outcome in sorted({label.outcome for label in chosen}):
            yield language, f"{EVERY_OUTCOME}:{outcome}", list(_beside_the_other_label(outcome, chosen))


def _beside_the_other_label(outcome: Outcome, labels: Iterable[ExpertLabel]) -> Iterator[ExpertLabel]:
    other = BAD if outcome in GOOD else GOOD
    return (label for label in labels if label.outcome == outcome or label.outcome in other)


def _row(
    version: JudgeVersion,
    labels: Sequence[ExpertLabel],
    language: str,
    label_kind: str,
    *,
    threshold: float,
    seed: int,
    resamples: int,
    sums: Sequence[ScoreSums],
) -> ExpertAgreement:
    figures = _figures(labels, threshold=threshold, seed=seed, resamples=resamples)
    if (language, label_kind) == (EVERY_LANGUAGE, EVERY_OUTCOME):
        figures["corrected_mean"] = corrected_mean(labels, [each for each in sums if each.version == version])
    return ExpertAgreement(
        version=version,
        language=language,
        label_kind=label_kind,
        n=len(labels),
        positives=sum(label.is_good for label in labels),
        threshold=threshold,
        figures=figures,
    )


def _figures(labels: Sequence[ExpertLabel], *, threshold: float, seed: int, resamples: int) -> dict[str, Figure]:
    statistics: dict[str, Statistic] = {
        "balanced_accuracy": lambda weighted: balanced_accuracy(weighted, threshold=threshold),
        "precision": lambda weighted: precision(weighted, threshold=threshold),
        "recall": lambda weighted: recall(weighted, threshold=threshold),
        "kappa": lambda weighted: kappa(weighted, threshold=threshold),
        "auc": auc,
        "spearman": spearman,
    }
    n = len(labels)
    if n < _MIN_LABELS:
        return dict.fromkeys(statistics, _without("too_few_labels" if n else "no_labels", n))
    ordered = in_order(Observation(score=each.score, is_faithful=each.is_good, group=each.group) for each in labels)
    found = estimates(ordered, list(statistics.values()), seed=seed, resamples=resamples)
    return {
        name: _without(_reason(name, labels), n)
        if figure is None
        else Figure(value=figure.value, low=figure.low, high=figure.high, n=n)
        for name, figure in zip(statistics, found, strict=True)
    }


def _reason(figure: str, labels: Sequence[ExpertLabel]) -> str:
    """Why a figure of two labels or more does not exist."""
    if figure == "precision":
        return "none_at_threshold"
    return "one_class" if len({label.is_good for label in labels}) == 1 else "same_scores"


def _without(reason: str, n: int) -> Figure:
    return Figure(value=None, low=None, high=None, n=n, reason=reason)
