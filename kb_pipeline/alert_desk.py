"""The alert desk, wired: settings and a database become evaluations, deliveries, lists, silences and replays.

Belongs here: composition of the steps of alerting and their adapters. Does not: Dagster, terminals.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from random import SystemRandom
from typing import Any

from kb_pipeline.adapters.clock import SystemClock
from kb_pipeline.adapters.notify import AppriseService, KeepServer, Webhook
from kb_pipeline.adapters.postgres.alerting.book import PostgresAlertBook
from kb_pipeline.adapters.postgres.alerting.outbox import PostgresAlertOutbox
from kb_pipeline.adapters.postgres.alerting.statistics import PostgresAlertStatistics, Watched
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.grader import grader_database
from kb_pipeline.adapters.postgres.judge_account import PostgresJudgeAccount
from kb_pipeline.alerting.catalogue import RULE_HEADS, RULE_NAMES
from kb_pipeline.alerting.delivery import Pace
from kb_pipeline.alerting.payloads import Sender
from kb_pipeline.alerting.rules.limits import Limits
from kb_pipeline.alerting.subjects import matches, may_match
from kb_pipeline.alerting.words import QualityVerdict, quality_verdict
from kb_pipeline.errors import KbPipelineError, SettingsError
from kb_pipeline.grading.judging import PROMPT_VERSION
from kb_pipeline.ports import AlertReceiver, Clock
from kb_pipeline.records import AlertState, JudgeVersion, OutboxHealth, StepReport
from kb_pipeline.settings import AlertSettings, Settings
from kb_pipeline.steps.deliver_alerts import BUDGET_S, USUAL_PACE, deliver_alerts
from kb_pipeline.steps.evaluate_alerts import evaluate_alerts, report_run
from kb_pipeline.steps.replay_alerts import Replay, Trial, replay_rule, with_threshold
from kb_pipeline.windows import Window, hour_of

# How often the schedule evaluates, whatever materializes.
EVERY = timedelta(minutes=15)
_SHOWN = 60
_chance = SystemRandom()


class AlertDesk:
    """Everything about alerts, over one database. Use `open`, or give a database of your own.

    `judge_clock` is for replays: the time at which the judge was called, where that is not the time of the evaluation.
    """

    def __init__(
        self,
        settings: Settings,
        database: Database,
        *,
        clock: Clock | None = None,
        judge_clock: Clock | None = None,
    ) -> None:
        self.settings = settings
        self.database = database
        self.clock = clock or SystemClock()
        self._judge_clock = judge_clock or self.clock
        self.limits = limits_of(settings)
        self.destinations = destinations_of(settings.alerts)
        self.book = PostgresAlertBook(database)
        self.outbox = PostgresAlertOutbox(database)
        model = settings.rag_quality.judge_model if settings.rag_quality.enabled else None
        self._version = JudgeVersion(model=model, prompt_version=PROMPT_VERSION) if model else None
        self._sender = Sender(environment=settings.alerts.environment, public_url=settings.service.public_url)

    @classmethod
    @contextmanager
    def open(cls, settings: Settings, *, run_id: str | None = None) -> Iterator["AlertDesk"]:  # noqa: ARG003 as streets
        """The desk over the configured database; its connections are closed at the end of the block."""
        with grader_database(settings.database_url) as database:
            yield cls(settings, database)

    def evaluate(self) -> StepReport:
        """Evaluate every rule; the alerts that follow are in the outbox afterwards.

        Raises DatabaseError, and SettingsError where both streets are off.
        """
        if not (self.settings.rag_quality.enabled or self.settings.retrieval.enabled):
            raise SettingsError(
                "rag_quality.enabled and retrieval.enabled are false, so there is nothing to alert on; set one of them "
                "to true in kb_pipeline.yaml"
            )
        return evaluate_alerts(
            statistics=self._statistics(),
            book=self.book,
            clock=self.clock,
            limits=self.limits,
            sender=self._sender,
            destinations=self.destinations,
        )

    def report_run(self, job: str, *, failed: bool) -> StepReport:
        """Fire or resolve the alert of a job, by how its newest run ended."""
        return report_run(
            job,
            failed=failed,
            book=self.book,
            clock=self.clock,
            limits=self.limits,
            sender=self._sender,
            destinations=self.destinations,
        )

    def deliver(self, *, budget_s: float = BUDGET_S, pace: Pace = USUAL_PACE) -> Mapping[str, StepReport]:
        """One round of delivery to each destination, within so many seconds together; what it did, by destination.

        A destination that fails is counted and left alone for a while, and holds no other. Raises DatabaseError.
        """
        done: dict[str, StepReport] = {}
        deadline = self.clock.monotonic() + budget_s
        with receivers_of(self.settings.alerts) as receivers:
            for left, receiver in zip(range(len(receivers), 0, -1), receivers, strict=True):
                done[receiver.destination] = deliver_alerts(
                    outbox=self.outbox,
                    receiver=receiver,
                    clock=self.clock,
                    chance=_chance.random,
                    pace=pace,
                    # What one does not use is the others'.
                    budget_s=max(0.0, deadline - self.clock.monotonic()) / left,
                )
        return done

    def delivery(self) -> Sequence[OutboxHealth]:
        """How delivery to each configured destination stands."""
        known = {each.destination: each for each in self.outbox.health(self.clock.now())}
        return [known.get(name) or OutboxHealth(destination=name) for name in self.destinations]

    def states(self) -> Sequence[AlertState]:
        """The states of the configured environment."""
        environment = self.settings.alerts.environment
        return [state for state in self.book.states() if state.subject[0] == environment]

    def verdict(self) -> QualityVerdict:
        """What can be said of quality now, in words."""
        return quality_verdict(self.states())

    def history(self, *, since: datetime, fingerprint: str | None = None) -> Sequence[dict[str, Any]]:
        """The newest flips since the instant."""
        return self.book.history(since=since, fingerprint=fingerprint)

    def expire(self) -> StepReport:
        """Apply the retention to alerts that are done with and to flips."""
        ages, now = self.settings.retention, self.clock.now()
        return StepReport(
            counts={
                "alerts_expired": self.outbox.expire(now - timedelta(days=ages.alert_days)),
                "flips_expired": self.book.expire_flips(now - timedelta(days=ages.quality_days)),
            }
        )

    def silence(self, pattern: str, *, lasting: timedelta, author: str, reason: str) -> datetime:
        """Tell nobody of what the pattern matches; returns until when. Raises KbPipelineError for what cannot match."""
        if not may_match(pattern, RULE_HEADS):
            shown = repr(pattern if len(pattern) <= _SHOWN else pattern[:_SHOWN] + "…")
            raise KbPipelineError(
                f"{shown} names no alert, or all of them; a rule ({', '.join(RULE_NAMES)}), a whole fingerprint, or "
                "the beginning of fingerprints with a final * is accepted, as kb-pipeline alerts list shows them"
            )
        if not author.strip() or not reason.strip():
            raise KbPipelineError("an alert is silenced by somebody, for a reason: give both an author and a reason")
        now = self.clock.now()
        self.book.silence(pattern=pattern, now=now, ends_at=now + lasting, author=author.strip(), reason=reason.strip())
        return now + lasting

    def matching(self, pattern: str) -> int:
        """How many alerts that were evaluated so far a pattern of a silence matches."""
        return sum(matches(state.fingerprint, pattern) for state in self.states())

    def end_silences(self, pattern: str) -> int:
        """End the silences of a pattern; returns how many there were."""
        return self.book.end_silences(pattern, self.clock.now())

    def retry(self, *, destination: str | None = None, fingerprint: str | None = None) -> int:
        """Try what was given up again, at once; returns how many alerts wait again.

        Raises KbPipelineError for a destination that is not configured.
        """
        if destination is not None and destination not in self.destinations:
            known = ", ".join(self.destinations) or "none"
            raise KbPipelineError(f"there is no destination {destination!r}; configured are: {known}")
        revived = self.outbox.revive(destination=destination, fingerprint=fingerprint)
        for each in [destination] if destination else self.destinations:
            self.outbox.release(each)
        return revived

    def simulate(
        self, rule: str, *, since: datetime, threshold: float | None, changes: Mapping[str, Any], months: int, seed: int
    ) -> Replay:
        """When the rule would have fired since then, with a threshold and other limits in place of the configured ones.

        And how often it would cry wolf at the volume of that time. Raises KbPipelineError for a rule without a past, or
        without a threshold of its own.
        """
        now = self.clock.now()
        window = Window(since, hour_of(now).end)
        snapshot = self._statistics().load(window.end, now, since=window.start)
        trial = Trial(
            limits=replace(with_threshold(rule, self.limits, threshold), **changes),
            floor=self.settings.rag_quality.thresholds.ungrounded_floor,
            environment=self.settings.alerts.environment,
            months=months,
            seed=seed,
        )
        return replay_rule(rule, snapshot, window, trial)

    def _statistics(self) -> PostgresAlertStatistics:
        quality = self.settings.rag_quality
        account = PostgresJudgeAccount(self.database, version=self._version, daily_tokens=quality.judge_daily_tokens)
        watched = Watched(
            surfaces=sorted(quality.surfaces) if quality.enabled else (),
            version=self._version,
            floor=quality.thresholds.ungrounded_floor,
            judge_is_due=not account.may_judge(self._judge_clock.now()).is_spent,
            with_retrieval=self.settings.retrieval.enabled,
        )
        return PostgresAlertStatistics(self.database, watched, judge_clock=self._judge_clock)


def limits_of(settings: Settings) -> Limits:
    """The thresholds of rules, from the configuration."""
    thresholds = settings.rag_quality.thresholds
    return Limits(
        faithfulness_warn=thresholds.faithfulness_warn,
        faithfulness_crit=thresholds.faithfulness_crit,
        min_graded=thresholds.min_graded,
        ungrounded_share=thresholds.ungrounded_share,
        empty_share_warn=settings.retrieval.empty_share_warn,
        z=thresholds.confidence_z,
        every=EVERY,
    )


def destinations_of(alerts: AlertSettings) -> tuple[str, ...]:
    """Where alerts go, by name; nowhere where nothing is configured."""
    with receivers_of(alerts) as receivers:
        return tuple(receiver.destination for receiver in receivers)


@contextmanager
def receivers_of(alerts: AlertSettings) -> Iterator[Sequence[AlertReceiver]]:
    """The other end of each destination; their connections are closed at the end of the block."""
    with ExitStack() as stack:
        receivers: list[AlertReceiver] = []
        if alerts.keep_url:
            keep = KeepServer(alerts.keep_url, key=alerts.keep_api_key, read_key=alerts.keep_read_key)
            receivers.append(stack.enter_context(keep))
        if alerts.webhook_url:
            receivers.append(stack.enter_context(Webhook(alerts.webhook_url)))
        for place, url in enumerate(alerts.apprise_urls, start=1):
            receivers.append(stack.enter_context(AppriseService(url, place=place)))
        yield receivers
