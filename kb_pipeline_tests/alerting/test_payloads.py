"""What goes out: Keep's fields, closed alphabets, limits of size, nothing that a citizen or a tenant's name plants."""

import json
import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.alerting.payloads import Sender, alert_of, cut, encode, restamped
from kb_pipeline.alerting.subjects import MAX_FINGERPRINT, clean, covers, fingerprint
from kb_pipeline.records import AlertState, Finding, Notice, NoticeStatus, Reading, Severity
from kb_pipeline_tests.alerting.history import NOON, SENDER

READING = Reading(
    finding=Finding.BREACH,
    severity=Severity.WARNING,
    sentence="Mean faithfulness is 0.58 over 64 graded turns in 24 hours.",
    value=0.58,
    bound=0.66,
    threshold=0.7,
    n=64,
    window_h=24,
    coverage=0.97,
)
STATE = AlertState(
    fingerprint="rag_low_faithfulness|faithfulness|prod:portal:public:rag",
    rule="rag_low_faithfulness",
    metric="faithfulness",
    subject=("prod", "portal", "public", "rag"),
    reading=READING,
    window_end=NOON,
    notice=Notice(status=NoticeStatus.FIRING, severity=Severity.WARNING),
    kb_seq=3,
)
names = st.text(max_size=80)


def alert(state: AlertState = STATE, sender: Sender = SENDER) -> dict[str, Any]:
    return alert_of(state, title="Answers are less faithful", sender=sender, now=NOON)


def test_an_alert_has_keeps_fields_and_the_numbers_behind_it() -> None:
    assert alert() == {
        "id": STATE.fingerprint,
        "fingerprint": STATE.fingerprint,
        "kb_fingerprint": STATE.fingerprint,
        "kb_seq": 3,
        "name": "rag_low_faithfulness",
        "status": "firing",
        "severity": "warning",
        "lastReceived": "2026-03-04T12:00:00.000Z",
        "environment": "prod",
        "service": "kb-pipeline",
        "source": ["kb_pipeline"],
        "message": (
            "Answers are less faithful (tenant portal, surface public, engine rag). "
            "Mean faithfulness is 0.58 over 64 graded turns in 24 hours."
        ),
        "description": "Answers are less faithful",
        "labels": {
            "rule": "rag_low_faithfulness",
            "metric": "faithfulness",
            "tenant": "portal",
            "surface": "public",
            "engine": "rag",
            "value": "0.5800",
            "bound": "0.6600",
            "threshold": "0.7000",
            "coverage": "0.9700",
            "n": "64",
            "window_hours": "24",
            "window_end": "2026-03-04T12:00:00.000Z",
        },
        "url": (
            "https://quality.example.org/alerts?fingerprint=rag_low_faithfulness%7Cfaithfulness%7Cprod:portal:public:rag"
        ),
    }


def test_without_an_address_of_the_dashboard_there_is_no_link() -> None:
    assert "url" not in alert(sender=Sender(environment="prod"))


def test_a_resolve_and_flapping_are_said_in_words() -> None:
    resolved = replace(STATE, notice=Notice(status=NoticeStatus.RESOLVED, severity=Severity.WARNING))
    assert alert(resolved)["status"] == "resolved"
    assert alert(resolved)["message"].startswith("Resolved: ")
    flapping = replace(STATE, notice=Notice(status=NoticeStatus.FIRING, severity=Severity.WARNING, is_flapping=True))
    assert "held until" in alert(flapping)["message"]


def test_a_repeat_differs_in_nothing_but_when_it_was_received() -> None:
    again = restamped(alert(), NOON + timedelta(milliseconds=1234))
    assert again.pop("lastReceived") == "2026-03-04T12:00:01.234Z"
    first = alert()
    del first["lastReceived"]
    assert encode([again]) == encode([first])


def test_a_body_is_a_list_and_holds_no_number_that_is_none() -> None:
    assert json.loads(encode([alert()])) == [alert()]
    with pytest.raises(ValueError, match="JSON compliant"):
        encode([{"value": float("nan")}])
    with pytest.raises(ValueError, match="finite"):
        alert(replace(STATE, reading=replace(READING, value=float("inf"))))


def test_a_long_message_is_cut_between_characters() -> None:
    assert len(cut("é" * 2000).encode()) <= 1024
    assert cut("é" * 2000).endswith("é…")
    assert cut("short") == "short"


@given(names, names, names, names)
def test_whatever_tenants_are_called_an_alert_keeps_to_its_alphabet_and_size(
    environment: str, tenant: str, surface: str, engine: str
) -> None:
    subject = (environment, tenant, surface, engine)
    name = fingerprint("rag_low_faithfulness", "faithfulness", subject)
    sent = alert(replace(STATE, fingerprint=name, subject=subject), Sender(environment=environment))
    assert re.fullmatch(r"[a-z0-9:._|-]+", name)
    assert name.count("|") == 2
    assert len(name) <= MAX_FINGERPRINT
    assert len(encode([sent])) <= 16 * 1024
    assert all(isinstance(value, str) for value in sent["labels"].values())
    assert re.fullmatch(r"[ -~]+", sent["message"])


@given(st.tuples(names, names, names), st.tuples(names, names, names))
def test_no_two_subjects_share_a_fingerprint(first: tuple[str, ...], second: tuple[str, ...]) -> None:
    same = fingerprint("r", "m", first) == fingerprint("r", "m", second)
    assert same == (first == second)


@given(names)
def test_a_name_that_looks_like_a_cleaned_one_cannot_pass_for_it(name: str) -> None:
    if clean(name) != name:
        assert clean(clean(name)) != clean(name) or clean(name) == "-"
    assert clean("-") != clean("")


def test_uuids_stay_as_they_are_and_four_of_them_fit() -> None:
    uuid = "0b0f6a3e-6c1f-4f3c-9d55-0f2a3b4c5d6e"
    assert clean(uuid) == uuid
    assert len(fingerprint("kb_empty_result_spike", "empty_share", (uuid,) * 5)) <= MAX_FINGERPRINT
    with pytest.raises(ValueError, match="at most 255"):
        fingerprint("kb_empty_result_spike", "empty_share", (uuid,) * 7)


def test_a_subject_covers_those_that_begin_with_it() -> None:
    assert covers(("prod",), ("prod", "portal"))
    assert covers(("prod", "portal"), ("prod", "portal"))
    assert not covers(("prod", "portal"), ("prod",))
    assert not covers(("prod", "por"), ("prod", "portal"))
