"""What goes wrong in the demo: bad answers, empty searches, a changed template, a judge that is away, tokens that end.

Belongs here: in which hours, and how the grading of the day plays it. Does not: what a changed template looks like.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise

from kb_pipeline.defs.jobs import BACKLOG_JOB, HOURLY_JOB
from kb_pipeline.demo.reference_judge import ReferenceJudge
from kb_pipeline.demo.runs import DagsterRuns
from kb_pipeline.demo.traffic import Effect, Incident, Traffic
from kb_pipeline.demo.traffic.plan import slots
from kb_pipeline.windows import HOUR, Window, hour_of

# A shorter or emptier day has no room for an hour that goes wrong.
FEWEST_HOURS = 8
FEWEST_TURNS = 60
# The last hours in which the day's tokens come to their end hold at least so many turns.
LAST_TURNS = 8
MOST_TICKS = 8
APART = HOUR
DAY = 24 * HOUR
# Both last a day.
DROP_BEFORE = 4 * DAY
EMPTY_BEFORE = 3 * DAY
JUDGE_ASSET = "judge_scores"


@dataclass(frozen=True, kw_only=True, slots=True)
class Incidents:
    """The hours in which something goes wrong; None where the day has no room for it.

    On the graded day `template` are two hours, `outage` is one; `budget` are the last hours, from which on the tokens
    end: they are enough for half of the `budget_turns`. `drop` and `empty` lie days before it, since what they fire
    resolves a day after their end.
    """

    drop: Window | None = None
    empty: Window | None = None
    template: Window | None = None
    outage: Window | None = None
    budget: Window | None = None
    budget_turns: int = 0

    def on(self, traffic: Traffic) -> Traffic:
        """The traffic whose turns the incidents hit."""
        if self.template is None:
            return traffic
        renamed = Incident(effect=Effect.QUESTION_RENAMED, window=self.template)
        return replace(traffic, incidents=(*traffic.incidents, renamed))


def incidents_of(traffic: Traffic) -> Incidents:
    """The template changes in the two hours together that are busiest, the judge is away in the busiest of the others.

    None of them is the first hour or one of the last, which are as many as hold some turns.
    """
    if traffic.hours < FEWEST_HOURS or traffic.turns < FEWEST_TURNS:
        return Incidents()
    volumes = Counter(hour_of(slot.ts).start for slot in slots(traffic))
    hours = [hour for hour in traffic.window.hours() if hour.start in traffic.window]
    budget = _last(hours, volumes)
    early = [hour for hour in hours[1:] if hour.end <= budget.start]
    template = max(pairwise(early), key=lambda pair: sum(volumes[hour.start] for hour in pair))
    away = [hour for hour in early if _is_apart(hour, template)]
    start = traffic.window.start
    return Incidents(
        drop=Window(start - DROP_BEFORE, start - DROP_BEFORE + DAY),
        empty=Window(start - EMPTY_BEFORE, start - EMPTY_BEFORE + DAY),
        template=Window(template[0].start, template[1].end),
        outage=max(away, key=lambda hour: volumes[hour.start], default=None),
        budget=budget,
        budget_turns=sum(volumes[hour.start] for hour in budget.hours()),
    )


def _is_apart(hour: Window, pair: tuple[Window, Window]) -> bool:
    return hour.end + APART <= pair[0].start or pair[1].end + APART <= hour.start


def _last(hours: list[Window], volumes: Counter[datetime]) -> Window:
    turns = 0
    for hour in reversed(hours):
        turns += volumes[hour.start]
        if turns >= LAST_TURNS:
            return Window(hour.start, hours[-1].end)
    return Window(hours[0].start, hours[-1].end)


def grade_day(
    runs: DagsterRuns,
    hours: Iterable[Window],
    incidents: Incidents,
    judge: ReferenceJudge | None,
    *,
    spend: Callable[[int], None],
    mend: Callable[[], None],
    after: Callable[[Window], None],
) -> None:
    """One run per hour, with what goes wrong in it; `after` is called with each when it is done.

    `spend` is called with the day's budget of tokens when that begins to matter, `mend` when the judge is back: a day
    that is played in a minute has no time for the waits after an outage. A judge that is not ours cannot be sent away:
    then that hour is like any other.
    """
    budget, allowed = incidents.budget, 0
    for hour in hours:
        if budget and hour.start == budget.start:
            _catch_up(runs, incidents)
            allowed = _enough_for(runs, incidents.budget_turns / 2)
            spend(allowed)
        with _weather(hour, incidents, judge):
            runs.run(HOURLY_JOB, hour)
        if incidents.outage == hour:
            mend()
        after(hour)
    if budget:
        _spend_the_rest(runs, budget, allowed)


def _spend_the_rest(runs: DagsterRuns, budget: Window, allowed: int) -> None:
    """A run takes what fits by a careful estimate; the ticks of the sensor would go on until nothing is left."""
    for _ in range(MOST_TICKS):
        for hour in budget.hours():
            if _tokens(runs) >= allowed:
                return
            runs.run(BACKLOG_JOB, hour)


def _catch_up(runs: DagsterRuns, incidents: Incidents) -> None:
    """What the outage left is judged, as the backlog sensor would ask for it."""
    if incidents.outage:
        runs.run(BACKLOG_JOB, incidents.outage)


def _weather(hour: Window, incidents: Incidents, judge: ReferenceJudge | None) -> AbstractContextManager[None]:
    is_away = incidents.outage is not None and hour.start == incidents.outage.start
    return judge.away() if is_away and judge else nullcontext()


def _enough_for(runs: DagsterRuns, turns: float) -> int:
    """What the day has cost so far, and as much again as so many turns cost on average."""
    tokens = _tokens(runs)
    return round(tokens + tokens / max(1, runs.counts(JUDGE_ASSET)["graded"]) * turns)


def _tokens(runs: DagsterRuns) -> int:
    counts = runs.counts(JUDGE_ASSET)
    return counts["prompt_tokens"] + counts["completion_tokens"]
