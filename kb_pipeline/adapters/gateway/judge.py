"""The judge of the contract: one POST a turn to an OpenAI-compatible server; what a server does is a returned value.

Belongs here: headers, time limit, connection pools, what a server was found to accept. Does not: a second try of a
turn.
"""

import asyncio
import json
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import TracebackType
from typing import Any, Self

import httpx

from kb_pipeline.adapters.authorities import trusted
from kb_pipeline.adapters.clock import SystemClock
from kb_pipeline.adapters.gateway.body import Reply, read_whole
from kb_pipeline.adapters.gateway.hosts import (
    as_address,
    endpoint_of,
    is_private_address,
    is_private_name,
    refuse_public_host,
)
from kb_pipeline.counting import counted
from kb_pipeline.errors import JudgeRefused
from kb_pipeline.grading.judging import (
    PROMPT_VERSION,
    Dialect,
    build_messages,
    http_date,
    idempotency_key,
    nonce_of,
    read_reply,
    retry_after_seconds,
    weaker_dialect,
    wording,
)
from kb_pipeline.grading.judging.cost import ASSUMED_CONTEXT_TOKENS
from kb_pipeline.grading.judging.prompt import reply_tokens
from kb_pipeline.grading.judging.window import exceeded_window
from kb_pipeline.ports import Clock
from kb_pipeline.records import (
    Claim,
    ErrorClass,
    Graded,
    Judgement,
    JudgeVersion,
    Metrics,
    ParseStatus,
    Passage,
    Triad,
    Ungraded,
)

# The pool of httpx 0.28 scans all its connections several times a request: many small pools cost less than a large one.
CONNECTIONS_PER_CLIENT = 5
_CONNECT_TIMEOUT_S = 10.0
_KEEPALIVE_S = 30.0


