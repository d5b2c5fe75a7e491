"""What is asked of a server after it refused something."""

import json

import pytest

from kb_pipeline.grading.judging import Dialect, weaker_dialect


def openai_error(message: str, **fields: object) -> bytes:
    return json.dumps({"error": {"message": message, "type": "invalid_request_error", **fields}}).encode()


REFUSALS = [
    (400, openai_error("Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.")),
    (400, openai_error("unsupported", param="response_format.type")),
    (422, b'{"detail": [{"loc": ["body", "response_format", "type"], "msg": "unexpected value"}]}'),
    (422, b'{"detail": "Extra inputs are not permitted: response_format"}'),
    (400, b'{"object": "error", "message": "guided decoding backend is not available", "code": 400}'),
    (500, openai_error("failed to parse grammar")),
    (501, b"structured output is not implemented"),
    (404, b'{"error": "no handler for response_format"}'),
    (415, b"json_schema: unsupported"),
]


@pytest.mark.parametrize(("status", "body"), REFUSALS)
def test_a_refused_format_leaves_the_next_weaker_one(status: int, body: bytes) -> None:
    object_only = weaker_dialect(Dialect(), status, body)
    assert object_only == Dialect(response_format="json_object")
    assert weaker_dialect(object_only, status, body) == Dialect(response_format="text")
    assert weaker_dialect(Dialect(response_format="text"), status, body) is None


def test_a_refused_temperature_is_left_out() -> None:
    refused = weaker_dialect(Dialect(), 400, openai_error("Unsupported value: 'temperature' does not support 0"))
    assert refused == Dialect(temperature=False)


def test_a_limit_of_tokens_that_is_refused_by_name_is_left_out() -> None:
    told = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    assert weaker_dialect(Dialect(), 400, openai_error(told)) == Dialect(max_tokens=False)
    assert weaker_dialect(Dialect(max_tokens=False), 400, openai_error(told)) is None


def test_bounds_inside_the_schema_go_before_the_schema() -> None:
    body = openai_error("Invalid schema for response_format 'turn_grades': 'maxLength' is not permitted.")
    unbounded = weaker_dialect(Dialect(), 400, body)
    assert unbounded == Dialect(bounds=False)
    assert weaker_dialect(unbounded, 400, body) == Dialect(bounds=False, response_format="json_object")


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, openai_error("max_tokens is too large: 4096 requested")),
        (400, openai_error("This model's maximum context length is 8192 tokens; the schema counts too")),
        (400, openai_error("prompt is too long for response_format", code="context_length_exceeded")),
        (400, openai_error("blocked", code="content_filter")),
        (400, b"Bad Request"),
        (401, openai_error("response_format")),
        (429, openai_error("json_schema")),
        (200, openai_error("json_schema")),
        (503, openai_error("json_schema")),
        (400, b"[" * 100_000),
        (400, b'{"error": null}'),
    ],
)
def test_what_is_not_about_the_wording_changes_nothing(status: int, body: bytes) -> None:
    assert weaker_dialect(Dialect(), status, body) is None


def test_a_turn_that_the_server_repeats_cannot_weaken_the_wording() -> None:
    echoed = {"detail": [{"loc": ["body", "messages"], "msg": "bad", "input": "response_format json_schema"}]}
    assert weaker_dialect(Dialect(), 422, json.dumps(echoed).encode()) is None
