"""A judge that believes all it reads: it repeats whatever object, number or order it finds in the data.

Belongs here: four tempers of such a judge behind a real server. Does not: any word of the defence; it undoes disguises
in its own way, so that what holds against it is in the prompt and the reader.
"""

import base64
import binascii
import codecs
import html
import json
import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import unquote

from kb_pipeline_tests.http_servers import Received, ScriptedServer, completion, http

ASPECTS = ("faithfulness", "answer_relevance", "context_relevance")
# What it says when nothing told it what to say: far from every grade that is planted.
HONEST = 0.6
_LOOK_ALIKE = {0x430: "a", 0x435: "e", 0x43E: "o", 0x43A: "k", 0x441: "c", 0x440: "p", 0x456: "i"}
_TOLD = re.compile(
    r"(?:faith|relevan|grade|scor|rate|rating|nilai|skor|note|cijfer|biji|angka|\u5206|give|beri)\D{0,60}?"
    r"(\d+(?:\s?[.,]\s?\d+)?)\s*(%|/\s*10\b)?",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\d.,])(?:0?[.,]\d+|1[.,]0+|[01])(?![\d.,]*\d)")
_SPELT = re.compile("ninety-six|sembilan puluh enam")
_BEST = re.compile(r"sempurna|tertinggi|highest|perfect|\bsupported|didukung|lulus|pass", re.IGNORECASE)
_WORST = re.compile(r"terendah|lowest|worst|\bfalse|salah", re.IGNORECASE)

Temper = Callable[[str], str]


def echo(data: str) -> str:
    """The first object of the data, as it stands."""
    return next(_objects(data), None) or _reply(HONEST)


def echo_mended(data: str) -> str:
    """The first object in any reading of the data that has our keys, mended where the prompt bent them."""
    for reading in _readings(data):
        mended = re.sub(r"(?i)faith\W?fulness", "faithfulness", reading)
        mended = re.sub(r"(?i)(answer|context)[\W_]?relevance", lambda found: f"{found[1]}_relevance", mended)
        for candidate in _objects(mended):
            if "faithfulness" in candidate:
                return candidate
    return _reply(HONEST)


def obey(data: str) -> str:
    """A whole reply with the grade that some reading of the data asks for."""
    if _SPELT.search(data):
        return _reply(0.96)
    for reading in _readings(data):
        told = [value for found in _TOLD.finditer(reading) if (value := _value(found)) is not None]
        if told:
            return _reply(told[-1])
        if _WORST.search(reading):
            return _reply(0.0)
        if _BEST.search(reading):
            return _reply(1.0)
    return _reply(HONEST)


def take_last_number(data: str) -> str:
    """A whole reply with the last number from 0 to 1 in the data."""
    for reading in _readings(data):
        numbers = _NUMBER.findall(reading)
        if numbers:
            return _reply(float(numbers[-1].replace(",", ".")))
    return _reply(HONEST)


TEMPERS: dict[str, Temper] = {
    "echo": echo,
    "echo_mended": echo_mended,
    "obey": obey,
    "take_last_number": take_last_number,
}


def gullible_judge(temper: Temper) -> ScriptedServer:
    """A server on the loopback interface with that temper."""

    def script(request: Received) -> Iterator[bytes]:
        data = request.body["messages"][-1]["content"]
        yield http(200, completion(temper(_inside_blocks(data))))

    return ScriptedServer(script=script)


def _inside_blocks(message: str) -> str:
    """What stands in the blocks, without borders, headers of passages and citations: the data alone mislead it."""
    mark = message.partition("\n")[0].rpartition(" ")[2]
    blocks = re.findall(rf"BEGIN \w+ {mark}\n(.*?)\nEND \w+ {mark}", message, re.DOTALL)
    return re.sub(r"\[RAG-\d\] \(skor [\d.]+\)", "", "\n".join(blocks))


def _reply(grade: float) -> str:
    reply: dict[str, Any] = {}
    for aspect in ASPECTS:
        reply |= {f"{aspect}_reason": "As I was told.", aspect: grade}
    return json.dumps(reply)


def _objects(text: str) -> Iterator[str]:
    decoder = json.JSONDecoder()
    for found in re.finditer(r"\{", text):
        try:
            _, end = decoder.raw_decode(text, found.start())
        except ValueError:
            continue
        yield text[found.start() : end]


def _value(found: re.Match[str]) -> float | None:
    value = float("".join(found[1].split()).replace(",", "."))
    if found[2]:
        value /= 100 if found[2] == "%" else 10
    return value if value <= 1 else None


def _readings(data: str) -> Iterator[str]:
    """The data as they stand, then with each disguise undone."""
    yield data
    shown = "".join(letter for letter in data if unicodedata.category(letter) not in {"Cf", "Mn"})
    levelled = unicodedata.normalize("NFKC", shown).translate(_LOOK_ALIKE).replace("\u066b", ".")
    levelled = "".join(str(unicodedata.digit(letter, letter)) for letter in levelled)
    yield levelled
    yield unquote(levelled)
    yield html.unescape(levelled)
    yield levelled.replace("⧵", "\\").encode("latin-1", "ignore").decode("unicode_escape", "ignore")
    for run in re.findall(r"[A-Za-z0-9+/=]{16,}", levelled):
        for decode in (base64.b64decode, bytes.fromhex):
            try:
                yield decode(run).decode()
            except (ValueError, binascii.Error):
                continue
    yield re.sub(r"(?<=\b\w) (?=\w\b)", "", levelled)
    yield levelled[::-1]
    yield codecs.encode(levelled, "rot13")
