"""A rule over stored hours, with thresholds as they are or as they might be: when it would have fired and resolved.

Belongs here: playing a rule hour by hour. Does not: reading the hours, made-up ones (simulation.py).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from kb_pipeline.alerting.catalogue import RULES, Rule, Topic
from kb_pipeline.alerting.evaluation import Names, Snapshot, step
from kb_pipeline.alerting.rules.limits import Limits
from kb_pipeline.alerting.statistics import Hours, Past
from kb_pipeline.alerting.subjects import fingerprint
from kb_pipeline.records import Memory, Reading, Severity
from kb_pipeline.windows import HOUR, Window, floor_hour

# What the stored hours tell of; the judge and the pipeline itself have no past there.
REPLAYED = frozenset({Topic.TRAFFIC, Topic.QUALITY, Topic.RETRIEVAL})


@dataclass(frozen=True, kw_only=True, slots=True)
class Episode:
    """One fire with its end; `resolved_at` is None where it would still be firing.

    `severity` is the worst it had; `sentence` is what was read when it fired.
    """

    fingerprint: str
    fired_at: datetime
    resolved_at: datetime | None
    severity: Severity | None
    sentence: str


def replayable(name: str) -> Rule | None:
    """The rule of a name, None where there is none that stored hours tell of."""
    return next((rule for rule in RULES if rule.name == name and rule.topic in REPLAYED), None)


def groups_of(rule: Rule, snapshot: Snapshot) -> Mapping[Names, Hours]:
    """The hours that a rule looks at."""
    return {Topic.TRAFFIC: snapshot.traffic, Topic.QUALITY: snapshot.quality, Topic.RETRIEVAL: snapshot.retrieval}[
        rule.topic
    ]


def episodes(rule: Rule, snapshot: Snapshot, window: Window, limits: Limits, environment: str) -> list[Episode]:
    """What each subject would have fired in the window, oldest first, evaluated at the end of each hour.

    Every rule is played by itself: as if no other alert had held it.
    """
    found = [
        episode
        for names, hours in groups_of(rule, snapshot).items()
        for episode in _episodes(rule, hours, window, limits, (environment, *names))
    ]
    return sorted(found, key=lambda episode: (episode.fired_at, episode.fingerprint))


def play(rule: Rule, hours: Hours, window: Window, limits: Limits) -> Iterator[tuple[datetime, Memory, Reading]]:
    """The memory and the reading at the end of each hour of the window."""
    memory = Memory()
    end = floor_hour(window.start)
    while end < window.end:
        end += HOUR
        memory, reading = step(rule, Past(hours, end), memory, end=end, limits=limits, now=end)
        yield end, memory, reading


def _episodes(rule: Rule, hours: Hours, window: Window, limits: Limits, subject: Names) -> Iterator[Episode]:
    name = fingerprint(rule.name, rule.metric, subject)
    going: Episode | None = None
    for end, memory, reading in play(rule, hours, window, limits):
        if memory.status.is_active:
            going = going or Episode(
                fingerprint=name, fired_at=end, resolved_at=None, severity=None, sentence=reading.sentence
            )
            going = replace(going, severity=memory.severity)
        elif going:
            yield replace(going, resolved_at=end)
            going = None
    if going:
        yield going
