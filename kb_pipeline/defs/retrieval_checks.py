"""Asset checks of the retrieval street: the verdicts of retrieval/health.py and the suites of its tables.

Belongs here: checks and their metadata. Does not: how a verdict is reached.
"""

from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta

import dagster as dg

from kb_pipeline.adapters.expectations import judgments, retrieval_events, search_events
from kb_pipeline.defs.check_results import SETTLING, busy_window, expectation_results, expectation_specs, shown
from kb_pipeline.defs.hourly import view_key
from kb_pipeline.defs.partitions import window_of_check
from kb_pipeline.defs.resources import RetrievalStreets
from kb_pipeline.retrieval import health
from kb_pipeline.windows import HOUR, Window, hour_of

# An event takes a moment through the queue.
UNDERWAY = timedelta(minutes=5)
BEGINNING = datetime(2020, 1, 1, tzinfo=UTC)


@dg.asset_check(
    asset="retrieval_events",
    additional_deps=[view_key("audit_log")],
    description="Retrievals that the application's audit log knows have their events.",
)
def completeness(
    context: dg.AssetCheckExecutionContext, retrieval: dg.ResourceParam[RetrievalStreets]
) -> dg.AssetCheckResult:
    """Fails below 99 %, by the Wilson bound; never on one event. Looks at up to a day, so that small losses add up."""
    with retrieval.open() as street:
        now = street.clock.now()
        hour = _settled(window_of_check(context, now), now)
        window = busy_window(hour, lambda hours: street.soundness.recorded(hours)[0] or 0, health.MIN_RETRIEVALS)
        loaded, recorded = street.soundness.recorded(window)
    return shown(health.completeness(loaded, recorded), window, {"retrievals": loaded, "recorded": recorded})


@dg.asset_check(
    asset="retrieval_events",
    additional_deps=[view_key("audit_log")],
    description="Events of the newest closed hour have arrived.",
)
def newest_hour_arrived(retrieval: dg.ResourceParam[RetrievalStreets]) -> dg.AssetCheckResult:
    """Fails when the audit log has retrievals in the newest closed hour and no event came, whatever was backfilled."""
    with retrieval.open() as street:
        window = hour_of(street.clock.now() - HOUR - SETTLING)
        loaded, events = street.soundness.arrived(window)
    return shown(health.arrival(loaded, events), window, {"retrievals": loaded, "events": events})


@dg.asset_check(asset="retrieval_windows", description="Retrieval finds something, as a rule.")
def empty_share(
    context: dg.AssetCheckExecutionContext, retrieval: dg.ResourceParam[RetrievalStreets]
) -> dg.AssetCheckResult:
    """Warns when more than retrieval.empty_share_warn of the retrievals found nothing, by the Wilson bound."""
    with retrieval.open() as street:
        hour = window_of_check(context, street.clock.now())
        window = busy_window(hour, lambda hours: street.soundness.empty(hours)[0], health.MIN_RETRIEVALS)
        retrievals, empty = street.soundness.empty(window)
    verdict = health.empty_share(retrievals, empty, warn_above=retrieval.settings.retrieval.empty_share_warn)
    return shown(verdict, window, {"retrievals": retrievals, "empty": empty})


@dg.asset_check(asset="draft_outcomes", description="Each outcome's event is there, its own draft's and tenant's.")
def event_references(
    context: dg.AssetCheckExecutionContext, retrieval: dg.ResourceParam[RetrievalStreets]
) -> dg.AssetCheckResult:
    """Fails on the first outcome whose event is gone or is another's, and on an event that claims another's draft."""
    with retrieval.open() as street:
        window = window_of_check(context, street.clock.now())
        broken = street.soundness.outcome_references(window, kept_from=street.kept_from())
    return shown(health.unbroken(broken, "Every outcome's event is its own draft's and tenant's."), window, broken)


@dg.asset_check(asset="ground_truth", description="Each judgment has evidence, and both have their query.")
def evidence_references(retrieval: dg.ResourceParam[RetrievalStreets]) -> dg.AssetCheckResult:
    """Fails on the first judgment without evidence, and on evidence or judgments without their query."""
    with retrieval.open() as street:
        broken = street.soundness.judgment_references()
    return shown(health.unbroken(broken, "Every judgment has evidence, and its query is known."), None, broken)


@dg.asset_check(
    asset="ground_truth",
    additional_deps=[view_key("kb_chunk")],
    description="Nothing is judged by what another tenant did, and no other tenant's document.",
)
def tenant_isolation(retrieval: dg.ResourceParam[RetrievalStreets]) -> dg.AssetCheckResult:
    """Fails on the first piece of evidence, or judged document, that belongs to another tenant."""
    with retrieval.open() as street:
        broken = street.soundness.other_tenants()
    return shown(health.unbroken(broken, "All evidence is the judgments' own tenants'."), None, broken)


def event_checks() -> list[dg.AssetChecksDefinition]:
    """The checks in plain SQL on events, whose assets no run materializes: jobs name them one by one."""
    return [completeness, newest_hour_arrived]


def derived_checks() -> list[dg.AssetChecksDefinition]:
    """The checks in plain SQL on the assets of the hour."""
    return [empty_share, event_references]


def truth_checks() -> list[dg.AssetChecksDefinition]:
    """The checks in plain SQL on the ground truth."""
    return [evidence_references, tenant_isolation]


def slow_event_checks(engines: Collection[str]) -> list[dg.AssetChecksDefinition]:
    """The suites on events, whose engines are of the given list: they import Great Expectations."""
    events, searches = retrieval_events(engines), search_events()

    @dg.multi_asset_check(name="kb_retrieval_event_expectations", specs=expectation_specs(events, "retrieval_events"))
    def event_expectations(
        context: dg.AssetCheckExecutionContext, retrieval: dg.ResourceParam[RetrievalStreets]
    ) -> Iterator[dg.AssetCheckResult]:
        with retrieval.open() as street:
            window = window_of_check(context, street.clock.now())
            yield from expectation_results(street.database, events, window)

    @dg.multi_asset_check(name="kb_search_event_expectations", specs=expectation_specs(searches, "search_events"))
    def search_expectations(
        context: dg.AssetCheckExecutionContext, retrieval: dg.ResourceParam[RetrievalStreets]
    ) -> Iterator[dg.AssetCheckResult]:
        with retrieval.open() as street:
            window = window_of_check(context, street.clock.now())
            yield from expectation_results(street.database, searches, window)

    return [event_expectations, search_expectations]


@dg.multi_asset_check(name="kb_ground_truth_expectations", specs=expectation_specs(judgments(), "ground_truth"))
def truth_expectations(retrieval: dg.ResourceParam[RetrievalStreets]) -> Iterator[dg.AssetCheckResult]:
    """The suite over all judgments."""
    with retrieval.open() as street:
        everything = Window(BEGINNING, hour_of(street.clock.now()).end)
        yield from expectation_results(street.database, judgments(), everything)


def _settled(hour: Window, now: datetime) -> Window:
    """The hour, or, of an hour that runs, the one up to what may still be on its way."""
    end = min(hour.end, now - UNDERWAY)
    return Window(min(hour.start, end - HOUR), end)
