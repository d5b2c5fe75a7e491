"""Every text column that a page or the API shows holds something hostile: names of tenants and engines too."""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import httpx
import pytest
from psycopg.types.json import Jsonb

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.windows import HOUR, floor_hour
from kb_pipeline_tests.http_servers import PLAIN
from kb_pipeline_tests.service.hostile import HOSTILE
from kb_pipeline_tests.service.planting import Planted, plant
from kb_pipeline_tests.service.served import AUDITOR, OPERATOR, service_settings, serving
from kb_pipeline_tests.service.test_pages import HEAVIEST, Found

pytestmark = pytest.mark.postgres

# Names are cut to so many characters where they are collected.
NAME = 120
NOW = datetime(2026, 11, 3, 10, 30, tzinfo=UTC)
PAGES = (
    "/?window=24h",
    "/?window=7d",
    "/?window=365d",
    "/retrieval",
    "/retrieval?window=365d",
    "/alerts",
    "/pipeline",
    "/turns",
    "/turns?order=newest",
    "/gaps",
    "/judgments",
)
ANSWERS = (
    "/api/quality/summary", "/api/quality/trend", "/api/quality/trend.csv", "/api/quality/recent",
    "/api/quality/recent.csv", "/api/retrieval/summary", "/api/retrieval/tasks", "/api/retrieval/tasks.csv",
    "/api/retrieval/gaps", "/api/alerts", "/api/alerts.csv", "/metrics",
)  # fmt: skip
WINDOW_ROW = """
INSERT INTO kb_retrieval_window (hour, org_id, specialist_id, engine, retrievals, empty, top_score_hist, latency_hist,
  newest_event_at)
VALUES (%(hour)s, %(org)s, %(org)s, %(name)s, 60, 40, array_fill(1, ARRAY[22]), array_fill(1, ARRAY[12]), %(at)s)
"""
GAP = """
INSERT INTO kb_retrieval_gap (message_id, org_id, specialist_id, conversation_id, event_id, query_sha, engine, kind,
  decided_at, subject, doc_id, source_state, rule_version)
VALUES (gen_random_uuid(), %(org)s, %(org)s, gen_random_uuid(), gen_random_uuid(), %(sha)s, %(text)s, 'ranking_gap',
  %(at)s, %(text)s, %(text)s, %(text)s, %(text)s)
"""
STATE = """
INSERT INTO kb_alert_state (fingerprint, rule, metric, subject, status, severity, since, sentence, reading, memory,
  before, inhibited_by, version)
VALUES (%(key)s, %(text)s, %(text)s, ARRAY[%(text)s, %(text)s], 'firing', 'critical', %(at)s, %(text)s, '{}', '{}',
  '{}', %(text)s, 1)
"""
CHANGE = """
INSERT INTO kb_alert_transition (fingerprint, rule, from_status, to_status, severity, reason, sentence, reading,
  happened_at)
VALUES (%(key)s, %(text)s, %(text)s, %(text)s, %(text)s, %(text)s, %(text)s, '{}', %(at)s)
"""
CANARY = """
INSERT INTO rag_judge_canary (judge_model, prompt_version, asked_at, healthy, asked, right_verdicts, failures)
VALUES (%(text)s, %(text)s, %(at)s, false, 4, 1, %(failures)s)
"""
CALIBRATION = """
INSERT INTO rag_judge_calibration (day, judge_model, prompt_version, language, label_kind, n, positives, threshold,
  statistics)
VALUES ('2026-11-02', %(text)s, %(text)s, 'all', %(text)s, 40, 20, 0.7, %(statistics)s)
"""
READING = """
INSERT INTO kb_access_record (actor, purpose, run_id, bodies, body_bytes, read_at)
VALUES (%(text)s, 'grading', %(text)s, 1, 1, %(at)s)
"""


@pytest.fixture(scope="module")
def address(module_database: Database) -> Iterator[str]:
    """A service over two hundred rows of each table, each with another hostile text in every column."""
    _plant(module_database)
    with serving(service_settings(module_database), at=NOW) as found:
        yield found


def _plant(database: Database) -> None:
    turns = [
        Planted(
            event_id=f"t{number}",
            ts=NOW - timedelta(minutes=65 + number),
            scores=(0.1, 0.2, 0.3),
            preview=text[:120],
            reason=text,
            tenant=text[:NAME],
            surface=text[:NAME],
            engine=text[:NAME],
            version=(text[:NAME], text[:NAME]),
        )
        for number, text in enumerate(HOSTILE)
    ]
    plant(database, [*turns, *(replace(turn, event_id=f"{turn.event_id}b", ts=turn.ts - 26 * HOUR) for turn in turns)])
    with database.connect() as connection:
        for number, text in enumerate(HOSTILE):
            at = NOW - timedelta(minutes=70 + number)
            row = {
                "text": text,
                "name": text[:NAME],
                "at": at,
                "hour": floor_hour(at),
                "org": UUID(int=number % 7),
                "key": f"f{number} {text}"[:255],
                "sha": f"{number:064x}",
                "failures": Jsonb([text]),
                "statistics": Jsonb({"kappa": {"value": 0.5}, text: text}),
            }
            for statement in (WINDOW_ROW, GAP, GAP, STATE, CHANGE, CANARY, CALIBRATION, READING):
                connection.execute(statement.encode(), row)
        connection.execute("SELECT kb_add_up_retrieval_day(%s)", (NOW - 2 * HOUR,))


