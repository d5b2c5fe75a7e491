"""The one maker of hourly assets, and what stands on every asset of ours.

Belongs here: specs of tables and views, the asset that runs one step of one hour. Does not: which assets there are.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import dagster as dg

from kb_pipeline.defs.partitions import window_of_run
from kb_pipeline.defs.streets import StreetNames, StreetT
from kb_pipeline.defs.tables import table_metadata
from kb_pipeline.records import StepReport
from kb_pipeline.windows import Window

OWNERS = ["team:rag-quality"]
KINDS = frozenset({"python", "postgres"})
SOURCE_GROUP = "kb_source"


def view_key(view: str) -> dg.AssetKey:
    """The asset of a view of the operator's."""
    return dg.AssetKey([SOURCE_GROUP, view])


def view_spec(view: str, description: str) -> dg.AssetSpec:
    """What a street reads and never writes: a view of the operator's."""
    return dg.AssetSpec(
        view_key(view),
        description=description,
        group_name=SOURCE_GROUP,
        owners=OWNERS,
        kinds={"postgres", "view"},
        metadata={"dagster/table_name": f"{SOURCE_GROUP}.{view}"},
    )


def table_spec(
    street: StreetNames[Any],
    name: str,
    table: str,
    description: str,
    deps: Iterable[str | dg.AssetKey],
    *,
    kinds: Iterable[str] = KINDS,
    freshness_policy: dg.FreshnessPolicy | None = None,
) -> dg.AssetSpec:
    """An asset of a street that is kept in one of our tables."""
    return dg.AssetSpec(
        name,
        deps=list(deps),
        description=description,
        group_name=street.name,
        owners=OWNERS,
        kinds=set(kinds),
        metadata=table_metadata(table),
        freshness_policy=freshness_policy,
    )


def hourly_asset(
    street: StreetNames[StreetT],
    spec: dg.AssetSpec,
    table: str,
    step: Callable[[StreetT, Window], StepReport],
    partitions: dg.HourlyPartitionsDefinition,
    *,
    pool: str | None = None,
) -> dg.AssetsDefinition:
    """The asset that runs one step over its hour and says how many rows of its table the hour has."""
    name = spec.key.to_user_string()

    @dg.multi_asset(name=name, specs=[spec], partitions_def=partitions, pool=pool, required_resource_keys={street.name})
    def materialize(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
        with street.of(context.resources).open(context.run.run_id) as opened:
            window = window_of_run(context)
            report = step(opened, window)
            for note in report.notes:
                context.log.warning(note)
            return hour_result(name, opened.row_counts(window)[table], report)

    return materialize


def whole_asset(
    street: StreetNames[StreetT], spec: dg.AssetSpec, step: Callable[[StreetT], StepReport]
) -> dg.AssetsDefinition:
    """The asset without hours that runs one step and shows its counts."""

    @dg.multi_asset(name=spec.key.to_user_string(), specs=[spec], required_resource_keys={street.name})
    def materialize(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
        with street.of(context.resources).open(context.run.run_id) as opened:
            return dg.MaterializeResult(asset_key=spec.key, metadata=dict(step(opened).counts))

    return materialize


def hour_result(asset: str, rows: int, report: StepReport) -> dg.MaterializeResult[None]:
    """What a run shows of an hour: rows of the table, counts of the step, and what it left undone, in words."""
    counts: Mapping[str, int | float] = report.counts
    notes = {"note": "; ".join(report.notes)} if report.notes else {}
    return dg.MaterializeResult(asset_key=asset, metadata={"dagster/partition_row_count": rows, **counts, **notes})
