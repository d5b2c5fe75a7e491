"""One evaluation: every rule over every subject it speaks of, parents first, each by itself.

Belongs here: which rule looks at what, who holds whom, idempotence per window end. Does not: reading, saving.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from kb_pipeline.alerting.catalogue import NO_DATA, PULSE, RULES, RUN_FAILED, Rule, Topic
from kb_pipeline.alerting.machine import DAY, advance, reopened, settle
from kb_pipeline.alerting.payloads import Sender, alert_of
from kb_pipeline.alerting.rules.data import Pulse
from kb_pipeline.alerting.rules.faults import Trial
from kb_pipeline.alerting.rules.judge import JudgeCondition
from kb_pipeline.alerting.rules.limits import Limits
from kb_pipeline.alerting.statistics import Hours, Past
from kb_pipeline.alerting.subjects import covers, fingerprint, silenced
from kb_pipeline.records import AlertState, Decision, Memory, Reading, Silence, Subject, Transition

Names = tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Snapshot:
    """What the hours before `end` hold, by the names of the columns they are grouped by.

    `traffic` is by tenant and surface; `quality` by tenant, surface and engine; `retrieval` by organisation, specialist
    and engine. `judge` is None where there is no judge; `is_readable` is false where nothing could be read.
    """

    end: datetime
    traffic: Mapping[Names, Hours] = field(default_factory=dict)
    quality: Mapping[Names, Hours] = field(default_factory=dict)
    retrieval: Mapping[Names, Hours] = field(default_factory=dict)
    judge: JudgeCondition | None = None
    is_readable: bool = True


def evaluate(
    snapshot: Snapshot,
    states: Iterable[AlertState],
    silences: Sequence[Silence],
    *,
    limits: Limits,
    sender: Sender,
    now: datetime,
    rules: Sequence[Rule] = RULES,
) -> list[Decision]:
    """What becomes of every state, and of subjects without one. The same again for the same snapshot changes nothing.

    A rule that raises is an alert itself and keeps no other rule from its work. Where nothing could be read, only the
    rule that says so is evaluated.
    """
    known = {state.fingerprint: state for state in states if state.subject[:1] == (sender.environment,)}
    evaluation = _Evaluation(snapshot=snapshot, known=known, silences=silences, limits=limits, sender=sender, now=now)
    return list(evaluation.decisions(rules))


@dataclass(kw_only=True, slots=True)
class _Evaluation:
    snapshot: Snapshot
    known: Mapping[str, AlertState]
    silences: Sequence[Silence]
    limits: Limits
    sender: Sender
    now: datetime
    trials: dict[str, Trial] = field(default_factory=dict)
    active: list[AlertState] = field(default_factory=list)

    def decisions(self, rules: Sequence[Rule]) -> Iterator[Decision]:
        for rule in rules if self.snapshot.is_readable else [PULSE]:
            decided = [self._decide(rule, subject, found) for subject, found in self._subjects(rule).items()]
            self.active += [each.state for each in decided if each and each.state.status.is_active]
            yield from (each for each in decided if each)

    def _subjects(self, rule: Rule) -> dict[Subject, Any]:
        """What the rule looks at, by subject: those of the snapshot, and those whose data has stopped."""
        environment, snapshot = self.sender.environment, self.snapshot
        match rule.topic:
            case Topic.PIPELINE:
                return {(environment,): Pulse(is_good=snapshot.is_readable)}
            case Topic.JUDGE:
                return {} if snapshot.judge is None else {(environment,): snapshot.judge}
            case Topic.RULE:
                failed = {(environment, name): trial for name, trial in self.trials.items()}
                return dict.fromkeys(self._known_of(rule), Trial()) | failed
        groups = {
            Topic.TRAFFIC: snapshot.traffic,
            Topic.QUALITY: snapshot.quality,
            Topic.RETRIEVAL: snapshot.retrieval,
        }[rule.topic]
        here = {(environment, *names): Past(hours, snapshot.end) for names, hours in groups.items()}
        nothing = Past(Hours(snapshot.end, {}), snapshot.end)
        return dict.fromkeys(self._known_of(rule), nothing) | here

    def _known_of(self, rule: Rule) -> list[Subject]:
        return [each.subject for each in self.known.values() if (each.rule, each.metric) == (rule.name, rule.metric)]

    def _decide(self, rule: Rule, subject: Subject, statistics: Any) -> Decision | None:
        try:
            return decide(
                rule,
                subject,
                statistics,
                self.known.get(fingerprint(rule.name, rule.metric, subject)),
                end=self.snapshot.end if rule.counts else self.now,
                now=self.now,
                limits=self.limits,
                sender=self.sender,
                silences=self.silences,
                held_by=self._parent_of(rule, subject),
            )
        except Exception as error:  # noqa: BLE001 whatever a rule raises, the others go on
            before = self.trials.get(rule.name, Trial())
            self.trials[rule.name] = Trial(failures=before.failures + 1, error=type(error).__name__)
            return self._unchanged(rule, subject)

    def _unchanged(self, rule: Rule, subject: Subject) -> Decision | None:
        state = self.known.get(fingerprint(rule.name, rule.metric, subject))
        return Decision(state=state, expected_version=state.version) if state else None

    def _parent_of(self, rule: Rule, subject: Subject) -> str | None:
        return next(
            (each.fingerprint for each in self.active if each.rule in rule.parents and covers(each.subject, subject)),
            None,
        )


def decide(
    rule: Rule,
    subject: Subject,
    statistics: Any,
    state: AlertState | None,
    *,
    end: datetime,
    now: datetime,
    limits: Limits,
    sender: Sender,
    silences: Sequence[Silence] = (),
    held_by: str | None = None,
) -> Decision:
    """What one rule makes of one subject's statistics and state for the window that ends at `end`.

    A window that is older than the newest one judged is closed: nothing changes. The newest one is judged anew from
    where the window before it left off, since data may have come late.
    """
    before = state or AlertState(
        fingerprint=fingerprint(rule.name, rule.metric, subject), rule=rule.name, metric=rule.metric, subject=subject
    )
    if before.window_end is not None and end < before.window_end:
        return Decision(state=before, expected_version=before.version)
    is_again = before.window_end == end
    start = before.before if is_again else before.memory
    memory, reading = step(rule, statistics, start, end=end, limits=limits, now=now)
    is_silenced = silenced(before.fingerprint, silences)
    if held_by is not None:
        held = replace(before, reading=reading, inhibited_by=held_by, since=before.since or now)
        return _decision(before, held, None, title=rule.title, sender=sender, now=now)
    if is_again:
        memory = reopened(before, memory)
    state, flip = settle(before, memory, now=now, is_silenced=is_silenced)
    state = replace(state, reading=reading, inhibited_by=None)
    # A look that is a window of its own and finds everything as it was is not worth a row.
    if rule.counts or state != before:
        state = replace(state, before=start, window_end=end)
    return _decision(before, state, flip, title=rule.title, sender=sender, now=now)


def step(
    rule: Rule, statistics: Any, memory: Memory, *, end: datetime, limits: Limits, now: datetime
) -> tuple[Memory, Reading]:
    """One look of a rule: the memory after it, and what it read.

    The memory keeps how much has come in until now, so that the next look can tell whether there is anything new.
    """
    reading = rule.read(statistics, memory, limits, now)
    if rule.counts is None:
        return advance(memory, reading, rule.policy, end=end, now=now), reading
    hours: Hours = statistics.hours
    if memory.seen_from is not None:
        reading = replace(reading, is_news=hours.total(rule.counts, memory.seen_from, end) > memory.seen)
    memory = advance(memory, reading, rule.policy, end=end, now=now)
    if reading.is_news:
        since = end - DAY
        memory = replace(memory, seen_from=since, seen=int(hours.total(rule.counts, since, end)))
    return memory, reading


def _decision(
    before: AlertState, after: AlertState, flip: Transition | None, *, title: str, sender: Sender, now: datetime
) -> Decision:
    if after == before:
        return Decision(state=before, expected_version=before.version)
    after = replace(after, version=before.version + 1)
    payload = alert_of(after, title=title, sender=sender, now=now) if flip and flip.kb_seq else None
    return Decision(state=after, expected_version=before.version, transition=flip, payload=payload)


def decide_run(
    job: str,
    *,
    failed: bool,
    states: Sequence[AlertState],
    silences: Sequence[Silence],
    limits: Limits,
    sender: Sender,
    now: datetime,
) -> Decision | None:
    """What the end of a run makes of its job's alert; None where a run succeeded that nobody was told of."""
    subject = (sender.environment, job)
    name = fingerprint(RUN_FAILED.name, RUN_FAILED.metric, subject)
    state = next((each for each in states if each.fingerprint == name), None)
    if not failed and (state is None or not state.status.is_active):
        return None
    parent = next((each for each in states if each.rule == NO_DATA and _holds(each, subject)), None)
    return decide(
        RUN_FAILED,
        subject,
        Trial(failures=int(failed)),
        state,
        end=now,
        now=now,
        limits=limits,
        sender=sender,
        silences=silences,
        held_by=parent.fingerprint if parent else None,
    )


def _holds(parent: AlertState, subject: Subject) -> bool:
    return parent.status.is_active and covers(parent.subject, subject)
