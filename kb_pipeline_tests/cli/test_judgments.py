"""`ground-truth explain` and `settle` as a user meets them."""

from datetime import UTC, datetime, timedelta

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.records import EvidenceKind
from kb_pipeline.retrieval.queries import query_sha
from kb_pipeline_tests.builders import table
from kb_pipeline_tests.cli.command import assert_one_sentence
from kb_pipeline_tests.cli.test_database_commands import Run
from kb_pipeline_tests.retrieval.pieces import evidence
from kb_pipeline_tests.retrieval_street.application import OTHER, TENANT, Application
from kb_pipeline_tests.retrieval_street.book import book, judge, keep

pytestmark = pytest.mark.postgres

NOW = datetime.now(UTC)
QUERY = "Berapa biaya pendaftaran?"
ASKED = ("--query", QUERY, "--doc", "biaya")
TENANTED = ("--org", str(TENANT.org_id), "--specialist", str(TENANT.specialist_id))
WORD = ("--author", "Ratna", "--reason", "Tabel [biaya] ada di sana.")


@pytest.fixture
def judged(database: Database) -> Database:
    """A database where two conversations accepted a draft on the document."""
    Application(database).retrieval(NOW - timedelta(days=3), ["biaya"], query=QUERY)
    Application(database).chunk("biaya", "Biaya pendaftaran.", NOW - timedelta(days=30))
    book(database).note_queries()
    keep(
        database,
        [
            evidence(
                EvidenceKind.ACCEPTED,
                0.5,
                conversation=number,
                query_sha=query_sha(QUERY),
                doc_id="biaya",
                observed_at=NOW,
            )
            for number in (1, 2)
        ],
    )
    judge(database, NOW)
    return database


def test_explain_shows_the_judgment_and_a_row_per_piece_of_evidence(judged: Database, run: Run) -> None:
    shown = run(judged, "ground-truth", "explain", *ASKED)
    assert (shown.code, shown.err) == (0, "")
    facts = {line.split()[0]: line.split(maxsplit=1)[1] for line in shown.out.splitlines() if " " in line.strip()}
    assert (facts["query"], facts["judgment"], facts["positive"]) == (QUERY, "grade 2", "1.000")
    assert shown.out.count("accepted") == 2
    assert shown.out.count("+0.50") == 4
    assert table(judged, "SELECT actor, purpose FROM kb_access_record") == [
        ("kb_pipeline_grader", "ground-truth explain")
    ]


def test_explain_as_json_has_every_fact(judged: Database, run: Run) -> None:
    said = run(judged, "ground-truth", "explain", "--query", query_sha(QUERY), "--doc", "biaya", *TENANTED, "--json")
    assert (said.json["query"], said.json["stored"]["grade"], said.json["current"]["grade"]) == (QUERY, 2, 2)
    assert [each["standing"] for each in said.json["evidence"]] == ["counts", "counts"]
    assert said.json["evidence"][0]["evidence"]["kind"] == "accepted"


def test_settle_says_when_it_counts_and_explain_shows_the_word(judged: Database, run: Run) -> None:
    settled = run(judged, "ground-truth", "settle", *ASKED, *WORD, "--not-relevant")
    assert (settled.code, settled.out.splitlines()[0]) == (0, "noted; it counts from the next harvest on")
    shown = run(judged, "ground-truth", "explain", *ASKED).out
    assert "the next harvest makes it grade 0" in shown
    row, said = shown.splitlines()[-2:]
    assert ("settled" in row, row.split().count("-1.00")) == (True, 2)
    assert said == "    Ratna: Tabel [biaya] ada di sana."
    assert table(judged, "SELECT weight FROM kb_evidence WHERE kind = 'settled'") == [(-1.0,)]


def test_a_few_digits_of_a_query_sha_name_the_query(judged: Database, run: Run) -> None:
    digits = query_sha(QUERY)[:6]
    said = run(judged, "ground-truth", "explain", "--query", digits, "--doc", "biaya", "--json")
    assert said.json["query_sha"] == query_sha(QUERY)
    short = run(judged, "ground-truth", "explain", "--query", digits[:5], "--doc", "biaya")
    assert "no such query" in short.err
    plant_sha(judged, digits + "0" * 58)
    refused = run(judged, "ground-truth", "explain", "--query", digits, "--doc", "biaya")
    assert refused.code == 1
    assert_one_sentence(refused.err)
    assert "several queries" in refused.err
    more = query_sha(QUERY)[:12]
    assert run(judged, "ground-truth", "settle", "--query", more, "--doc", "biaya", *WORD, "--relevant").code == 0


def test_words_that_are_digits_too_are_taken_as_words(judged: Database, run: Run) -> None:
    Application(judged).retrieval(NOW - timedelta(days=2), ["biaya"], query="facade")
    book(judged).note_queries()
    plant_sha(judged, "facade" + "0" * 58)
    said = run(judged, "ground-truth", "settle", "--query", "facade", "--doc", "biaya", *WORD, "--relevant", "--json")
    assert said.json["query_sha"] == query_sha("facade")


def plant_sha(database: Database, sha: str) -> None:
    """A query of the tenant under this hash."""
    with database.connect() as connection:
        connection.execute(
            "INSERT INTO kb_query (org_id, specialist_id, query_sha, query, first_seen_at, last_seen_at)"
            " VALUES (%s, %s, %s, 'lain', %s, %s)",
            (TENANT.org_id, TENANT.specialist_id, sha, NOW, NOW),
        )


def test_what_is_not_known_is_one_sentence_without_the_query(judged: Database, run: Run) -> None:
    for arguments in (
        ("explain", "--query", "Rahasia saya?", "--doc", "biaya"),
        ("explain", "--query", QUERY, "--doc", "lain"),
        ("settle", "--query", "Rahasia saya?", "--doc", "biaya", *WORD, "--relevant"),
        ("settle", "--query", QUERY, "--doc", "lain", *WORD, "--relevant"),
        ("explain", *ASKED, "--org", str(OTHER.org_id), "--specialist", str(OTHER.specialist_id)),
    ):
        refused = run(judged, "ground-truth", *arguments)
        assert refused.code == 1
        assert_one_sentence(refused.err)
        assert "Rahasia" not in refused.err
        assert refused.out == ""


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("explain", *ASKED, *TENANTED[:2]), "give both --org and --specialist"),
        (("settle", *ASKED, *WORD), "--relevant or --not-relevant"),
        (("settle", *ASKED, "--relevant", "--author", "Ratna"), "Missing option '--reason'"),
        (("settle", *ASKED, "--relevant", "--author", "", "--reason", "Tabel."), "'--author': it is empty"),
        (("settle", *ASKED, "--relevant", "--author", "Ratna", "--reason", " "), "'--reason': it is empty"),
        (("explain", "--doc", "biaya"), "Missing option '--query'"),
        (("explane",), "did you mean explain?"),
    ],
)
def test_wrong_usage_is_said_before_anything_is_read(
    judged: Database,
    run: Run,
    arguments: tuple[str, ...],
    complaint: str,
) -> None:
    refused = run(judged, "ground-truth", *arguments)
    assert refused.code == 2
    assert_one_sentence(refused.err)
    assert complaint in refused.err
