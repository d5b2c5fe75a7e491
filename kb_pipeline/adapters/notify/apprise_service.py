"""One service that the library Apprise reaches: Slack, mail, Teams, and a hundred others.

Belongs here: an alert as a title and a text, and Apprise's answer. Does not: its list of services.
"""

import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

from pydantic import SecretStr

from kb_pipeline.alerting.delivery import Answer, Proof, Standing

if TYPE_CHECKING:
    from apprise import Apprise

APPRISE = "apprise"
MISSING = "the library apprise is not installed; install kb-pipeline[apprise]"
# They write the path of each request there, and with it the token of many a service.
_TALKATIVE = ("apprise", "urllib3.connectionpool")
_TYPES = {"critical": "failure", "high": "failure", "warning": "warning"}


class AppriseService:
    """The service number `place`, from 1, of `alerts.apprise_urls`, as a destination of its own. A context manager.

    One that fails holds no other. Apprise does not tell a refusal from a failure, so nothing is ever given up here.
    """

    most = 1
    proof = Proof.ANSWER

    def __init__(self, url: str, *, place: int) -> None:
        self.destination = f"{APPRISE}-{place}"
        self._place = place
        self._url = SecretStr(url)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def objection(self) -> str:
        """Why the URL cannot be used; empty when it can."""
        try:
            is_known = self._service() is not None
        except ModuleNotFoundError:
            return MISSING
        return "" if is_known else f"entry {self._place} of alerts.apprise_urls is no URL that Apprise knows"

    def send(self, alerts: Sequence[Mapping[str, Any]], *, within_s: float) -> Answer:
        """Send one alert."""
        if objection := self.objection():
            return Answer(words=objection, is_usable=False)
        service = self._service()
        (alert,) = alerts
        title, text, kind = _words(alert)
        with _silent():
            result = service.notify(text, title=title, notify_type=kind, timeout=within_s) if service else None
        return Answer(status=200) if result else Answer(words="the service did not take it", is_certain=False)

    def standing(self, fingerprints: Sequence[str], *, within_s: float) -> Standing:  # noqa: ARG002 the port's signature
        """A service cannot be read."""
        return Standing(seen={}, answer=Answer(words="it cannot be read", is_usable=False))

    def _service(self) -> "Apprise | None":
        with _silent():
            from apprise import Apprise, AppriseAsset  # noqa: PLC0415 an extra, and slow to import

            # Nothing is kept on disk, and a key goes to no other host.
            service = Apprise(asset=AppriseAsset(storage_mode="memory", http_redirects=False, secure_logging=True))
            return service if service.add(self._url.get_secret_value()) else None


def _words(alert: Mapping[str, Any]) -> tuple[str, str, str]:
    """Title, text and Apprise's type of an alert."""
    is_firing = alert.get("status") == "firing"
    state = str(alert.get("severity")) if is_firing else "resolved"
    title = f"[{state}] {alert.get('name')}"
    text = "\n".join(str(part) for part in (alert.get("message"), alert.get("fingerprint"), alert.get("url")) if part)
    return title, text, _TYPES.get(state, "info") if is_firing else "success"


@contextmanager
def _silent() -> Iterator[None]:
    """What Apprise and its libraries log is not written: addresses are in it. What they import may be deprecated."""
    loggers = [logging.getLogger(name) for name in _TALKATIVE]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)
