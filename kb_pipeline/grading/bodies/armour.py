"""Bytes that somebody stored as text: base64, and the hexadecimal notation of bytea.

Belongs here: recognising and undoing both. Does not: compression, JSON.
"""

import base64
import binascii
import re

_HEXADECIMAL = re.compile(r"(?:\\\\?x|0x)(?P<digits>(?:[0-9A-Fa-f]{2})++)")
# A word may look like base64, so what it stands for has to begin like a body: JSON, an event, or a compressed one.
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]++(?:[\r\n]+[A-Za-z0-9+/_-]++)*+={0,2}")
_BODY_STARTS = (
    *(b"{", b"[", b'"', b"data:", b"event:", b": "),
    *(b"\x28\xb5\x2f\xfd", b"\x1f\x8b", b"\x78\x01", b"\x78\x9c", b"\x78\xda"),
)
_SHORTEST = 16


def unarmoured(text: str) -> bytes | None:
    """The bytes that `text` stands for; None where it is no such notation."""
    if len(text) < _SHORTEST:
        return None
    if hexadecimal := _HEXADECIMAL.fullmatch(text):
        return bytes.fromhex(hexadecimal["digits"])
    if not _BASE64.fullmatch(text):
        return None
    try:
        data = base64.b64decode(text.rstrip("=") + "===", altchars=b"-_" if "-" in text or "_" in text else None)
    except (binascii.Error, ValueError):
        return None
    return data if data.lstrip().startswith(_BODY_STARTS) else None
