"""Evaluate the alert rules: load the statistics, decide every state, save states, flips and alerts together.

Belongs here: the order of that. Does not: rules (kb_pipeline/alerting), delivery.
"""

from collections.abc import Sequence

from kb_pipeline.alerting.catalogue import RULES, Rule
from kb_pipeline.alerting.evaluation import Snapshot, decide_run, evaluate
from kb_pipeline.alerting.payloads import Sender
from kb_pipeline.alerting.rules.limits import Limits
from kb_pipeline.ports import AlertBook, AlertStatistics, Clock
from kb_pipeline.records import Decision, StepReport
from kb_pipeline.windows import hour_of


def evaluate_alerts(
    *,
    statistics: AlertStatistics,
    book: AlertBook,
    clock: Clock,
    limits: Limits,
    sender: Sender,
    destinations: Sequence[str],
    rules: Sequence[Rule] = RULES,
) -> StepReport:
    """One evaluation of the window that ends with the running hour. The same statistics again change nothing.

    Where nothing can be read, that is what is kept, and the error is raised again afterwards.
    """
    failure: Exception | None = None
    with book.turn() as turn:
        now = clock.now()
        end = hour_of(now).end
        try:
            snapshot = statistics.load(end, now)
        except Exception as error:  # noqa: BLE001 whatever it was, nothing could be read, and that is news
            failure, snapshot = error, Snapshot(end=end, is_readable=False)
        decisions = evaluate(
            snapshot, turn.states(), turn.silences(now), limits=limits, sender=sender, now=now, rules=rules
        )
        turn.save(decisions, destinations=destinations, now=now)
    if failure is not None:
        raise failure
    return _report(decisions, destinations)


def report_run(
    job: str,
    *,
    failed: bool,
    book: AlertBook,
    clock: Clock,
    limits: Limits,
    sender: Sender,
    destinations: Sequence[str],
) -> StepReport:
    """Keep that a run of the job failed or succeeded, as an alert that fires or resolves."""
    with book.turn() as turn:
        now = clock.now()
        decision = decide_run(
            job,
            failed=failed,
            states=turn.states(),
            silences=turn.silences(now),
            limits=limits,
            sender=sender,
            now=now,
        )
        decisions = [decision] if decision else []
        turn.save(decisions, destinations=destinations, now=now)
    return _report(decisions, destinations)


def _report(decisions: Sequence[Decision], destinations: Sequence[str]) -> StepReport:
    told = [decision for decision in decisions if decision.payload]
    return StepReport(
        counts={
            "states": len(decisions),
            "states_changed": sum(decision.changes for decision in decisions),
            "active": sum(decision.state.status.is_active for decision in decisions),
            "held": sum(decision.state.inhibited_by is not None for decision in decisions),
            "flips": sum(decision.transition is not None for decision in decisions),
            "notices": len(told),
            "queued": len(told) * len(destinations),
        }
    )
