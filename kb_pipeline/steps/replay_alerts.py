"""Replay a rule over stored hours: load was done, decide when it would have fired, and how often it would cry wolf.

Belongs here: joining the replay with the simulation of a process that is well. Does not: reading hours, rules.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kb_pipeline.alerting.catalogue import LOW_FAITHFULNESS, RULE_NAMES, UNGROUNDED_SPIKE, Rule
from kb_pipeline.alerting.evaluation import Snapshot
from kb_pipeline.alerting.replay import Episode, episodes, groups_of, replayable
from kb_pipeline.alerting.rules.limits import Limits
from kb_pipeline.alerting.rules.parsing import RECOVERED
from kb_pipeline.alerting.simulation import FalseAlarms, Traffic, false_alarms, healthy_scores, steady_share
from kb_pipeline.alerting.statistics import DAY_H, Past
from kb_pipeline.alerting.subjects import subject_text
from kb_pipeline.errors import KbPipelineError
from kb_pipeline.windows import Window

# A mean so far above its threshold is one of a process that is well.
WELL_ABOVE = 0.03
_SHARES = {
    "rag_parse_success_drop": ("unparsed", "attempted"),
    "rag_signature_lost": ("recognised", "read"),
    "kb_empty_result_spike": ("empty", "retrievals"),
}


# The threshold of each rule that has one of its own.
_THRESHOLDS = {
    LOW_FAITHFULNESS: "faithfulness_warn",
    UNGROUNDED_SPIKE: "ungrounded_share",
    "kb_empty_result_spike": "empty_share_warn",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """With what a rule is tried: thresholds, the floor that hours were counted with, and how much is made up."""

    limits: Limits
    floor: float
    environment: str
    months: int
    seed: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Outlook:
    """What one subject's volume and level promise: `per_month` is None where `because` says why nothing can be said."""

    subject: str
    per_day: float
    level: float | None
    alarms: FalseAlarms | None
    because: str | None = None

    @property
    def per_month(self) -> float | None:
        """False alarms that are to be expected in a month."""
        return self.alarms.per_month if self.alarms else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Replay:
    """What a rule would have done, and what is to be expected of it."""

    rule: str
    window: Window
    evaluations: int
    episodes: Sequence[Episode]
    outlooks: Sequence[Outlook]


def with_threshold(name: str, limits: Limits, threshold: float | None) -> Limits:
    """The limits with another threshold of the rule; raises KbPipelineError for a rule that has none of its own."""
    if threshold is None:
        return limits
    if name not in _THRESHOLDS:
        raise KbPipelineError(f"{name} has no threshold to change; {', '.join(_THRESHOLDS)} have one")
    changed = replace(limits, **{_THRESHOLDS[name]: threshold})  # type: ignore[arg-type]
    # A warning comes before what is critical.
    return replace(changed, faithfulness_crit=min(changed.faithfulness_crit, changed.faithfulness_warn))


def replay_rule(name: str, snapshot: Snapshot, window: Window, trial: Trial) -> Replay:
    """Play the rule at the end of every hour of the window, then over made-up months at the volume of that time.

    Raises KbPipelineError for a rule that there is not, or that the hourly windows do not tell of.
    """
    rule = replayable(name)
    if rule is None:
        known = [each for each in RULE_NAMES if replayable(each)]
        raise KbPipelineError(
            f"{name} cannot be replayed; the hourly windows tell of {', '.join(known)}"
            + ("" if name in RULE_NAMES else f"; there is no rule {name!r}")
        )
    groups = groups_of(rule, snapshot)
    hours = len(list(window.hours()))
    return Replay(
        rule=name,
        window=window,
        evaluations=hours * len(groups),
        episodes=episodes(rule, snapshot, window, trial.limits, trial.environment),
        outlooks=[
            _outlook(rule, (trial.environment, *names), Past(found, window.end), hours, trial)
            for names, found in sorted(groups.items())
        ],
    )


def _outlook(rule: Rule, subject: tuple[str, ...], past: Past, hours: int, trial: Trial) -> Outlook:
    """At the volume and the level of the whole time that was replayed."""
    part, whole = _SHARES.get(rule.name, ("score_sum", "scored"))
    cases = past.count(whole, hours)
    level = past.total(part, hours) / cases if cases else None
    because = _ill(rule.name, level, trial.limits)
    alarms = None
    if level is not None and because is None:
        traffic = _well(rule.name, cases * DAY_H / hours, level, trial.floor)
        alarms = false_alarms(rule, traffic, trial.limits, months=trial.months, seed=trial.seed)
    return Outlook(
        subject=subject_text(subject), per_day=cases * DAY_H / hours, level=level, alarms=alarms, because=because
    )


def _ill(name: str, level: float | None, limits: Limits) -> str | None:
    """Why an alarm would be no false one, or nothing can be said; None where the process is well."""
    if level is None:
        return "nothing came in that time"
    if name in {LOW_FAITHFULNESS, UNGROUNDED_SPIKE} and level < limits.faithfulness_warn + WELL_ABOVE:
        line = limits.faithfulness_warn
        near = "below" if level < line else "hardly above"
        return f"the mean of that time is {level:.2f}, {near} {line:.2f}, so that an alarm may be right"
    if name == "rag_parse_success_drop" and level > RECOVERED:
        return f"{level:.1%} of that time could not be read, so that an alarm would be right"
    return None


def _well(name: str, per_day: float, level: float, floor: float) -> Traffic:
    """Traffic of the volume whose level does not change."""
    if name in _SHARES:
        part, whole = _SHARES[name]
        return steady_share(per_day=per_day, share=level, part=part, whole=whole)
    return healthy_scores(per_day=per_day, truth=level, floor=floor)
