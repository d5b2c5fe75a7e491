"""Great Expectations run on connections of our own pool. Importing this module imports Great Expectations.

Belongs here: its context, its data source, its results as names. Does not: the expectations, our own counts.

The context is ephemeral: nothing is stored and nothing is looked up outside. The rows stay in the database: every
expectation is computed there, and BOOLEAN_ONLY is the one result format that carries no values of rows.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import cast

import great_expectations as gx
from great_expectations.data_context.data_context.ephemeral_data_context import EphemeralDataContext
from great_expectations.data_context.types.base import (
    DataContextConfig,
    InMemoryStoreBackendDefaults,
    ProgressBarsConfig,
)
from great_expectations.datasource.fluent.postgres_datasource import PostgresDatasource
from great_expectations.datasource.fluent.sql_datasource import QueryAsset, TableAsset
from great_expectations.expectations.expectation import Expectation
from great_expectations.expectations.expectation_configuration import ExpectationConfiguration
from tqdm import tqdm  # type: ignore[import-untyped]

from kb_pipeline.adapters.expectations import published_expectations, retrieval_expectations, suite
from kb_pipeline.adapters.expectations.lending import LentConnections
from kb_pipeline.adapters.expectations.subject import Subject
from kb_pipeline.adapters.postgres.connection import DRIVER, Database
from kb_pipeline.windows import Window

# Great Expectations wants a URL of this form; the connections come from our pool.
PLACEHOLDER = f"{DRIVER}://pool@localhost/pool"

Failed = dict[str, tuple[str, ...]]

ROW_EXPECTATIONS: Mapping[str, Callable[[Subject], list[Expectation]]] = {
    "rag_quality": published_expectations.row_expectations,
    "kb_retrieval_event": retrieval_expectations.retrieval_event_expectations,
    "kb_search_event": retrieval_expectations.search_event_expectations,
    "kb_ground_truth": retrieval_expectations.judgment_expectations,
}


def failed_expectations(database: Database, subject: Subject, window: Window, snapshot: str) -> Failed:
    """By check, the expectations that the table or the window's rows do not meet, named by type and column.

    Everything is read as of the snapshot. Where the rows cannot be read because a column is gone or has another type,
    every check names what is wrong with the table. Raises DatabaseError when the database cannot be asked.
    """
    with _quiet(), LentConnections(database, subject, window, snapshot) as lent:
        source = _new_source(lent)
        table = _judge(source.add_table_asset(subject.table, subject.table), suite.table_expectations(subject))
        rows = _judge(source.add_query_asset("rows", lent.rows), ROW_EXPECTATIONS[subject.table](subject))
        if lent.unreadable is None:
            return {check: tuple(dict.fromkeys([*table[check], *rows[check]])) for check in subject.groups}
        if not table[subject.schema]:
            lent.refuse(lent.unreadable)
    return dict.fromkeys(subject.groups, tuple(table[subject.schema]))


def _new_source(lent: LentConnections) -> PostgresDatasource:
    source = PostgresDatasource(
        name="kb_pipeline", connection_string=PLACEHOLDER, create_temp_table=False, kwargs={"creator": lent.lend}
    )
    _new_context().data_sources.add_postgres(source)
    lent.attend(source.get_execution_engine().engine)
    return source


def _new_context() -> EphemeralDataContext:
    """A context that keeps everything in memory, whatever great_expectations.yml or GX_ variables lie about."""
    return gx.get_context(
        mode="ephemeral",
        project_config=DataContextConfig(
            store_backend_defaults=InMemoryStoreBackendDefaults(init_temp_docs_sites=False),
            analytics_enabled=False,
            progress_bars=ProgressBarsConfig(globally=False, metric_calculations=False),
        ),
    )


def _judge(asset: TableAsset | QueryAsset, expectations: list[Expectation]) -> Mapping[str, list[str]]:
    """The names of the expectations that are not met, by check."""
    batch = asset.add_batch_definition_whole_table("whole").get_batch()
    verdict = batch.validate(
        gx.ExpectationSuite(name=asset.name, expectations=expectations), result_format="BOOLEAN_ONLY"
    )
    failed: dict[str, list[str]] = defaultdict(list)
    for result in verdict.results:
        expectation = cast(ExpectationConfiguration, result.expectation_config)
        if not result.success:
            failed[suite.check_of(expectation)].append(_name(expectation))
    return failed


def _name(expectation: ExpectationConfiguration) -> str:
    """For example "expect_column_values_to_be_between(faithfulness)"; never a value."""
    columns = [expectation.kwargs[key] for key in ("column", "column_A", "column_B") if key in expectation.kwargs]
    return f"{expectation.type}({', '.join(columns)})" if columns else expectation.type


@contextmanager
def _quiet() -> Iterator[None]:
    """No log lines (they repeat statements and tracebacks; we say it in a sentence) and no thread of a progress bar.

    A progress bar that is switched off starts its thread all the same, unless the interval is zero.
    """
    log = logging.getLogger(gx.__name__)
    level, interval = log.level, tqdm.monitor_interval
    log.setLevel(logging.CRITICAL)
    tqdm.monitor_interval = 0
    try:
        yield
    finally:
        log.setLevel(level)
        tqdm.monitor_interval = interval
