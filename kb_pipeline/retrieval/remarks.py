"""Sentences that assert something and that no knowledge base would say: refusals, and remarks to one client.

Belongs here: their wordings in Indonesian and English. Does not: greetings and manners, which assert nothing
(retrieval/outcomes).
"""

import re

_SOUGHT = r"(?:informasi|keterangan|jawaban)\w*"
_DECLINES = (
    rf"\b(?:tidak|belum|tak) (?:dapat |bisa |berhasil )?(?:menemukan|memiliki|mempunyai) (?:\w+ ){{0,2}}?{_SOUGHT}\b",
    rf"\b{_SOUGHT} (?:\w+ ){{0,3}}?(?:tidak|belum|tak) (?:tersedia|ditemukan|ada|tercantum)\b",
    r"\b(?:saya|kami) (?:tidak|belum) (?:dapat|bisa) (?:menjawab|menemukan)\b",
    r"\b(?:could|can|did|was|were|am|are) ?(?:not|n't|unable to) (?:\w+ ){0,2}?(?:find|locate|answer)\b",
    r"\b(?:information|answers?) (?:\w+ ){0,3}?(?:is|are|was) ?(?:not|n't) (?:available|found|provided)\b",
    r"\b(?:no|not enough|insufficient) information\b",
)
_MOMENT = (
    r"besok|lusa|kemarin|barusan|tadi|nanti (?:pagi|siang|sore|malam)|(?:hari|pagi|siang|sore|malam) ini"
    r"|tomorrow|yesterday|just now|today|tonight|this (?:morning|afternoon|evening)"
)
_SOMEBODY = r"kami|anda|bapak|ibu|rekan|we|you|your|our|colleague|i"
_TO_ONE_CLIENT = (
    rf"\b(?:{_MOMENT})\b.*\b(?:{_SOMEBODY})\b",
    rf"\b(?:{_SOMEBODY})\b.*\b(?:{_MOMENT})\b",
    r"\b(?:sudah|telah|sedang) kami \w+|\bkami (?:sudah|telah|sedang) \w+",
    r"\bkami akan (?:menelepon|menghubungi|mengabari)\b|\bakan kami (?:telepon|hubungi|kabari)\b",
    r"\b(?:we|i|(?:a|my|our) (?:colleague|team))(?: have|'ve| has) (?:just |already |now )?(?:\w+ed|sent|put|taken)\b",
    r"\b(?:we|i)(?: are|'re| am|'m) (?:now |currently )?(?:looking|checking|forwarding|processing|waiting)\b",
    r"\b(?:we|i|(?:a|my|our) (?:colleague|team))(?: will|'ll) (?:call|phone|contact|write to|get back to) you\b",
    r"\byour (?:\w+ )?(?:ticket|case|file|request) (?:has|was|is)\b",
    r"\b(?:atas nama|permohonan|request of|application of|on behalf of) (?:ibu|bapak|sdri?\.?|mr\.?|mrs\.?|ms\.?) \w",
)
_REMARK = re.compile("|".join(f"(?:{each})" for each in (*_DECLINES, *_TO_ONE_CLIENT)), re.IGNORECASE)
_LONGEST = 1_000


def is_remark(sentence: str) -> bool:
    """Whether the sentence declines to answer, or tells one client of his own case: what was done, who will call when.

    No article would say so, and none is missing because of it. Rules of thumb for the two languages: what they do not
    know is taken for knowledge. The first 1,000 characters are read.
    """
    return _REMARK.search(sentence[:_LONGEST]) is not None
