"""How large the judge's context window is: configured, told by its server, or assumed.

Belongs here: asking a server. Does not: reading what it says (grading/judging/window), what follows from it.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

import httpx

from kb_pipeline.adapters.authorities import trusted
from kb_pipeline.adapters.clock import SystemClock
from kb_pipeline.adapters.gateway.body import MAX_BODY_BYTES
from kb_pipeline.adapters.gateway.hosts import endpoint_of, is_private_host, refuse_public_host
from kb_pipeline.errors import JudgeRefused
from kb_pipeline.grading.judging.cost import ASSUMED_CONTEXT_TOKENS
from kb_pipeline.grading.judging.window import window_in_models, window_in_props, window_in_training

_TIMEOUT_S = 5.0
_COMPLETIONS = "/chat/completions"


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextWindow:
    """The tokens of a window, and in a few words where the number comes from."""

    tokens: int
    origin: str


def context_window(
    configured: int | None, *, base_url: str, model: str, tenant: str, allow_external: bool = False
) -> ContextWindow:
    """The window of `model`: as configured, else as its server tells, else 32768 tokens; blocks while it asks.

    Asked are, in this order, GET /v1/models (vLLM, SGLang, LM Studio, hosted models), /props (llama.cpp), /model/info
    (LiteLLM), /api/ps (Ollama), and at last what llama.cpp's model was made for. Raises JudgeRefused for a public host
    without `allow_external`.
    """
    if configured is not None:
        return ContextWindow(tokens=configured, origin="as configured")
    refuse_public_host(base_url, allow_external=allow_external)
    for path, tokens in _told(base_url, model, tenant, allow_external=allow_external):
        if tokens is not None:
            return ContextWindow(tokens=tokens, origin=f"told by the server at {path}")
    return ContextWindow(tokens=ASSUMED_CONTEXT_TOKENS, origin="assumed, since the server does not tell")


def _told(base_url: str, model: str, tenant: str, *, allow_external: bool) -> Iterator[tuple[str, int | None]]:
    """Each place that a window may be told at, with what stands there; a server that does not answer ends it."""
    version = endpoint_of(base_url).removesuffix(_COMPLETIONS)
    root = version.removesuffix("/v1")
    readers: tuple[tuple[str, Callable[[bytes], int | None]], ...] = (
        (f"{version}/models", lambda body: window_in_models(body, model)),
        (f"{root}/props", window_in_props),
        (f"{root}/model/info", lambda body: window_in_models(body, model)),
        (f"{root}/api/ps", lambda body: window_in_models(body, model)),
        (f"{version}/models", lambda body: window_in_training(body, model)),
    )
    headers = {"X-Tenant-Id": tenant, "X-Surface": "system", "Accept-Encoding": "identity"}
    with (
        suppress(httpx.HTTPError, httpx.StreamError, OSError, JudgeRefused),
        httpx.Client(
            verify=trusted(), headers=headers, timeout=_TIMEOUT_S, follow_redirects=False, trust_env=False
        ) as client,
    ):
        for url, read in readers:
            if not (allow_external or is_private_host(httpx.URL(url))):
                return
            body = _body(client, url)
            yield httpx.URL(url).path, read(body) if body else None


def _body(client: httpx.Client, url: str) -> bytes:
    """A successful reply's body, empty for any other and for one that is too large or too slow to be an answer."""
    chunks: list[bytes] = []
    size = 0
    clock = SystemClock()
    until = clock.monotonic() + _TIMEOUT_S
    with client.stream("GET", url) as response:
        if response.status_code != httpx.codes.OK:
            return b""
        for chunk in response.iter_raw():
            size += len(chunk)
            if size > MAX_BODY_BYTES or clock.monotonic() > until:
                return b""
            chunks.append(chunk)
    return b"".join(chunks)
