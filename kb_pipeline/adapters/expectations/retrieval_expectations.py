"""The rules on events and judgments, in Great Expectations' own words; importing this module imports it.

Belongs here: expectations on the rows that the retrieval street's expect_….sql give. Does not: their columns.

A null passes every expectation that is not about nulls.
"""

import sys
from collections.abc import Sequence

import great_expectations.expectations as gxe
from great_expectations.expectations.expectation import Expectation
from great_expectations.expectations.row_conditions import Column

from kb_pipeline.adapters.expectations.retrieval_rows import SHA_CHARS, SHA_PATTERN
from kb_pipeline.adapters.expectations.subject import Subject
from kb_pipeline.adapters.expectations.suite import belonging_to, filled
from kb_pipeline.records import JudgmentStatus, SearchEventType

DAY_S = 86_400
# NaN is above every number in PostgreSQL, so an upper bound keeps it out as well.
LARGEST = sys.float_info.max


def retrieval_event_expectations(subject: Subject) -> list[Expectation]:
    """What must hold of the retrieval events of an hour, for all four checks."""
    sizes = ("top_k", "result_count", "latency_ms")
    ranges = [
        *(_at_least(name, 0) for name in sizes),
        _of(subject, "engine", "engines"),
        _at_most("seconds_ahead", DAY_S),
        *_hash("query_sha"),
    ]
    unique = [gxe.ExpectColumnValuesToBeUnique(column=name) for name in ("id", "message_id")]
    lists = [
        *(gxe.ExpectColumnValuesToBeInSet(column=f"{name}_type", value_set=["array"]) for name in _LISTS),
        _at_most("hits", subject.constants["max_hits"]),
        _at_most("candidates", subject.constants["max_hits"]),
        *(_at_most(name, 0) for name in ("uncounted_hits", "malformed_hits", "repeated_hits", "hits_out_of_order")),
        _at_most("malformed_candidates", 0),
    ]
    return _suite(subject, ranges, unique, lists)


def search_event_expectations(subject: Subject) -> list[Expectation]:
    """What must hold of the search events of an hour, for all four checks."""
    event_type = Column("event_type")
    ranges = [
        _of(subject, "event_type", "event_types"),
        _at_least("rank", 1),
        _at_least("result_count", 0),
        _at_most("seconds_ahead", DAY_S),
        *_hash("query_sha"),
    ]
    performed = event_type == SearchEventType.PERFORMED.value
    followed = event_type.is_in([SearchEventType.CLICKED.value, SearchEventType.CITED.value])
    consistent = [
        gxe.ExpectColumnValuesToBeInSet(column="query_state", value_set=["known"], row_condition=performed),
        gxe.ExpectColumnValuesToNotBeNull(column="doc_id", row_condition=followed),
    ]
    return _suite(subject, ranges, [gxe.ExpectColumnValuesToBeUnique(column="id")], consistent)


def judgment_expectations(subject: Subject) -> list[Expectation]:
    """What must hold of the judgments of a window, for all four checks."""
    status = Column("status")
    ranges = [
        _of(subject, "status", "statuses"),
        gxe.ExpectColumnValuesToBeBetween(column="grade", min_value=0, max_value=subject.constants["max_grade"]),
        gxe.ExpectColumnValuesToBeBetween(column="p", min_value=0, max_value=1),
        *(gxe.ExpectColumnValuesToBeBetween(column=name, min_value=0, max_value=LARGEST) for name in _MASSES),
        _at_least("conversations", 0),
        _at_least("evidence_count", 1),
        _at_most("unknown_kinds", 0),
        *_hash("query_sha"),
    ]
    key = ["org_id", "specialist_id", "query_sha", "doc_id"]
    unique = [gxe.ExpectCompoundColumnsToBeUnique(column_list=key, ignore_row_if="any_value_is_missing")]
    consistent = [
        gxe.ExpectColumnValuesToNotBeNull(column="grade", row_condition=status == JudgmentStatus.JUDGED.value),
        gxe.ExpectColumnValuesToBeNull(column="grade", row_condition=status != JudgmentStatus.JUDGED.value),
        _at_most("p_error", subject.constants["tolerance"]),
        _at_most("conversations_too_many", 0),
        gxe.ExpectColumnPairValuesAToBeGreaterThanB(
            column_A="last_observed_at",
            column_B="first_observed_at",
            or_equal=True,
            ignore_row_if="either_value_is_missing",
        ),
    ]
    return _suite(subject, ranges, unique, consistent)


_LISTS = ("retrieved", "candidate_pool")
_MASSES = ("positive", "negative")


def _suite(subject: Subject, *rules: Sequence[Expectation]) -> list[Expectation]:
    """The rules of each check after the first, in the order of the subject's groups."""
    checks = list(subject.groups)[1:]
    return [
        *filled(subject),
        *(each for check, group in zip(checks, rules, strict=True) for each in belonging_to(check, group)),
    ]


def _of(subject: Subject, column: str, vocabulary: str) -> Expectation:
    return gxe.ExpectColumnValuesToBeInSet(column=column, value_set=list(subject.constants[vocabulary]))


def _at_least(column: str, bound: float) -> Expectation:
    return gxe.ExpectColumnValuesToBeBetween(column=column, min_value=bound)


def _at_most(column: str, bound: float) -> Expectation:
    return gxe.ExpectColumnValuesToBeBetween(column=column, max_value=bound)


def _hash(column: str) -> list[Expectation]:
    return [
        gxe.ExpectColumnValuesToMatchRegex(column=column, regex=SHA_PATTERN),
        gxe.ExpectColumnValueLengthsToEqual(column=column, value=SHA_CHARS),
    ]
