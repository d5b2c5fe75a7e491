"""The assets of the retrieval street: events and experts' decisions to outcomes, gaps, windows and ground truth.

Belongs here: assets, their descriptions and what they depend on. Does not: the work (steps), checks, schedules.
"""

from datetime import timedelta

import dagster as dg

from kb_pipeline.defs.hourly import OWNERS, hourly_asset, table_spec, view_key, view_spec
from kb_pipeline.defs.resources import RetrievalStreets
from kb_pipeline.defs.streets import RETRIEVAL
from kb_pipeline.retrieval_street import RetrievalStreet
from kb_pipeline.verdicts import share

# People are at work by day and rest at the weekend: a quiet night is no news, three days without an event are.
FRESHNESS = dg.FreshnessPolicy.time_window(fail_window=timedelta(days=3), warn_window=timedelta(days=1))
EVENTS = dg.AssetKey("retrieval_events")
SEARCHES = dg.AssetKey("search_events")
CORRECTIONS = dg.AssetKey("corrections")


def retrieval_source_specs() -> list[dg.AssetSpec]:
    """The views that the street reads."""
    return [
        view_spec("message", "Messages of all conversations, drafts included."),
        view_spec("expert_queue_item", "Whether an expert decided on a draft, and how."),
        view_spec("correction", "What an expert made of a draft."),
        view_spec("kb_chunk", "The tenants' knowledge bases by chunk, old versions included."),
        view_spec("audit_log", "The application's own events: how many retrievals there should be."),
    ]


def arriving_specs() -> list[dg.AssetSpec]:
    """What others write: the worker its events, the experts their decisions. The sensor reports what arrives."""
    return [
        table_spec(
            RETRIEVAL,
            "retrieval_events",
            "kb_retrieval_event",
            "What each retrieval returned, written from the queue by kb-pipeline worker.",
            [],
            kinds={"postgres", "redis"},
            freshness_policy=FRESHNESS,
        ),
        table_spec(
            RETRIEVAL,
            "search_events",
            "kb_search_event",
            "The steps of the experts' own searches, written from the queue by kb-pipeline worker.",
            [],
            kinds={"postgres", "redis"},
            freshness_policy=FRESHNESS,
        ),
        dg.AssetSpec(
            CORRECTIONS,
            deps=[view_key(view) for view in ("message", "expert_queue_item", "correction")],
            description="Drafts with what the experts did about them: accepted, edited, rejected, or nothing yet.",
            group_name=RETRIEVAL.name,
            owners=OWNERS,
            kinds={"postgres", "view"},
            freshness_policy=FRESHNESS,
        ),
    ]


def outcomes_spec() -> dg.AssetSpec:
    """Outcomes of drafts."""
    return table_spec(
        RETRIEVAL,
        "draft_outcomes",
        "kb_draft_outcome",
        "What became of each draft, in the hour of the decision: accepted, edited, rejected, pending, unreviewed.",
        [CORRECTIONS, EVENTS, SEARCHES],
    )


def gaps_spec() -> dg.AssetSpec:
    """Diagnoses of corrected drafts."""
    return table_spec(
        RETRIEVAL,
        "retrieval_gaps",
        "kb_retrieval_gap",
        "Where the right information went missing, per corrected draft: knowledge base, recall, ranking, generation.",
        ["draft_outcomes", EVENTS, view_key("kb_chunk")],
    )


def windows_spec() -> dg.AssetSpec:
    """The hourly windows."""
    return table_spec(
        RETRIEVAL,
        "retrieval_windows",
        "kb_retrieval_window",
        "Mergeable hourly counts and histograms per tenant and engine: retrievals, empty ones, top score, latency.",
        [EVENTS],
    )


def ground_truth_spec() -> dg.AssetSpec:
    """Judgments."""
    return table_spec(
        RETRIEVAL,
        "ground_truth",
        "kb_ground_truth",
        "Graded judgments per tenant, query and document, a function of all evidence as of now; harnesses read this.",
        ["draft_outcomes", EVENTS, SEARCHES, view_key("kb_chunk")],
    )


@dg.multi_asset(name="ground_truth", specs=[ground_truth_spec()])
def ground_truth(
    context: dg.AssetExecutionContext, retrieval: dg.ResourceParam[RetrievalStreets]
) -> dg.MaterializeResult[None]:
    """Evidence of what is not harvested yet, then all judgments as of now."""
    with retrieval.open(context.run.run_id) as street:
        report = street.harvest()
        counts = street.soundness.ground_truth()
    coverage = share(counts["labelled_queries"], counts["queries"])
    return dg.MaterializeResult(
        metadata={**report.counts, **counts, **({} if coverage is None else {"coverage": coverage})}
    )


def hourly_retrieval_assets(partitions: dg.HourlyPartitionsDefinition) -> list[dg.AssetsDefinition]:
    """The street's hourly assets over the given hours."""
    return [
        hourly_asset(RETRIEVAL, outcomes_spec(), "kb_draft_outcome", RetrievalStreet.outcomes, partitions),
        hourly_asset(RETRIEVAL, gaps_spec(), "kb_retrieval_gap", RetrievalStreet.diagnose, partitions),
        hourly_asset(RETRIEVAL, windows_spec(), "kb_retrieval_window", RetrievalStreet.aggregate, partitions),
    ]