class DialectMemory:
    """What each server was found to accept, so that it is asked once per process for what it refuses."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Dialect] = {}

    def of(self, endpoint: str, model: str) -> Dialect:
        """The strongest dialect not yet refused."""
        return self._known.get((endpoint, model), Dialect())

    def refused(self, endpoint: str, model: str, dialect: Dialect, weaker: Dialect) -> None:
        """Note that `dialect` was refused; what another call learnt meanwhile stays."""
        if self.of(endpoint, model) == dialect:
            self._known[endpoint, model] = weaker


PROCESS_MEMORY = DialectMemory()


@dataclass(frozen=True, kw_only=True, slots=True)
class Probe:
    """What one trial call of the judge showed, as a sentence for the operator."""

    ok: bool
    sentence: str


@dataclass(kw_only=True, slots=True)
class _Trail:
    """The HTTP calls that one turn has taken so far."""

    calls: int = 0
    dialect: Dialect = field(default_factory=Dialect)


@dataclass(kw_only=True, slots=True)
class _Lane:
    """One client and how many calls it carries."""

    client: httpx.AsyncClient
    carries: int = 0


class GatewayJudge:
    """Grades turns through `{base_url}/v1/chat/completions`, each within `timeout_s` seconds, `concurrency` at once.

    `context_tokens` is the model's window: a reply may take a quarter of it, and 4096 tokens, at most. An async
    context manager, to be opened in the event loop that calls it; it may be opened again later. Raises JudgeRefused
    when the URL cannot be used, is public without `allow_external`, or the tenant does not fit a header.
    """

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        tenant: str,
        timeout_s: float = 60.0,
        concurrency: int = 4,
        allow_external: bool = False,
        context_tokens: int = ASSUMED_CONTEXT_TOKENS,
        connections_per_client: int = CONNECTIONS_PER_CLIENT,
        clock: Clock | None = None,
        dialects: DialectMemory | None = None,
    ) -> None:
        refuse_public_host(base_url, allow_external=allow_external)
        if not (tenant.isascii() and tenant.isprintable() and tenant.strip() == tenant):
            raise JudgeRefused("rag_quality.judge_tenant does not fit an HTTP header; use printable ASCII characters")
        self.endpoint = endpoint_of(base_url)
        self.version = JudgeVersion(model=model, prompt_version=PROMPT_VERSION)
        host = httpx.URL(self.endpoint).host
        self._checks_peer = not allow_external and as_address(host) is None and not is_private_name(host)
        self._headers = {
            "X-Tenant-Id": tenant,
            "X-Surface": "system",
            "X-Priority": "batch",
            "Accept-Encoding": "identity",
        }
        self._timeout_s = timeout_s
        self.context_tokens = context_tokens
        self._concurrency = concurrency
        self._connections_per_client = connections_per_client
        self._clock = clock or SystemClock()
        self._dialects = PROCESS_MEMORY if dialects is None else dialects
        self._lanes: list[_Lane] = []
        self._slots = asyncio.Semaphore(concurrency)

    async def __aenter__(self) -> Self:
        lanes = -(-self._concurrency // self._connections_per_client)
        self._lanes = [_Lane(client=self._new_client()) for _ in range(lanes)]
        self._slots = asyncio.Semaphore(self._concurrency)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        lanes, self._lanes = self._lanes, []
        for lane in lanes:
            await lane.client.aclose()

    async def grade(self, claim: Claim) -> Judgement:
        """The scores of the claimed turn, or why there are none, with their cost; a server's fault is never raised."""
        async with self._slots:
            started = self._clock.monotonic()
            trail = _Trail()
            try:
                async with asyncio.timeout(self._timeout_s):
                    judgement = await self._asked(claim, trail)
            except (TimeoutError, httpx.TimeoutException):
                judgement = Ungraded(
                    error_class=ErrorClass.TIMEOUT, detail=f"no whole reply within {self._timeout_s:g} s"
                )
            except (httpx.HTTPError, httpx.StreamError, OSError) as error:
                judgement = Ungraded(error_class=ErrorClass.CONNECTION, detail=type(error).__name__)
            except JudgeRefused as refusal:
                judgement = Ungraded(error_class=ErrorClass.CONNECTION, detail=str(refusal))
        usage = replace(
            judgement.usage,
            calls=trail.calls,
            latency_ms=round((self._clock.monotonic() - started) * 1000),
            response_format=trail.dialect.response_format,
        )
        return replace(judgement, usage=usage)

    def probe(self) -> Probe:
        """Grade one built-in turn, for `kb-pipeline check`; opens and closes the judge itself."""
        return asyncio.run(self._probed())

    async def _probed(self) -> Probe:
        async with self:
            judgement = await self.grade(_probe_claim(self.version, self._clock.now()))
        host = httpx.URL(self.endpoint).netloc.decode()
        if isinstance(judgement, Graded):
            spent = f"{judgement.usage.latency_ms} ms, asked for {judgement.usage.response_format}"
            return Probe(ok=True, sentence=f"the judge {self.version.model} at {host} graded a trial turn ({spent})")
        return Probe(
            ok=False,
            sentence=f"the judge {self.version.model} at {host} gave no scores for a trial turn: "
            f"{judgement.error_class} ({judgement.detail}); {_ADVICE[judgement.error_class]}",
        )

    async def _asked(self, claim: Claim, trail: _Trail) -> Judgement:
        """The judgement of the first call whose wording the server accepts; each refusal leaves a weaker wording."""
        nonce = nonce_of(claim.event_id, claim.triad)
        messages = build_messages(claim.triad, claim.metrics, nonce=nonce, part=claim.part)
        while True:
            dialect = self._dialects.of(self.endpoint, self.version.model)
            key = _key(claim, trail.calls, dialect)
            trail.calls, trail.dialect = trail.calls + 1, dialect
            asked = wording(dialect, most_tokens=reply_tokens(self.context_tokens))
            reply = await self._post(_content(self.version.model, messages, asked), key)
            weaker = None if reply.body is None else weaker_dialect(dialect, reply.status, reply.body)
            if weaker is None:
                return self._judgement(claim, reply)
            self._dialects.refused(self.endpoint, self.version.model, dialect, weaker)

    async def _post(self, content: bytes, key: str) -> Reply:
        lane = min(self._lanes, key=lambda lane: lane.carries)
        lane.carries += 1
        try:
            async with lane.client.stream(
                "POST",
                self.endpoint,
                content=content,
                headers={"Content-Type": "application/json", "Idempotency-Key": key},
                extensions={"trace": _refuse_public_peer} if self._checks_peer else None,
            ) as response:
                return await read_whole(response)
        finally:
            lane.carries -= 1

    def _judgement(self, claim: Claim, reply: Reply) -> Judgement:
        if reply.body is None:
            return Ungraded(error_class=ErrorClass.BAD_SCHEMA, detail="the reply is too large to be scores")
        judgement = read_reply(reply.body, reply.status, triad=claim.triad, metrics=claim.metrics)
        if isinstance(judgement, Graded):
            return judgement
        too_long, tokens = exceeded_window(reply.status, reply.body)
        if too_long:
            return self._exceeded(judgement, tokens)
        # By the server's own clock where it tells it: an offset between the two must not lengthen a wait.
        now = http_date(reply.date or "") or self._clock.now()
        return replace(judgement, retry_after=retry_after_seconds(reply.retry_after, now=now))

    def _exceeded(self, judgement: Ungraded, tokens: int | None) -> Ungraded:
        """A refusal of the call's length, whatever its status; what the server says of its window is remembered."""
        if tokens is not None:
            self.context_tokens = min(self.context_tokens, tokens)
        size = f"of {counted(tokens, 'token')}" if tokens else "of a size that it does not tell"
        return replace(
            judgement,
            error_class=ErrorClass.HTTP_4XX,
            detail=f"{judgement.detail}: the call exceeds the server's context window {size}",
            too_long=True,
            window_tokens=tokens,
        )

    def _new_client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            verify=trusted(),
            headers=self._headers,
            timeout=httpx.Timeout(self._timeout_s, connect=min(self._timeout_s, _CONNECT_TIMEOUT_S)),
            limits=httpx.Limits(
                max_connections=self._connections_per_client,
                max_keepalive_connections=self._connections_per_client,
                keepalive_expiry=_KEEPALIVE_S,
            ),
            follow_redirects=False,
            # Proxies are not read.
            trust_env=False,
        )


