"""Tables and sentences fit 80 columns where there is no terminal, whatever stands in them, and nothing is cut."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from rich.cells import cell_len

from kb_pipeline.adapters.clock import SystemClock
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.cli.tables import fact_lines, table_lines, wrap
from kb_pipeline.records import EvidenceKind
from kb_pipeline.retrieval.queries import query_sha
from kb_pipeline.windows import floor_hour
from kb_pipeline_tests.alert_desk.windows import bad_hours
from kb_pipeline_tests.builders import Upstream, closed_hour, request_body, response_body, settings, street, table
from kb_pipeline_tests.cli.in_process import Left, Terminal
from kb_pipeline_tests.delivery.flips import Flips
from kb_pipeline_tests.judges import WatchedJudge
from kb_pipeline_tests.retrieval.pieces import evidence
from kb_pipeline_tests.retrieval_street.application import Application
from kb_pipeline_tests.retrieval_street.book import book, judge, keep

WIDTH = 80
NOW = datetime.now(UTC)
TENANT_NAME = "dinas-penanaman-modal-dan-pelayanan-terpadu-satu-pintu-bandung"[:60]
MODEL = "organisation/a-judging-model-with-a-name-as-long-as-they-come-70b-instruct"
QUESTION = (
    "Bagaimana tata cara pendaftaran yayasan bagi pemohon yang berkedudukan di luar negeri (東京都千代田区霞が関一丁目"
    "一番一号にある財団法人の設立登記申請書)?"
)
WORDS = "Tabel biaya pendaftaran ada di sana; 東京都千代田区霞が関一丁目一番一号の登記所で確認した。"
DOCUMENT = "peraturan-menteri-hukum-dan-hak-asasi-manusia-nomor-2-tahun-2016-pengesahan-yayasan"

Shown = Callable[..., Left]


@pytest.fixture
def planted(database: Database) -> Database:
    """One turn, one query, one alert and two judge versions, all of them with names as long as they come."""
    hour = closed_hour()
    for number in range(3):
        Upstream(database).turn(
            f"event-{TENANT_NAME}-{number}",
            hour.start,
            tenant=TENANT_NAME,
            request=request_body(QUESTION),
            response=response_body("Biaya pendaftaran yayasan adalah Rp275.000, kata Siti Rahmawati."),
        )
    with WatchedJudge() as watched, street(database, judge_base_url=watched.url, judge_model=MODEL) as grading:
        grading.grade()
    columns = (
        "event_id, ts, status, idempotency_key, calls, prompt_tokens, completion_tokens, latency_ms, faithfulness,"
        " answer_relevance, context_relevance, faithfulness_reason, answer_relevance_reason, context_relevance_reason"
    )
    copy = (
        f"INSERT INTO rag_judge_score (judge_model, prompt_version, judged_at, {columns})"
        f" SELECT %s, prompt_version, now(), {columns} FROM rag_judge_score RETURNING 1"
    )
    table(database, copy, f"another-{MODEL}")
    table(database, "UPDATE rag_judge_score SET faithfulness = .1 WHERE judge_model = %s RETURNING 1", MODEL)
    table(database, "UPDATE rag_judge_score SET prompt_tokens = 123456789 RETURNING 1")
    bad_hours(database, until=floor_hour(NOW), tenant=TENANT_NAME)
    flips = Flips(database, SystemClock())
    flips.fire(TENANT_NAME)
    table(database, "UPDATE kb_alert_outbox SET state = 'dead', reason = %s, settled_at = now() RETURNING 1", WORDS)
    flips.fire(f"{TENANT_NAME}-2")
    _judged(database)
    return database


def _judged(database: Database) -> None:
    Application(database).retrieval(NOW - timedelta(days=3), [DOCUMENT], query=QUESTION)
    Application(database).chunk(DOCUMENT, WORDS, NOW - timedelta(days=30))
    book(database).note_queries()
    kinds = (EvidenceKind.ACCEPTED, EvidenceKind.SETTLED)
    said = {"query_sha": query_sha(QUESTION), "doc_id": DOCUMENT, "observed_at": NOW}
    keep(database, [evidence(kind, 0.5, conversation=number, **said) for number, kind in enumerate(kinds)])
    table(database, "UPDATE kb_evidence SET reason = %s WHERE reason IS NOT NULL RETURNING 1", WORDS)
    judge(database, NOW)


@pytest.fixture
def shown(
    planted: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Shown:
    """What a command shows where there is no terminal."""
    monkeypatch.delenv("COLUMNS", raising=False)
    given = settings(planted, judge_model=MODEL).model_dump(mode="json", include={"rag_quality"}, exclude_defaults=True)
    retrieval = {"enabled": True, "redis_url": "redis://localhost:6379/0"}
    sections = {**given, "retrieval": retrieval, "alerts": {"keep_url": "http://keep.example.org"}}
    return Terminal(tmp_path, capsys, planted, sections).run


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Two runs, their judgments and a labelled triad."""
    name = f"run-{TENANT_NAME}-{TENANT_NAME}"
    for number, order in enumerate(("ab", "ba")):
        lines = (f"q{query} Q0 {each} {rank} {-rank} x\n" for query in range(9) for rank, each in enumerate(order, 1))
        (tmp_path / f"{name}-{number}").write_text("".join(lines))
    (tmp_path / "qrels").write_text("".join(f"q{query} 0 a 1\nq{query} 0 b 0\n" for query in range(9)))
    triad = {"question": QUESTION, "passages": [{"text": WORDS}], "source": TENANT_NAME, "lang": "id"}
    labelled = [
        {**triad, "id": str(label), "answer": answer, "label_faithful": label, "meta": {"label_kind": "human, edited"}}
        for label, answer in enumerate(("Gratis.", WORDS))
    ]
    (tmp_path / "triads.jsonl").write_text("\n".join(map(json.dumps, labelled)))
    return tmp_path


