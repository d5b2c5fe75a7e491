"""Keep: alerts go to `/alerts/event` as a list, and are read back from `/alerts/batch`.

Belongs here: its two requests and the words of its refusals. Does not: when they are made.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from pydantic import SecretStr

from kb_pipeline.adapters.notify.wire import Reply, Wire, host_of
from kb_pipeline.alerting.delivery import Answer, Outcome, Proof, Standing
from kb_pipeline.alerting.payloads import encode

KEEP = "keep"
MOST = 50
MAX_WORDS = 300
UNPROCESSABLE = 422
_REDIRECTS = range(300, 400)
# What a bigint holds; whatever is longer is none of ours, and could be too long to be read as a number at all.
_SEQUENCE = re.compile(r"[0-9]{1,19}")
_KEY_REFUSED = (401, 403)
_MISSING = (404, 405)


@dataclass(frozen=True, kw_only=True, slots=True)
class KeepCheck:
    """What Keep says of one of our keys."""

    ok: bool
    message: str
    remedy: str = ""


class KeepServer:
    """A Keep server at `url`, below which its API is. A context manager.

    `key` may send; `read_key` may read. Without one that may read nothing that arrived can be seen.
    """

    destination = KEEP
    most = MOST

    def __init__(self, url: str, *, key: SecretStr | None, read_key: SecretStr | None = None) -> None:
        self._url = url.rstrip("/")
        self._key = key
        self._read_key = read_key
        self._wire = Wire()
        self._is_embedded = False

    @property
    def proof(self) -> Proof:
        """Keep answers 202 to what it has in memory; only reading shows that it is kept."""
        return Proof.READ_BACK if self._read_key else Proof.NONE

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._wire.__exit__(*error)

    def send(self, alerts: Sequence[Mapping[str, Any]], *, within_s: float) -> Answer:
        """Send a list: a bare object that fails Keep's schema would be answered 202 and lost."""
        reply = self._post("/alerts/event", encode([dict(alert) for alert in alerts]), self._key, within_s)
        return _worded(reply, "alerts.keep_api_key")

    def standing(self, fingerprints: Sequence[str], *, within_s: float) -> Standing:
        """The kb_seq that each fingerprint has there, whatever a person made of its status."""
        reply = self._read(fingerprints, within_s)
        if reply.answer.outcome is not Outcome.ACCEPTED or not isinstance(reply.body, list):
            answer = _worded(reply, "alerts.keep_read_key")
            if answer.outcome is Outcome.ACCEPTED:
                answer = Answer(words="what was read is no list of alerts", is_usable=False)
            return Standing(seen={}, answer=answer)
        return Standing(seen=dict(_sequences(reply.body)))

    def check(self, *, within_s: float) -> Iterator[KeepCheck]:
        """Whether both keys are accepted; nothing is stored: the alert that is sent has no field, and is refused."""
        host = host_of(self._url)
        answer = _worded(self._post("/alerts/event", b"[{}]", self._key, within_s), "alerts.keep_api_key")
        taken = answer.outcome is Outcome.ACCEPTED or answer.status == UNPROCESSABLE
        yield _checked(taken, f"Keep at {host} accepts alerts", f"Keep at {host} takes no alerts: {answer.sentence}")
        if self._read_key is None:
            yield KeepCheck(
                ok=True,
                message="alerts.keep_read_key is not set: what arrived cannot be seen, so what fires is sent again "
                "every half hour and each resolve three times",
            )
            return
        standing = self.standing(["kb_pipeline-check"], within_s=within_s)
        words = standing.answer.sentence if standing.answer else ""
        yield _checked(
            standing.answer is None,
            f"Keep at {host} shows what arrived",
            f"Keep at {host} does not show what arrived: {words}",
        )

    def _read(self, fingerprints: Sequence[str], within_s: float) -> Reply:
        """Keep's versions take the bare list, or an object around it; the one that is refused is not tried again."""
        reply = self._asked(fingerprints, within_s)
        if reply.answer.status == UNPROCESSABLE:
            self._is_embedded = not self._is_embedded
            reply = self._asked(fingerprints, within_s)
        return reply

    def _asked(self, fingerprints: Sequence[str], within_s: float) -> Reply:
        body: Any = {"fingerprints": list(fingerprints)} if self._is_embedded else list(fingerprints)
        return self._post("/alerts/batch", json.dumps(body).encode(), self._read_key, within_s)

    def _post(self, path: str, content: bytes, key: SecretStr | None, within_s: float) -> Reply:
        headers = {"X-API-KEY": key.get_secret_value()} if key else {}
        return self._wire.post(self._url + path, content, headers, within_s=within_s)


def _checked(ok: bool, good: str, bad: str) -> KeepCheck:  # noqa: FBT001 the point of the function
    return KeepCheck(ok=True, message=good) if ok else KeepCheck(ok=False, message=bad, remedy=_REMEDY)


_REMEDY = "check alerts.keep_url and the key, and that the key's role may do it: webhook sends, admin also reads"


def _worded(reply: Reply, key: str) -> Answer:
    """The answer with words for people: of what Keep writes, only which field is wrong and why."""
    status = reply.answer.status
    if status == UNPROCESSABLE or (status and reply.answer.outcome is Outcome.REFUSED):
        problems = list(_problems(reply.body))
        words = "; ".join(f"{'.'.join(map(str, place))}: {why}" for place, why in problems)[:MAX_WORDS]
        places = (_index(place) for place, _ in problems)
        return replace(reply.answer, words=words, refused=tuple(place for place in places if place is not None))
    if status in _KEY_REFUSED:
        return replace(reply.answer, words=f"{key} is refused")
    if status in _MISSING:
        return replace(reply.answer, words="alerts.keep_url leads to no Keep API")
    if status in _REDIRECTS:
        return replace(reply.answer, words="alerts.keep_url leads elsewhere; write the address it leads to")
    return reply.answer


def _problems(body: Any) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Place and reason of each error in a list of errors as FastAPI writes it."""
    detail = body.get("detail") if isinstance(body, dict) else None
    for error in detail if isinstance(detail, list) else ():
        place = error.get("loc") if isinstance(error, dict) else None
        if isinstance(place, list):
            parts = tuple(part for part in place if isinstance(part, str | int))
            yield parts, str(error.get("msg", ""))[:100]


def _index(place: Sequence[str | int]) -> int | None:
    """The first number in the place: the alert's index in the list."""
    return next((part for part in place if isinstance(part, int) and not isinstance(part, bool)), None)


def _sequences(alerts: Sequence[Any]) -> Iterator[tuple[str, int]]:
    for alert in alerts:
        if not isinstance(alert, dict):
            continue
        fingerprint, kb_seq = alert.get("kb_fingerprint") or alert.get("fingerprint"), alert.get("kb_seq")
        if isinstance(fingerprint, str) and _SEQUENCE.fullmatch(str(kb_seq)):
            yield fingerprint, int(str(kb_seq))
