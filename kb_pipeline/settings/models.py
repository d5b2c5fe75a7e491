"""Every key of kb_pipeline.yaml, its default and its meaning; docs/reference/configuration.md is tested against this.

Belongs here: one class per section. Does not: reading the file, the words of a refusal.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from kb_pipeline.errors import SettingsError
from kb_pipeline.settings.surfaces import SurfaceSettings
from kb_pipeline.settings.values import (
    DATABASE_DRIVER,
    AnyPort,
    Count,
    DatabaseUrl,
    Days,
    DistinctList,
    Fraction,
    HeaderText,
    HttpUrl,
    JudgeUrl,
    Listed,
    Network,
    NotificationUrl,
    Pattern,
    Port,
    QueueName,
    RedisUrl,
    Seconds,
    SecretHttpUrl,
    SecretText,
    Section,
    SessionKey,
    Sha256,
    StartAt,
    Text,
    WholeSeconds,
    compiled,
)


class ThresholdSettings(Section):
    """When the quality of a window is worth a warning."""

    faithfulness_warn: Fraction = 0.70
    """A windowed mean faithfulness below it is a warning; also the threshold of the grounded rate."""
    faithfulness_crit: Fraction = 0.55
    """A windowed mean faithfulness below it is critical."""
    min_graded: Count = 20
    """Fewer graded turns than this in a window decide nothing."""
    ungrounded_floor: Fraction = 0.5
    """A turn with a faithfulness below it is ungrounded."""
    ungrounded_share: Fraction = 0.10
    """A larger share of ungrounded turns than this is a spike."""
    confidence_z: Annotated[float, Field(ge=0, le=5)] = 1.645
    """How sure a breach must be: the z of a one-sided interval; 1.645 is 95 %, 0 takes the mean at its word."""

    @model_validator(mode="after")
    def _warning_comes_before_critical(self) -> Self:
        if self.faithfulness_warn <= self.faithfulness_crit:
            warn, crit = self.faithfulness_warn, self.faithfulness_crit
            raise ValueError(f"faithfulness_warn ({warn}) above faithfulness_crit ({crit}) is accepted")
        return self


class RagQualitySettings(Section):
    """The grading street. While it is dormant there are no grading jobs, no rows and no judge calls."""

    enabled: bool = False
    """Whether turns are graded."""
    eval_interval_s: WholeSeconds = 300
    """How often new turns are looked for, in seconds."""
    start_at: StartAt = "now"
    """Turns completed before it are graded only on request; now is the moment when grading was first enabled."""
    max_batch: Count = 100
    """Judge calls that one run may claim."""
    sample_rate: Fraction = 1.0
    """The share of turns that is graded, chosen by hash of event_id: a lower rate is a subset of a higher one."""
    judge_base_url: JudgeUrl = "http://gateway:8080"
    """The OpenAI-compatible server that judges; calls go to /v1/chat/completions below it."""
    allow_external_judge: bool = False
    """Whether the judge may be a public host; until then one is refused."""
    judge_model: Text | None = "qwen-35b"
    """The judging model; null turns the judge off, deterministic metrics are kept all the same."""
    judge_tenant: HeaderText = "ahu-observatory"
    """Sent as X-Tenant-Id; the pipeline's own calls carry it and are never graded."""
    judge_concurrency: Annotated[int, Field(ge=1, le=1_000)] = 4
    """Judge calls in flight at once."""
    judge_timeout_s: Seconds = 60.0
    """Seconds until a judge call is given up."""
    judge_max_attempts: Annotated[int, Field(ge=1, le=100)] = 3
    """Unusable replies until a turn is marked failed; an outage uses up none."""
    judge_context_tokens: Annotated[int, Field(ge=1_024, le=10_000_000)] | None = 32_768
    """The judging model's context window, in tokens; null asks its server, and takes 32768 where that does not tell."""
    judge_daily_tokens: Annotated[int, Field(ge=1)] | None = None
    """Tokens that the judge may cost in a UTC day; null sets no limit."""
    surfaces: Mapping[Text, SurfaceSettings] = Field(default={"public": SurfaceSettings()}, min_length=1)
    """The surfaces that are graded, by the name they have in the audit trail."""
    thresholds: ThresholdSettings = ThresholdSettings()
    """When the quality of a window is worth a warning."""


class RetrievalSettings(Section):
    """The retrieval street."""

    enabled: bool = False
    """Whether retrieval events are consumed and drafts are joined to their outcomes."""
    redis_url: Annotated[RedisUrl | None, Field(repr=False)] = None
    """The Redis or Valkey server behind the queue."""
    queue_database_url: Annotated[DatabaseUrl | None, Field(repr=False)] = None
    """A PostgreSQL database that carries the queue in place of redis_url, in BullMQ's own tables (schema bullmq)."""
    queue: QueueName = "kb-retrieval-event"
    """The BullMQ queue that carries retrieval events."""
    engines: DistinctList[Text] = ("hybrid", "keyword")
    """The retrieval engines that are compared."""
    empty_share_warn: Fraction = 0.05
    """A larger share of retrievals without a result than this is a warning."""
    worker_host: Text = "127.0.0.1"
    """The address that the worker's /metrics and /healthz listen on; 0.0.0.0 for every one."""
    worker_port: AnyPort = 9464
    """The port of the worker's /metrics and /healthz; 0 takes a free one."""
    clickhouse_url: Annotated[SecretHttpUrl | None, Field(repr=False)] = None
    """A ClickHouse server that gets a copy of the retrieval events; null for none."""

    @model_validator(mode="after")
    def _an_enabled_street_has_a_queue(self) -> Self:
        if self.redis_url is not None and self.queue_database_url is not None:
            raise ValueError("redis_url or queue_database_url is accepted, and both are given: a queue is in one place")
        if self.enabled and self.redis_url is None and self.queue_database_url is None:
            raise ValueError(
                "enabled: true is accepted together with redis_url, for example redis://localhost:6379/0, or with "
                "queue_database_url"
            )
        return self


