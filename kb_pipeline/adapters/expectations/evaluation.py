"""One evaluation of a suite: its verdicts by Great Expectations, its counts by SQL of our own, of one instant.

Belongs here: the checks, their results, the order of work. Does not: Great Expectations before it is needed.
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

from kb_pipeline.adapters.expectations import counting
from kb_pipeline.adapters.expectations.subject import Subject
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.windows import Window


@dataclass(frozen=True, kw_only=True, slots=True)
class ExpectationResult:
    """The verdict of one check on one window.

    `counts` has the offending rows by kind (for the schema, also columns by kind and all rows); it is empty where the
    table could not be read as what it should be. `failed_expectations` are types with columns, for example
    "expect_column_values_to_be_between(faithfulness)". Neither carries a value of a row.
    """

    name: str
    passed: bool
    description: str
    counts: Mapping[str, int]
    failed_expectations: tuple[str, ...]


def evaluate(database: Database, subject: Subject, window: Window) -> list[ExpectationResult]:
    """The subject's checks on the rows of the window, in the order of its groups.

    A window without rows passes. Raises DatabaseError when the database cannot be asked; a table that lost or changed a
    column is a failed check instead.
    """
    # The warnings of a library and its forty dependencies say nothing that our user could mend.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from kb_pipeline.adapters.expectations import validation  # noqa: PLC0415 - it takes seconds

        with counting.snapshot(database) as (connection, snapshot):
            counts = counting.count(connection, subject, window)
            failed = validation.failed_expectations(database, subject, window, snapshot)
    return [
        ExpectationResult(
            name=name,
            passed=not failed[name],
            description=description,
            counts=counts[name],
            failed_expectations=failed[name],
        )
        for name, description in subject.groups.items()
    ]
