"""Text files line by line, plain or gzip, with the number of each line for the sentence that may be needed.

Belongs here: opening, decompressing, decoding. Does not: what a line means.
"""

import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kb_pipeline.harness.failures import UnreadableFile

GZIP_MAGIC = b"\x1f\x8b"
BYTE_ORDER_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"
STANDARD_INPUT = Path("-")


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """The lines that hold anything, numbered from 1, without their ends; `-` is standard input.

    Only a line feed ends a line: other separators may stand within an id. Raises UnreadableFile.
    """
    number = 0
    with _opened(path) as stream:
        try:
            for number, line in enumerate(stream, start=1):
                text = line.decode("utf-8").rstrip("\r\n")
                if number == 1:
                    text = text.removeprefix(BYTE_ORDER_MARK)
                if text and not text.isspace():
                    yield number, text
        except UnicodeDecodeError:
            raise refused(path, number, "it is not UTF-8; write the file in UTF-8, plain or as gzip") from None
        except (EOFError, gzip.BadGzipFile, zlib.error):
            raise refused(path, number + 1, "the gzip stream is damaged here; compress the file again") from None


def columns_of(line: str) -> list[str]:
    """The columns of a line of TREC: what stands between spaces and tabs; other white space is part of an id."""
    columns = line.replace("\t", " ").split(" ")
    return [column for column in columns if column] if "" in columns else columns


def refused(path: Path, number: int, what: str) -> UnreadableFile:
    """The error that names the file and the line; never what stands there, which may be somebody's words."""
    return UnreadableFile(f"{shown(path)}, line {number}: {what}")


def shown(path: Path) -> str:
    """The file as a sentence names it."""
    return "standard input" if path == STANDARD_INPUT else str(path)


@contextmanager
def _opened(path: Path) -> Iterator[io.BufferedIOBase]:
    if path == STANDARD_INPUT:
        yield _decompressed(io.BufferedReader(_StandardInput()))
        return
    try:
        stream = path.open("rb")
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or "its name cannot be used"
        raise UnreadableFile(f"{path} cannot be read: {reason}; name a file that is there") from None
    with stream:
        yield _decompressed(stream)


class _StandardInput(io.RawIOBase):
    """Standard input, which stays open when its reader is done."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if sys.stdin is None:
            raise UnreadableFile("standard input is closed; name a file, or pipe one in")
        read = sys.stdin.buffer.read(len(buffer))
        buffer[: len(read)] = read
        return len(read)


def _decompressed(stream: io.BufferedReader) -> io.BufferedIOBase:
    return gzip.GzipFile(fileobj=stream) if stream.peek(len(GZIP_MAGIC)).startswith(GZIP_MAGIC) else stream
