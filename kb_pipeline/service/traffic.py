"""What the service counts of itself, for Prometheus.

Belongs here: names, labels, buckets of HTTP metrics. Does not: the pipeline's own metrics (exposition.py).
"""

from prometheus_client import CollectorRegistry, Counter, Histogram

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5)


class Traffic:
    """Requests by route and status; a route is a template, so the labels are few."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._requests = Counter(
            "kb_pipeline_http_requests", "Requests that were answered.", ("route", "status"), registry=registry
        )
        self._seconds = Histogram(
            "kb_pipeline_http_request_seconds", "Server time.", ("route",), buckets=_SECONDS, registry=registry
        )

    def note(self, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        self._requests.labels(route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)
