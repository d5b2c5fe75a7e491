"""What an expert's reason for a rejection blames.

Belongs here: reasons that name the draft's sources, in Indonesian and English. Does not: other reasons.
"""

import re
import unicodedata

_SOURCE = (
    r"sumber|rujukan|referensi|sitasi|kutipan|acuan|dasar hukum|sources?|citations?|cites?|cited|citing|references?"
    r"|refs?|retrieval|retrieved|konteks|context"
)
_DOCUMENT = r"dokumen|artikel|pasal|peraturan|documents?|docs?|articles?|passages?|chunks?|regulations?|kb"
_WRONG = (
    r"salah|keliru|usang|lama|kedaluwarsa|kadaluarsa|kadaluwarsa|dicabut|basi|berbeda|lain|bukan|ngawur|meleset"
    r"|wrong|incorrect|bad|irrelevant|outdated|obsolete|stale|old|expired|invalid|unrelated|superseded|repealed|mismatch(?:ed)?"
    r"|unreliable|inaccurate|another|different"
)
_FIT = (
    r"tepat|relevan|sesuai|cocok|valid|berlaku|benar|akurat|nyambung|terkait|mendukung|memuat|dipercaya|right|correct"
    r"|relevant|applicable|accurate|current|appropriate|trustworthy|related|support(?:s|ed)?|match(?:es)?|fit"
)
_NOT = r"tidak|kurang|tak|belum|bukan|not|isn't|aren't|doesn't|don't|didn't|never|nggak|gak|ga"
_ABSENT = re.compile(
    rf"\b(?:tanpa|without|no|missing|lacks?|lacking|needs?|butuh|perlu|tambah(?:kan)?|add)\s+(?:a\s+|any\s+|ada\s+)?(?:{_SOURCE})\b"
    rf"|\b(?:tidak|tak|belum) (?:ada|mencantumkan|menyebutkan|menyertakan) (?:{_SOURCE})\b"
)
_FAULT = re.compile(rf"\b(?:{_WRONG})\b|\b(?:{_NOT})\s+(?:\w+\s+){{0,2}}(?:{_FIT})\b")
_NAMES_SOURCE = re.compile(rf"\b(?:{_SOURCE})(?:nya)?\b")
_WRONG_DOCUMENT = re.compile(
    rf"\b(?:{_WRONG})\s+(?:{_DOCUMENT})(?:nya)?\b"
    rf"|\b(?:{_DOCUMENT})(?:nya)?\s+(?:(?:yang|is|was|are|were|itu|ini|sudah|yg|dirujuk|dipakai|used|retrieved)\s+){{0,3}}"
    rf"(?:(?:{_WRONG})\b|(?:{_NOT})\s+(?:lagi\s+)?(?:{_FIT})\b)"
)
_CLAUSE = re.compile(r"[.;,\n()]+|\b(?:tapi|tetapi|namun|sedangkan|but|however|although|meskipun)\b")
_ONLY_LABEL = re.compile(rf"(?:(?:{_SOURCE}|kb|issue|problem|masalah|error)\s*)+")
_LONGEST_REASON = 2_000


def blames_source(reason: str | None) -> bool:
    """Whether the reason says that the draft stands on the wrong source, or is a label that names the source alone.

    Speaking of a source is not blaming it ("sumber sudah benar, nadanya kasar"), nor is asking for one that is missing:
    the document that was not cited did nothing wrong. Only the first 2,000 characters are read.
    """
    if not reason:
        return False
    level = re.sub(r"[_/-]+", " ", unicodedata.normalize("NFKC", reason[:_LONGEST_REASON]).casefold()).replace("’", "'")
    return any(_clause_blames(" ".join(clause.split())) for clause in _CLAUSE.split(level))


def _clause_blames(clause: str) -> bool:
    if _ONLY_LABEL.fullmatch(clause):
        return True
    if _WRONG_DOCUMENT.search(clause):
        return True
    if not _NAMES_SOURCE.search(clause) or _ABSENT.search(clause):
        return False
    return _FAULT.search(clause) is not None
