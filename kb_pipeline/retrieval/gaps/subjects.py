"""What gaps of one kind have in common, so that several conversations about one thing become one task.

Belongs here: the subject of a gap. Does not: from how many conversations on a gap is worth a task, storage.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from kb_pipeline.records import GapKind, Tenant
from kb_pipeline.support.language import FUNCTION_WORDS, stems, words

ALIKE_FROM = 0.60
OF_A_DOCUMENT = frozenset({GapKind.RANKING_GAP, GapKind.RECALL_GAP, GapKind.GENERATION_GAP})


@dataclass(frozen=True, kw_only=True, slots=True)
class AskedGap:
    """A diagnosis with the query behind it; `query` is None once its words have expired."""

    message_id: UUID
    tenant: Tenant
    kind: GapKind
    doc_id: str | None
    query_sha: str
    query: str | None
    decided_at: datetime


def subjects(gaps: Iterable[AskedGap]) -> dict[UUID, str | None]:
    """The subject of each gap by its message; a pure function of all gaps given, in whatever order.

    A gap with a document is about that document. A gap of the knowledge base is about the query that began its cluster,
    by its query_sha: gaps of one tenant join, oldest first, the cluster whose first query is most like theirs, from .6
    on (twice the common telling words by all of them, words meeting by stems), and begin one where there is none. The
    same query_sha is the same query, whether its words are still known or not. Nothing else has a subject.
    """
    found: dict[UUID, str | None] = {}
    clusters: dict[Tenant, _Clusters] = defaultdict(_Clusters)
    for gap in sorted(gaps, key=lambda each: (each.decided_at, each.message_id)):
        if gap.kind in OF_A_DOCUMENT:
            found[gap.message_id] = gap.doc_id
        elif gap.kind is GapKind.KB_GAP:
            found[gap.message_id] = clusters[gap.tenant].of(gap.query_sha, gap.query)
        else:
            found[gap.message_id] = None
    return found


class _Clusters:
    """The clusters of one tenant's queries, each known by its first one."""

    def __init__(self) -> None:
        self._leader_of: dict[str, str] = {}
        self._words: dict[str, list[frozenset[str]]] = {}
        self._order: dict[str, int] = {}
        self._having: dict[str, list[str]] = defaultdict(list)

    def of(self, query_sha: str, query: str | None) -> str:
        """The query_sha of the first query of the cluster that this query is in, or begins."""
        if query_sha not in self._leader_of:
            said = _telling(query or "")
            leader = self._closest(said)
            self._leader_of[query_sha] = leader or query_sha
            if leader is None:
                self._begin(query_sha, said)
        return self._leader_of[query_sha]

    def _closest(self, said: list[frozenset[str]]) -> str | None:
        """Of the leaders with a word in common the one most alike, the oldest of equals; None where none is alike."""
        candidates = dict.fromkeys(leader for word in said for form in word for leader in self._having.get(form, ()))
        alike = {leader: _alike(said, self._words[leader]) for leader in candidates}
        best = max(alike, key=lambda leader: (alike[leader], -self._order[leader]), default=None)
        return best if best is not None and alike[best] >= ALIKE_FROM else None

    def _begin(self, leader: str, said: list[frozenset[str]]) -> None:
        self._order[leader] = len(self._order)
        self._words[leader] = said
        for form in frozenset().union(*said):
            self._having[form].append(leader)


def _telling(query: str) -> list[frozenset[str]]:
    """The telling words of a query, each as its forms."""
    return [stems(word) for word in dict.fromkeys(words(query)) if word not in FUNCTION_WORDS]


def _alike(said: list[frozenset[str]], other: list[frozenset[str]]) -> float:
    free = list(other)
    for word in said:
        match = next((each for each in free if not each.isdisjoint(word)), None)
        if match is not None:
            free.remove(match)
    return 2 * (len(other) - len(free)) / (len(said) + len(other))
