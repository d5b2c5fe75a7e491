"""One audited call to its ledger verdict and, for a synthesis call, its triad and metrics.

Belongs here: the order of verdicts, sampling, the check of the evidence chain. Does not: SQL, the judge.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from kb_pipeline.grading.bodies import MAX_BODY_BYTES, Request, Response, read_request, read_response
from kb_pipeline.grading.extraction import SurfaceTemplate, extract, is_synthesis
from kb_pipeline.grading.metrics import measure
from kb_pipeline.grading.opinion import second_opinion
from kb_pipeline.records import AuditedCall, Examination, ParseStatus, StoredBody, Triad, Verdict

_INSTRUCTING = ("system", "developer")
_FIRST_HTTP_ERROR = 400
_HASH_BYTES = 8
_HASHES = 1 << 8 * _HASH_BYTES
# What a failed call left when it left nothing to read, or says more than "error". Anything else is its error body.
_KEPT_ON_HTTP_ERROR = frozenset(
    {
        ParseStatus.CONTENT_FILTER,
        ParseStatus.STREAM_ERROR,
        ParseStatus.MISSING_BODY,
        ParseStatus.EMPTY,
        ParseStatus.REDACTED,
        ParseStatus.UNDECODABLE,
        ParseStatus.TOO_LARGE,
    }
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ExaminationRules:
    """What decides a verdict.

    `templates` by surface, the pipeline's own tenant, the opening of its judge's instruction, the fraction of turns to
    grade, and the cap on a decompressed body in bytes.
    """

    templates: Mapping[str, SurfaceTemplate]
    pipeline_tenant: str
    judge_instruction: str
    sample_rate: float
    max_body_bytes: int = MAX_BODY_BYTES

    def fingerprints(self) -> dict[str, str]:
        """By surface, 16 hex digits that change with whatever may turn another call into a synthesis call.

        They cover the markers, the passage pattern and the sample rate; not the refusal phrases, which decide nothing.
        """
        return {surface: _fingerprint(template, self.sample_rate) for surface, template in self.templates.items()}


def examine(call: AuditedCall, body: StoredBody | None, rules: ExaminationRules) -> Examination:
    """The verdict on one call, with triad and metrics where it is a synthesis call. Never raises.

    The first that fits: self (by tenant), other (surface not configured), other (no chat), unreadable, self (by
    instruction), other (no synthesis call), sampled_out, synthesis. The first two decompress nothing.
    """
    template = rules.templates.get(call.surface)
    intact = evidence_intact(call.event_id, body) if body else None
    if call.tenant == rules.pipeline_tenant and rules.pipeline_tenant:
        return Examination(call=call, verdict=Verdict.SELF, evidence_intact=intact)
    if template is None:
        return Examination(call=call, verdict=Verdict.OTHER, evidence_intact=intact)
    request = read_request(body.request if body else None, max_bytes=rules.max_body_bytes)
    if request is ParseStatus.NOT_CHAT:
        # Read well enough to know that it is no turn: an embedding, a search.
        return Examination(call=call, verdict=Verdict.OTHER, evidence_intact=intact)
    if isinstance(request, ParseStatus):
        return Examination(call=call, verdict=Verdict.UNREADABLE, parse_status=request, evidence_intact=intact)
    verdict = _verdict(call, request, template, rules)
    if verdict is not Verdict.SYNTHESIS or body is None:
        return Examination(call=call, verdict=verdict, evidence_intact=intact)
    response = _response(call, read_response(body.response, max_bytes=rules.max_body_bytes))
    triad = extract(request, response, template)
    return Examination(
        call=call,
        verdict=verdict,
        parse_status=triad.parse_status,
        triad=triad,
        metrics=measure(triad, refusal_phrases=template.refusal_phrases),
        evidence_intact=intact,
    )


def is_sampled(event_id: str, rate: float) -> bool:
    """Whether a turn is graded at this rate: hash(event_id) / 2^64 < rate, so a lower rate is part of a higher one."""
    if rate >= 1:
        return True
    digest = hashlib.blake2b(event_id.encode("utf-8", "surrogatepass"), digest_size=_HASH_BYTES).digest()
    return int.from_bytes(digest) < rate * _HASHES


def evidence_intact(event_id: str, body: StoredBody) -> bool | None:
    """Whether body_hash = SHA-256(prev_hash || event_id || request_body || response_body) over the stored bytes.

    An absent body counts as no bytes. None where the audit trail maps no chain.
    """
    if body.prev_hash is None or body.body_hash is None:
        return None
    link = hashlib.sha256(body.prev_hash)
    link.update(event_id.encode("utf-8", "surrogatepass"))
    link.update(body.request or b"")
    link.update(body.response or b"")
    return bool(link.digest() == body.body_hash)


def extract_pair(request: bytes | None, response: bytes | None, template: SurfaceTemplate) -> dict[str, object]:
    """What the extractor makes of one stored pair, as plain values; without a request the response's side alone.

    Keys: parse_status, question, context, passages, history, answer, finish_reason, metrics, opinion (the second one).
    A request that cannot be read gives its status only where the response can be read.
    """
    answered = read_response(response)
    asked = read_request(request) if request is not None else Request(())
    if isinstance(asked, ParseStatus):
        readable = answered.parse_status in {ParseStatus.OK, ParseStatus.OK_LENGTH}
        triad = _of_response(answered, asked if readable else answered.parse_status)
    elif request is None:
        triad = _of_response(answered, answered.parse_status)
    else:
        triad = extract(asked, answered, template)
    metrics = measure(triad, refusal_phrases=template.refusal_phrases)
    opinion = second_opinion(triad, metrics).as_json()
    return {**msgspec.to_builtins(triad), "metrics": msgspec.to_builtins(metrics), "opinion": opinion}


def _fingerprint(template: SurfaceTemplate, sample_rate: float) -> str:
    facts = (
        sorted(template.synthesis_markers),
        template.question_marker,
        template.context_marker,
        template.passage_pattern.pattern,
        float(sample_rate),
    )
    return hashlib.sha256(repr(facts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _verdict(call: AuditedCall, request: Request, template: SurfaceTemplate, rules: ExaminationRules) -> Verdict:
    if _is_own_judge(request, rules.judge_instruction):
        return Verdict.SELF
    if not is_synthesis(request, template):
        return Verdict.OTHER
    return Verdict.SYNTHESIS if is_sampled(call.event_id, rules.sample_rate) else Verdict.SAMPLED_OUT


def _is_own_judge(request: Request, instruction: str) -> bool:
    opening = instruction.strip()
    for message in request.messages:
        if opening and message.role in _INSTRUCTING and message.text.lstrip().startswith(opening):
            return True
    return False


def _response(call: AuditedCall, response: Response) -> Response:
    """The response, with what the HTTP status says: nothing that came with a failure is an answer."""
    failed = call.http_status is not None and call.http_status >= _FIRST_HTTP_ERROR
    return Response(ParseStatus.ERROR) if failed and response.parse_status not in _KEPT_ON_HTTP_ERROR else response


def _of_response(response: Response, status: ParseStatus) -> Triad:
    return Triad(parse_status=status, answer=response.answer, finish_reason=response.finish_reason)
