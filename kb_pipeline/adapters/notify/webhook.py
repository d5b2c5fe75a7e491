"""A generic webhook: one POST an alert, its body one JSON object.

Belongs here: that request. Does not: when it is made.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

from pydantic import SecretStr

from kb_pipeline.adapters.notify.wire import Wire
from kb_pipeline.alerting.delivery import Answer, Outcome, Proof, Standing
from kb_pipeline.alerting.payloads import encode

WEBHOOK = "webhook"


class Webhook:
    """Whoever listens at `url`; a good answer means that it has the alert. A context manager.

    One alert a request, since most receivers read one object. `Idempotency-Key` is the same whenever the same alert is
    sent again.
    """

    destination = WEBHOOK
    most = 1
    proof = Proof.ANSWER

    def __init__(self, url: str) -> None:
        self._url = SecretStr(url)
        self._wire = Wire()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._wire.__exit__(*error)

    def send(self, alerts: Sequence[Mapping[str, Any]], *, within_s: float) -> Answer:
        """Send one alert."""
        (alert,) = alerts
        # The brackets of a list of one are all that parts it from the object.
        content = encode([dict(alert)])[1:-1]
        headers = {"Idempotency-Key": f"{alert.get('fingerprint')}|{alert.get('kb_seq')}"}
        answer = self._wire.post(self._url.get_secret_value(), content, headers, within_s=within_s).answer
        if answer.outcome is Outcome.HELD:
            return replace(answer, words="alerts.webhook_url does not take it")
        return answer

    def standing(self, fingerprints: Sequence[str], *, within_s: float) -> Standing:  # noqa: ARG002 the port's signature
        """A webhook cannot be read."""
        return Standing(seen={}, answer=Answer(words="a webhook cannot be read", is_usable=False))
