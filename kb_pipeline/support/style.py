"""Whether a sentence asserts something or is manners.

Belongs here: the formulas of greeting, thanks, offer and farewell in Indonesian and English. Does not: alignment.
"""

import re
from collections.abc import Sequence

from kb_pipeline.support.language import FUNCTION_WORDS
from kb_pipeline.support.leading import LEADING
from kb_pipeline.support.levelling import plain

_WORD = re.compile(r"[^\W_]+(?:['’][a-z]+\b)?")
_INFORMATIVE = re.compile(r"\d|https?:|www\.|\S@\S")
# A question that tells, all the same.
_TELLING_QUESTION = re.compile(
    r"\b(?:tahukah|bahwa|bukankah|did you know|isn't|aren't|doesn't|don't|wasn't|right)\b|,\s*(?:bukan|kan)\s*\?",
    re.IGNORECASE,
)
_LONGEST_QUESTION = 200
_SUFFIX = re.compile(r"(?<=\w{4})(?:nya|lah|kah)$")

# A sentence that begins with one of these is manners when all else in it is a name.
_COURTESIES = frozenset(
    "halo hallo hai hi hello hey dear selamat assalamualaikum assalamu waalaikumsalam wassalam wassalamualaikum yth "
    "kepada salam hormat terima terimakasih makasih tertanda regards best kind kindest warm warmest sincerely yours "
    "cheers thank thanks good greetings".split()
)
_MANNERS_ID = frozenset(
    "halo hallo hai selamat pagi siang sore malam datang assalamualaikum assalamu alaikum waalaikumsalam wassalam "
    "wassalamualaikum warahmatullahi wabarakatuh wr wb salam sejahtera hangat hormat terhormat yth kepada terima kasih "
    "terimakasih makasih trims banyak sekali sebesar besarnya kembali sama maaf mohon maafkan permisi permintaan izin "
    "baik baiklah oke tentu siap senang hati dengan bapak ibu pak bu kak kakak saudara saudari sdr sdri mas mbak anda "
    "telah menghubungi hubungi dihubungi kontak menunggu kesabaran sabar pengertian perhatian kerja samanya kerjasama "
    "kepercayaan atas ketidaknyamanan keterlambatan kesempatan waktu pertanyaan tanya bertanya menanyakan ditanyakan "
    "tanyakan jawaban menjawab jawab terjawab jawabkan penjelasan menjelaskan jelaskan dijelaskan jelas informasi info "
    "keterangan layanan pelayanan melayani bantu bantuan membantu dibantu terbantu tambahan hal sesuatu lanjut lebih "
    "lainnya lain lagi ragu sungkan segan silakan silahkan jangan tidak bila jika apabila kalau ada masih perlu "
    "memerlukan diperlukan membutuhkan butuh dibutuhkan ingin mau kapan kapanpun saja apapun pun semoga bermanfaat "
    "berguna sukses selalu sehat hari menyenangkan berikut ini adalah demikian sampaikan disampaikan menyampaikan kami "
    "saya tim tertanda ttd admin cs terkait mengenai tentang seputar perihal soal kami di sini sini senantiasa setia "
    "coba dicoba cek periksa memeriksa lihat dilihat catatan kesimpulan kesimpulannya ringkasan pendahuluan penutup "
    "semua pihak kendala kesulitan keluhan masukan saran membaca kerjasamanya sampai jumpa berjumpa".split()
)
_MANNERS_EN = frozenset(
    "hi hello hey dear sir madam mr mrs ms good morning afternoon evening day greetings thank thanks thankyou much "
    "many very lot kindly welcome sorry apologies apologise apologize apologizes regret inconvenience delay patience "
    "understanding trust time contacting contact reaching reach out asking ask asked question questions query queries "
    "inquiry inquiries enquiry answer answers answering answered respond response reply replying help helps helped "
    "helping helpful assist assistance assisting support happy glad pleased pleasure feel free hesitate don't dont "
    "not let know further additional anything something else need needs needed want wants wish us me hope hopes best "
    "kind kindest warm warmest regards sincerely yours truly faithfully cheers team sure certainly course ok okay "
    "great wonderful nice lovely rest week weekend enjoy again soon always ever if just contacted here's heres here "
    "below following explanation explain information info details detail clarify clarification clear clarifies "
    "requested request regarding concerning appreciate appreciated look forward forwards hearing back note summary "
    "conclusion service i'm i'll i'd you're it's we're we'll don’t shall come come reach get touch no problem worries "
    "useful".split()
)
_MANNERS = _MANNERS_ID | _MANNERS_EN | LEADING
# As a whole sentence each of these is an answer, and an answer asserts.
_ANSWERS = frozenset(
    "ya iya tidak bukan belum bisa boleh benar betul salah jangan "
    "yes no not never correct incorrect true false wrong".split()
)
_FAREWELLS = frozenset(
    "salam hormat wassalam tertanda regards best kind kindest warm warmest sincerely yours cheers".split()
)
_AROUND_AN_ANSWER = FUNCTION_WORDS | _ANSWERS
_MOST_NAMES = 5
_MOST_CLAUSES = 4
_CLAUSE = re.compile(r"(?<=[,;:!])\s+|\s+-+\s+")