class AlertSettings(Section):
    """Where warnings are delivered; without a URL, nowhere."""

    keep_url: HttpUrl | None = None
    """The Keep server that receives alerts."""
    keep_api_key: SecretText | None = None
    """The key that may send alerts to Keep."""
    keep_read_key: SecretText | None = None
    """The key that may read alerts back from Keep, so that each is seen to have arrived."""
    webhook_url: Annotated[SecretHttpUrl | None, Field(repr=False)] = None
    """A URL that receives each alert as one JSON object."""
    apprise_urls: Annotated[Listed[NotificationUrl], Field(repr=False)] = ()
    """Further receivers, as Apprise URLs; they need kb-pipeline[apprise]."""
    environment: Text = "prod"
    """Named in each alert."""

    @property
    def has_destination(self) -> bool:
        """Whether alerts go anywhere."""
        return bool(self.keep_url or self.webhook_url or self.apprise_urls)


class TokenSettings(Section):
    """One bearer token of the HTTP service, known by its hash alone."""

    name: Text
    """Who holds the token."""
    role: Literal["operator", "auditor"] = "operator"
    """An operator sees everything but full text; an auditor sees that too."""
    sha256: Annotated[Sha256, Field(repr=False)]
    """SHA-256 of the token, in hexadecimal digits."""


class ServiceSettings(Section):
    """The HTTP service."""

    host: Text = "127.0.0.1"
    """The address to listen on."""
    port: Port = 8000
    """The port to listen on."""
    public_url: HttpUrl | None = None
    """The address that people open, for the links in alerts."""
    dagster_url: HttpUrl | None = None
    """The address of Dagster's UI, for links to runs; null for none."""
    tokens: Listed[TokenSettings] = ()
    """The accepted bearer tokens."""
    session_key: SessionKey | None = None
    """What signs sessions, so that they outlast a restart; null makes a key with each start."""
    trusted_proxies: Listed[Network] = ()
    """Reverse proxies whose X-Forwarded-For and X-Forwarded-Proto are believed; of anybody else they are not."""

    @model_validator(mode="after")
    def _tokens_have_names_of_their_own(self) -> Self:
        names = [token.name for token in self.tokens]
        if len(set(names)) < len(names):
            raise ValueError("tokens with a name of their own each are accepted, and two share one")
        return self


class RetentionSettings(Section):
    """How long text and scores are kept."""

    triad_text_days: Days = 30
    """Days that question, context and answer are kept."""
    preview_days: Days = 90
    """Days that the preview of a question is kept."""
    query_text_days: Days = 180
    """Days that the text of a retrieval query is kept."""
    quality_days: Days = 730
    """Days that scores and metrics are kept, and the flips of alerts."""
    alert_days: Days = 90
    """Days that alerts are kept in the outbox after they were delivered or given up."""


class RedactionSettings(Section):
    """What is masked in the preview of a question."""

    patterns: Listed[Pattern] = ()
    """Whatever one of these regular expressions matches is masked."""

    def compiled(self) -> tuple[re.Pattern[str], ...]:
        """The patterns, ready for use."""
        return tuple(compiled(pattern) for pattern in self.patterns)


class DatabaseSettings(Section):
    """Our own PostgreSQL database, 14 to 18."""

    url: Annotated[DatabaseUrl | None, Field(repr=False)] = None
    """Where it is; the driver may be left out."""


class Settings(Section):
    """The whole configuration."""

    rag_quality: RagQualitySettings = RagQualitySettings()
    """The grading street: which turns are graded, and by which judge."""
    retrieval: RetrievalSettings = RetrievalSettings()
    """The retrieval street: the queue of retrieval events."""
    alerts: AlertSettings = AlertSettings()
    """Where warnings are delivered."""
    service: ServiceSettings = ServiceSettings()
    """The HTTP service."""
    retention: RetentionSettings = RetentionSettings()
    """How long text and scores are kept."""
    redaction: RedactionSettings = RedactionSettings()
    """What is masked in previews."""
    database: DatabaseSettings = DatabaseSettings()
    """Our own database."""

    @property
    def database_url(self) -> str:
        """The URL of our database, with its driver; raises SettingsError where none is configured."""
        if self.database.url is None:
            raise SettingsError(
                "database.url is not set; write it into kb_pipeline.yaml or set KB_PIPELINE__DATABASE__URL, "
                f"for example {DATABASE_DRIVER}://user@host:5432/name"
            )
        return self.database.url
