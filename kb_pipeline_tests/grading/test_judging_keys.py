"""Idempotency keys of judge calls."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.grading.judging import idempotency_key
from kb_pipeline_tests.turns import VERSION


def key(event_id: str, calls: int = 0, response_format: str = "json_schema", part: str = "") -> str:
    return idempotency_key(event_id, calls=calls, version=VERSION, response_format=response_format, part=part)


def test_the_first_call_carries_the_bare_event_id() -> None:
    assert key("0190a1b2-call") == "0190a1b2-call"


def test_a_later_call_carries_a_key_of_its_own() -> None:
    keys = {key("e", 1), key("e", 2), key("e", 1, response_format="text"), key("e", 1, part="2/3")}
    assert len(keys) == 4
    assert all(re.fullmatch(r"e:[0-9a-f]{8}:r[12]", each) for each in keys)


@pytest.mark.parametrize(
    "event_id", ["a b", "é", "a\r\nX-Tenant-Id: other", "", "\ud800", "utf-8''a%20b", "x" * 5000, "ü" * 90]
)
def test_an_id_that_a_header_cannot_carry_is_encoded(event_id: str) -> None:
    assert re.fullmatch(r"[!-~]{1,230}", key(event_id))
    assert key(event_id) != event_id


@given(st.text(), st.text())
def test_two_ids_never_share_a_key(one: str, other: str) -> None:
    assert (key(one) == key(other)) == (one == other)
    assert re.fullmatch(r"[!-~]+", key(one, 3))
