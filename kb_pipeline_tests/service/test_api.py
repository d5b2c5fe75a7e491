"""The API: numbers that agree with each other, one shape of errors, roles, pages of lists, files."""

import csv
import io
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.service.reading import QualityReading
from kb_pipeline_tests.builders import table
from kb_pipeline_tests.http_servers import PLAIN
from kb_pipeline_tests.service.conftest import SECRET, whole_turn
from kb_pipeline_tests.service.hostile import HOSTILE
from kb_pipeline_tests.service.served import OPERATOR, service_settings, serving

PROBLEM = "application/problem+json"
PATHS = (
    "/api/quality/summary", "/api/quality/trend", "/api/quality/recent", "/api/quality/recent.csv",
    "/api/retrieval/summary", "/api/retrieval/gaps", "/api/retrieval/gaps.csv", "/api/ground-truth",
    "/api/ground-truth.csv", "/api/alerts", "/api/alerts.csv",
    "/api/quality/trend.csv", "/api/retrieval/tasks", "/api/retrieval/tasks.csv", "/metrics",
)  # fmt: skip
PAGES = ("/", "/turns", "/retrieval", "/retrieval/conflicts", "/gaps", "/judgments", "/alerts", "/pipeline")


def test_every_turn_is_in_exactly_one_place_and_parts_add_up(operator: httpx.Client) -> None:
    found = operator.get("/api/quality/summary", params={"window": "14d"}).json()
    coverage = found["coverage"]
    places = ("graded", "ungraded", "skipped", "sampled_out", "pending")
    assert coverage["seen"] == sum(coverage[place] for place in places) > 1000
    assert found["count"] == coverage["seen"] - coverage["sampled_out"]
    assert found["grounded_rate"]["whole"] == found["mean_faithfulness"]["n"]
    assert found["mean_faithfulness"]["low"] < found["mean_faithfulness"]["value"] < found["mean_faithfulness"]["high"]


def test_the_last_point_of_the_trend_is_the_number_in_the_verdict(operator: httpx.Client) -> None:
    trend = operator.get("/api/quality/trend", params={"window": "7d", "step": "1h", "surface": "public"}).json()
    assert len(trend["points"]) == 7 * 24 + 1
    mean = trend["points"][-1]["faithfulness"]["value"]
    summary = operator.get("/api/quality/summary", params={"window": "7d", "surface": "public"}).json()
    assert f"{mean:.2f}" in summary["verdict"]["detail"]


def test_pages_of_the_list_give_every_turn_once_in_order(operator: httpx.Client, planted_database: Database) -> None:
    for order, sign in (("worst", 1), ("newest", -1)):
        found: list[dict[str, Any]] = []
        cursor: dict[str, str] = {}
        while True:
            query = {"window": "15d", "order": order, "limit": "200", "tenant": "portal", **cursor}
            page = operator.get("/api/quality/recent", params=query).json()
            found += page["items"]
            if page["next"] is None:
                break
            cursor = {"cursor": page["next"]}
        scored = "AND faithfulness IS NOT NULL" if order == "worst" else ""
        statement = f"SELECT count(*) FROM rag_quality WHERE tenant = 'portal' {scored}"
        assert len({turn["event_id"] for turn in found}) == len(found) == table(planted_database, statement)[0][0]
        keys = [turn["faithfulness"] if order == "worst" else turn["ts"] for turn in found]
        assert keys == sorted(keys, reverse=sign < 0)


@pytest.mark.parametrize(
    "path", [path for path in PATHS if path.startswith(("/api/ground", "/api/retrieval/gaps"))][::2]
)
def test_other_lists_give_every_row_once(operator: httpx.Client, path: str) -> None:
    rows: list[Any] = []
    query = {"limit": "70", "window": "14d"} if "gaps" in path else {"limit": "70"}
    while True:
        page = operator.get(path, params=query).json()
        rows += [tuple(str(row.get(name)) for name in ("message_id", "query_sha", "doc_id")) for row in page["items"]]
        if page["next"] is None:
            break
        query["cursor"] = page["next"]
    assert len(set(rows)) == len(rows) == len(HOSTILE)


