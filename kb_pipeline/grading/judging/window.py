"""What servers say of the context window of a model: when they are asked, and when a call exceeded it.

Belongs here: reading those answers. Does not: asking.
"""

import re
from decimal import Decimal
from typing import Any

import msgspec

from kb_pipeline.grading.judging.dialect import spoken

# Less than may be configured is no window of a judge, whatever a server says.
_LEAST_TOKENS = 1024
_MOST_TOKENS = 100_000_000
_REFUSING = frozenset({400, 413, 422, 500})
_EXCEEDED = re.compile(
    r"maximum (?:context|model|input|prompt) length|context[ _-]?length[ _-]?exceeded|exceed\w* .{0,40}context"
    r"|exceed_context_size|context[ _-]?window[ _-]?exceeded|(?:longer|larger) than .{0,40}context"
    r"|context (?:size|length|window) (?:has been|was|is) (?:exceeded|too small)|prompt is too long"
    r"|(?:prompt|input)\w* (?:is |are |has |contains? )?.{0,40}too (?:long|many tokens|large)"
    r"|max_new_tokens`? must be <=",
    re.IGNORECASE | re.DOTALL,
)
_MARK = "[,._'\u2019\u00a0\u2009\u202f]"
_WRITTEN = rf"[0-9](?:{_MARK}?[0-9]){{0,24}}(?:\s?[km]i?(?![a-z0-9]))?"
# A space groups digits only where the words before tell where the number begins.
_SIZE = re.compile(
    r"(?:maximum (?:context|model|input) length (?:is|of)|context (?:size|length|window)(?: of| is| \()|must be <=)"
    rf"\W{{0,3}}?(?<![0-9])([0-9]{{1,3}}(?: [0-9]{{3}})+(?!{_MARK}?[0-9])|{_WRITTEN}(?!\s?[0-9]))"
    rf"|(?<![0-9])(?<![0-9][,._'])({_WRITTEN}) (?:tokens? )?(?:maximum )?context",
    re.IGNORECASE,
)
_COUNT = re.compile(
    r"(?P<whole>[0-9]{1,3}(?P<mark>[,._'\u2019\u00a0\u2009\u202f ])[0-9]{3}(?:(?P=mark)[0-9]{3})*|[0-9]+)"
    r"(?:(?P<point>[.,])(?P<part>[0-9]+))?(?:\s?(?P<unit>[km]i?))?",
    re.IGNORECASE,
)
# 32k may be 32,768 as well: the window has the lesser number in any case.
_UNITS = {"": 1, "k": 1_000, "ki": 1_024, "m": 1_000_000, "mi": 1_048_576}
_LONGEST_PART = 2
_LONGEST_COUNT = 30
# Where servers keep the window of a model, the one in use before the one that the model was made for.
_OF_MODEL = (
    "max_model_len",
    "loaded_context_length",
    "n_ctx",
    "context_length",
    "context_window",
    "max_context_length",
)


def exceeded_window(http_status: int, body: bytes) -> tuple[bool, int | None]:
    """Whether a reply says that the call exceeds the model's window, and how many tokens that holds, where it says so.

    Known are the words of vLLM, SGLang, llama.cpp, TGI, LiteLLM and the makers of hosted models.
    """
    if http_status not in _REFUSING:
        return False, None
    said = spoken(body)
    if not _EXCEEDED.search(said):
        return False, None
    fields = _decoded(body)
    error = fields.get("error") if isinstance(fields, dict) else None
    told = _count(error.get("n_ctx")) if isinstance(error, dict) else None
    found = _SIZE.search(said)
    return True, told or (_count_of(found[1] or found[2]) if found else None)


def window_in_models(body: bytes, model: str) -> int | None:
    """The window of `model` in a reply of GET /v1/models, GET /api/ps or GET /model/info; None where it is not told."""
    fields = _decoded(body)
    entries = fields.get("data", fields.get("models")) if isinstance(fields, dict) else None
    named = [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    own = [entry for entry in named if model in [entry.get(key) for key in ("id", "model_name", "name", "model")]]
    for entry in own:
        beside = [entry.get(key) for key in ("meta", "model_info")]
        for holder in [entry, *(each for each in beside if isinstance(each, dict))]:
            for key in (*_OF_MODEL, "max_input_tokens"):
                if count := _count(holder.get(key)):
                    return count
    return None


def window_in_training(body: bytes, model: str) -> int | None:
    """The window that `model` was made for, in llama.cpp's reply of GET /v1/models; it may run with a smaller one."""
    fields = _decoded(body)
    entries = fields.get("data") if isinstance(fields, dict) else None
    for entry in entries if isinstance(entries, list) else []:
        meta = entry.get("meta") if isinstance(entry, dict) and entry.get("id") == model else None
        if isinstance(meta, dict):
            return _count(meta.get("n_ctx_train"))
    return None


def window_in_props(body: bytes) -> int | None:
    """The window of each slot in llama.cpp's reply of GET /props; None where it is not told."""
    fields = _decoded(body)
    settings = fields.get("default_generation_settings") if isinstance(fields, dict) else None
    return _count(settings.get("n_ctx")) if isinstance(settings, dict) else None


def _decoded(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None


def _count(value: Any) -> int | None:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and _LEAST_TOKENS <= value <= _MOST_TOKENS else None


def _count_of(text: str) -> int | None:
    """Tokens as somebody wrote them: 32768, 32.768, 32,768.00, 32 768, 1_048_576, 32k, 1.5M, 32Ki.

    None for what may mean several numbers, such as 32.768k or 1,31,072, and for parts of a token.
    """
    found = _COUNT.fullmatch(text.strip()) if len(text) <= _LONGEST_COUNT else None
    if found is None or (found["mark"] and found["mark"] == found["point"]):
        return None
    whole, part, unit = re.sub("[^0-9]", "", found["whole"]), found["part"] or "", (found["unit"] or "").lower()
    if unit and (found["mark"] or len(part) > _LONGEST_PART):
        return None
    tokens = Decimal(f"{whole}.{part}") * _UNITS[unit]
    return _count(int(tokens)) if tokens == int(tokens) else None
