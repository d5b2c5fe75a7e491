"""The application: routes, errors and the layer around them, over a database.

Belongs here: putting it together. Does not: listening (serving.py), routes.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from fastapi import FastAPI
from prometheus_client import CollectorRegistry
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from kb_pipeline.adapters.clock import SystemClock
from kb_pipeline.adapters.postgres.bounds import Bounds
from kb_pipeline.adapters.postgres.dashboard.roles import AUDITOR, READER, database_as
from kb_pipeline.service.access import Patience, Sessions, Tokens
from kb_pipeline.service.api import api
from kb_pipeline.service.guard import LOOPBACK_NAMES, Guard
from kb_pipeline.service.monitoring import monitoring
from kb_pipeline.service.pages import NeedsLogin, pages, to_login
from kb_pipeline.service.problems import Problem, handle_problems
from kb_pipeline.service.reading import QualityReading
from kb_pipeline.service.remembering import Memory
from kb_pipeline.service.retrieval_reading import RetrievalReading
from kb_pipeline.service.traffic import Traffic
from kb_pipeline.service.viewing import Desk
from kb_pipeline.settings import Settings

APPLICATION = "kb_pipeline_service"


@contextmanager
def application(settings: Settings, *, is_open: bool = False, at: datetime | None = None) -> Iterator[ASGIApp]:
    """The application with its connections, which are closed at the end of the block.

    `is_open` makes everybody an auditor: for the loopback address alone. `at` stops its clock. Raises DatabaseError
    when the database does not answer.
    """
    url = settings.database_url
    bounds = Bounds()
    reader = database_as(url, READER, application_name=APPLICATION, bounds=bounds)
    auditor = database_as(url, AUDITOR, application_name=APPLICATION, bounds=bounds)
    clock = SystemClock()
    now = clock.now if at is None else lambda: at.astimezone(UTC)
    memory = Memory(clock.monotonic)
    key = settings.service.session_key
    tokens, registry = Tokens(settings.service.tokens), CollectorRegistry()
    desk = Desk(
        settings=settings,
        database=reader,
        auditor_database=auditor,
        bounds=bounds,
        quality=QualityReading(reader, settings, memory),
        retrieval=RetrievalReading(reader, settings, memory),
        tokens=tokens,
        sessions=Sessions(tokens, clock.now, key.get_secret_value().encode() if key else None),
        patience=Patience(clock.monotonic),
        now=now,
        is_open=is_open,
        registry=registry,
        memory=memory,
    )
    is_https = (settings.service.public_url or "").startswith("https://")
    try:
        yield Guard(
            _application(desk),
            traffic=Traffic(registry),
            hosts=LOOPBACK_NAMES if is_open else None,
            is_https=is_https,
        )
    finally:
        reader.dispose()
        auditor.dispose()


def _application(desk: Desk) -> FastAPI:
    app = FastAPI(
        title="kb_pipeline",
        version="1",
        description="Answer quality of a RAG chatbot, retrieval health and ground truth.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        # A redirect would name the host that the client named.
        redirect_slashes=False,
    )
    app.state.desk = desk
    app.include_router(api)
    app.include_router(pages)
    app.include_router(monitoring)
    app.mount("/static", StaticFiles(packages=[("kb_pipeline.service", "static")]), name="static")
    handle_problems(app)
    app.add_exception_handler(NeedsLogin, to_login)
    describe(app)
    return app


def describe(app: FastAPI) -> None:
    """Complete the OpenAPI document: one shape of errors, and the bearer token."""
    document = app.openapi()
    parts = document.setdefault("components", {})
    schemas = parts.setdefault("schemas", {})
    schemas["Problem"] = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    parts["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    document["security"] = [{"token": []}]
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    app.openapi_schema = document
