"""Stored bytes to plain bytes: zstd, gzip and zlib, also one inside the other, under a cap.

Belongs here: compression formats and the cap on the decompressed size. Does not: character sets, JSON.
"""

import threading
import zlib
from collections.abc import Callable
from typing import Protocol

import zstandard

from kb_pipeline.records import ParseStatus

MAX_BODY_BYTES = 16 * 1024 * 1024

_ZSTD_FRAME = b"\x28\xb5\x2f\xfd"
_SKIPPABLE_FRAME = b"\x2a\x4d\x18"
_SKIPPABLE_FIRST = 0x5
_GZIP_MEMBER = b"\x1f\x8b"
_GZIP_WBITS = 31
_ZLIB_DEFLATE = 8
_ZLIB_MAX_CINFO = 7
_ZLIB_CHECK = 31
_MAX_LAYERS = 4
_USUAL_RATIO = 64

# Input is fed in pieces, so that what one call can blow up to is bounded: a zstd block of 4 bytes may hold 128 KiB
# (a piece of 256 bytes at most 8 MiB), deflate gives at most 1032 bytes for one (a piece of 4 KiB at most 4 MiB).
_ZSTD_PIECE = 256
_DEFLATE_PIECE = 4096


class _Decoder(Protocol):
    """One frame being decompressed, as zlib and zstandard both offer it."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, /) -> bytes: ...


class _PerThread(threading.local):
    """A zstd context is not thread-safe, and a new one per body costs 2.5 times the decompression."""

    def __init__(self) -> None:
        self.zstd = zstandard.ZstdDecompressor()


_THREAD = _PerThread()


def decompress(data: bytes, *, max_bytes: int) -> bytes | ParseStatus:
    """The plain bytes of a stored body; `too_large` above `max_bytes`, `undecodable` when damaged or cut.

    zstd may lack a content size, come in several frames and hold skippable ones; gzip may have several members.
    Anything that is no known format is taken as plain. Never raises; memory is bounded by twice `max_bytes` and 8 MiB.
    """
    if data[:4] == _ZSTD_FRAME:
        try:
            size = zstandard.frame_content_size(data)
            # An unknown size is guessed; what does not fit is read frame by frame below.
            room = size if size > 0 else _USUAL_RATIO * len(data)
            if size and room <= max_bytes:
                plain = _THREAD.zstd.decompress(data, max_output_size=room, allow_extra_data=False)
                if plain[:1] == b"{" or not _looks_compressed(plain):
                    return plain
        except (zstandard.ZstdError, MemoryError):
            pass
    return _peel(data, max_bytes)


def _peel(data: bytes, max_bytes: int) -> bytes | ParseStatus:
    for _ in range(_MAX_LAYERS):
        if _is_zstd(data):
            plain = _frames(data, _zstd_frame, _ZSTD_PIECE, max_bytes)
        elif data[:2] == _GZIP_MEMBER:
            plain = _frames(data, _gzip_member, _DEFLATE_PIECE, max_bytes)
        elif _is_zlib(data):
            plain = _frames(data, zlib.decompressobj, _DEFLATE_PIECE, max_bytes)
            if plain is ParseStatus.UNDECODABLE:  # two bytes prove little: text may start like that
                return data if len(data) <= max_bytes else ParseStatus.TOO_LARGE
        else:
            return data if len(data) <= max_bytes else ParseStatus.TOO_LARGE
        if isinstance(plain, ParseStatus):
            return plain
        data = plain
    return ParseStatus.UNDECODABLE if _looks_compressed(data) else data


def _looks_compressed(data: bytes) -> bool:
    return _is_zstd(data) or data[:2] == _GZIP_MEMBER or _is_zlib(data)


def _is_zstd(data: bytes) -> bool:
    return data[:4] == _ZSTD_FRAME or (data[1:4] == _SKIPPABLE_FRAME and data[0] >> 4 == _SKIPPABLE_FIRST)


def _is_zlib(data: bytes) -> bool:
    """RFC 1950: method 8, a window of at most 32 KiB, and a header that is a multiple of 31."""
    header = data[:2]
    if header[1:] == b"" or header[0] & 0x0F != _ZLIB_DEFLATE or header[0] >> 4 > _ZLIB_MAX_CINFO:
        return False
    return int.from_bytes(header) % _ZLIB_CHECK == 0


def _zstd_frame() -> _Decoder:
    return _THREAD.zstd.decompressobj()


def _gzip_member() -> _Decoder:
    return zlib.decompressobj(_GZIP_WBITS)


def _frames(data: bytes, begin: Callable[[], _Decoder], piece: int, max_bytes: int) -> bytes | ParseStatus:
    """All frames (or members) of `data` one after another; zero bytes behind the last one are padding."""
    plain = bytearray()
    position = 0
    try:
        while position < len(data):
            decoder = begin()
            while not decoder.eof:
                chunk = data[position : position + piece]
                if not chunk:
                    return ParseStatus.UNDECODABLE
                plain += decoder.decompress(chunk)
                position += len(chunk) - len(decoder.unused_data)
                if len(plain) > max_bytes:
                    return ParseStatus.TOO_LARGE
            if not data[position : position + 1].strip(b"\0") and not data[position:].strip(b"\0"):
                break
    except (zstandard.ZstdError, zlib.error, MemoryError):
        return ParseStatus.UNDECODABLE
    return bytes(plain)
