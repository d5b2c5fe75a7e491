"""The tenants' knowledge bases at hand: read when a draft of theirs comes up, the latest few kept.

Belongs here: how many indexes are in memory at once. Does not: what an index answers, SQL.
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from operator import attrgetter

from kb_pipeline.ports import KnowledgeBase
from kb_pipeline.records import ReviewedDraft, Tenant
from kb_pipeline.retrieval.knowledge import KnowledgeIndex

TENANTS_KEPT = 8


class KnowledgeShelf:
    """Indexes by tenant, at most `kept` of them; a tenant that comes back later is read again."""

    def __init__(self, knowledge: KnowledgeBase, *, kept: int = TENANTS_KEPT) -> None:
        self._knowledge = knowledge
        self._kept = kept
        self._indexes: OrderedDict[Tenant, KnowledgeIndex] = OrderedDict()
        self.is_mapped = knowledge.is_mapped()

    def of(self, tenant: Tenant) -> KnowledgeIndex | None:
        """The tenant's index; None where the knowledge base is not mapped."""
        if not self.is_mapped:
            return None
        if tenant not in self._indexes:
            # Make room first: the largest tenants would not fit beside those that leave.
            while len(self._indexes) >= self._kept:
                self._indexes.popitem(last=False)
            self._indexes[tenant] = KnowledgeIndex(self._knowledge.chunks(tenant))
        self._indexes.move_to_end(tenant)
        return self._indexes[tenant]


def by_tenant(drafts: Iterable[ReviewedDraft]) -> Sequence[ReviewedDraft]:
    """The drafts of one tenant after those of another, so that each tenant's knowledge is read once."""
    return sorted(drafts, key=attrgetter("tenant"))
