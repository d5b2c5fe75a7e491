"""Recorded retrievals as runs: what each engine found for the queries that have judged documents.

Belongs here: from kb_retrieval_event to a run. Does not: evaluation.

An engine was asked only the queries that were recorded for it, so these runs are not complete. What is recorded is also
what experts saw: a serving engine's own results are judged more often than a shadow's, and Judged@10 tells.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.harness.failures import NotEvaluable
from kb_pipeline.harness.queries import load
from kb_pipeline.harness.runs import Run
from kb_pipeline.records import Tenant


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordedEngine:
    """What is recorded of one engine for one tenant: retrievals, different queries, of them with judged documents."""

    engine: str
    retrievals: int
    queries: int
    judged_queries: int


def recorded_engines(
    database: Database, tenant: Tenant, *, since: datetime | None = None, until: datetime | None = None
) -> list[RecordedEngine]:
    """The engines recorded for a tenant, by name, from `since` on and before `until`; raises DatabaseError."""
    with database.connect() as connection:
        rows = connection.execute(load("recorded_engines"), _parameters(tenant, since, until)).fetchall()
    return [
        RecordedEngine(engine=engine, retrievals=retrievals, queries=queries, judged_queries=judged)
        for engine, retrievals, queries, judged in rows
    ]


def runs_from_events(
    database: Database,
    tenant: Tenant,
    engines: Collection[str] | None = None,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
) -> dict[str, Run]:
    """By engine its newest retrieval, serving or shadow, for each query that has judged documents.

    Only retrievals from `since` on and before `until`. Raises NotEvaluable for an engine that is not recorded.
    """
    known = {each.engine: each for each in recorded_engines(database, tenant, since=since, until=until)}
    wanted = list(dict.fromkeys(engines)) if engines is not None else list(known)
    for engine in wanted:
        if engine not in known:
            recorded = f"recorded are {', '.join(known)}" if known else "nothing is recorded"
            raise NotEvaluable(f"no retrieval of engine {engine!r} is recorded for this tenant and time; {recorded}")
    parameters = _parameters(tenant, since, until)
    runs: dict[str, Run] = {}
    for engine in wanted:
        with database.connect() as connection:
            rows = connection.execute(load("newest_retrievals"), parameters | {"engine": engine}).fetchall()
        runs[engine] = run_of_retrievals(engine, rows, counts=_counts(known[engine]))
    return runs


def run_of_retrievals(
    name: str, retrievals: Iterable[tuple[str, Any]], *, counts: Mapping[str, int] | None = None
) -> Run:
    """A run of pairs of query id and results, the elements of `kb_retrieval_event.retrieved`; it is not complete.

    Where the ranks of all results are whole numbers they decide, else the order of the list. Of a document that has
    several chunks among the results the best rank stays.
    """
    rankings = {query: _ranked(results) for query, results in retrievals}
    return Run(name=name, rankings=rankings, is_complete=False, counts=dict(counts or {}))


def _ranked(results: Any) -> Sequence[str]:
    hits = [hit for hit in results if isinstance(hit, dict)] if isinstance(results, list) else []
    if all(isinstance(hit.get("rank"), int) for hit in hits):
        hits.sort(key=lambda hit: hit["rank"])
    documents = (hit.get("doc_id") for hit in hits)
    return list(dict.fromkeys(document for document in documents if isinstance(document, str) and document))


def _counts(known: RecordedEngine) -> dict[str, int]:
    return {
        "recorded_retrievals": known.retrievals,
        "recorded_queries": known.queries,
        "recorded_queries_without_judgments": known.queries - known.judged_queries,
    }


def _parameters(tenant: Tenant, since: datetime | None, until: datetime | None) -> dict[str, Any]:
    return {"org_id": tenant.org_id, "specialist_id": tenant.specialist_id, "since": since, "until": until}
