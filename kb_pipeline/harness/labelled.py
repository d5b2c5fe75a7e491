"""A query with what experts' work says of its documents.

Belongs here: that record and its provenance. Does not: where it comes from, how it is stored.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from kb_pipeline.records import Tenant

Judgments = Mapping[str, Mapping[str, int]]
"""Grades by query id and document id; an unjudged document is absent, never 0."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Provenance:
    """What one judgment rests on: its evidence's kinds, conversations and times, the decay's instant, the rules."""

    as_of: datetime
    rule_version: str
    conversations: int
    kinds: tuple[str, ...]
    first_observed_at: datetime
    last_observed_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class LabelledQuery:
    """One query of one tenant with its judged documents.

    `text` is None for a tombstone, whose words have expired. `tenant` is None where a file does not say. `grades` has
    every judged document: 0 is a judgment against it, absence is none. `provenance` is by document, empty for foreign
    files. `excluded` are documents written from a correction of this very query: no ranking of it may profit from them.
    """

    id: str
    text: str | None
    tenant: Tenant | None = None
    grades: Mapping[str, int]
    provenance: Mapping[str, Provenance] = field(default_factory=dict)
    excluded: frozenset[str] = frozenset()

    @property
    def relevant(self) -> Mapping[str, int]:
        """The documents of grade 1 and more."""
        return {document: grade for document, grade in self.grades.items() if grade >= 1}

    @property
    def first_observed_at(self) -> datetime | None:
        """The oldest evidence of any of its judgments; None where the provenance is not known."""
        return min((known.first_observed_at for known in self.provenance.values()), default=None)

    @property
    def last_observed_at(self) -> datetime | None:
        """The newest evidence of any of its judgments; None where the provenance is not known."""
        return max((known.last_observed_at for known in self.provenance.values()), default=None)
