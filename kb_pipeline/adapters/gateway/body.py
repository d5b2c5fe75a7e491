"""The bytes of a reply, never more than the cap, whatever the server sends.

Belongs here: reading one HTTP body. Does not: what it says.
"""

from dataclasses import dataclass

import httpx

from kb_pipeline.grading.bodies import decompress

MAX_BODY_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """One HTTP reply; `body` is None when it is larger than the cap."""

    status: int
    body: bytes | None
    retry_after: str | None
    date: str | None


async def read_whole(response: httpx.Response) -> Reply:
    """The reply with its body, decompressed where the server compressed it unasked; memory is bounded by the cap."""
    return Reply(
        status=response.status_code,
        body=await _capped(response),
        retry_after=response.headers.get("retry-after"),
        date=response.headers.get("date"),
    )


async def _capped(response: httpx.Response) -> bytes | None:
    chunks: list[bytes] = []
    size = 0
    async for chunk in response.aiter_raw():
        size += len(chunk)
        if size > MAX_BODY_BYTES:
            return None
        chunks.append(chunk)
    body = b"".join(chunks)
    if not response.headers.get("content-encoding"):
        return body
    plain = decompress(body, max_bytes=MAX_BODY_BYTES)
    return plain if isinstance(plain, bytes) else None
