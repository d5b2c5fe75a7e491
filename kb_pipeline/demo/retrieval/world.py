"""What the retrieval street's demo plays with: desks, their documents, what clients ask there, planted faults.

Belongs here: values that any knowledge base can be turned into. Does not: the shipped knowledge base, chance.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from kb_pipeline.records import Tenant
from kb_pipeline.retrieval.queries import query_sha


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """One thing that an answer can say: in which ways, and a false version of it where there is one."""

    key: str
    ways: tuple[str, ...]
    false: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """One document of a desk, retrieved as one passage; `points` are the keys of what it says."""

    doc_id: str
    language: str
    title: str
    text: str
    points: tuple[str, ...]

    @property
    def chunk_id(self) -> str:
        """The key of its only chunk."""
        return f"{self.doc_id}-1"


@dataclass(frozen=True, kw_only=True, slots=True)
class Wording:
    """One way to ask: what the client writes, and what is searched for where a rewriter made something else of it."""

    text: str
    rewritten: str | None = None

    @property
    def searched(self) -> str:
        """The words that the engines get."""
        return self.rewritten or self.text


@dataclass(frozen=True, kw_only=True, slots=True)
class Enquiry:
    """A question in all its wordings; `points` answer it, none where the experts too can only decline.

    `weight` is its share of the desk's conversations, relative to the others.
    """

    key: str
    language: str
    wordings: tuple[Wording, ...]
    points: tuple[str, ...]
    weight: float = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Faults:
    """What is wrong with a desk's retrieval, as doc_ids.

    `withheld` documents are not in the knowledge base; `late` is the one of them that is written from a correction once
    two conversations missed it. `unindexed` ones are in the knowledge base and the engines do not know them. `demoted`
    ones are found, and the re-ranker puts them down.
    """

    withheld: frozenset[str] = frozenset()
    late: str | None = None
    unindexed: frozenset[str] = frozenset()
    demoted: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Desk:
    """One tenant: its documents (withheld ones too), what is asked there, and what is wrong with its retrieval.

    `points` is everything that anybody can say there; `claims` are assertions that no document supports, by language.
    `share` is its part of all conversations. `engines` take turns by conversation.
    """

    name: str
    tenant: Tenant
    share: float
    engines: tuple[str, ...]
    documents: Mapping[str, Document]
    enquiries: Sequence[Enquiry]
    points: Mapping[str, Point]
    claims: Mapping[str, Sequence[str]]
    faults: Faults = field(default_factory=Faults)

    @cached_property
    def holders(self) -> Mapping[str, frozenset[str]]:
        """The documents that say a point, by its key; withheld ones are among them."""
        found: dict[str, set[str]] = {}
        for document in self.documents.values():
            for point in document.points:
                found.setdefault(point, set()).add(document.doc_id)
        return {point: frozenset(doc_ids) for point, doc_ids in found.items()}

    def answering(self, points: Sequence[str]) -> frozenset[str]:
        """The documents that say at least one of the points."""
        return frozenset(doc_id for point in points for doc_id in self.holders.get(point, ()))

    @cached_property
    def points_by_query(self) -> Mapping[str, tuple[str, ...]]:
        """What answers a query, by the hash of its text; questions of one text add up."""
        found: dict[str, tuple[str, ...]] = {}
        for enquiry in self.enquiries:
            for text in {text for wording in enquiry.wordings for text in (wording.text, wording.searched)}:
                sha = query_sha(text)
                found[sha] = tuple(dict.fromkeys((*found.get(sha, ()), *enquiry.points)))
        return found

    @cached_property
    def searches(self) -> Sequence[tuple[str, str]]:
        """Everything that an engine may be asked here, with its language."""
        asked = ((wording.searched, each.language) for each in self.enquiries for wording in each.wordings)
        return list(dict.fromkeys(asked))