def test_an_unchanged_answer_is_not_sent_again(operator: httpx.Client) -> None:
    for path in ("/api/quality/summary", "/"):
        first = operator.get(path)
        again = operator.get(path, headers={"If-None-Match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        other = operator.get(path, params={"window": "24h"}, headers={"If-None-Match": first.headers["etag"]})
        assert other.status_code == 200


@pytest.mark.parametrize("path", PATHS)
def test_without_a_token_nothing_is_said(stranger: httpx.Client, path: str) -> None:
    reply = stranger.get(path)
    assert (reply.status_code, reply.headers["content-type"]) == (401, PROBLEM)
    assert reply.headers["www-authenticate"] == "Bearer"


def test_health_is_open_to_everybody_and_says_nothing_else(stranger: httpx.Client) -> None:
    assert stranger.get("/healthz").json() == stranger.get("/readyz").json() == {"status": "ok"}


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/nothing", 404),
        ("GET", "/nothing", 404),
        ("POST", "/api/alerts", 405),
        ("GET", "/api/quality/turns/unknown", 403),
        ("GET", "/api/quality/summary?window=7w", 422),
        ("GET", "/api/quality/summary?tz=Mars/Base", 422),
        ("GET", "/api/quality/summary?from=2026-11-03&to=2026-11-02", 422),
        ("GET", "/api/quality/summary?from=2026-11-01&window=7d", 422),
        ("GET", "/api/quality/trend?window=300d&step=1h", 422),
        ("GET", "/api/quality/recent?limit=0", 422),
        ("GET", "/api/quality/recent?limit=201", 422),
        ("GET", "/api/quality/recent?order=best", 422),
        ("GET", "/api/quality/recent?cursor=abc", 422),
        ("GET", "/api/quality/recent?cursor=WyJuZXdlc3QiLCIxIiwiMSIsIjEiXQ", 422),
        ("GET", "/api/quality/recent?surface=%00", 422),
        ("GET", "/api/retrieval/gaps?org=1", 422),
        ("GET", "/api/retrieval/gaps?kind=x", 422),
        ("GET", "/api/ground-truth?status=x", 422),
        ("GET", "/api/quality/summary?tenat=portal", 422),
        ("GET", "/api/quality/recent?Surface=public", 422),
        ("GET", "/api/quality/summary?window=24h&window=7d", 422),
        ("GET", "/api/ground-truth?grade=4", 422),
    ],
)
def test_every_error_has_the_shape_of_rfc_9457(operator: httpx.Client, method: str, path: str, status: int) -> None:
    reply = operator.request(method, path)
    assert (reply.status_code, reply.headers["content-type"]) == (status, PROBLEM)
    assert reply.json()["status"] == status
    assert reply.json()["title"]


