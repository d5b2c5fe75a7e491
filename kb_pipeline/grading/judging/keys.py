"""The idempotency key of a judge call.

Belongs here: the key's grammar. Does not: deciding when a call is a new one.
"""

import hashlib
import re
from urllib.parse import quote

from kb_pipeline.records import JudgeVersion

# Longer header values are refused by common gateways.
MAX_EVENT_ID_CHARS = 200
_ENCODED = "utf-8''"
_DIGESTED = "sha256:"
_PLAIN = re.compile(r"[!-~]+")


def idempotency_key(event_id: str, *, calls: int, version: JudgeVersion, response_format: str, part: str = "") -> str:
    """The key of an event's call number `calls` (0 for its first), over all versions of the judge.

    The first call for a whole turn carries the bare event id. A later one, and every one for a `part`, carries
    `{event_id}:{8 hex}:r{calls}`, where the digits hash model, prompt version, response format and part, because a
    gateway may replay a stored unusable reply for ever. An id that a header cannot carry is percent-encoded behind
    `utf-8''` (the form of RFC 8187), one longer than 200 characters is `sha256:` and its digest; two ids never share a
    key.
    """
    name = header_safe(event_id)
    if calls == 0 and not part:
        return name
    identity = f"{version.model}\0{version.prompt_version}\0{response_format}\0{part}"
    return f"{name}:{_digest(identity)[:8]}:r{calls}"


def header_safe(event_id: str) -> str:
    """`event_id` itself where visible ASCII can carry it, else its encoded form."""
    if _PLAIN.fullmatch(event_id) and not event_id.startswith((_ENCODED, _DIGESTED)):
        encoded = event_id
    else:
        encoded = _ENCODED + quote(event_id, safe="", errors="surrogatepass")
    return encoded if len(encoded) <= MAX_EVENT_ID_CHARS else _DIGESTED + _digest(event_id)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
