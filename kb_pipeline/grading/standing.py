"""Where a judge stands: what is left of the day's tokens, whether it is down, what waits for it and what it cost.

Belongs here: the nouns, and the sentences that say why turns wait. Does not: finding out (adapters), waiting.
"""

from dataclasses import dataclass
from datetime import datetime

from kb_pipeline.counting import counted


@dataclass(frozen=True, kw_only=True, slots=True)
class Outage:
    """A judge that `runs` runs in a row found down, first at `since`; none calls it before `retry_at`."""

    since: datetime
    runs: int
    retry_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Standing:
    """How a judge stands at one instant.

    `daily_tokens` and `tokens_left` are None without a budget. `waiting` turns wait, `held` of them for the end of a
    wait after a failed run, the first until `next_try_at`. `outage` is set while no run calls the judge.
    """

    daily_tokens: int | None
    tokens_left: int | None
    outage: Outage | None
    waiting: int
    held: int = 0
    next_try_at: datetime | None = None

    @property
    def is_spent(self) -> bool:
        """Whether the day's tokens are gone."""
        return self.tokens_left is not None and self.tokens_left <= 0

    @property
    def may_judge(self) -> bool:
        """Whether a run that nobody hurries may call the judge."""
        return not self.is_spent and self.outage is None

    def sentences(self) -> tuple[str, ...]:
        """Why turns wait, for people; empty where they wait for nothing but their run."""
        said = []
        if self.is_spent:
            said.append(
                f"today's judge_daily_tokens of {self.daily_tokens:,} are spent; "
                f"{_turns(self.waiting)} until midnight UTC"
            )
        if self.outage is not None:
            said.append(
                f"the judge has been down since {_instant(self.outage.since)}; {_turns(self.waiting)}, "
                f"and it is asked again from {_instant(self.outage.retry_at)} on"
            )
        elif self.held and self.next_try_at is not None:
            said.append(f"{_turns(self.held)} after a failed call, the first until {_instant(self.next_try_at)}")
        return tuple(said)


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """What one judge version cost for the turns of one UTC hour or day.

    `turns` were called for, `graded` of them have scores. `seconds` adds up the last call of each turn.
    """

    start: datetime
    judge_model: str
    prompt_version: str
    turns: int
    graded: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float

    @property
    def tokens_per_turn(self) -> float | None:
        """Tokens for each turn with scores, failed calls included; None without any."""
        return (self.prompt_tokens + self.completion_tokens) / self.graded if self.graded else None


def _turns(count: int) -> str:
    if not count:
        return "no turn waits"
    return counted(count, "turn waits", "turns wait")


def _instant(instant: datetime) -> str:
    return instant.isoformat(timespec="seconds")
