"""The rules on published rows, in Great Expectations' own words. Importing this module imports Great Expectations.

Belongs here: expectations on the rows of rag_quality as queries/expect_rows.sql gives them. Does not: its columns.

A null passes every expectation that is not about nulls.
"""

import sys

import great_expectations.expectations as gxe
from great_expectations.expectations.expectation import Expectation
from great_expectations.expectations.row_conditions import Column

from kb_pipeline.adapters.expectations.published_row import (
    ERROR_CLASSES,
    FINITE,
    FRACTIONS,
    JUDGE_STATUSES,
    PARSE_STATUSES,
    PREVIEW_CHARS,
    RANGES,
    SHA_CHARS,
    SHA_PATTERN,
    SIZES,
    STATUS_CONSISTENT,
    UNIQUE,
)
from kb_pipeline.adapters.expectations.subject import Subject
from kb_pipeline.adapters.expectations.suite import belonging_to, filled


def row_expectations(subject: Subject) -> list[Expectation]:
    """What must hold of the rows of an hour, for all four checks."""
    return [
        *filled(subject),
        *belonging_to(RANGES, _ranges()),
        *belonging_to(UNIQUE, _unique()),
        *belonging_to(STATUS_CONSISTENT, [*_vocabularies(), *_judgement(), *_reasons(), *_context()]),
    ]


def _ranges() -> list[Expectation]:
    largest = sys.float_info.max  # NaN is above every number in PostgreSQL, so two bounds keep it out as well
    return [
        *(gxe.ExpectColumnValuesToBeBetween(column=name, min_value=0, max_value=1) for name in FRACTIONS),
        *(gxe.ExpectColumnValuesToBeBetween(column=name, min_value=-largest, max_value=largest) for name in FINITE),
        *(gxe.ExpectColumnValuesToBeBetween(column=name, min_value=0) for name in SIZES),
        gxe.ExpectColumnValueLengthsToBeBetween(column="question_preview", max_value=PREVIEW_CHARS),
        gxe.ExpectColumnValuesToMatchRegex(column="question_sha", regex=SHA_PATTERN),
        gxe.ExpectColumnValueLengthsToEqual(column="question_sha", value=SHA_CHARS),
    ]


def _unique() -> list[Expectation]:
    return [
        gxe.ExpectColumnValuesToBeUnique(column="event_id"),
        gxe.ExpectColumnValuesToBeInSet(column="ledger_verdict", value_set=["synthesis"]),
        # The rows are those with ts in the window, so this keeps the ledger's instant in it too.
        gxe.ExpectColumnPairValuesToBeEqual(
            column_A="ts", column_B="ledger_ts", ignore_row_if="either_value_is_missing"
        ),
    ]


def _vocabularies() -> list[Expectation]:
    return [
        gxe.ExpectColumnValuesToBeInSet(column="parse_status", value_set=PARSE_STATUSES),
        gxe.ExpectColumnValuesToBeInSet(column="judge_status", value_set=JUDGE_STATUSES),
        gxe.ExpectColumnValuesToBeInSet(column="error_class", value_set=ERROR_CLASSES),
    ]


def _judgement() -> list[Expectation]:
    judged = Column("judge_status") == "ok"
    unjudged = Column("judge_status") != "ok"
    return [
        gxe.ExpectColumnValuesToBeBetween(column="scores", min_value=1, row_condition=judged),
        gxe.ExpectColumnValuesToBeBetween(column="scores", max_value=0, row_condition=unjudged),
        gxe.ExpectColumnValuesToBeBetween(column="unexplained_gaps", max_value=0, row_condition=judged),
        gxe.ExpectColumnValuesToNotBeNull(column="judge_model", row_condition=judged),
        gxe.ExpectColumnValuesToNotBeNull(column="prompt_version", row_condition=judged),
    ]


def _reasons() -> list[Expectation]:
    status = Column("judge_status")
    broken = ["error", "failed"]
    return [
        gxe.ExpectColumnValuesToNotBeNull(column="error_class", row_condition=status.is_in(broken)),
        gxe.ExpectColumnValuesToBeNull(column="error_class", row_condition=status.is_not_in(broken)),
        gxe.ExpectColumnValuesToNotBeNull(column="skip_reason", row_condition=status == "skipped"),
        gxe.ExpectColumnValuesToBeNull(column="skip_reason", row_condition=status != "skipped"),
        gxe.ExpectColumnValuesToBeNull(column="faithfulness", row_condition=Column("refused") == True),  # noqa: E712
    ]


def _context() -> list[Expectation]:
    # A passage that is empty below its header counts as a passage, has characters and a score, and is no context.
    found = Column("had_context") == True  # noqa: E712
    no_passages = Column("num_passages") == 0
    nothing = (Column("had_context") == False) & no_passages  # noqa: E712
    return [
        gxe.ExpectColumnValuesToBeBetween(column="context_chars", min_value=1, row_condition=found),
        gxe.ExpectColumnValuesToBeInSet(column="context_chars", value_set=[0], row_condition=nothing),
        gxe.ExpectColumnValuesToBeNull(column="top_score", row_condition=no_passages),
    ]
