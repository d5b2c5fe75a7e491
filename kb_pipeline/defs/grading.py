"""The assets of the grading street: audited calls to published rows and hourly windows.

Belongs here: assets, their descriptions and what they depend on. Does not: the work (steps), checks, schedules.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import dagster as dg

from kb_pipeline.defs.partitions import window_of_run
from kb_pipeline.defs.resources import GradingStreets
from kb_pipeline.defs.tables import table_metadata
from kb_pipeline.grading_street import GradingStreet
from kb_pipeline.records import StepReport
from kb_pipeline.windows import Window

GROUP = "grading"
OWNERS = ["team:rag-quality"]
JUDGE_POOL = "judge"
KINDS = {"python", "postgres"}

Step = Callable[[GradingStreet, Window], StepReport]

AI_CALL = dg.AssetKey(["kb_source", "ai_call"])
AI_CALL_BODY = dg.AssetKey(["kb_source", "ai_call_body"])


def source_specs() -> list[dg.AssetSpec]:
    """What the street reads and never writes: the operator's views."""
    return [
        dg.AssetSpec(
            AI_CALL,
            description="Audited LLM calls, written by the gateway; read through the view kb_source.ai_call.",
            group_name="kb_source",
            owners=OWNERS,
            kinds={"postgres", "view"},
            metadata={"dagster/table_name": "kb_source.ai_call"},
        ),
        dg.AssetSpec(
            AI_CALL_BODY,
            description="Stored request and response bodies of the audited calls, compressed and hash-chained.",
            group_name="kb_source",
            owners=OWNERS,
            kinds={"postgres", "view"},
            metadata={"dagster/table_name": "kb_source.ai_call_body"},
        ),
    ]


def _spec(name: str, table: str, description: str, deps: list[Any], kinds: set[str] | None = None) -> dg.AssetSpec:
    return dg.AssetSpec(
        name,
        deps=deps,
        description=description,
        group_name=GROUP,
        owners=OWNERS,
        kinds=kinds or KINDS,
        metadata=table_metadata(table),
    )


def examination_specs() -> list[dg.AssetSpec]:
    """Ledger, triads and metrics: one pass over the bodies writes all three, so that none is read twice."""
    return [
        _spec(
            "synthesis_bodies",
            "rag_call",
            "The ledger: every audited call that was examined, with its verdict.",
            [AI_CALL, AI_CALL_BODY],
            KINDS | {"zstd"},
        ),
        _spec(
            "triads",
            "rag_triad",
            "Question, retrieved context and answer of each synthesis call.",
            ["synthesis_bodies"],
        ),
        _spec(
            "deterministic_metrics",
            "rag_metric",
            "Exact metrics of each synthesis call: context, passages, scores, lengths, refusals.",
            ["triads"],
        ),
    ]


def judge_spec() -> dg.AssetSpec:
    """Scores of the judge."""
    return _spec(
        "judge_scores",
        "rag_judge_score",
        "Faithfulness, answer relevance and context relevance of each turn, by one call to the on-prem judge.",
        ["triads", "deterministic_metrics"],
        KINDS | {"llm"},
    )


def quality_spec() -> dg.AssetSpec:
    """The published rows."""
    return _spec(
        "rag_quality",
        "rag_quality",
        "The published row of each turn: metrics, scores and where the turn stands with the judge.",
        ["synthesis_bodies", "triads", "deterministic_metrics", "judge_scores"],
    )


def windows_spec() -> dg.AssetSpec:
    """The hourly windows."""
    return _spec(
        "quality_windows",
        "rag_quality_window",
        "Mergeable hourly sums, counts and histograms per tenant, surface, engine and judge version; days are sums.",
        ["rag_quality"],
    )


def grading_assets(partitions: dg.HourlyPartitionsDefinition) -> list[dg.AssetsDefinition]:
    """The street's assets over the given hours."""

    @dg.multi_asset(name="examination", specs=examination_specs(), partitions_def=partitions)
    def examination(
        context: dg.AssetExecutionContext, streets: dg.ResourceParam[GradingStreets]
    ) -> Iterator[dg.MaterializeResult[None]]:
        with streets.open(context.run.run_id) as street:
            window = window_of_run(context)
            report = street.collect(window)
            kept = street.publication.row_counts(window)
        yield _result("synthesis_bodies", kept["rag_call"], report)
        yield _result("triads", kept["rag_triad"], report)
        yield _result("deterministic_metrics", kept["rag_metric"], report)

    def hourly(spec: dg.AssetSpec, table: str, step: Step, pool: str | None = None) -> dg.AssetsDefinition:
        name = spec.key.to_user_string()

        @dg.multi_asset(name=name, specs=[spec], partitions_def=partitions, pool=pool)
        def materialize(
            context: dg.AssetExecutionContext, streets: dg.ResourceParam[GradingStreets]
        ) -> dg.MaterializeResult[None]:
            with streets.open(context.run.run_id) as street:
                window = window_of_run(context)
                report = step(street, window)
                return _result(name, street.publication.row_counts(window)[table], report)

        return materialize

    return [
        examination,
        hourly(judge_spec(), "rag_judge_score", GradingStreet.judge, JUDGE_POOL),
        hourly(quality_spec(), "rag_quality", GradingStreet.publish),
        hourly(windows_spec(), "rag_quality_window", GradingStreet.aggregate),
    ]


def _result(asset: str, rows: int, report: StepReport) -> dg.MaterializeResult[None]:
    counts: Mapping[str, int | float] = report.counts
    return dg.MaterializeResult(asset_key=asset, metadata={"dagster/partition_row_count": rows, **counts})
