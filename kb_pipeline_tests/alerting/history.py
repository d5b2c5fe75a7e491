"""Made-up hours for the tests of rules, and an evaluator that plays them hour by hour."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from kb_pipeline.alerting.catalogue import RULES, Rule
from kb_pipeline.alerting.evaluation import Snapshot, evaluate
from kb_pipeline.alerting.payloads import Sender
from kb_pipeline.alerting.rules.limits import Limits
from kb_pipeline.alerting.statistics import Hours, Past
from kb_pipeline.records import AlertState, Decision, Silence
from kb_pipeline.windows import HOUR, Window

# A Wednesday.
NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
SENDER = Sender(environment="prod", public_url="https://quality.example.org")
LIMITS = Limits()
PUBLIC = ("portal", "public", "rag")
Row = tuple[datetime, Mapping[str, float]]


def graded(scores: Sequence[float], *, floor: float = 0.5, ungraded: int = 0) -> dict[str, float]:
    """The counts of one hour whose turns have these scores, beside `ungraded` that wait."""
    return {
        "turns": len(scores) + ungraded,
        "graded": len(scores),
        "judgeable": len(scores) + ungraded,
        "scored": len(scores),
        "score_sum": sum(scores),
        "below_floor": sum(score < floor for score in scores),
    }


def calls(recognised: int, *, others: int = 0, unparsed: int = 0) -> dict[str, float]:
    """The counts of one hour of calls."""
    return {
        "read": recognised + others,
        "recognised": recognised,
        "turns": recognised,
        "attempted": recognised,
        "unparsed": unparsed,
    }


def retrievals(total: int, empty: int = 0) -> dict[str, float]:
    """The counts of one hour of retrievals."""
    return {"retrievals": total, "empty": empty}


def ago(hours: float, counts: Mapping[str, float], *, end: datetime = NOON) -> Row:
    """An hour that ends `hours` before `end`; 0 is the last one of the window."""
    return end - timedelta(hours=hours) - HOUR, counts


def hours_of(rows: Sequence[Row], end: datetime = NOON) -> Hours:
    return Hours.of(Window(end - timedelta(days=60), end), rows)


def past(*rows: Row, end: datetime = NOON) -> Past:
    return Past(hours_of(rows, end), end)


class Desk:
    """Evaluates snapshots one after the other and keeps the states, as the tables do."""

    def __init__(self, *, limits: Limits = LIMITS, rules: Sequence[Rule] = RULES) -> None:
        self.limits, self.rules = limits, rules
        self.states: dict[str, AlertState] = {}
        self.silences: list[Silence] = []
        self.sent: list[dict[str, Any]] = []
        self.flips: list[tuple[str, str]] = []

    def see(self, end: datetime = NOON, *, now: datetime | None = None, **snapshot: Any) -> list[Decision]:
        """One evaluation; what it decided is kept."""
        decisions = evaluate(
            Snapshot(end=end, **snapshot),
            list(self.states.values()),
            self.silences,
            limits=self.limits,
            sender=SENDER,
            now=now or end,
            rules=self.rules,
        )
        for decision in decisions:
            self.states[decision.state.fingerprint] = decision.state
            if decision.transition:
                self.flips.append((decision.state.rule, decision.transition.reason))
            if decision.payload:
                self.sent.append(dict(decision.payload))
        return decisions

    def told(self) -> list[tuple[str, str, str]]:
        """What receivers were told, in order: rule, status, severity."""
        return [(alert["name"], alert["status"], alert["severity"]) for alert in self.sent]

    def play(self, rows: Sequence[Row], begin: datetime, hours: int) -> None:
        """One evaluation at the end of each hour, over the same graded hours as far as they have happened."""
        for number in range(1, hours + 1):
            end = begin + HOUR * number
            happened = [row for row in rows if row[0] < end]
            self.see(end, quality={PUBLIC: hours_of(happened, end)})
