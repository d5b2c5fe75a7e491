"""Which documents an expert cites in the text that he sent, and which of its citations are only the model's.

Belongs here: rank marks, doc_ids and titles in a final text. Does not: citations from an expert's search, which the
source knows; what being cited weighs.
"""

import re
from collections.abc import Iterator, Mapping

from kb_pipeline.records import RetrievalEvent
from kb_pipeline.retrieval.events.citations import CITATION, cited_ranks
from kb_pipeline.retrieval.knowledge import title_key
from kb_pipeline.support import words

_NAMED_MARK = re.compile(r"\[\s?RAG[\s-]?\d{1,3}[^\]\n]{0,200}\]", re.IGNORECASE)
_TOKEN = re.compile(r"[^\s\[\](){}<>\"'`,;|*“”‘’«»]{1,512}")
_ENDS = ".:!?"
_SHORTEST_ID = 6
# An id that could be a word of the language would be found in every second text.
_NO_WORD = re.compile(r"[\d_/:#.@]")
_QUOTED = re.compile(r"[\"“«‘'(\[*]([^\"”»’'()\[\]*\n]{3,200})[\"”»’')\]*]")
_CUE = re.compile(
    r"\b(?:sumber|rujukan|referensi|lihat|merujuk(?: pada| ke)?|menurut|berdasarkan|artikel|dokumen|halaman|panduan"
    r"|source|reference|see|according to|based on|refer to|article|document|page|guide)\b:?\s*",
    re.IGNORECASE,
)
_LONGEST_TITLE = 16
_SHORTEST_TITLE = 2


def marked_ranks(text: str, *, bare: bool) -> frozenset[int]:
    """The ranks that the text cites as [RAG-n], and as [n] too where `bare` numbers are its way to cite."""
    return cited_ranks(text, CITATION if bare else _NAMED_MARK)


def newly_marked(event: RetrievalEvent, draft: str, final: str) -> frozenset[str]:
    """The results that the final text cites by rank and the draft does not.

    A mark that the draft had already is the model's. [n] is read as a rank where the draft cites so itself: elsewhere
    it is a footnote of the expert's own.
    """
    had = marked_ranks(draft, bare=True)
    new = marked_ranks(final, bare=bool(had)) - had
    return documents_at(event, new)


def documents_at(event: RetrievalEvent, ranks: frozenset[int]) -> frozenset[str]:
    """The results at these ranks."""
    return frozenset(hit.doc_id for hit in event.retrieved if hit.rank in ranks)


def newly_named(
    draft: str, final: str, doc_ids: frozenset[str], titles: Mapping[str, frozenset[str]]
) -> frozenset[str]:
    """The documents that the final text names by doc_id or title and the draft does not.

    `titles` are the documents by title as `title_key` makes it. A title is read in quotation marks or brackets, or
    behind a word of reference (sumber, lihat, see, according to, ...): elsewhere it is a phrase like any other. One
    that several documents carry names none.
    """
    named = set(_ids_in(final, doc_ids)) - set(_ids_in(draft, doc_ids))
    for key in set(_titles_in(final, titles)) - set(_titles_in(draft, titles)):
        named |= titles[key] if len(titles[key]) == 1 else frozenset()
    return frozenset(named)


def _ids_in(text: str, doc_ids: frozenset[str]) -> Iterator[str]:
    for match in _TOKEN.finditer(text):
        token = match.group().rstrip(_ENDS)
        if token in doc_ids and _is_telling(token):
            yield token


def _is_telling(doc_id: str) -> bool:
    if len(doc_id) < _SHORTEST_ID or doc_id.isdigit():
        return False
    parts = doc_id.casefold().split("-")
    # "undang-undang" is a plural.
    return bool(_NO_WORD.search(doc_id)) or len(set(parts)) > 1


def _titles_in(text: str, titles: Mapping[str, frozenset[str]]) -> Iterator[str]:
    for match in _QUOTED.finditer(text):
        key = title_key(match[1])
        if key in titles and key.count(" ") >= _SHORTEST_TITLE - 1:
            yield key
    for match in _CUE.finditer(text):
        following = words(text[match.end() : match.end() + 300])[:_LONGEST_TITLE]
        for length in range(len(following), _SHORTEST_TITLE - 1, -1):
            key = " ".join(following[:length])
            if key in titles:
                yield key
                break
