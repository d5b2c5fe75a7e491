"""The tenants' knowledge bases at hand: read when a draft of theirs comes up, the latest few kept.

Belongs here: how many indexes are in memory at once. Does not: what an index answers, SQL.
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from operator import attrgetter

from kb_pipeline.ports import KnowledgeBase
from kb_pipeline.records import KnowledgeChunk, ReviewedDraft, Tenant
from kb_pipeline.retrieval.knowledge import KnowledgeIndex

TENANTS_KEPT = 8


class KnowledgeShelf:
    """Knowledge bases with their indexes, at most `kept` of them; a tenant that comes back later is read again.

    A step makes one over any knowledge base, and takes one that it is given: so a run over many hours reads a tenant
    once. It shows each tenant as it was when first asked for.
    """

    def __init__(self, knowledge: KnowledgeBase, *, kept: int = TENANTS_KEPT) -> None:
        self._knowledge = knowledge
        self._kept = kept
        self._indexes: OrderedDict[Tenant, KnowledgeIndex] = OrderedDict()

    @classmethod
    def over(cls, knowledge: KnowledgeBase) -> "KnowledgeShelf":
        """The knowledge base itself where it is a shelf already, else a new shelf over it."""
        return knowledge if isinstance(knowledge, cls) else cls(knowledge)

    def is_mapped(self) -> bool:
        """Whether there is a knowledge base at all."""
        return self._knowledge.is_mapped()

    def chunks(self, tenant: Tenant) -> Sequence[KnowledgeChunk]:
        """Every chunk of one tenant, read now."""
        return self._knowledge.chunks(tenant)

    def of(self, tenant: Tenant) -> KnowledgeIndex:
        """The tenant's index."""
        if tenant not in self._indexes:
            # Room first: a large tenant might not fit beside those that leave.
            while len(self._indexes) >= self._kept:
                self._indexes.popitem(last=False)
            self._indexes[tenant] = KnowledgeIndex(self._knowledge.chunks(tenant))
        self._indexes.move_to_end(tenant)
        return self._indexes[tenant]


def by_tenant(drafts: Iterable[ReviewedDraft]) -> Sequence[ReviewedDraft]:
    """The drafts of one tenant after those of another, so that each tenant's knowledge is read once."""
    return sorted(drafts, key=attrgetter("tenant"))
