"""What experts write that is no answer: greetings, closings, reasons, remarks to one client, words of their own.

Belongs here: phrases in both languages. Does not: when which is used.
"""

import re
from collections.abc import Mapping, Sequence
from random import Random

GREETINGS: Mapping[str, Sequence[str]] = {
    "id": (
        "Selamat siang, Bapak/Ibu.",
        "Halo, terima kasih sudah menghubungi kami.",
        "Yth. Bapak/Ibu,",
        "Selamat pagi.",
    ),
    "en": ("Good afternoon.", "Hello, thank you for writing to us.", "Dear Sir or Madam,", "Good morning."),
}
CLOSINGS: Mapping[str, Sequence[str]] = {
    "id": (
        "Semoga membantu.",
        "Silakan hubungi kami kembali bila masih ada pertanyaan.",
        "Salam hangat, tim layanan.",
        "Terima kasih atas kesabaran Anda.",
    ),
    "en": (
        "I hope this helps.",
        "Please write again if anything is unclear.",
        "Kind regards, the service team.",
        "Thank you for your patience.",
    ),
}
# They assert something, about one client.
REMARKS: Mapping[str, Sequence[str]] = {
    "id": (
        "Berkas Anda sudah kami periksa tadi pagi dan tinggal satu lampiran yang kurang.",
        "Rekan kami akan menelepon Anda besok siang mengenai nomor tiket tersebut.",
        "Permohonan atas nama Ibu Ratna sedang kami teruskan ke bagian verifikasi.",
    ),
    "en": (
        "We looked at your file this morning and one attachment is still missing.",
        "A colleague will call you tomorrow about that ticket.",
        "The request of Ms Ratna has been passed on to the verification team.",
    ),
}
REASONS: Mapping[str, Sequence[str | None]] = {
    "id": (None, None, "jawaban kurang tepat", "bahasanya kurang sopan", "perlu dijawab lewat telepon"),
    "en": (None, None, "not correct", "tone", "better answered by phone"),
}
WRONG_SOURCE_REASONS: Mapping[str, Sequence[str]] = {
    "id": ("wrong_source", "sumber salah", "sumber yang dipakai tidak sesuai"),
    "en": ("wrong_source", "wrong source", "the sources are wrong"),
}
OPENERS: Mapping[str, Sequence[str]] = {
    "id": ("Perlu kami sampaikan bahwa ", "Sebagai informasi, ", "Dapat kami jelaskan bahwa "),
    "en": ("Please note that ", "To be precise, ", "We can confirm that "),
}
OPENER_SHARE = 0.4
SYNONYMS: Mapping[str, Mapping[str, str]] = {
    "id": {
        "paling lambat": "selambat-lambatnya",
        "paling sedikit": "minimal",
        "paling lama": "maksimal",
        "harus": "wajib",
        "wajib": "harus",
        "dapat": "bisa",
        "boleh": "diperkenankan",
        "diajukan": "disampaikan",
        "biaya": "tarif",
        "tarif": "biaya",
        "diperlukan": "dibutuhkan",
        "bila": "jika",
        "memuat": "berisi",
    },
    "en": {
        "at least": "no less than",
        "within": "no later than",
        "must": "has to",
        "needs": "requires",
        "may": "can",
        "fee": "charge",
        "costs": "is charged at",
        "receives": "gets",
        "whatever": "regardless of",
        "after": "following",
    },
}
_FIRST_WORD = re.compile(r"^\w+")


def in_own_words(text: str, language: str, random: Random, *, opens: bool = True) -> str:
    """The text with one or two words for others; `opens`: now and then with a phrase before it."""
    known = [word for word in SYNONYMS[language] if re.search(rf"\b{word}\b", text)]
    for word in random.sample(known, min(len(known), 2 if opens else 1)):
        text = re.sub(rf"\b{word}\b", SYNONYMS[language][word], text, count=1)
    if opens and random.random() < OPENER_SHARE:
        return random.choice(OPENERS[language]) + _small(text)
    return text


def _small(text: str) -> str:
    """With a small first letter, unless the first word is an abbreviation."""
    first = _FIRST_WORD.match(text)
    return text if first and len(first.group()) > 1 and first.group().isupper() else text[:1].lower() + text[1:]
