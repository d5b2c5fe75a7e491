"""How the gateway stores bodies: compressed in the ways it meets, and linked in a hash chain.

Belongs here: encodings, the chain. Does not: what the bodies say, tables.
"""

import gzip
from collections.abc import Callable
from hashlib import sha256
from random import Random

import zstandard

from kb_pipeline.records import StoredBody

CHAIN_START = bytes(32)
LEVEL = 3
# The share of bodies that are stored some other way than as one zstd frame with its size.
RARE_SHARE = 0.2


class BodyStore:
    """Compresses bodies and links each to the one stored before it (contracts: body chain)."""

    def __init__(self, previous: bytes = CHAIN_START) -> None:
        self.last_hash = previous
        compressor = zstandard.ZstdCompressor(level=LEVEL)
        sizeless = zstandard.ZstdCompressor(level=LEVEL, write_content_size=False)
        self._zstd: Callable[[bytes], bytes] = compressor.compress
        self._rare: tuple[Callable[[bytes], bytes], ...] = (
            sizeless.compress,
            lambda body: compressor.compress(body[: len(body) // 2]) + compressor.compress(body[len(body) // 2 :]),
            lambda body: gzip.compress(body, compresslevel=LEVEL, mtime=0),
            lambda body: body,
        )

    def keep(self, event_id: str, request: bytes, response: bytes, random: Random) -> StoredBody:
        """The stored pair: zstd for most, now and then frames without a size, several frames, gzip or plain bytes."""
        encode = self._zstd if random.random() >= RARE_SHARE else random.choice(self._rare)
        stored_request, stored_response = encode(request), encode(response)
        previous, self.last_hash = self.last_hash, body_hash(self.last_hash, event_id, stored_request, stored_response)
        return StoredBody(
            request=stored_request, response=stored_response, prev_hash=previous, body_hash=self.last_hash
        )


def body_hash(previous: bytes, event_id: str, request: bytes, response: bytes) -> bytes:
    """sha256(previous || event_id || request || response) over the stored bytes."""
    return sha256(previous + event_id.encode() + request + response).digest()
