"""Every operation of the OpenAPI document, with inputs that nobody thought of."""

import json
import warnings
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import schemathesis
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        response_schema_conformance,
        status_code_conformance,
    )

from kb_pipeline_tests.service.served import AUDITOR

CHECKS = [not_a_server_error, content_type_conformance, response_schema_conformance, status_code_conformance]


def test_the_document_describes_what_the_contract_names(operator: httpx.Client) -> None:
    document = operator.get("/api/openapi.json").json()
    named = {
        "/api/quality/summary", "/api/quality/trend", "/api/quality/recent", "/api/quality/turns/{event_id}",
        "/api/retrieval/summary", "/api/retrieval/gaps", "/api/ground-truth", "/api/alerts", "/healthz", "/readyz",
    }  # fmt: skip
    assert named <= set(document["paths"])
    assert "HTTPValidationError" not in json.dumps(document)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_no_input_makes_an_answer_that_the_document_does_not_describe(address: str, operator: httpx.Client) -> None:
    schema = schemathesis.openapi.from_dict(operator.get("/api/openapi.json").json())
    schema.config.update(base_url=address)
    tried = 0
    for result in schema.get_all_operations():
        operation = result.ok()  # type: ignore[union-attr]

        @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), database=None)
        @given(case=operation.as_strategy())
        def hold(case: Any) -> None:
            nonlocal tried
            tried += 1
            case.call_and_validate(headers=AUDITOR, checks=CHECKS)

        hold()
    assert tried > 200
