"""Listening: the socket, uvicorn, and the refusal to show anything to strangers.

Belongs here: starting and stopping. Does not: the application.
"""

import ipaddress
import socket
from collections.abc import Callable, Sequence

import uvicorn
from starlette.types import ASGIApp

from kb_pipeline.errors import KbPipelineError, SettingsError
from kb_pipeline.service.application import application
from kb_pipeline.service.connections import PromptConnection
from kb_pipeline.settings import Settings

_BACKLOG = 128


def run_service(settings: Settings, *, no_auth: bool = False, announce: Callable[[str], None]) -> None:
    """Serve until SIGTERM or Ctrl-C.

    Raises SettingsError without tokens unless `no_auth` is given and the host is the loopback address, KbPipelineError
    where it cannot listen, DatabaseError where the database does not answer.
    """
    host, port = settings.service.host, settings.service.port
    check_access(settings, no_auth=no_auth)
    with application(settings, is_open=no_auth) as app, _listening(host, port) as listener:
        where = settings.service.public_url or f"http://{f'[{host}]' if ':' in host else host}:{port}"
        announce(f"dashboard at {where}")
        if no_auth:
            announce("without tokens: everybody on this machine is an auditor")
        server(app, trusted_proxies=settings.service.trusted_proxies).run(sockets=[listener])


def check_access(settings: Settings, *, no_auth: bool) -> None:
    """Refuse what would show turns to strangers; raises SettingsError."""
    has_tokens = bool(settings.service.tokens)
    if no_auth and has_tokens:
        raise SettingsError("--no-auth and service.tokens are both given; one of them is accepted")
    if no_auth and not is_loopback(settings.service.host):
        raise SettingsError(
            f"--no-auth is accepted on the loopback address only, and service.host is {settings.service.host}; set it "
            "to 127.0.0.1, or configure service.tokens"
        )
    if not no_auth and not has_tokens:
        raise SettingsError(
            "service.tokens is empty; add a token by its hash (printf %s TOKEN | sha256sum), or give --no-auth on the "
            "loopback address"
        )


def is_loopback(host: str) -> bool:
    """Whether nobody from elsewhere can reach the address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def server(app: ASGIApp, *, trusted_proxies: Sequence[str] = ()) -> uvicorn.Server:
    """The server of the application; it logs no request: paths hold ids."""
    # Whoever may name his own address is never out of patience: X-Forwarded-For is believed of these proxies alone, and
    # of what it lists, the last address that is none of theirs.
    config = uvicorn.Config(
        app, proxy_headers=bool(trusted_proxies), forwarded_allow_ips=list(trusted_proxies),
        http=PromptConnection, log_level="warning", access_log=False, lifespan="off", ws="none", server_header=False,
        timeout_graceful_shutdown=5, h11_max_incomplete_event_size=32_768,
    )  # fmt: skip
    return uvicorn.Server(config)


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "no such address"
        raise KbPipelineError(
            f"the service cannot listen on {host}:{port}: {reason}; set service.host and service.port"
        ) from None
