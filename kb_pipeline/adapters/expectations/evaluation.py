"""One evaluation of the suite: its verdicts by Great Expectations, its counts by SQL of our own, of one instant.

Belongs here: the checks, their results, the order of work. Does not: Great Expectations before it is needed.
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

from kb_pipeline.adapters.expectations import counting
from kb_pipeline.adapters.expectations.published_row import RANGES, SCHEMA, STATUS_CONSISTENT, UNIQUE
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.windows import Window

EXPECTATION_GROUPS: Mapping[str, str] = {
    SCHEMA: "The table has its columns in their order and types, and what is always filled is filled.",
    RANGES: "Scores are fractions or null, sizes are not negative, previews and hashes have their form.",
    UNIQUE: "Each turn stands once, and the ledger knows it as a living turn of the same instant.",
    STATUS_CONSISTENT: "Statuses are known words and agree with the scores, reasons and metrics beside them.",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class ExpectationResult:
    """The verdict of one check on one window.

    `counts` has the offending rows by kind (for the schema, also columns by kind and all rows); it is empty where the
    table could not be read as rag_quality. `failed_expectations` are types with columns, for example
    "expect_column_values_to_be_between(faithfulness)". Neither carries a value of a row.
    """

    name: str
    passed: bool
    description: str
    counts: Mapping[str, int]
    failed_expectations: tuple[str, ...]


def evaluate(database: Database, window: Window) -> list[ExpectationResult]:
    """The four checks on the published rows of the window, in the order of EXPECTATION_GROUPS.

    An hour without rows passes. Raises DatabaseError when the database cannot be asked; a table that lost or changed a
    column is a failed check instead.
    """
    # The warnings of a library and its forty dependencies say nothing that our user could mend.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from kb_pipeline.adapters.expectations import validation  # noqa: PLC0415 - it takes seconds

        with counting.snapshot(database) as (connection, snapshot):
            counts = counting.count(connection, window)
            failed = validation.failed_expectations(database, window, snapshot)
    return [
        ExpectationResult(
            name=name,
            passed=not failed[name],
            description=description,
            counts=counts[name],
            failed_expectations=failed[name],
        )
        for name, description in EXPECTATION_GROUPS.items()
    ]