@pytest.mark.parametrize("path", PAGES)
def test_what_stands_in_any_column_shows_as_text_and_keeps_the_page_light(address: str, path: str) -> None:
    with httpx.Client(verify=PLAIN, base_url=address, headers=AUDITOR, timeout=30) as client:
        reply = client.get(path)
    assert reply.status_code == 200
    assert len(reply.content) < HEAVIEST
    tags = Found(reply.text).tags
    assert [attributes for tag, attributes in tags if tag == "script"] == [{"src": "/static/live.js", "defer": None}]
    assert not {tag for tag, _ in tags} & {"img", "iframe", "style", "b", "object", "embed", "base", "audio", "video"}
    assert not [name for _, attributes in tags for name in attributes if name.startswith("on") or name == "style"]
    shown = re.sub(r'<(?:input type="hidden"|option)[^>]*>', "", reply.text)
    assert not set(shown) & {chr(sign) for sign in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}


@pytest.mark.parametrize("path", ANSWERS)
def test_what_stands_in_any_column_breaks_no_answer(address: str, path: str) -> None:
    with httpx.Client(verify=PLAIN, base_url=address, headers=OPERATOR, timeout=30) as client:
        reply = client.get(path)
    assert reply.status_code == 200
    assert reply.headers["content-type"].split(";")[0] in {"application/json", "text/csv", "text/plain"}
    if path.endswith(".csv"):
        assert not re.search(r'(?:^|,)"?[ \t]*[=+@-]', reply.text.split("\n", 1)[1].replace(",-0", ","), re.MULTILINE)


@pytest.mark.parametrize("number", range(0, len(HOSTILE), 17))
def test_a_filter_by_a_hostile_name_finds_its_turn_alone(address: str, number: int) -> None:
    with httpx.Client(verify=PLAIN, base_url=address, headers=OPERATOR, timeout=30) as client:
        query = {"window": "7d", "tenant": HOSTILE[number][:NAME], "surface": HOSTILE[number][:NAME]}
        found = client.get("/api/quality/recent", params=query)
        page = client.get("/", params=query)
    assert page.status_code == found.status_code == 200
    assert {item["tenant"] for item in found.json()["items"]} == {HOSTILE[number][:NAME]}


def test_pages_of_alert_changes_give_each_once_and_a_file_gives_all(address: str) -> None:
    seen: list[int] = []
    cursor: dict[str, str] = {}
    with httpx.Client(verify=PLAIN, base_url=address, headers=OPERATOR, timeout=30) as client:
        while True:
            page = client.get("/api/alerts", params={"limit": "70", **cursor}).json()
            seen += [change["transition_id"] for change in page["history"]]
            if page["next"] is None:
                break
            cursor = {"cursor": page["next"]}
        rows = list(csv.DictReader(io.StringIO(client.get("/api/alerts.csv").text, newline="")))
        refused = [
            client.get("/api/alerts", params={"cursor": bad}).status_code for bad in ("x", "WyIwIl0", "WyItMSJd")
        ]
    assert seen == sorted(set(seen), reverse=True)
    assert len(seen) == len(HOSTILE) == len(rows)
    assert refused == [422, 422, 422]


def test_the_page_of_alerts_leads_on_to_older_changes(address: str) -> None:
    seen: list[str] = []
    path: str | None = "/alerts"
    with httpx.Client(verify=PLAIN, base_url=address, headers=OPERATOR, timeout=30) as client:
        while path:
            page = client.get(path).text
            seen.append(page)
            found = re.search(r'<a href="([^"]+)" rel="next">', page)
            path = found[1] if found else None
    assert len(seen) == 4


def test_a_trend_as_a_file_has_a_column_for_each_part_of_a_mean(address: str) -> None:
    with httpx.Client(verify=PLAIN, base_url=address, headers=OPERATOR, timeout=30) as client:
        query = {"window": "7d", "step": "12h"}
        points = client.get("/api/quality/trend", params=query).json()["points"]
        rows = list(csv.DictReader(io.StringIO(client.get("/api/quality/trend.csv", params=query).text, newline="")))
    assert len(rows) == len(points) == 15
    for row, point in zip(rows, points, strict=True):
        assert row["at"] == point["at"]
        assert row["faithfulness.value"] == (
            "" if point["faithfulness"]["value"] is None else str(point["faithfulness"]["value"])
        )
        assert row["refusal_rate.whole"] == str(point["refusal_rate"]["whole"])


def test_tasks_are_the_same_as_answer_and_as_file(address: str) -> None:
    with httpx.Client(verify=PLAIN, base_url=address, headers=OPERATOR, timeout=30) as client:
        items = client.get("/api/retrieval/tasks", params={"limit": 200}).json()["items"]
        rows = list(csv.DictReader(io.StringIO(client.get("/api/retrieval/tasks.csv").text, newline="")))
    assert len(items) == len(rows) > 100
    assert {row["gaps"] for row in rows} == {"2"}
