"""What every suite has in common, in Great Expectations' own words. Importing this module imports Great Expectations.

Belongs here: which check an expectation belongs to, what must hold of a table's columns. Does not: rules on rows.
"""

from collections.abc import Sequence

import great_expectations.expectations as gxe
from great_expectations.expectations.expectation import Expectation
from great_expectations.expectations.expectation_configuration import ExpectationConfiguration

from kb_pipeline.adapters.expectations.subject import Subject

CHECK = "check"


def table_expectations(subject: Subject) -> list[Expectation]:
    """What must hold of the table: its columns, their order and types."""
    columns = subject.columns
    return belonging_to(
        subject.schema,
        [
            gxe.ExpectTableColumnsToMatchOrderedList(column_list=list(columns)),
            *(gxe.ExpectColumnTypeToBe(column=name, type_=type_.upper()) for name, type_ in columns.items()),
        ],
    )


def filled(subject: Subject) -> list[Expectation]:
    """What must hold of every row: what is always filled is filled."""
    columns = [gxe.ExpectColumnValuesToNotBeNull(column=name) for name in subject.always_filled]
    return belonging_to(subject.schema, columns)


def belonging_to(check: str, expectations: Sequence[Expectation]) -> list[Expectation]:
    """The expectations, each with the check it belongs to in its `meta`."""
    for expectation in expectations:
        expectation.meta = {CHECK: check}
    return list(expectations)


def check_of(expectation: ExpectationConfiguration) -> str:
    """The check that an expectation belongs to."""
    return str((expectation.meta or {})[CHECK])