def commands(files: Path) -> dict[str, list[str | Path]]:
    """Every command that shows a table."""
    run = f"run-{TENANT_NAME}-{TENANT_NAME}"
    return {
        "review": ["review"],
        "costs": ["costs", "--by", "hour"],
        "compare-judges": ["compare-judges", "--since", "2d"],
        "calibrate": ["calibrate", "--reference-judge", "--dataset", files / "triads.jsonl"],
        "attack": ["attack", "--reference-judge"],
        "eval": ["eval", "--run", files / f"{run}-0", "--run", files / f"{run}-1", "--qrels", files / "qrels"],
        "ground-truth explain": ["ground-truth", "explain", "--query", QUESTION, "--doc", DOCUMENT],
        "explain": ["explain", f"event-{TENANT_NAME}-0"],
        "alerts evaluate": ["alerts", "evaluate"],
        "alerts list": ["alerts", "list", "--history", "1d"],
        "alerts simulate": ["alerts", "simulate", "--rule", "rag_low_faithfulness", "--since", "9h", "--months", "1"],
    }


def test_no_table_is_wider_than_80_columns_without_a_terminal_and_no_name_is_cut(shown: Shown, files: Path) -> None:
    whole = {
        "review": [f"event-{TENANT_NAME}-2", QUESTION[:60]],
        "costs": [MODEL],
        "compare-judges": [f"another-{MODEL}"[:12], MODEL[-6:], f"event-{TENANT_NAME}-2"],
        "calibrate": [TENANT_NAME[:12], TENANT_NAME[-4:]],
        "eval": [f"run-{TENANT_NAME}-{TENANT_NAME}-1"],
        "ground-truth explain": [QUESTION, DOCUMENT, WORDS],
        "explain": [f"event-{TENANT_NAME}-0", TENANT_NAME],
        "alerts list": [f"{TENANT_NAME}-2:public", WORDS],
    }
    for name, arguments in commands(files).items():
        left = shown(*arguments)
        assert left.code == 0, (name, left.err)
        wide = [line for line in left.out.splitlines() if cell_len(line) > WIDTH]
        assert not wide, (name, wide)
        assert left.out.count("\n") > 1
        pieces = re.sub(r"\s", "", left.out)
        for text in whole.get(name, []):
            assert re.sub(r"\s", "", text) in pieces, (name, text)


def test_a_terminal_that_is_wider_is_used_and_a_narrow_one_is_kept_to(
    shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    widest = {}
    for columns in (50, 200):
        monkeypatch.setenv("COLUMNS", str(columns))
        widest[columns] = max(map(cell_len, shown("costs").out.splitlines()))
    assert widest[50] <= 50 < WIDTH < widest[200]


def test_columns_sink_below_their_row_and_rows_become_blocks_where_they_do_not_fit() -> None:
    titles, row = ("id", "n", "question"), ("x" * 20, "3", "satu dua tiga empat lima enam tujuh delapan")
    wide = table_lines(titles, [row], numbers={"n"}, sinking={"question"}, width=80)
    assert wide[2].split() == ["x" * 20, "3", *row[2].split()]
    sunk = table_lines(titles, [row], numbers={"n"}, sinking={"question"}, width=40)
    assert sunk[2:] == [f"{'x' * 20}  3", "    question: satu dua tiga empat lima", "    enam tujuh delapan"]
    blocks = table_lines(titles, [row, row], width=40)
    one = [f"id        {'x' * 20}", "n         3", "question  satu dua tiga empat lima enam", "          tujuh delapan"]
    assert blocks == [*one, "", *one]


def test_wide_characters_take_two_cells_and_a_word_without_end_is_broken() -> None:
    assert wrap("東京都 千代田区", 8) == ["東京都", "千代田区"]
    assert wrap("a" * 25, 10, hanging=2) == ["a" * 10, "  " + "a" * 8, "  " + "a" * 7]
    assert fact_lines({"name": "one two", "n": "3"}, 60) == ["name  one two", "n     3"]
    assert wrap("a\nb\x1b[2J", 40) == ["a\\nb\\x1b[2J"]


def test_an_id_that_is_too_long_for_its_column_stays_whole_on_a_line_of_its_own() -> None:
    digest = "9" * 64
    assert fact_lines({"a name of thirty characters, or": digest}, 80) == [
        "a name of thirty characters, or",
        f"  {digest}",
    ]
