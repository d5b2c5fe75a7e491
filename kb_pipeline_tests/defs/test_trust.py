"""The daily look at the judge: a canary kept, a calibration on planted turns and decisions of experts."""

from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from typing import Any
from uuid import UUID, uuid4

import dagster as dg
import pytest

from kb_pipeline.adapters.postgres.canaries import PostgresCanaries
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.grader import grader_database
from kb_pipeline.defs.trust import TRUST_JOB
from kb_pipeline.errors import SettingsError
from kb_pipeline.grading.canary import CanaryReport
from kb_pipeline.grading.judging import PROMPT_VERSION
from kb_pipeline.records import JudgeVersion
from kb_pipeline.settings import Settings
from kb_pipeline.steps import trial
from kb_pipeline_tests.builders import settings, street, table
from kb_pipeline_tests.defs.runs import run, succeeded
from kb_pipeline_tests.gullible_judge import TEMPERS, gullible_judge
from kb_pipeline_tests.http_servers import Received, ScriptedServer, http
from kb_pipeline_tests.judges import WatchedJudge

pytestmark = pytest.mark.postgres

TODAY = datetime.combine(datetime.now(UTC).date(), time(), UTC)
YESTERDAY = TODAY - timedelta(hours=12)
INDONESIAN, ENGLISH = "Berapa biaya untuk mendaftarkan yayasan itu?", "What is the fee for the registration?"
ORG, SPECIALIST = uuid4(), uuid4()


def plant_turn(
    database: Database,
    trace: str | None,
    score: float | None,
    *,
    ts: datetime = YESTERDAY,
    question: str | None = INDONESIAN,
    surface: str = "public",
    prompt_version: str = "v1",
) -> str:
    """A published turn, graded when it has a score."""
    event_id = str(uuid4())
    graded = {"status": "pending", "reason": None} if score is None else {"status": "ok", "reason": "planted"}
    with database.connect() as connection:
        connection.execute("SELECT kb_ensure_rag_quality_partition(%s::timestamptz)", (ts,))
        connection.execute(
            "INSERT INTO rag_quality (event_id, trace_id, ts, surface, parse_status, had_context, num_passages,"
            " context_chars, answer_chars, refused, answer_truncated, faithfulness, answer_relevance_reason,"
            " context_relevance_reason, judge_status, judge_model, prompt_version)"
            " VALUES (%(event_id)s, %(trace)s, %(ts)s, %(surface)s, 'ok', true, 1, 1, 1, false, false, %(score)s,"
            " %(reason)s, %(reason)s, %(status)s, 'm', %(prompt_version)s)",
            {
                "event_id": event_id,
                "trace": trace,
                "ts": ts,
                "surface": surface,
                "score": score,
                "prompt_version": prompt_version,
                **graded,
            },
        )
        connection.execute(
            "INSERT INTO rag_triad (event_id, ts, parse_status, question) VALUES (%s, %s, 'ok', %s)",
            (event_id, ts, question),
        )
    return event_id


def plant_outcome(
    database: Database, trace: str, outcome: str, *, drafted_at: datetime = YESTERDAY, org: UUID = ORG
) -> None:
    """What became of a draft."""
    decided_at = None if outcome == "pending" else drafted_at + timedelta(minutes=5)
    with database.connect() as connection:
        connection.execute(
            "INSERT INTO kb_draft_outcome (message_id, org_id, specialist_id, conversation_id, trace_id, outcome,"
            " drafted_at, decided_at, kept_sentences, new_sentences, removed_sentences, source_state, rule_version)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, 0, 0, 0, '', 'r')",
            (uuid4(), org, SPECIALIST, uuid4(), trace, outcome, drafted_at, decided_at),
        )


def plant(database: Database, score: float | None, outcome: str, **turn: Any) -> None:
    """A turn whose draft has an outcome."""
    trace = f"trace-{uuid4()}"
    plant_turn(database, trace, score, **turn)
    plant_outcome(database, trace, outcome)


def calibrated(database: Database, **quality: Any) -> dict[str, int | float]:
    with street(database, **quality) as opened:
        return dict(opened.calibrate_judge().counts)


def calibration(database: Database) -> dict[tuple[str, str, str], tuple[int, int, dict[str, dict[str, Any]]]]:
    """The rows that were written: n, positives and figures by prompt version, language and kind."""
    found = table(
        database,
        "SELECT prompt_version, language, label_kind, n, positives, statistics FROM rag_judge_calibration",
    )
    return {(row[0], row[1], row[2]): (row[3], row[4], row[5]) for row in found}


