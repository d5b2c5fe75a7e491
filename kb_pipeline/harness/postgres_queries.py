"""The ground truth of the database as a source of labelled queries.

Belongs here: reading it tenant by tenant, and the record of that. Does not: how it came about, files.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from types import TracebackType
from typing import Any, LiteralString, Self
from uuid import UUID

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.counting import counted
from kb_pipeline.harness.earlier_judgments import judgments_at
from kb_pipeline.harness.failures import NotEvaluable
from kb_pipeline.harness.labelled import Judgments, LabelledQuery, Provenance
from kb_pipeline.harness.queries import load
from kb_pipeline.harness.sources import QuerySource
from kb_pipeline.harness.splits import ByCluster, SplitRule, split
from kb_pipeline.records import Tenant

APPLICATION = "kb_pipeline_harness"
FETCHED_AT_ONCE = 5_000

_Row = tuple[str, str | None, str, int | None, bool, Provenance | None]
"""Query, words, document, grade, whether it is self-made, provenance."""


def tenants_with_ground_truth(
    database: Database, *, org_id: UUID | None = None, specialist_id: UUID | None = None
) -> list[Tenant]:
    """The tenants that have judged queries, in the order of their keys; raises DatabaseError."""
    with database.connect() as connection:
        rows = connection.execute(load("tenants"), {"org_id": org_id, "specialist_id": specialist_id}).fetchall()
    return [Tenant(org_id=org, specialist_id=specialist) for org, specialist, _ in rows]


class PostgresQuerySource(QuerySource):
    """Judged queries with their words, streamed by tenant and query id, which is query_sha.

    `tenant` None means every tenant, one after another; judgments are never pooled across tenants. Relevant documents
    below `min_grade` are left out, which makes them unjudged; a 0 stays a 0. Documents written from a correction of the
    query itself are left out unless `include_self_made`. Queries whose words have expired are left out unless
    `with_tombstones`. Conflicts and insufficient evidence never appear. With `as_of` the judgments are those of that
    instant: by today's rules, of what had been observed by then. `part` (train, dev or test) of the rule `split_by`
    holds the queries in memory. Every reading of words is recorded in kb_access_record before it happens, with
    `purpose`. A source over a URL closes its connections at the end of its `with` block. Raises DatabaseError.
    """

    def __init__(
        self,
        database: Database | str,
        tenant: Tenant | None = None,
        *,
        min_grade: int = 1,
        as_of: datetime | None = None,
        include_self_made: bool = False,
        with_tombstones: bool = False,
        part: str | None = None,
        split_by: SplitRule | None = None,
        purpose: str = "harness",
    ) -> None:
        self._is_owner = isinstance(database, str)
        self._database = Database(database, application_name=APPLICATION) if isinstance(database, str) else database
        self._tenant, self._as_of = tenant, as_of
        self._part, self._rule = part, split_by or ByCluster()
        self._purpose = purpose
        self._parameters: dict[str, Any] = {
            "min_grade": min_grade,
            "include_self_made": include_self_made,
            "with_tombstones": with_tombstones,
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._is_owner:
            self._database.dispose()

    def __iter__(self) -> Iterator[LabelledQuery]:
        if self._part is None:
            return self._queries(with_words=True)
        parts = split(self._queries(with_words=True), self._rule).parts
        if self._part not in parts:
            raise NotEvaluable(f"there is no part {self._part!r}; accepted: {', '.join(parts)}")
        return iter(parts[self._part])

    def judgments(self) -> Judgments:
        """Grades by query_sha and document, without reading words; raises NotEvaluable for more than one tenant."""
        return {query.id: query.grades for query in self._keys()}

    def excluded(self) -> Mapping[str, frozenset[str]]:
        return {query.id: query.excluded for query in self._keys() if query.excluded}

    def left_out(self) -> Mapping[str, int]:
        """Judgments that are conflicts, insufficient, self_made, below_min_grade; queries that are tombstones.

        Nothing is counted with `as_of`.
        """
        counts: Counter[str] = Counter()
        for tenant in self._tenants() if self._as_of is None else ():
            counts.update(self._left_out(tenant))
        return counts

    def _tenants(self) -> list[Tenant]:
        return [self._tenant] if self._tenant else tenants_with_ground_truth(self._database)

    def _keys(self) -> Iterable[LabelledQuery]:
        """The queries of one tenant, without words where those are not needed to split them."""
        tenants = self._tenants()
        if len(tenants) > 1:
            raise NotEvaluable(
                f"there is ground truth of {counted(len(tenants), 'tenant')}, which is never pooled; name one with its "
                "organisation and specialist"
            )
        return self if self._part is not None else self._queries(with_words=False)

    def _queries(self, *, with_words: bool) -> Iterator[LabelledQuery]:
        for tenant in self._tenants():
            if with_words:
                self._record(tenant)
            for query, documents in groupby(self._rows(tenant, with_words=with_words), key=itemgetter(0)):
                if labelled := self._labelled(tenant, query, documents):
                    yield labelled

    def _labelled(self, tenant: Tenant, query: str, rows: Iterable[_Row]) -> LabelledQuery | None:
        grades: dict[str, int] = {}
        provenance: dict[str, Provenance] = {}
        excluded: set[str] = set()
        text = None
        for _, text, document, grade, is_self_made, known in rows:  # noqa: B007 all rows have the same text
            if is_self_made and not self._parameters["include_self_made"]:
                excluded.add(document)
            elif grade == 0 or (grade is not None and grade >= self._parameters["min_grade"]):
                grades[document] = grade
                if known:
                    provenance[document] = known
        if not grades:
            return None
        return LabelledQuery(
            id=query, text=text, tenant=tenant, grades=grades, provenance=provenance, excluded=frozenset(excluded)
        )

    def _rows(self, tenant: Tenant, *, with_words: bool) -> Iterator[_Row]:
        if self._as_of is None:
            return self._stored_rows(tenant, "labelled_queries" if with_words else "judged_documents")
        return self._earlier_rows(tenant, self._as_of, with_words=with_words)

    def _stored_rows(self, tenant: Tenant, name: LiteralString) -> Iterator[_Row]:
        with self._database.connect() as connection, connection.cursor(name, binary=True) as cursor:
            cursor.itersize = FETCHED_AT_ONCE
            cursor.execute(load(name), self._parameters | _key(tenant))
            for query, text, document, grade, is_self_made, *facts in cursor:
                yield query, text, document, grade, is_self_made, _provenance(facts) if facts else None

    def _earlier_rows(self, tenant: Tenant, as_of: datetime, *, with_words: bool) -> Iterator[_Row]:
        with_tombstones = self._parameters["with_tombstones"]
        found = judgments_at(self._database, tenant, as_of, with_words=with_words, with_tombstones=with_tombstones)
        for each in found:
            grade = each.judgment.grade
            if grade is not None or each.is_self_made:
                yield each.query_sha, each.text, each.doc_id, grade, each.is_self_made, each.provenance

    def _left_out(self, tenant: Tenant) -> Mapping[str, int]:
        with self._database.connect() as connection:
            cursor = connection.execute(load("left_out"), self._parameters | _key(tenant))
            names = [column.name for column in cursor.description or ()]
            return dict(zip(names, cursor.fetchone() or (), strict=True))

    def _record(self, tenant: Tenant) -> None:
        facts = {"actor": self._database.application_name, "purpose": self._purpose, "as_of": self._as_of}
        with self._database.connect() as connection:
            connection.execute(load("record_query_reading"), facts | _key(tenant))


def _key(tenant: Tenant) -> dict[str, Any]:
    return {"org_id": tenant.org_id, "specialist_id": tenant.specialist_id}


def _provenance(facts: Sequence[Any]) -> Provenance:
    as_of, rule_version, conversations, kinds, first_observed_at, last_observed_at = facts
    return Provenance(
        as_of=as_of,
        rule_version=rule_version,
        conversations=conversations,
        kinds=tuple(kinds.split()),
        first_observed_at=first_observed_at,
        last_observed_at=last_observed_at,
    )
