"""/healthz, /readyz and /metrics.

Belongs here: what other programs ask of this one. Does not: the gauges (exposition.py).
"""

import asyncio

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import CollectorRegistry

from kb_pipeline.alert_desk import AlertDesk
from kb_pipeline.errors import DatabaseError
from kb_pipeline.service.answers import Ready
from kb_pipeline.service.exposition import PipelineMetrics
from kb_pipeline.service.viewing import TheDesk, TheReader, desk_of

monitoring = APIRouter(tags=["monitoring"])
_READY_WITHIN_S = 1.5


@monitoring.get("/healthz", openapi_extra={"security": []})
async def healthz() -> Ready:
    """200 while the process lives; waits for no thread, since all of them may wait for the database."""
    return Ready(status="ok")


@monitoring.get(
    "/readyz",
    openapi_extra={"security": []},
    responses={503: {"model": Ready, "description": "The database cannot be read."}},
)
async def readyz(request: Request, response: Response) -> Ready:
    """200 while the database answers within a second and a half and is migrated, else 503."""
    # In a thread of another pool than the pages', for the same reason.
    asked = asyncio.to_thread(desk_of(request).quality.pipeline.is_migrated)
    try:
        is_ready = await asyncio.wait_for(asked, _READY_WITHIN_S)
    except (DatabaseError, TimeoutError):
        is_ready = False
    if not is_ready:
        response.status_code = 503
    return Ready(status="ok" if is_ready else "the database does not answer, or is not migrated")


@monitoring.get("/metrics", include_in_schema=False)
def metrics(desk: TheDesk, _visitor: TheReader) -> Response:
    """For Prometheus: what the service counted of itself, then gauges of the pipeline as of now."""
    momentary = CollectorRegistry(auto_describe=False)
    delivery = AlertDesk(desk.settings, desk.database).delivery()
    momentary.register(PipelineMetrics(desk.quality, desk.retrieval, desk.settings, desk.now(), delivery))
    body = generate_latest(desk.registry) + generate_latest(momentary)
    return Response(body, media_type=CONTENT_TYPE_LATEST)
