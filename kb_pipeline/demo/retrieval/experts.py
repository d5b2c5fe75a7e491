"""The simulated experts: what they decide about a draft, at the rates of this module, and what they make of it.

Belongs here: every assumption about experts (docs/reference/simulated-experts.md repeats them), their edits. Does not:
the model's assumptions (writing.py), when conversations happen.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from random import Random

from kb_pipeline.demo.retrieval.phrases import CLOSINGS, GREETINGS, REASONS, REMARKS, WRONG_SOURCE_REASONS, in_own_words
from kb_pipeline.demo.retrieval.world import Desk, Enquiry
from kb_pipeline.demo.retrieval.writing import Draft, Manner, Statement
from kb_pipeline.demo.traffic.answers import REFUSALS


class Quality(StrEnum):
    """How good a draft is, as somebody sees it who knows the answer."""

    GOOD = "good"
    RAMBLING = "rambling"
    """The whole answer, and something true beside the question."""
    INCOMPLETE = "incomplete"
    WRONG = "wrong"
    """Something in it is false or unsupported, or it answers another question."""
    DECLINED = "declined"
    """Declines although there is an answer."""
    DECLINED_RIGHTLY = "declined_rightly"


class Action(StrEnum):
    """What an expert does with a draft."""

    ACCEPT = "accept"
    STAMP = "stamp"
    """Accepts within two seconds, unread."""
    TOUCH_UP = "touch_up"
    """A greeting, a closing, another word; nothing new."""
    REWORD = "reword"
    """Says the same in other words."""
    TRIM = "trim"
    """Takes out what is beside the question."""
    CORRECT = "correct"
    """Writes what is missing or wrong, without a source."""
    CORRECT_CITING = "correct_citing"
    """The same after a search, citing what was found."""
    REJECT = "reject"
    REJECT_SOURCE = "reject_source"
    """Rejects because the sources are wrong."""
    LEAVE = "leave"
    """Never decides."""


# What experts do with a draft of each quality. Over all qualities a good half of the drafts comes back unedited, bad
# ones among them, as in published sets of expert-reviewed answers.
RATES: Mapping[Quality, Mapping[Action, float]] = {
    Quality.GOOD: {
        Action.ACCEPT: 0.61,
        Action.STAMP: 0.12,
        Action.TOUCH_UP: 0.15,
        Action.REWORD: 0.07,
        Action.REJECT: 0.02,
        Action.LEAVE: 0.03,
    },
    Quality.RAMBLING: {
        Action.ACCEPT: 0.47,
        Action.STAMP: 0.12,
        Action.TOUCH_UP: 0.10,
        Action.REWORD: 0.05,
        Action.TRIM: 0.19,
        Action.REJECT: 0.02,
        Action.REJECT_SOURCE: 0.02,
        Action.LEAVE: 0.03,
    },
    Quality.INCOMPLETE: {
        Action.ACCEPT: 0.28,
        Action.STAMP: 0.12,
        Action.TOUCH_UP: 0.08,
        Action.CORRECT: 0.24,
        Action.CORRECT_CITING: 0.20,
        Action.REJECT: 0.03,
        Action.REJECT_SOURCE: 0.02,
        Action.LEAVE: 0.03,
    },
    Quality.WRONG: {
        Action.ACCEPT: 0.13,
        Action.STAMP: 0.12,
        Action.TOUCH_UP: 0.04,
        Action.CORRECT: 0.25,
        Action.CORRECT_CITING: 0.27,
        Action.REJECT: 0.07,
        Action.REJECT_SOURCE: 0.09,
        Action.LEAVE: 0.03,
    },
    Quality.DECLINED: {
        Action.ACCEPT: 0.16,
        Action.STAMP: 0.10,
        Action.TOUCH_UP: 0.05,
        Action.CORRECT: 0.30,
        Action.CORRECT_CITING: 0.29,
        Action.REJECT: 0.06,
        Action.REJECT_SOURCE: 0.01,
        Action.LEAVE: 0.03,
    },
    Quality.DECLINED_RIGHTLY: {
        Action.ACCEPT: 0.68,
        Action.STAMP: 0.14,
        Action.TOUCH_UP: 0.13,
        Action.REJECT: 0.01,
        Action.LEAVE: 0.04,
    },
}
# Of the words an expert writes: as the model would say it, as the article says it, in words of his own.
WAYS = (0.45, 0.30, 0.25)
# Of a correction: a missing point is written, a right sentence is put in other words, something true beside the
# question stays, an unsupported claim stays, and something is added that concerns this client alone.
ADDS_SHARE = 0.92
REWORDS_SHARE = 0.15
KEEPS_BESIDE_SHARE = 0.25
KEEPS_CLAIM_SHARE = 0.06
REMARK_SHARE = 0.04
# Of an edit: a greeting, a closing, one word changed for another.
GREETING_SHARE = 0.5
CLOSING_SHARE = 0.6
OTHER_WORD_SHARE = 0.3
# Of the rejections for wrong sources, those of drafts whose sources were not the trouble become plain ones at this
# rate.
RIGHT_REASON_SHARE = 0.85
STATUS: Mapping[Action, str] = {
    Action.ACCEPT: "accepted",
    Action.STAMP: "accepted",
    Action.TOUCH_UP: "edited",
    Action.REWORD: "edited",
    Action.TRIM: "edited",
    Action.CORRECT: "edited",
    Action.CORRECT_CITING: "edited",
    Action.REJECT: "rejected",
    Action.REJECT_SOURCE: "rejected",
    Action.LEAVE: "pending",
}
CORRECTING = frozenset({Action.CORRECT, Action.CORRECT_CITING})


@dataclass(frozen=True, kw_only=True, slots=True)
class Review:
    """What an expert did: the text that was sent instead (None: the draft's own), and the points new in it.

    `remarked`: something was added that no knowledge base could say. `is_weak`: the client got no whole answer.
    """

    action: Action
    final: str | None = None
    reason: str | None = None
    added: tuple[str, ...] = ()
    remarked: bool = False
    is_weak: bool = False

    @property
    def status(self) -> str:
        """The queue item's word."""
        return STATUS[self.action]


def quality_of(draft: Draft, enquiry: Enquiry) -> Quality:
    """How good the draft is for the question."""
    if draft.manner is Manner.DECLINED:
        return Quality.DECLINED if enquiry.points else Quality.DECLINED_RIGHTLY
    right = draft.said & set(enquiry.points)
    if not right or any(each.point is None and not each.is_right for each in draft.statements):
        return Quality.WRONG
    if right != set(enquiry.points):
        return Quality.INCOMPLETE
    return Quality.GOOD if all(each.is_right for each in draft.statements) else Quality.RAMBLING


def review(desk: Desk, enquiry: Enquiry, draft: Draft, random: Random) -> Review:
    """What an expert does with the draft; the same for the same dice."""
    quality = quality_of(draft, enquiry)
    rates = RATES[quality]
    action = random.choices(list(rates), list(rates.values()))[0]
    # Only where the draft stands on a document beside the question are its sources the trouble.
    is_justified = bool(draft.used - desk.answering(enquiry.points))
    if action is Action.REJECT_SOURCE and not is_justified and random.random() < RIGHT_REASON_SHARE:
        action = Action.REJECT
    reviewed = _Editor(desk, enquiry, draft, random).carry_out(action)
    sends_draft = action in {Action.ACCEPT, Action.STAMP, Action.TOUCH_UP}
    lacks = quality in {Quality.INCOMPLETE, Quality.WRONG, Quality.DECLINED}
    return replace(reviewed, is_weak=sends_draft and lacks)


class _Editor:
    """Carries out one decision."""

    def __init__(self, desk: Desk, enquiry: Enquiry, draft: Draft, random: Random) -> None:
        self.desk = desk
        self.enquiry = enquiry
        self.draft = draft
        self.random = random
        self.language = enquiry.language

    def carry_out(self, action: Action) -> Review:
        match action:
            case Action.TOUCH_UP:
                return Review(action=action, final=self._touched_up())
            case Action.REWORD:
                return Review(action=action, final=" ".join(map(self._reworded, self.draft.statements)))
            case Action.TRIM:
                return Review(action=action, final=" ".join(e.text for e in self.draft.statements if e.is_right))
            case Action.CORRECT | Action.CORRECT_CITING:
                return self._corrected(action)
            case Action.REJECT:
                return Review(action=action, reason=self.random.choice(REASONS[self.language]))
            case Action.REJECT_SOURCE:
                return Review(action=action, reason=self.random.choice(WRONG_SOURCE_REASONS[self.language]))
            case _:
                return Review(action=action)

    def _touched_up(self) -> str:
        text = self.draft.text
        if self.random.random() < OTHER_WORD_SHARE:
            text = in_own_words(text, self.language, self.random, opens=False)
        wrapped = self._wrapped(text)
        return wrapped if wrapped != self.draft.text else f"{text} {self.random.choice(CLOSINGS[self.language])}"

    def _corrected(self, action: Action) -> Review:
        if not self.enquiry.points:
            return Review(action=action, final=self.random.choice(REFUSALS[self.language]))
        kept = [self._kept(each) for each in self.draft.statements if self._keeps(each)]
        missing = [point for point in self.enquiry.points if point not in self.draft.said]
        added = [point for point in missing if self.random.random() < ADDS_SHARE] or missing[:1]
        remarks = [self.random.choice(REMARKS[self.language])] if self.random.random() < REMARK_SHARE else []
        text = " ".join([*kept, *map(self._say, added), *remarks])
        return Review(action=action, final=self._wrapped(text), added=tuple(added), remarked=bool(remarks))

    def _keeps(self, statement: Statement) -> bool:
        if statement.is_right:
            return True
        if self.draft.manner is Manner.DECLINED:
            return False
        share = KEEPS_BESIDE_SHARE if statement.point else KEEPS_CLAIM_SHARE
        # What is false about the very thing that was asked never stays.
        return self.draft.manner is not Manner.MISQUOTED and self.random.random() < share

    def _kept(self, statement: Statement) -> str:
        return self._reworded(statement) if self.random.random() < REWORDS_SHARE else statement.text

    def _reworded(self, statement: Statement) -> str:
        return self._say(statement.point) if statement.point else statement.text

    def _say(self, point: str) -> str:
        ways = self.desk.points[point].ways
        way = self.random.choices(range(len(WAYS)), WAYS)[0]
        if way < len(ways) and way < len(WAYS) - 1:
            return ways[way]
        return in_own_words(self.random.choice(ways), self.language, self.random)

    def _wrapped(self, text: str) -> str:
        before = [self.random.choice(GREETINGS[self.language])] if self.random.random() < GREETING_SHARE else []
        after = [self.random.choice(CLOSINGS[self.language])] if self.random.random() < CLOSING_SHARE else []
        return " ".join([*before, text, *after])
