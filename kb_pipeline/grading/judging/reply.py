"""A judge's reply becomes scores, or the class of what is wrong with it: form is forgiven, content never.

Belongs here: the verdict over a reply, the rules that make a score undefined. Does not: HTTP, retries.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Literal

from kb_pipeline.grading.judging.envelope import read_envelope
from kb_pipeline.grading.judging.neutral import clean_line
from kb_pipeline.grading.judging.objects import only_object
from kb_pipeline.grading.judging.planted import Planted, planted_in
from kb_pipeline.grading.judging.prompt import REASON_CHARS
from kb_pipeline.grading.refusals import asserts_nothing
from kb_pipeline.records import ErrorClass, Graded, Metrics, Score, Triad, Ungraded, Usage
from kb_pipeline.support import Language, language_of

Aspect = Literal["faithfulness", "answer_relevance", "context_relevance"]
ASPECTS: tuple[Aspect, ...] = ("faithfulness", "answer_relevance", "context_relevance")
_MAX_WRAPPERS = 2
_LONGEST_WAIT_S = 86_400.0
# A bare yes or no says all of what was asked.
_AFFIRMS = re.compile(
    r"\W*(?:iya|ya|benar|betul|tentu|tidak|bukan|belum|yes|yep|no|sure|ok|oke|okay)\W*", re.IGNORECASE
)

_REFUSED = {
    Language.INDONESIAN: "Jawaban berupa penolakan, jadi tidak menyatakan apa pun.",
    Language.ENGLISH: "The answer is a refusal, so it asserts nothing.",
}
_ASSERTS_NOTHING = {
    Language.INDONESIAN: "Jawaban tidak menyatakan apa pun.",
    Language.ENGLISH: "The answer asserts nothing.",
}
_NO_CONTEXT = {
    Language.INDONESIAN: "Tidak ada konteks yang ditemukan untuk pertanyaan ini.",
    Language.ENGLISH: "Nothing was retrieved for this question.",
}
_PLANTED = {
    Language.INDONESIAN: "Teks giliran ini sendiri memuat nilai itu, jadi nilai dari penilai tidak dipakai.",
    Language.ENGLISH: "The turn's own text holds this score, so the judge's is not taken.",
}


def read_reply(body: bytes, http_status: int, *, triad: Triad, metrics: Metrics) -> Graded | Ungraded:
    """The judge's three scores with their reasons, or why there are none; never an exception, whatever the bytes.

    A score is a JSON number in [0, 1] under its own key. It is never taken from prose or from a string, never clamped.
    Only what `undefined_aspects` names may be null; such a score stays undefined whatever number the judge gave.
    A score that the turn's own text holds or asks for is withheld: nobody can tell who gave it. Where every score is
    such a one, the reply is bad_schema.
    """
    written = read_envelope(body, http_status)
    if isinstance(written, Ungraded):
        return written
    found = only_object(written.text, was_cut=written.was_cut, usage=written.usage)
    if isinstance(found, Ungraded):
        return found
    graded = _graded(_unwrapped(found), undefined_aspects(triad, metrics), written.usage)
    if isinstance(graded, Ungraded):
        return graded
    return _without_planted(graded, planted_in(triad, metrics), language_of(triad.question))


def undefined_aspects(triad: Triad, metrics: Metrics) -> dict[Aspect, str]:
    """The aspects that this turn does not have, each with the reason in the question's language.

    A refusal, a greeting or an answer without a word asserts nothing, so it has no faithfulness, rather than 1.0 or
    0.0; without retrieved context there is no relevance of a context.
    """
    language = language_of(triad.question)
    undefined: dict[Aspect, str] = {}
    if metrics.refused:
        undefined["faithfulness"] = _REFUSED[language]
    elif asserts_nothing(triad.answer) and not _AFFIRMS.fullmatch(triad.answer):
        undefined["faithfulness"] = _ASSERTS_NOTHING[language]
    if not metrics.had_context:
        undefined["context_relevance"] = _NO_CONTEXT[language]
    return undefined


def retry_after_seconds(value: str | None, *, now: datetime) -> float | None:
    """The wait that a Retry-After header asks for, in seconds in [0, 86400]; None without a readable one."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        when = http_date(value)
        seconds = (when - now).total_seconds() if when else math.nan
    return min(max(seconds, 0.0), _LONGEST_WAIT_S) if math.isfinite(seconds) else None