def asserts(sentence: str) -> bool:
    """Whether `sentence` tells something: a number, an address, a word outside of manners, or a yes or no.

    A greeting or farewell with a name ("Salam hangat, Tim Layanan"), thanks, an apology, an offer of more help, an
    announcement ("Berikut penjelasannya:") and a question tell nothing. Indonesian and English; about 5 µs.
    """
    text = plain(sentence)
    if _asks(text):
        return False
    if _INFORMATIVE.search(text):
        return True
    words = _WORD.findall(text)
    folded = [word.casefold() for word in words]
    strange = [word for word, form in zip(words, folded, strict=True) if not _is_manners(form)]
    if strange:
        return not _only_names(strange, folded)
    return _is_answer(folded)


def telling_part(text: str) -> str:
    """A `plain` sentence without the clauses of manners around what it asserts; as it is when it asserts nothing.

    "Baik Pak, biaya pendaftarannya Rp250.000, terima kasih." tells "biaya pendaftarannya Rp250.000,".
    """
    clauses = _CLAUSE.split(text, maxsplit=_MOST_CLAUSES)
    if len(clauses) == 1:
        return text
    telling = [number for number, clause in enumerate(clauses) if asserts(clause)]
    return " ".join(clauses[telling[0] : telling[-1] + 1]) if telling else text


def is_farewell(sentence: str) -> bool:
    """Whether a sentence is a farewell that a signature may follow."""
    words = [word.casefold() for word in _WORD.findall(sentence[:80])]
    return bool(words) and words[0] in _FAREWELLS and not asserts(sentence)


def is_signature(sentence: str) -> bool:
    """Whether a sentence could be the name below a farewell: few words, each capitalised, no number."""
    words = _WORD.findall(sentence[:200])
    return (
        len(words) <= _MOST_NAMES + 1 and all(word[0].isupper() for word in words) and not _INFORMATIVE.search(sentence)
    )


def _asks(text: str) -> bool:
    is_question = len(text) <= _LONGEST_QUESTION and text.rstrip(" \"')]").endswith("?")
    return is_question and not _TELLING_QUESTION.search(text)


def _is_manners(form: str) -> bool:
    return form in _MANNERS or form in FUNCTION_WORDS or form in _ANSWERS or _SUFFIX.sub("", form) in _MANNERS


def _only_names(strange: Sequence[str], folded: Sequence[str]) -> bool:
    return folded[0] in _COURTESIES and len(strange) <= _MOST_NAMES and all(word[0].isupper() for word in strange)


def _is_answer(folded: Sequence[str]) -> bool:
    return all(form in _AROUND_AN_ANSWER for form in folded) and not _ANSWERS.isdisjoint(folded)
