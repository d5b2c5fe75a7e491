"""What an answer does when it does not answer: it opens with a refusal, or asserts nothing at all.

Belongs here: phrases and formulas of Indonesian and English. Does not: the other metrics, the judge.
"""

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

_WORD = re.compile(r"[^\W_]+")
_NOT_WORD = re.compile(r"[\W_]+")
_APOSTROPHE = re.compile(r"(?<=\w)['’‘`´](?=\w)")
_INVISIBLE = re.compile(r"[\u00ad\u200b-\u200f\u2060\ufeff]")
# Markup, entities and citations may stand among the words of an opening.
_MARKUP = re.compile(r"</?[a-zA-Z][^<>]{0,80}>|&[a-zA-Z]{2,8};|\[[A-Z]{2,8}-?\d{1,3}\]")
_MARKUP_SIGNS = ("<", "&", "[")
_SLACK = 160

_SENTENCE_END = re.compile(r"(?<=[.!?…:])\s+|[\r\n]+")
_CITATION = re.compile(r"\[[^\]\n]{1,12}\]")
_DIGIT = re.compile(r"\d")
_LONGEST_TEXT = 600
_LONGEST_QUESTION = 200
# A question that tells.
_TELLING = re.compile(r"\b(?:tahukah|bahwa|bukankah|did you know|isnt it|arent|right)\b")

_POLITE = (
    "mohon|maaf|maafkan|permisi|halo|hai|hi|hello|hey|selamat|pagi|siang|sore|malam|datang|assalamualaikum|waalaikumsalam"
    "|terima|kasih|terimakasih|makasih|banyak|kembali|sama|baik|baiklah|oke|ok|okay|sebelumnya|sekali|kak|pak|bu|bapak|ibu"
    "|anda|atas|pertanyaan|pertanyaannya|menghubungi|kami|sorry|apologies|my|im|i|am|we|are|were|so|very|apologize|apologise"
    "|thank|thanks|you|youre|welcome|good|morning|afternoon|evening|day|for|your|question|asking|the|inconvenience"
)
_NOUN = (
    "informasi|informasinya|data|datanya|dokumen|hasil|jawaban|jawabannya|referensi|sumber|konteks|keterangan|akses"
    "|pengetahuan|bahan|rujukan|information|documents?|answers?|context|results?|sources?|details?|access|knowledge"
)
_DENYING = "tidak|belum|tak|kurang|not|cannot|cant|couldnt|dont|didnt|doesnt|unable|wasnt|werent|isnt|no|unavailable"
_HELPING = (
    "membantu|bantu|menjawab|menjawabnya|memberikan|memproses|menemukan|menemukannya|memastikan|melayani|menanggapi|memahami"
    "|mengakses|help|answer|assist|provide|find|locate|process|access|respond|comply|understand"
)
_LACKING = (
    "memiliki|mempunyai|menemukan|mengetahui|tahu|punya|ada|terdapat|tersedia|ditemukan|paham|mengerti|yakin"
    "|have|find|found|know|understand|available|sure"
)
_INVITING = (
    "ajukan|tanyakan|ulangi|perjelas|jelaskan|sampaikan|berikan|sebutkan|coba|tulis|lengkapi"
    "|ask|rephrase|clarify|try|provide|specify|repeat|tell|feel"
)
_BETWEEN = (
    "saya|aku|kamu|saudara|untuk|saat|ini|itu|tersebut|yang|relevan|cukup|apa|apapun|pun|tentang|mengenai|terkait|soal|hal"
    "|pada|dalam|di|dari|dengan|dan|sesuai|cari|maksud|dimaksud|diminta|basis|sekarang|lengkap|memadai|namun|tetapi|tapi|jadi"
    "|sayangnya|dapat|bisa|mampu|sanggup|silakan|silahkan|tolong|lagi|ulang|lain|lainnya|lebih|detail|lanjut|rinci|spesifik"
    "|kepada|nanti|kata|kunci|siap|senang|akan|semoga|bermanfaat|jika|bila|ya|juga|perlu|ingin"
    "|us|me|this|that|any|enough|on|about|to|of|in|regarding|relevant|request|topic|our|right|now|it|with|asked|requested"
    "|looking|be|was|is|could|can|able|but|however|unfortunately|currently|please|free|again|another|more|later|a|what|mean"
    "|hope|helps|here|happy|let|if|else|anything|there|at|moment|and|differently|would|like"
)
_ONLY_POLITE = re.compile(rf"(?:(?:{_POLITE}) )+")
_ONLY_FORMULA = re.compile(rf"(?:(?:{_POLITE}|{_NOUN}|{_DENYING}|{_HELPING}|{_LACKING}|{_INVITING}|{_BETWEEN}) )+")
_FORMULA = re.compile(
    rf"\b(?:{_DENYING}) (?:(?:dapat|bisa|mampu|sanggup|able|to) ){{0,2}}(?:{_HELPING})\b"
    rf"|\b(?:{_DENYING}) (?:{_LACKING})\b.* (?:{_NOUN})\b|\b(?:{_NOUN})\b.* (?:{_DENYING}) (?:be )?(?:{_LACKING})\b"
    r"|\b(?:tidak|belum|kurang) (?:tahu|mengetahui|paham|mengerti|yakin|menemukan)\b"
    r"|\b(?:dont|not) (?:know|sure|understand)\b"
    rf"|\bno (?:relevant )?(?:{_NOUN})\b"
    rf"|\b(?:silakan|silahkan|mohon|tolong|please|coba|feel free to)\b.*\b(?:{_INVITING})\b"
    r"|\b(?:siap|senang) membantu\b|\bsemoga (?:membantu|bermanfaat)\b"
    r"|\b(?:here|happy) to help\b|\blet (?:me|us) know\b|\bhope this helps\b"
)


