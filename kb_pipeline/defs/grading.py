"""The assets of the grading street: audited calls to published rows and hourly windows.

Belongs here: assets, their descriptions and what they depend on. Does not: the work (steps), checks, schedules.
"""

from collections.abc import Iterator

import dagster as dg

from kb_pipeline.defs.hourly import KINDS, hour_result, hourly_asset, table_spec, view_key, view_spec
from kb_pipeline.defs.partitions import window_of_run
from kb_pipeline.defs.resources import GradingStreets
from kb_pipeline.defs.streets import GRADING
from kb_pipeline.grading_street import GradingStreet

JUDGE_POOL = "judge"


def grading_source_specs() -> list[dg.AssetSpec]:
    """The views that the street reads."""
    return [
        view_spec("ai_call", "Audited LLM calls, written by the gateway; read through the view kb_source.ai_call."),
        view_spec(
            "ai_call_body",
            "Stored request and response bodies of the audited calls, compressed and hash-chained.",
        ),
    ]


def examination_specs() -> list[dg.AssetSpec]:
    """Ledger, triads and metrics: one pass over the bodies writes all three, so that none is read twice."""
    return [
        table_spec(
            GRADING,
            "synthesis_bodies",
            "rag_call",
            "The ledger: every audited call that was examined, with its verdict.",
            [view_key("ai_call"), view_key("ai_call_body")],
            kinds=KINDS | {"zstd"},
        ),
        table_spec(
            GRADING,
            "triads",
            "rag_triad",
            "Question, retrieved context and answer of each synthesis call.",
            ["synthesis_bodies"],
        ),
        table_spec(
            GRADING,
            "deterministic_metrics",
            "rag_metric",
            "Exact metrics of each synthesis call: context, passages, scores, lengths, refusals.",
            ["triads"],
        ),
    ]


def opinion_spec() -> dg.AssetSpec:
    """The second opinion."""
    return table_spec(
        GRADING,
        "second_opinions",
        "rag_metric",
        "The second opinion: what of each answer's numbers, names, references and sentences its context has.",
        ["triads", "deterministic_metrics"],
    )


def judge_spec() -> dg.AssetSpec:
    """Scores of the judge."""
    return table_spec(
        GRADING,
        "judge_scores",
        "rag_judge_score",
        "Faithfulness, answer relevance and context relevance of each turn, by one call to the on-prem judge.",
        ["triads", "deterministic_metrics"],
        kinds=KINDS | {"llm"},
    )


def quality_spec() -> dg.AssetSpec:
    """The published rows."""
    return table_spec(
        GRADING,
        "rag_quality",
        "rag_quality",
        "The published row of each turn: metrics, scores and where the turn stands with the judge.",
        ["synthesis_bodies", "triads", "deterministic_metrics", "second_opinions", "judge_scores"],
    )


def windows_spec() -> dg.AssetSpec:
    """The hourly windows."""
    return table_spec(
        GRADING,
        "quality_windows",
        "rag_quality_window",
        "Mergeable hourly sums, counts and histograms per tenant, surface, engine and judge version; days are sums.",
        ["rag_quality"],
    )


def grading_assets(partitions: dg.HourlyPartitionsDefinition) -> list[dg.AssetsDefinition]:
    """The street's assets over the given hours."""

    @dg.multi_asset(name="examination", specs=examination_specs(), partitions_def=partitions)
    def examination(
        context: dg.AssetExecutionContext, grading: dg.ResourceParam[GradingStreets]
    ) -> Iterator[dg.MaterializeResult[None]]:
        with grading.open(context.run.run_id) as street:
            window = window_of_run(context)
            report = street.collect(window)
            kept = street.row_counts(window)
        yield hour_result("synthesis_bodies", kept["rag_call"], report)
        yield hour_result("triads", kept["rag_triad"], report)
        yield hour_result("deterministic_metrics", kept["rag_metric"], report)

    return [
        examination,
        hourly_asset(GRADING, opinion_spec(), "rag_metric", GradingStreet.second_opinions, partitions),
        hourly_asset(GRADING, judge_spec(), "rag_judge_score", GradingStreet.judge, partitions, pool=JUDGE_POOL),
        hourly_asset(GRADING, quality_spec(), "rag_quality", GradingStreet.publish, partitions),
        hourly_asset(GRADING, windows_spec(), "rag_quality_window", GradingStreet.aggregate, partitions),
    ]
