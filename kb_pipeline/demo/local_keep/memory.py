"""What a local Keep has: a queue in memory, which a kill empties, and alerts that are kept, in a file if one is given.

Belongs here: keeping and finding alerts. Does not: HTTP.
"""

import json
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Alert = Mapping[str, Any]
_STATUSES = frozenset({"firing", "resolved", "acknowledged", "suppressed", "pending"})
_SEVERITIES = frozenset({"critical", "high", "warning", "info", "low"})


class Alerts:
    """The alerts that became visible, in the order in which they did."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._lock = threading.Lock()
        self.received: list[dict[str, Any]] = []
        if file and file.exists():
            self.received = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]

    def keep(self, alerts: Sequence[Alert]) -> None:
        """Make alerts visible, in their order; status and severity that are none are mapped without a word."""
        with self._lock:
            kept = [_mapped(alert) for alert in alerts]
            if self._file:
                with self._file.open("a", encoding="utf-8") as file:
                    file.writelines(json.dumps(alert) + "\n" for alert in kept)
            self.received.extend(kept)

    def forget(self) -> None:
        """Lose everything, as a server whose database was set up anew."""
        with self._lock:
            self.received.clear()
            if self._file:
                self._file.unlink(missing_ok=True)

    def latest(self) -> dict[str, dict[str, Any]]:
        """The last alert of each fingerprint."""
        with self._lock:
            return {str(alert["fingerprint"]): alert for alert in self.received}


def _mapped(alert: Alert) -> dict[str, Any]:
    status, severity = alert["status"], alert["severity"]
    return {
        **alert,
        "fingerprint": alert.get("fingerprint") or alert["name"],
        "status": status if status in _STATUSES else "firing",
        "severity": severity if severity in _SEVERITIES else "info",
    }
