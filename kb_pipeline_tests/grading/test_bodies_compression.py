"""Stored bytes are decompressed whatever they were compressed with, and never beyond the cap."""

import gzip
import tracemalloc
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.grading.bodies import MAX_BODY_BYTES, decompress
from kb_pipeline.records import ParseStatus

BODY = b'{"messages": [{"role": "user", "content": "Apa itu yayasan?"}]}' * 40
SKIPPABLE = b"\x5a\x2a\x4d\x18\x05\x00\x00\x00notes"


def zstd(body: bytes, **options: object) -> bytes:
    return zstandard.ZstdCompressor(**options).compress(body)  # type: ignore[arg-type]


def zstd_without_size(body: bytes) -> bytes:
    stream = zstandard.ZstdCompressor().compressobj()
    return stream.compress(body) + stream.flush()


def gzipped(body: bytes) -> bytes:
    return gzip.compress(body, compresslevel=1)


def zlibbed(body: bytes) -> bytes:
    return zlib.compress(body, 1)


Packer = Callable[[bytes], bytes]
PACKERS: list[Packer] = [bytes, zstd, zstd_without_size, gzipped, zlibbed]
COMPRESSED = {
    "plain": BODY,
    "zstd": zstd(BODY),
    "zstd with a checksum": zstd(BODY, write_checksum=True),
    "zstd without a size": zstd_without_size(BODY),
    "several zstd frames": zstd(BODY[:99]) + zstd_without_size(BODY[99:]),
    "skippable frames around": SKIPPABLE + zstd(BODY) + SKIPPABLE,
    "zero bytes behind": zstd(BODY) + bytes(7),
    "gzip": gzip.compress(BODY),
    "gzip of several members": gzip.compress(BODY[:7]) + gzip.compress(BODY[7:]),
    "zlib": zlib.compress(BODY),
    "gzip in zstd": zstd(gzip.compress(BODY)),
    "zstd in gzip in zstd": zstd(gzip.compress(zstd(BODY))),
}


@pytest.mark.parametrize("stored", COMPRESSED.values(), ids=COMPRESSED.keys())
def test_every_form_of_compression_gives_the_same_bytes(stored: bytes) -> None:
    assert decompress(stored, max_bytes=MAX_BODY_BYTES) == BODY


@pytest.mark.parametrize(
    "damaged",
    [
        zstd(BODY)[:-1],
        zstd_without_size(BODY)[:-3],
        zstd(BODY) + b"junk",
        zstd(BODY) + zstd(BODY)[:-4],
        b"\x28\xb5\x2f\xfd",
        gzip.compress(BODY)[:-5],
        gzip.compress(BODY)[:20] + b"\0\0" + gzip.compress(BODY)[22:],
        zstd(gzip.compress(BODY)[:-5]),
    ],
    ids=range(8),  # gzip writes the time: the bytes would give each worker other names
)
def test_what_is_damaged_or_cut_is_undecodable(damaged: bytes) -> None:
    assert decompress(damaged, max_bytes=MAX_BODY_BYTES) is ParseStatus.UNDECODABLE


@pytest.mark.parametrize("plain", [b"", b"80 pages", b"x\x9c is how zlib starts", b"data: {}\n\n", b"\xff\xfe\x00"])
def test_what_is_in_no_known_format_is_taken_as_plain(plain: bytes) -> None:
    assert decompress(plain, max_bytes=MAX_BODY_BYTES) == plain


@pytest.mark.parametrize(
    "bomb",
    [
        zstd(bytes(1 << 28)),
        zstd_without_size(bytes(1 << 28)),
        zstd(bytes(1 << 20)) * 256,
        gzipped(bytes(1 << 28)),
        zlibbed(bytes(1 << 28)),
        zstd(gzipped(bytes(1 << 28))),
    ],
    ids=["zstd", "zstd without a size", "many frames", "gzip", "zlib", "gzip in zstd"],
)
def test_a_bomb_costs_bounded_memory_and_is_too_large(bomb: bytes) -> None:
    tracemalloc.start()
    try:
        assert decompress(bomb, max_bytes=1 << 20) is ParseStatus.TOO_LARGE
        assert tracemalloc.get_traced_memory()[1] < 20 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("pack", PACKERS)
def test_the_cap_is_exact(pack: Packer) -> None:
    assert decompress(pack(BODY), max_bytes=len(BODY)) == BODY
    assert decompress(pack(BODY), max_bytes=len(BODY) - 1) is ParseStatus.TOO_LARGE


def test_more_layers_than_anybody_uses_are_not_peeled() -> None:
    stored = BODY
    for _ in range(9):
        stored = gzip.compress(stored)
    assert decompress(stored, max_bytes=MAX_BODY_BYTES) is ParseStatus.UNDECODABLE


def test_threads_do_not_disturb_each_other() -> None:
    bodies = [bytes([i % 251]) * 5000 + BODY for i in range(200)]
    with ThreadPoolExecutor(8) as pool:
        plain = list(pool.map(lambda body: decompress(zstd_without_size(body), max_bytes=MAX_BODY_BYTES), bodies))
    assert plain == bodies


def test_a_damaged_body_does_not_spoil_the_next_one() -> None:
    assert decompress(zstd_without_size(BODY)[:30], max_bytes=MAX_BODY_BYTES) is ParseStatus.UNDECODABLE
    assert decompress(zstd(BODY), max_bytes=MAX_BODY_BYTES) == BODY


@given(st.binary())
def test_any_bytes_give_bytes_or_a_reason(data: bytes) -> None:
    assert isinstance(decompress(data, max_bytes=1 << 16), bytes | ParseStatus)


@given(st.binary(max_size=2000), st.sampled_from(PACKERS))
def test_what_was_compressed_comes_back(body: bytes, pack: Packer) -> None:
    plain = decompress(pack(body), max_bytes=1 << 16)
    assert plain == body or decompress(body, max_bytes=1 << 16) != body  # the body itself looks compressed
