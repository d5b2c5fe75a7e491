"""A running service over a planted database, for tests that speak HTTP to it.

Belongs here: starting and stopping it, tokens. Does not: assertions.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from hashlib import sha256
from typing import Any

from kb_pipeline.adapters.clock import wait_until
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.service.application import application
from kb_pipeline.service.serving import server
from kb_pipeline.settings import Settings

TOKENS = {"ops": ("operator", "operator-token"), "rina": ("auditor", "auditor-token")}
OPERATOR = {"Authorization": "Bearer operator-token"}
AUDITOR = {"Authorization": "Bearer auditor-token"}


def service_settings(database: Database, **sections: Any) -> Settings:
    """Settings with an operator and an auditor."""
    tokens = [
        {"name": name, "role": role, "sha256": sha256(token.encode()).hexdigest()}
        for name, (role, token) in TOKENS.items()
    ]
    url = database.url.render_as_string(hide_password=False)
    given = {"rag_quality": {"enabled": True}, "service": {"tokens": tokens}, "database": {"url": url}}
    return Settings.model_validate({**given, **sections})


@contextmanager
def serving(settings: Settings, *, is_open: bool = False, at: datetime | None = None) -> Iterator[str]:
    """The service on a free port of the loopback address; gives its address."""
    with application(settings, is_open=is_open, at=at) as app:
        running = server(app, trusted_proxies=settings.service.trusted_proxies)
        running.config.port = 0
        thread = threading.Thread(target=running.run, daemon=True)
        thread.start()
        try:
            assert wait_until(lambda: running.started or not thread.is_alive(), 20)
            port = running.servers[0].sockets[0].getsockname()[1]
            yield f"http://127.0.0.1:{port}"
        finally:
            running.should_exit = True
            thread.join(10)
