"""What turns that wait will cost a judge in tokens, beside what the day has left.

Belongs here: the nouns and their sentences. Does not: counting, estimates of one call (cost.py).
"""

from dataclasses import dataclass

from kb_pipeline.counting import counted, form
from kb_pipeline.grading.judging.cost import CHARS_PER_TOKEN

MEASURED_DAYS = 30


@dataclass(frozen=True, kw_only=True, slots=True)
class MeasuredTokens:
    """What a judge version reported for turns that it scored: `tokens` of prompts and replies over `turns`."""

    turns: int
    tokens: int


@dataclass(frozen=True, kw_only=True, slots=True)
class TokensNeeded:
    """Tokens that turns will need; `measured_turns` is 0 where no history of the judge says what a turn costs."""

    tokens: int
    turns: int
    measured_turns: int

    def sentence(self) -> str:
        """How much, and what that rests on."""
        if not self.turns:
            return "no turn would be judged now, so no token is needed"
        turns, tokens = counted(self.turns, "turn"), counted(self.tokens, "token")
        if self.measured_turns:
            return (
                f"{turns} will need about {tokens}: {self.tokens / self.turns:,.0f} each, as this judge reported over "
                f"{counted(self.measured_turns, 'turn')} of the last {counted(MEASURED_DAYS, 'day')}"
            )
        return (
            f"{turns} will need at most about {tokens} of prompts, replies not counted: this judge has "
            f"no history, so the characters of instruction and turns are divided by {CHARS_PER_TOKEN}, which is on "
            "the high side for Indonesian and English"
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class DayTokens:
    """Tokens of a UTC day: `spent`, of `daily`, which is None without a budget."""

    daily: int | None
    spent: int

    @property
    def left(self) -> int | None:
        """What is left, at least 0; None without a budget."""
        return None if self.daily is None else max(0, self.daily - self.spent)

    def sentence(self) -> str:
        """The same in words."""
        if self.daily is None:
            is_are = form(self.spent, "is", "are")
            return f"{counted(self.spent, 'token')} {is_are} spent today; no judge_daily_tokens are set"
        return f"{self.spent:,} of today's judge_daily_tokens of {self.daily:,} are spent, {self.left:,} are left"


def tokens_needed(*, turns: int, prompt_tokens: int, measured: MeasuredTokens | None) -> TokensNeeded:
    """What `turns` will need: as a turn cost so far, else the estimate `prompt_tokens` of their prompts."""
    if measured is None:
        return TokensNeeded(tokens=prompt_tokens, turns=turns, measured_turns=0)
    tokens = round(turns * measured.tokens / measured.turns)
    return TokensNeeded(tokens=tokens, turns=turns, measured_turns=measured.turns)