def test_scores_meet_what_experts_decided_by_the_trace(database: Database) -> None:
    plant(database, 0.9, "accepted")
    plant(database, 0.8, "edited_light", question=ENGLISH)
    plant(database, 0.2, "edited_heavy")
    plant(database, 0.75, "rejected", question=None)
    for outcome in ("unreviewed", "pending"):
        plant(database, 0.1, outcome)
    plant(database, None, "accepted")
    plant_turn(database, "nobody decided", 0.5)
    plant_turn(database, None, 0.5)
    assert calibrated(database) == {"graded_turns": 8, "expert_labels": 4, "rows": 12}
    rows = calibration(database)
    overall = {language: rows["v1", language, "expert_outcome"][:2] for language in ("all", "id", "en", "unknown")}
    assert overall == {"all": (4, 2), "id": (2, 1), "en": (1, 1), "unknown": (1, 0)}
    figures = rows["v1", "all", "expert_outcome"][2]
    assert figures["recall"]["value"] == 1.0
    assert figures["precision"]["value"] == pytest.approx(2 / 3)
    assert figures["balanced_accuracy"]["value"] == 0.75
    assert figures["auc"]["value"] == 1.0
    assert figures["auc"].keys() == {"value", "low", "high", "n"}
    assert figures["corrected_mean"] == {"value": None, "n": 4, "reason": "too_few_labels"}
    assert rows["v1", "en", "expert_outcome"][2]["auc"] == {"value": None, "n": 1, "reason": "too_few_labels"}
    assert rows["v1", "all", "expert_outcome:rejected"][:2] == (3, 2)


def test_the_threshold_is_the_configured_one(database: Database) -> None:
    plant(database, 0.9, "accepted")
    plant(database, 0.75, "rejected")
    calibrated(database, thresholds={"faithfulness_warn": 0.8, "faithfulness_crit": 0.5})
    assert table(database, "SELECT DISTINCT threshold FROM rag_judge_calibration") == [(0.8,)]
    assert calibration(database)["v1", "all", "expert_outcome"][2]["balanced_accuracy"]["value"] == 1.0


def test_of_several_turns_or_drafts_of_a_trace_the_newest_belong_together(database: Database) -> None:
    earlier = YESTERDAY - timedelta(minutes=1)
    plant_turn(database, "t", 0.1, ts=earlier)
    plant_turn(database, "t", 0.9)
    plant_outcome(database, "t", "rejected", drafted_at=earlier)
    plant_outcome(database, "t", "accepted")
    # Its newest turn has no score: the score of an earlier answer would stand beside the wrong label.
    plant_turn(database, "u", 0.1, ts=earlier)
    plant_turn(database, "u", None)
    plant_outcome(database, "u", "accepted")
    assert calibrated(database)["expert_labels"] == 1
    assert calibration(database)["v1", "all", "expert_outcome:accepted"][:2] == (1, 1)


def test_a_trace_that_two_tenants_share_labels_nothing(database: Database) -> None:
    plant_turn(database, "t", 0.9)
    plant_outcome(database, "t", "accepted")
    plant_outcome(database, "t", "accepted", org=uuid4())
    assert calibrated(database)["expert_labels"] == 0


def test_only_thirty_closed_days_count(database: Database) -> None:
    plant(database, 0.9, "accepted", ts=TODAY - timedelta(days=30))
    plant(database, 0.9, "accepted", ts=TODAY - timedelta(days=30, seconds=1))
    plant(database, 0.9, "accepted", ts=TODAY)
    assert calibrated(database)["expert_labels"] == 1
    assert table(database, "SELECT DISTINCT day FROM rag_judge_calibration") == [(YESTERDAY.date(),)]


def test_many_scores_and_thirty_labels_give_a_corrected_mean(database: Database) -> None:
    for number in range(30):
        plant(database, 0.9, "accepted" if number % 2 else "rejected")
    for score in (0.8, 1.0) * 5:
        plant_turn(database, None, score)
        plant_turn(database, None, 0.0, surface="internal")
    calibrated(database)
    figure = calibration(database)["v1", "all", "expert_outcome"][2]["corrected_mean"]
    assert figure["value"] == pytest.approx(0.5)
    assert figure["low"] < 0.5 < figure["high"]
    assert figure["n"] == 30


def test_a_second_calibration_of_a_day_replaces_the_first(database: Database) -> None:
    plant(database, 0.9, "accepted")
    plant(database, 0.2, "rejected", question=ENGLISH)
    calibrated(database)
    first = calibration(database)
    calibrated(database)
    assert calibration(database) == first
    with database.connect() as connection:
        connection.execute("DELETE FROM kb_draft_outcome WHERE outcome = 'rejected'")
    calibrated(database)
    assert ("v1", "en", "expert_outcome") not in calibration(database)