def test_what_nobody_foresaw_is_a_problem_too_and_says_no_word_of_it(
    operator: httpx.Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError(SECRET)

    monkeypatch.setattr(QualityReading, "summary", fail)
    for path in ("/api/quality/summary?window=13d", "/?window=13d"):
        reply = operator.get(path)
        assert (reply.status_code, reply.headers["content-type"]) == (500, PROBLEM)
        assert SECRET not in reply.text
    assert "RuntimeError" in caplog.text
    assert SECRET not in caplog.text


def test_only_an_auditor_reads_a_turn_and_each_reading_is_recorded(
    operator: httpx.Client, auditor: httpx.Client, planted_database: Database
) -> None:
    path = "/api/quality/turns/turn%2Fwhole%3Fx%3D1%26y%23z"
    assert operator.get(path).status_code == 403
    reply = auditor.get(path)
    assert reply.status_code == 200
    assert reply.json()["turn"]["question"].startswith(SECRET)
    assert reply.headers["cache-control"] == "no-store"
    statement = "SELECT actor, purpose, bodies FROM kb_access_record WHERE access_id = %s"
    recorded = table(planted_database, statement, reply.json()["access_id"])
    assert recorded == [("rina (auditor)", "dashboard turn page", 1)]
    assert auditor.get("/api/quality/turns/nothing").status_code == 404


@pytest.mark.parametrize("path", [*PATHS, *PAGES])
def test_no_answer_to_an_operator_holds_full_text(operator: httpx.Client, path: str) -> None:
    reply = operator.get(
        path, params={"window": "14d", "limit": "200"} if path.startswith("/api") else {"window": "14d"}
    )
    assert reply.status_code == 200
    assert SECRET not in reply.text


def test_a_page_of_a_turn_is_for_auditors(operator: httpx.Client, auditor: httpx.Client) -> None:
    path = "/turns/turn%2Fwhole%3Fx%3D1%26y%23z"
    assert operator.get(path).status_code == 403
    page = auditor.get(path).text
    assert SECRET in page
    assert "Backed by RAG-1" in page
    assert "No source" in page


def test_turns_are_walked_through_from_the_worst_on(auditor: httpx.Client) -> None:
    ids = [turn["event_id"] for turn in auditor.get("/api/quality/recent", params={"limit": 9}).json()["items"]]
    for worse, middle, better in zip(ids, ids[1:], ids[2:], strict=False):
        page = auditor.get(f"/turns/{quote(middle, safe='')}").text
        assert f'href="/turns/{quote(worse, safe="")}?window=7d">Previous worse' in page
        assert f'href="/turns/{quote(better, safe="")}?window=7d">Next better' in page


def test_a_file_begins_no_cell_as_a_formula(operator: httpx.Client) -> None:
    reply = operator.get("/api/quality/recent.csv", params={"window": "24h"})
    assert reply.headers["content-disposition"] == 'attachment; filename="turns.csv"'
    rows = list(csv.DictReader(io.StringIO(reply.text, newline="")))
    assert len(rows) > len(HOSTILE)
    begun = {row["question_preview"].lstrip()[:1] for row in rows}
    assert not begun & set("=+-@")
    assert "'" in begun


def test_a_database_that_is_gone_is_a_503(planted_database: Database) -> None:
    settings = service_settings(planted_database)
    with (
        serving(settings) as address,
        httpx.Client(verify=PLAIN, base_url=address, headers=OPERATOR) as client,
    ):
        with planted_database.connect() as connection:
            connection.execute("ALTER TABLE rag_quality_day RENAME TO rag_quality_day_away")
        try:
            reply = client.get("/api/quality/summary")
        finally:
            with planted_database.connect() as connection:
                connection.execute("ALTER TABLE rag_quality_day_away RENAME TO rag_quality_day")
    assert (reply.status_code, reply.headers["content-type"]) == (503, PROBLEM)
    assert "rag_quality_day" not in reply.text


def test_a_person_settles_a_conflict_by_name_and_reason(auditor: httpx.Client, planted_database: Database) -> None:
    items = auditor.get("/api/ground-truth", params={"limit": 200}).json()["items"]
    row = next(each for each in items if each["query_sha"] == f"{3:064x}")
    word = {name: row[name] for name in ("org_id", "specialist_id", "query_sha", "doc_id")}
    reply = auditor.post("/api/ground-truth/settle", json={**word, "relevant": True, "reason": "it answers"})
    assert reply.status_code == 200, reply.text
    kept = "SELECT author, reason, weight FROM kb_evidence WHERE kind = 'settled' AND query_sha = %s"
    assert table(planted_database, kept, row["query_sha"]) == [("rina", "it answers", 1.0)]
    unknown = auditor.post(
        "/api/ground-truth/settle", json={**word, "query_sha": "f" * 64, "relevant": True, "reason": "x"}
    )
    assert unknown.status_code == 404


def test_metrics_are_the_same_numbers(operator: httpx.Client) -> None:
    text = operator.get("/metrics").text
    summary = operator.get("/api/quality/summary", params={"window": "24h", "surface": "public"}).json()
    samples = dict(line.rsplit(" ", 1) for line in text.splitlines() if line and not line.startswith("#"))
    mean = float(samples['kb_pipeline_score_mean{aspect="faithfulness",surface="public"}'])
    assert mean == pytest.approx(summary["mean_faithfulness"]["value"], abs=1e-9)
    assert float(samples['kb_pipeline_turns{state="graded",surface="public"}']) == summary["graded"]
    assert not [name for name in samples if name.startswith(("kb_retrieval_total", "kb_pipeline_worker"))]
    assert "kb_pipeline_judge_agreement_kappa" not in samples
    assert whole_turn().event_id not in text


@pytest.mark.parametrize("path", ["/", "/healthz", "/api/quality/summary", "/static/style.css", "/api/nothing"])
def test_whatever_may_be_read_may_be_asked_after_without_its_body(operator: httpx.Client, path: str) -> None:
    whole, head = operator.get(path), operator.head(path)
    assert head.status_code == whole.status_code
    assert head.content == b""
    kept = ("content-type", "etag", "cache-control", "content-security-policy")
    assert {name: head.headers.get(name) for name in kept} == {name: whole.headers.get(name) for name in kept}


def test_a_turn_without_scores_says_what_became_of_it(operator: httpx.Client) -> None:
    items = operator.get("/api/quality/recent", params={"window": "14d", "order": "newest", "limit": 200}).json()[
        "items"
    ]
    assert {"ok", "skipped", "error"} <= {item["judge_status"] for item in items}
    assert all((item["judge_status"] == "skipped") == (item["skip_reason"] is not None) for item in items)


def test_an_engine_is_no_filter_of_what_belongs_to_no_engine(operator: httpx.Client) -> None:
    paths = operator.get("/api/openapi.json").json()["paths"]
    for path in ("/api/ground-truth", "/api/ground-truth.csv", "/api/retrieval/tasks"):
        assert "engine" not in {each["name"] for each in paths[path]["get"]["parameters"]}
    assert paths["/healthz"]["get"]["security"] == []
    assert "text/csv" in paths["/api/alerts.csv"]["get"]["responses"]["200"]["content"]
