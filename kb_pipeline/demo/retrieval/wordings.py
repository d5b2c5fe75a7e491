"""How clients word a question: as in the bank, after a greeting, as keywords, in everyday words, with slips.

Belongs here: rewording. Does not: which wording a client uses.
"""

import re
from random import Random

from kb_pipeline.demo.knowledge import Question
from kb_pipeline.demo.retrieval.world import Wording
from kb_pipeline.demo.search import QUESTION_WORDS
from kb_pipeline.demo.traffic.plan import dice
from kb_pipeline.support.language import FUNCTION_WORDS, words

GREETINGS = {"id": "Selamat siang,", "en": "Good afternoon,"}
LONGER = 6
SKIPPED = FUNCTION_WORDS | set(QUESTION_WORDS.split())
# What people say instead of the words of the articles; longer expressions first.
EVERYDAY = {
    "id": {
        "berapa lama": "kapan kelar",
        "berapa hari batas": "deadline",
        "berapa tarif": "bayar berapa",
        "berapa biaya": "ongkosnya berapa",
        "perseroan terbatas": "perusahaan",
        "badan hukum": "legalitas",
        "pemegang saham": "pemilik saham",
        "anggaran dasar": "AD",
        "rapat anggota": "kumpul anggota",
        "tarif": "ongkos",
        "biaya": "ongkos",
        "perseroan": "perusahaan",
        "mendirikan": "bikin",
        "pendirian": "bikin",
        "pendaftaran": "daftar",
        "mengajukan": "masukin",
        "diajukan": "dimasukin",
        "pengesahan": "SK",
        "keputusan": "SK",
        "direksi": "direktur",
        "pembubaran": "tutup usaha",
        "kreditur": "yang punya piutang",
        "keberatan": "protes",
        "terbit": "keluar",
        "diperlukan": "butuh",
        "boleh": "bisa",
        "wajib": "mesti",
        "harus": "mesti",
        "sanksi": "hukuman",
        "kapan": "tanggal berapa",
        "siapa": "orang mana",
    },
    "en": {
        "limited liability company": "business",
        "general partnership": "firma",
        "limited partnership": "CV",
        "how long does": "what time does",
        "what is the fee": "how much",
        "what does it cost": "how much is it",
        "beneficial owner": "real owner",
        "authorised capital": "share money",
        "company": "business",
        "approval": "green light",
        "fee": "price",
        "cost": "charge",
        "founders": "people starting it",
        "shareholders": "investors",
        "dissolution": "closing down",
        "register": "sign up",
        "registration": "sign-up",
        "deed": "notary paper",
        "certificate": "paper",
        "issued": "ready",
        "announced": "published",
        "declared bankrupt": "broke",
        "report": "tell the office about",
    },
}


def wordings(question: Question) -> tuple[Wording, ...]:
    """All wordings of a question; the same for the same question.

    Where a follow-up says little alone, the rewritten question is searched for.
    """
    said, meant, language = question.text, question.standalone, question.language
    everyday = in_everyday_words(question.query, language)
    return (
        Wording(text=said, rewritten=meant),
        Wording(text=f"{GREETINGS[language]} {said[0].lower()}{said[1:]}", rewritten=meant),
        Wording(text=keywords(question.query)),
        Wording(text=everyday),
        Wording(text=with_slips(everyday.rstrip("?"), dice("slips", question.key))),
    )


def keywords(text: str) -> str:
    """The telling words alone."""
    return " ".join(word for word in words(text) if word not in SKIPPED)


def in_everyday_words(text: str, language: str) -> str:
    """With everyday expressions for those of the articles, in small letters."""
    reworded = text[0].lower() + text[1:]
    for formal, everyday in EVERYDAY[language].items():
        reworded = re.sub(rf"\b{formal}\b", everyday, reworded, flags=re.IGNORECASE)
    return reworded


def with_slips(text: str, random: Random) -> str:
    """With two neighbouring letters swapped in one of the longer words, or in two."""
    parts = text.split()
    longer = [i for i, part in enumerate(parts) if len(part) >= LONGER and part.isalpha()]
    for i in random.sample(longer, min(len(longer), random.choice((1, 2)))):
        at = random.randrange(1, len(parts[i]) - 2)
        word = parts[i]
        parts[i] = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return " ".join(parts)
