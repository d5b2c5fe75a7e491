"""Which rules there are: name, metric, what they read, how patient they are, and which others hold them.

Belongs here: the list, parents before children. Does not: what a rule does (rules/), when it is evaluated.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from kb_pipeline.alerting.machine import Policy
from kb_pipeline.alerting.rules import data, emptiness, faithfulness, faults, judge, parsing, signature, ungrounded
from kb_pipeline.alerting.rules.limits import Limits
from kb_pipeline.records import Memory, Reading


class Topic(StrEnum):
    """What a rule speaks of; it decides which subjects there are."""

    PIPELINE = "pipeline"
    """The environment as a whole."""
    TRAFFIC = "traffic"
    """Tenant and surface, by their calls."""
    JUDGE = "judge"
    """The one judge of the environment."""
    QUALITY = "quality"
    """Tenant, surface and engine, by their scores."""
    RETRIEVAL = "retrieval"
    """Organisation, specialist and engine."""
    RULE = "rule"
    """A rule of this list."""
    RUN = "run"
    """A job; it is told of, not looked for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """One rule. `read` is pure: (statistics, memory, limits, now) → reading.

    `counts` is the column in which something new shows; None where every look is news, and a window of its own. While
    an alert of one of the `parents` covers its subject, the rule holds: it neither fires nor resolves.
    """

    name: str
    metric: str
    title: str
    topic: Topic
    read: Callable[[Any, Memory, Limits, datetime], Reading]
    policy: Policy = field(default_factory=Policy)
    counts: str | None = None
    parents: frozenset[str] = frozenset()


NO_DATA = "kb_no_data"
JUDGE_OUTAGE = "rag_judge_outage"
LOW_FAITHFULNESS = "rag_low_faithfulness"
UNGROUNDED_SPIKE = "rag_ungrounded_spike"
_AT_ONCE = Policy(recover=1, hold=timedelta())
_ONCE_WELL = Policy(recover=1)

PULSE = Rule(
    name=NO_DATA,
    metric="evaluation",
    title="Alert rules are not evaluated",
    topic=Topic.PIPELINE,
    read=data.read_pulse,
    policy=Policy(recover=1, hold=timedelta(), beats=True),
)
RULE_ERROR = Rule(
    name="kb_rule_error",
    metric="evaluation",
    title="An alert rule cannot be evaluated",
    topic=Topic.RULE,
    read=faults.read_rule,
    policy=_ONCE_WELL,
    parents=frozenset({NO_DATA}),
)
RUN_FAILED = Rule(
    name="kb_run_failed",
    metric="run",
    title="A run of the pipeline failed",
    topic=Topic.RUN,
    read=faults.read_run,
    policy=_AT_ONCE,
    parents=frozenset({NO_DATA}),
)
RULES: tuple[Rule, ...] = (
    PULSE,
    Rule(
        name=NO_DATA,
        metric="turns",
        title="No turns arrive",
        topic=Topic.TRAFFIC,
        read=data.read_traffic,
        policy=_AT_ONCE,
        parents=frozenset({NO_DATA}),
    ),
    Rule(
        name=JUDGE_OUTAGE,
        metric="judge_errors",
        title="The judge gives no scores",
        topic=Topic.JUDGE,
        read=judge.read,
        policy=_ONCE_WELL,
        parents=frozenset({NO_DATA}),
    ),
    Rule(
        name=LOW_FAITHFULNESS,
        metric="faithfulness",
        title="Answers are less faithful to their documents",
        topic=Topic.QUALITY,
        read=faithfulness.read,
        counts="scored",
        parents=frozenset({NO_DATA, JUDGE_OUTAGE}),
    ),
    Rule(
        name=UNGROUNDED_SPIKE,
        metric="ungrounded_share",
        title="More answers are not backed by their documents",
        topic=Topic.QUALITY,
        read=ungrounded.read,
        counts="scored",
        parents=frozenset({NO_DATA, JUDGE_OUTAGE}),
    ),
    Rule(
        name="rag_parse_success_drop",
        metric="parse_failures",
        title="Turns cannot be read; has the prompt template changed?",
        topic=Topic.TRAFFIC,
        read=parsing.read,
        policy=_ONCE_WELL,
        counts="attempted",
        parents=frozenset({NO_DATA}),
    ),
    Rule(
        name="rag_signature_lost",
        metric="synthesis_share",
        title="Turns are not recognised; has the prompt template changed?",
        topic=Topic.TRAFFIC,
        read=signature.read,
        policy=_ONCE_WELL,
        counts="read",
        parents=frozenset({NO_DATA}),
    ),
    Rule(
        name="kb_empty_result_spike",
        metric="empty_share",
        title="Retrieval finds nothing more often than usual",
        topic=Topic.RETRIEVAL,
        read=emptiness.read,
        policy=Policy(confirm=2),
        counts="retrievals",
        parents=frozenset({NO_DATA}),
    ),
    RULE_ERROR,
)
RULE_HEADS: tuple[tuple[str, str], ...] = tuple((rule.name, rule.metric) for rule in (*RULES, PULSE, RUN_FAILED))
RULE_NAMES: tuple[str, ...] = tuple(dict.fromkeys(name for name, _ in RULE_HEADS))
