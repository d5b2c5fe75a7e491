"""What somebody looks at: filters that leave everything in where they are None.

Belongs here: the records. Does not: reading them from a request, SQL.
"""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, kw_only=True, slots=True)
class QualityFilter:
    """Turns of one tenant, surface or engine."""

    tenant: str | None = None
    surface: str | None = None
    engine: str | None = None

    @property
    def is_set(self) -> bool:
        """Whether anything is left out."""
        return (self.tenant, self.surface, self.engine) != (None, None, None)


@dataclass(frozen=True, kw_only=True, slots=True)
class RetrievalFilter:
    """Retrievals of one organisation, specialist or engine; a tenant is an organisation and a specialist."""

    org: UUID | None = None
    specialist: UUID | None = None
    engine: str | None = None

    @property
    def is_set(self) -> bool:
        """Whether anything is left out."""
        return (self.org, self.specialist, self.engine) != (None, None, None)