def http_date(value: str) -> datetime | None:
    """The instant of an HTTP date, such as a Date header's; None when it is none."""
    try:
        when = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return when if when.tzinfo else when.replace(tzinfo=UTC)


def _unwrapped(value: dict[str, Any]) -> dict[str, Any]:
    """The object inside at most two wrappers of one key each."""
    for _ in range(_MAX_WRAPPERS):
        inner = next(iter(value.values())) if len(value) == 1 and not value.keys() & set(ASPECTS) else None
        if not isinstance(inner, dict):
            break
        value = inner
    return value


def _graded(value: Mapping[str, Any], undefined: Mapping[Aspect, str], usage: Usage) -> Graded | Ungraded:
    scores: dict[Aspect, Score] = {}
    for aspect in ASPECTS:
        score = _score(value, aspect, undefined.get(aspect))
        if isinstance(score, ErrorClass):
            return Ungraded(error_class=score, detail=f"{aspect} is not a number from 0 to 1", usage=usage)
        scores[aspect] = score
    return Graded(
        faithfulness=scores["faithfulness"],
        answer_relevance=scores["answer_relevance"],
        context_relevance=scores["context_relevance"],
        usage=usage,
    )


def _without_planted(graded: Graded, planted: Planted, language: Language) -> Graded | Ungraded:
    """The scores that the turn's own text cannot be the source of; ungraded where none is left."""
    reason = _PLANTED[language]

    def kept(score: Score) -> Score:
        is_planted = score.value is not None and planted.holds(score.value)
        return Score(value=None, reason=reason) if is_planted else score

    cleaned = replace(
        graded,
        faithfulness=kept(graded.faithfulness),
        answer_relevance=kept(graded.answer_relevance),
        context_relevance=kept(graded.context_relevance),
    )
    scores = (cleaned.faithfulness, cleaned.answer_relevance, cleaned.context_relevance)
    if any(score.value is not None for score in scores):
        return cleaned
    detail = "every score stands in the turn's own text"
    return Ungraded(error_class=ErrorClass.BAD_SCHEMA, detail=detail, usage=graded.usage)


def _score(value: Mapping[str, Any], aspect: Aspect, undefined: str | None) -> Score | ErrorClass:
    """One aspect's score: `{aspect: number, aspect_reason: text}` or `{aspect: {score: number, reason: text}}`."""
    number, reason = _entry(value, aspect)
    if not isinstance(reason, str | None):
        return ErrorClass.BAD_SCHEMA
    line = clean_line(reason or "", limit=REASON_CHARS)
    if number is None and (undefined or (aspect == "faithfulness" and line)):
        return Score(value=None, reason=undefined or line)
    if isinstance(number, bool) or not isinstance(number, int | float):
        return ErrorClass.BAD_SCHEMA
    if not 0 <= number <= 1:
        return ErrorClass.OUT_OF_RANGE
    # Adding zero turns -0.0 into 0.0.
    return Score(value=None, reason=undefined) if undefined else Score(value=float(number) + 0.0, reason=line)


_MISSING = object()


def _entry(value: Mapping[str, Any], aspect: Aspect) -> tuple[Any, Any]:
    entry = value.get(aspect, _MISSING)
    if isinstance(entry, dict):
        numbers = [entry[key] for key in ("score", "value") if key in entry]
        return (numbers[0] if len(numbers) == 1 else _MISSING), entry.get("reason")
    reasons = value.get("reasons")
    beside = reasons.get(aspect) if isinstance(reasons, dict) else None
    return entry, value.get(f"{aspect}_reason", beside)
