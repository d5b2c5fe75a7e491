"""Whether a context section only states that nothing was found.

Belongs here: the wording of tools and templates, Indonesian and English. Does not: refusals of the model (refusals).
"""

import re

_THINGS = (
    "hasil|data|dokumen|informasi|konteks|referensi|sumber|pencarian|potongan|kutipan|rujukan|alat"
    "|results?|documents?|passages?|context|information|hits?|sources?|matches|match|tool|search"
)
_LITTLE_WORDS = (
    "yang|relevan|cocok|sesuai|satu|pun|untuk|dengan|dari|di|pada|dalam|pertanyaan|ini|tersebut|itu|basis|pengetahuan|kami"
    "|ada|ditemukan|tersedia|relevant|matching|useful|any|were|was|is|are|found|retrieved|returned|available|for|this|the"
    "|question|query|in|our|knowledge|base|database"
)
_ZERO = r"0|nol|zero|nihil|kosong|empty|none|null|nil|n\W?a|undefined"
_MISSING = (
    r"(?:tidak|tak|belum)\W+(?:ada|ditemukan|tersedia|terdapat|menemukan|mengembalikan|memberikan|berhasil|relevan)"
    r"|(?:(?:was|were|is|are|did)\W+)?(?:not\W+(?:found|available|find|return)|no|nothing|empty|kosong|nihil)"
)
_NOTHING = re.compile(
    rf"(?:(?:{_ZERO})(?:\W+(?:{_THINGS}))?"
    rf"|(?:jumlah|total|count|{_THINGS})(?:\W+(?:{_THINGS}))?\W+(?:{_ZERO})"
    rf"|(?:maaf\W+|sorry\W+)?(?:(?:{_THINGS}|yang|relevan|relevant)\W+){{0,4}}+(?:{_MISSING})\b"
    rf"(?:\W+(?:{_THINGS}|{_LITTLE_WORDS})\b){{0,14}})",
    re.IGNORECASE,
)
_EDGES = " \t\r\n()[]{}<>-–—*_\"'`.!:#"
_LONGEST = 200


def states_nothing(text: str) -> bool:
    """Whether a context is empty, or only states that nothing was found.

    Every word must belong to such a statement: "Tidak ada hasil yang relevan." does, "Tidak ada biaya." is a finding.
    """
    if len(text) > _LONGEST:
        return False
    return not any(map(str.isalnum, text)) or _NOTHING.fullmatch(text.strip(_EDGES)) is not None