def _content(model: str, messages: list[dict[str, str]], asked: dict[str, Any]) -> bytes:
    """The request's bytes: the same for the same turn and wording."""
    body: dict[str, Any] = {"model": model, "messages": messages, "stream": False, **asked}
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def _key(claim: Claim, calls: int, dialect: Dialect) -> str:
    """The claim's own stored key for its first call; a call after a refusal of the wording has a key of its own."""
    if calls == 0:
        return claim.idempotency_key
    part = nonce_of(claim.event_id, claim.triad) if claim.part else ""
    return idempotency_key(
        claim.event_id,
        calls=claim.calls + calls,
        version=claim.version,
        response_format=dialect.response_format,
        part=part,
    )


async def _refuse_public_peer(event: str, info: dict[str, Any]) -> None:
    """Stops a call before its first byte when the name has come to mean a public address since it was checked."""
    if event != "connection.connect_tcp.complete":
        return
    stream = info["return_value"]
    address = as_address(str(stream.get_extra_info("server_addr")[0]))
    if address is None or not is_private_address(address):
        await stream.aclose()
        raise JudgeRefused("the judge's host has come to resolve to a public address; nothing was sent")


_ADVICE = {
    ErrorClass.TIMEOUT: "raise rag_quality.judge_timeout_s or look at the server's load",
    ErrorClass.CONNECTION: "see whether the server runs and rag_quality.judge_base_url names its host and port",
    ErrorClass.RATE_LIMITED: "lower rag_quality.judge_concurrency or ask for a higher limit",
    ErrorClass.HTTP_4XX: "see whether rag_quality.judge_base_url and judge_model are what the server knows",
    ErrorClass.HTTP_5XX: "look at the server's own log",
    ErrorClass.NOT_JSON: "take a model or server that can be made to answer in JSON",
    ErrorClass.BAD_SCHEMA: "take a model or server that keeps to a JSON schema",
    ErrorClass.OUT_OF_RANGE: "take a model or server that keeps to a JSON schema",
    ErrorClass.TRUNCATED_REPLY: "raise the server's limit of completion tokens",
    ErrorClass.EMPTY_REPLY: "see whether the model's thinking uses up its completion tokens",
}

_PROBE_CONTEXT = (
    "[RAG-1] (skor 0.91) Yayasan didirikan dengan akta notaris dan memperoleh status badan hukum dari Menteri."
)


def _probe_claim(version: JudgeVersion, now: datetime) -> Claim:
    """A trial turn of our own words; its id carries the time, so that no gateway replays an older reply."""
    event_id = f"kb-pipeline-check-{now:%Y%m%dT%H%M%S%f}"
    triad = Triad(
        parse_status=ParseStatus.OK,
        question="Bagaimana yayasan didirikan?",
        context=_PROBE_CONTEXT,
        passages=(Passage(rank=1, score=0.91, text=_PROBE_CONTEXT),),
        answer="Yayasan didirikan dengan akta notaris.",
    )
    metrics = Metrics(
        had_context=True,
        num_passages=1,
        top_score=0.91,
        mean_score=0.91,
        context_chars=len(triad.context),
        answer_chars=len(triad.answer),
        refused=False,
        answer_truncated=False,
    )
    return Claim(
        event_id=event_id,
        ts=now,
        version=version,
        idempotency_key=event_id,
        calls=0,
        attempts=0,
        triad=triad,
        metrics=metrics,
    )