def test_a_judge_without_a_label_has_one_row_that_says_so(database: Database) -> None:
    plant_turn(database, None, 0.9)
    plant(database, 0.9, "accepted", prompt_version="v0")
    calibrated(database)
    row = calibration(database)["v1", "all", "expert_outcome"]
    assert row[:2] == (0, 0)
    assert {figure["reason"] for figure in row[2].values()} == {"no_labels", "too_few_labels"}
    assert [key for key in calibration(database) if key[0] == "v1"] == [("v1", "all", "expert_outcome")]


def test_no_word_of_a_question_is_kept(database: Database) -> None:
    plant(database, 0.9, "accepted", question="Pengakuanrahasia")
    calibrated(database)
    rows = table(database, "SELECT to_jsonb(c)::text FROM rag_judge_calibration AS c")
    assert rows
    assert not [row for row in rows if "rahasia" in row[0]]


@pytest.fixture
def with_experts(database: Database, judge: WatchedJudge) -> Settings:
    given = settings(database, judge_base_url=judge.url)
    queue = {"enabled": True, "redis_url": "redis://localhost:6379/0"}
    return Settings.model_validate(given.model_dump() | {"retrieval": queue})


def test_the_daily_job_asks_the_judge_and_calibrates_it(
    database: Database, with_experts: Settings, instance: dg.DagsterInstance
) -> None:
    plant(database, 0.9, "accepted")
    result = run(with_experts, instance, TRUST_JOB)
    assert succeeded(result)
    metadata = {
        event.asset_key.to_user_string(): {name: value.value for name, value in event.materialization.metadata.items()}
        for event in result.get_asset_materialization_events()
        if event.asset_key
    }
    assert metadata == {
        "judge_canary": {"healthy": "yes", "asked": 3, "right_verdicts": 3, "failures": []},
        "judge_calibration": {"graded_turns": 1, "expert_labels": 1, "rows": 4},
    }
    (check,) = result.get_asset_check_evaluations()
    assert check.passed
    assert table(database, "SELECT judge_model, prompt_version, healthy, asked FROM rag_judge_canary") == [
        ("reference", PROMPT_VERSION, True, 3)
    ]


def checked(given: Settings, instance: dg.DagsterInstance) -> Any:
    result = run(given, instance, TRUST_JOB)
    assert succeeded(result)
    (check,) = result.get_asset_check_evaluations()
    return check


def test_a_judge_that_obeys_the_turn_fails_the_check(database: Database, instance: dg.DagsterInstance) -> None:
    with gullible_judge(TEMPERS["echo"]) as server:
        check = checked(settings(database, judge_base_url=server.base_url), instance)
    assert (check.passed, check.severity) == (False, dg.AssetCheckSeverity.ERROR)
    assert check.metadata["failures"].value
    assert table(database, "SELECT healthy, jsonb_array_length(failures) > 0 FROM rag_judge_canary") == [(False, True)]


@pytest.fixture
def away() -> Iterator[str]:
    def down(_: Received) -> Iterator[bytes]:
        yield http(503)

    with ScriptedServer(script=down) as server:
        yield server.base_url


def test_an_outage_is_kept_as_one_and_warns(
    database: Database, away: str, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "wait_before_retry", lambda *_, **__: None)
    check = checked(settings(database, judge_base_url=away), instance)
    assert (check.passed, check.severity) == (False, dg.AssetCheckSeverity.WARN)
    assert table(database, "SELECT healthy, asked, right_verdicts FROM rag_judge_canary") == [(None, 0, 0)]


def test_the_newest_canary_of_a_judge_version_counts_and_the_grader_may_keep_it(database: Database) -> None:
    version = JudgeVersion(model="m", prompt_version="v1")
    other = JudgeVersion(model="m", prompt_version="v0")
    with grader_database(database.url.render_as_string(hide_password=False)) as granted:
        canaries = PostgresCanaries(granted)
        assert canaries.newest(version) is None
        kept = [
            CanaryReport(
                version=each, asked_at=at, healthy=healthy, asked=3, right_verdicts=2 + healthy, failures=failures
            )
            for each, at, healthy, failures in (
                (version, TODAY, False, ("off_topic:faithfulness_too_high",)),
                (version, YESTERDAY, True, ()),
                (other, TODAY + timedelta(hours=1), True, ()),
            )
        ]
        for report in kept:
            canaries.save(report)
        assert granted.role == "kb_grader"
        assert canaries.newest(version) == kept[0]


def test_without_a_judge_nobody_is_asked(database: Database) -> None:
    with street(database, judge_model=None) as opened, pytest.raises(SettingsError, match="judge_model is null"):
        opened.ask_canary()
    assert table(database, "SELECT * FROM rag_judge_canary") == []
