"""Who may see what: bearer tokens, sessions after a login, and patience with those who guess.

Belongs here: names, roles, signatures. Does not: requests and responses, what a role sees.
"""

import base64
import hmac
import json
import secrets
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from hashlib import sha256
from threading import Lock

from kb_pipeline.settings import TokenSettings

OPERATOR, AUDITOR = "operator", "auditor"
SESSION = timedelta(hours=12)
LOCAL = "local"
_FAILURES, _PERIOD, _REMEMBERED = 5, timedelta(minutes=15), 10_000
_LONGEST_TOKEN = 4_096


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody whose token is configured; `csrf` goes into the forms of a session, None for a bearer of a token."""

    name: str
    role: str
    csrf: str | None = None
    token_sha256: str = field(default="", repr=False)

    @property
    def sees_text(self) -> bool:
        """Whether the full text of a turn may be shown."""
        return self.role == AUDITOR


class Tokens:
    """The configured tokens, known by their hashes; every one is compared, each in constant time."""

    def __init__(self, tokens: Sequence[TokenSettings]) -> None:
        self._tokens = tuple(tokens)

    def __len__(self) -> int:
        return len(self._tokens)

    def holder(self, token: str) -> Visitor | None:
        """Who holds the token; None for nobody."""
        if len(token) > _LONGEST_TOKEN:
            return None
        digest = sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
        found = [each for each in self._tokens if hmac.compare_digest(each.sha256, digest)]
        return _visitor(found[0]) if found else None

    def named(self, name: str) -> Visitor | None:
        """The visitor of a name, with the role that is configured by now."""
        return next((_visitor(each) for each in self._tokens if each.name == name), None)


def _visitor(token: TokenSettings) -> Visitor:
    return Visitor(token.name, token.role, token_sha256=token.sha256)


class Sessions:
    """Signed cookies; without a `key` the key lives as long as the process, so a restart signs everybody out."""

    def __init__(self, tokens: Tokens, now: Callable[[], datetime], key: bytes | None = None) -> None:
        self._tokens, self._now = tokens, now
        self._key = key or secrets.token_bytes(32)
        self._ended: dict[str, float] = {}
        self._lock = Lock()

    def start(self, visitor: Visitor) -> str:
        """The value of a cookie for a visitor."""
        until = int((self._now() + SESSION).timestamp())
        return self._signed([visitor.name, until, secrets.token_hex(8), self._of_token(visitor)])

    def visitor(self, cookie: str) -> Visitor | None:
        """Whose session it is; None for a forged, expired or withdrawn one."""
        content = self._read(cookie)
        if content is None or content[1] < self._now().timestamp() or cookie in self._ended:
            return None
        found = self._tokens.named(str(content[0]))
        # Somebody else's token under the same name, a replaced one say, ends the session too.
        if found is None or not hmac.compare_digest(self._of_token(found), content[2]):
            return None
        return replace(found, csrf=self.form_key(cookie))

    def end(self, cookie: str) -> None:
        """Withdraw a session; it is remembered for as long as its cookie would be good."""
        content = self._read(cookie)
        now = self._now().timestamp()
        if content is None or content[1] < now:
            return
        with self._lock:
            self._ended = {each: until for each, until in self._ended.items() if until >= now} | {cookie: content[1]}

    def form_key(self, secret: str) -> str:
        """What a form must carry that belongs to this cookie."""
        return hmac.new(self._key, b"form:" + secret.encode(), sha256).hexdigest()

    def fits(self, secret: str, form_key: str) -> bool:
        """Whether a form belongs to this cookie."""
        return hmac.compare_digest(self.form_key(secret).encode(), form_key.encode("utf-8", "surrogatepass"))

    def _signed(self, content: list[object]) -> str:
        body = base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")
        return f"{body}.{self._signature(body)}"

    def _signature(self, body: str) -> str:
        return hmac.new(self._key, b"session:" + body.encode("utf-8", "surrogatepass"), sha256).hexdigest()

    def _of_token(self, visitor: Visitor) -> str:
        return hmac.new(self._key, b"token:" + visitor.token_sha256.encode(), sha256).hexdigest()[:16]

    def _read(self, cookie: str) -> tuple[str, float, str] | None:
        body, _, signature = cookie.partition(".")
        if not hmac.compare_digest(self._signature(body).encode(), signature.encode("utf-8", "surrogatepass")):
            return None
        name, until, _, token = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
        return str(name), float(until), str(token)


class Patience:
    """Counts wrong tokens by address: after five in a quarter of an hour it waits until the first is that old.

    For the wrong ones only. A token is 256 random bits, which nobody guesses; to refuse the right one as well would
    shut out everybody who shares the guesser's address.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._failures: OrderedDict[str, list[float]] = OrderedDict()
        self._lock = Lock()

    def wait(self, address: str) -> int:
        """Seconds until the address may try again; 0 now."""
        with self._lock:
            recent = self._recent(address)
            if len(recent) < _FAILURES:
                return 0
            return max(1, int(recent[0] + _PERIOD.total_seconds() - self._monotonic()) + 1)

    def failed(self, address: str) -> None:
        """Remember a failure; the addresses that failed longest ago are forgotten first."""
        with self._lock:
            self._failures[address] = [*self._recent(address), self._monotonic()]
            self._failures.move_to_end(address)
            while len(self._failures) > _REMEMBERED:
                self._failures.popitem(last=False)

    def _recent(self, address: str) -> list[float]:
        since = self._monotonic() - _PERIOD.total_seconds()
        return [at for at in self._failures.get(address, ()) if at > since]