class _Openings(NamedTuple):
    """Levelled phrases, each with a space behind its last word, and what is needed to rule most answers out quickly."""

    phrases: tuple[str, ...]
    first_words: frozenset[str]
    longest: int


def opens_with(text: str, phrases: tuple[str, ...]) -> bool:
    """Whether `text` opens with one of the phrases, as whole words.

    Both are levelled first: case, Unicode compatibility forms, spaces, punctuation, quotes, markdown, markup and emoji
    do not count. A phrase without words is no phrase.
    """
    word = _WORD.search(text)
    if word is None:
        return False
    first = word.group()
    openings = _openings(phrases)
    if (
        text[: word.end() + 1].isascii()
        and first.lower() not in openings.first_words
        and not text.startswith(_MARKUP_SIGNS)
    ):
        return False
    return (levelled(text[: word.start() + openings.longest + _SLACK]) + " ").startswith(openings.phrases)


def asserts_nothing(text: str) -> bool:
    """Whether no sentence of `text` asserts anything. Indonesian and English.

    A sentence asserts nothing when it is a question back, a greeting, thanks, an apology, an invitation to ask, or a
    statement that the assistant cannot help or has no information. Conservative: a sentence with a digit, or with any
    word outside of these formulas (a link, a name, a subject matter), asserts something; so does any text over 600
    characters. "Ya." and "Tidak bisa." are answers.
    """
    if len(text) > _LONGEST_TEXT:
        return False
    return all(_is_formula(sentence) for sentence in _SENTENCE_END.split(_CITATION.sub(" ", text)))


def levelled(text: str) -> str:
    """`text` in lower case with one space between words and nothing else, so that phrases can be compared."""
    text = _INVISIBLE.sub("", _MARKUP.sub(" ", unicodedata.normalize("NFKC", text)))
    return _NOT_WORD.sub(" ", _APOSTROPHE.sub("", text).casefold()).strip()


@lru_cache(maxsize=64)
def _openings(phrases: tuple[str, ...]) -> _Openings:
    level = [words for words in map(levelled, phrases) if words]
    # An apostrophe ends a word as it is written, and not as it is levelled.
    as_written = [word.group().lower() for word in map(_WORD.search, phrases) if word]
    return _Openings(
        phrases=tuple(f"{words} " for words in level),
        first_words=frozenset(as_written).union(words.split()[0] for words in level),
        longest=2 * max(map(len, level), default=0),
    )


def _is_formula(sentence: str) -> bool:
    words = levelled(sentence)
    if not words:
        return True
    if _DIGIT.search(words):
        return False
    if sentence.rstrip(" \t*_\"'”’»)]").endswith("?"):
        return len(sentence) <= _LONGEST_QUESTION and not _TELLING.search(words)
    if _ONLY_POLITE.fullmatch(f"{words} "):
        return True
    return _ONLY_FORMULA.fullmatch(f"{words} ") is not None and _FORMULA.search(words) is not None
