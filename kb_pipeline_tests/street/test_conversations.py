"""Follow-ups, refusals and answers that assert nothing, from the audited bodies to the hour's mean."""

import json
from datetime import timedelta

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.grading.judging import read_blocks
from kb_pipeline_tests.builders import (
    REFUSAL,
    SYSTEM,
    Upstream,
    closed_hour,
    request_body,
    response_body,
    street,
    table,
)
from kb_pipeline_tests.judges import WatchedJudge

AT = closed_hour().start + timedelta(minutes=3)


def follow_up(earlier: int, chars: int = 20) -> bytes:
    """A synthesis request behind `earlier` messages of its conversation."""
    body = json.loads(request_body("Berapa lama prosesnya?"))
    roles = ("user", "assistant")
    history = [{"role": roles[number % 2], "content": f"pesan {number} " + "x" * chars} for number in range(earlier)]
    body["messages"] = [{"role": "system", "content": SYSTEM}, *history, body["messages"][-1]]
    return json.dumps(body).encode()


def history_shown(judge: WatchedJudge) -> list[str]:
    assert judge.narrow is not None
    (prompt,) = judge.narrow.prompts
    blocks = read_blocks(prompt)
    assert blocks is not None
    return [line[: len("assistant: pesan 0")].strip() for line in blocks.history.splitlines()]


@pytest.mark.parametrize(
    ("earlier", "chars", "window", "shown"),
    [(0, 20, 32_768, []), (4, 20, 32_768, [0, 1, 2, 3]), (10, 20, 32_768, [4, 5, 6, 7, 8, 9]), (4, 600, 2_500, [3])],
)
def test_a_follow_up_is_judged_with_the_newest_messages_that_fit_and_the_others_are_counted(
    database: Database, earlier: int, chars: int, window: int, shown: list[int]
) -> None:
    Upstream(database).turn("e", AT, request=follow_up(earlier, chars))
    with (
        WatchedJudge(window=1_000_000) as judge,
        street(database, judge_base_url=judge.url, judge_context_tokens=window) as grading,
    ):
        grading.grade()
    expected = [f"{('user', 'assistant')[number % 2]}: pesan {number}" for number in shown]
    assert [line.rstrip(" x") for line in history_shown(judge)] == expected
    assert table(database, "SELECT history_left_out, context_shown FROM rag_judge_score") == [
        (earlier - len(shown), 1.0)
    ]


def test_a_refusal_and_an_answer_that_asserts_nothing_are_published_apart_and_in_no_mean(database: Database) -> None:
    upstream = Upstream(database)
    upstream.turn("refusal", AT, response=response_body(REFUSAL))
    upstream.turn("greeting", AT, response=response_body("Halo! Ada yang bisa saya bantu?"))
    upstream.turn("answer", AT)
    with WatchedJudge() as judge, street(database, judge_base_url=judge.url) as grading:
        grading.grade()
    rows = table(
        database, "SELECT event_id, judge_status, refused, faithfulness, faithfulness_reason <> '' FROM rag_quality"
    )
    assert sorted(rows) == [
        ("answer", "ok", False, 1.0, True),
        ("greeting", "ok", False, None, True),
        ("refusal", "ok", True, None, True),
    ]
    sums = "SELECT graded, refused, faithfulness_n, faithfulness_sum, answer_relevance_n FROM rag_quality_window"
    assert table(database, sums) == [(3, 1, 1, 1.0, 3)]
