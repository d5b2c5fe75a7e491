"""Outcomes of an hour, derived and derived again: beside each other, after the fact, and after deletions."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.retrieval.drafts import PostgresDrafts
from kb_pipeline.adapters.postgres.retrieval.outcomes import PostgresOutcomes
from kb_pipeline.records import DraftOutcome
from kb_pipeline.retrieval.outcomes import derive_outcome
from kb_pipeline.steps.outcomes import derive_outcomes
from kb_pipeline.windows import Window
from kb_pipeline_tests.builders import closed_hour, table
from kb_pipeline_tests.retrieval_street.application import DRAFT, OTHER, QUERY, WRONG, Application

pytestmark = pytest.mark.postgres

HOUR = closed_hour(30)
MINUTE = timedelta(minutes=1)
LATE = timedelta(hours=3)


def derive(database: Database, window: Window = HOUR, **options: Any) -> dict[str, int | float]:
    report = derive_outcomes(window, drafts=PostgresDrafts(database), book=PostgresOutcomes(database), **options)
    return {name: count for name, count in report.counts.items() if count}


def forget(database: Database, window: Window = HOUR) -> int:
    return PostgresOutcomes(database).forget_deleted(window)


def change(database: Database, statement: str, *values: object) -> None:
    with database.connect() as connection:
        connection.execute(statement.encode(), values)


def outcomes(database: Database) -> list[tuple[Any, ...]]:
    """Every outcome with the transaction that wrote it."""
    return table(database, "SELECT xmin::text, o.* FROM kb_draft_outcome AS o ORDER BY o.message_id")


def drafts_of(database: Database, count: int = 6) -> list[UUID]:
    """Accepted, corrected and undecided drafts in turn, with their retrievals."""
    application = Application(database)
    made = [application.served(HOUR.start + MINUTE * number) for number in range(count)]
    for number, message_id in enumerate(made):
        if number % 3 == 0:
            application.decide(message_id, HOUR.start + 30 * MINUTE)
        elif number % 3 == 1:
            application.correct(message_id, HOUR.start + 31 * MINUTE, WRONG)
    return made


def test_a_second_run_touches_no_row(database: Database) -> None:
    drafts_of(database)
    assert derive(database) == {"derived": 6, "accepted": 2, "edited_heavy": 2, "pending": 2, "changed": 6}
    before = outcomes(database)
    assert derive(database) == {}
    assert PostgresOutcomes(database).save([]) == 0
    assert outcomes(database) == before


def test_saving_what_is_there_already_touches_no_row_and_says_so(database: Database) -> None:
    drafts_of(database)
    book = _Listening(database)
    derive_outcomes(HOUR, drafts=PostgresDrafts(database), book=book)
    before = outcomes(database)
    assert PostgresOutcomes(database).save(book.saved) == 0
    assert outcomes(database) == before


def test_only_the_draft_that_changed_is_derived_and_written_again(database: Database) -> None:
    made = drafts_of(database)
    derive(database)
    before = {row[1]: row for row in outcomes(database)}
    Application(database).correct(made[1], HOUR.start + 40 * MINUTE, f"Halo! {DRAFT}")
    assert derive(database) == {"derived": 1, "edited_light": 1, "changed": 1}
    changed = {row[1] for row in outcomes(database) if row != before[row[1]]}
    assert changed == {made[1]}


def test_progress_is_told_chunk_by_chunk(database: Database) -> None:
    drafts_of(database, 5)
    heard: list[int] = []
    derive(database, chunk=2, on_progress=heard.append)
    assert heard == [2, 2, 1]


def test_a_correction_that_comes_a_day_late_changes_the_hour_of_the_decision(database: Database) -> None:
    application = Application(database)
    message_id = application.served(HOUR.start)
    application.decide(message_id, HOUR.start + MINUTE)
    derive(database)
    change(
        database,
        "INSERT INTO upstream.corrections (message_id, original_text, corrected_text, created_at)"
        " VALUES (%s, '', %s, %s)",
        message_id,
        WRONG,
        HOUR.start + timedelta(days=1),
    )
    (lagging,) = PostgresDrafts(database).lagging(Window(HOUR.start, datetime.now(UTC)))
    assert lagging.hour == HOUR
    assert derive(database) == {"derived": 1, "edited_heavy": 1, "changed": 1}


def test_a_question_asked_again_marks_the_draft_and_stays_a_mark_when_its_words_expire(database: Database) -> None:
    application = Application(database)
    conversation_id = uuid4()
    message_id = application.draft(HOUR.start, conversation_id=conversation_id)
    application.retrieval(HOUR.start, conversation_id=conversation_id, message_id=message_id)
    application.decide(message_id, HOUR.start + MINUTE, "rejected", "Sumber salah")
    application.retrieval(HOUR.start + LATE, conversation_id=conversation_id, query=f"{QUERY} ya?")
    derive(database)
    marks = "SELECT rephrased, wrong_source, suspect FROM kb_draft_outcome"
    assert table(database, marks) == [(True, True, True)]
    change(database, "UPDATE kb_retrieval_event SET query = '', text_expired_at = now()")
    change(database, "UPDATE kb_draft_outcome SET rule_version = 'older'")
    assert derive(database)["changed"] == 1
    assert table(database, marks) == [(True, True, True)]
    application.decide(message_id, HOUR.start + MINUTE)
    derive(database)
    assert table(database, marks) == [(False, False, False)]


class _Slow(PostgresOutcomes):
    """A book that takes its time, so that runs overlap."""

    def save(self, outcomes: Sequence[DraftOutcome]) -> int:
        time.sleep(0.02)
        return super().save(outcomes)


class _Listening(PostgresOutcomes):
    """A book that remembers what it was given."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.saved: list[DraftOutcome] = []

    def save(self, outcomes: Sequence[DraftOutcome]) -> int:
        self.saved += outcomes
        return super().save(outcomes)


def test_runs_of_one_hour_at_once_derive_every_draft_once(database: Database) -> None:
    drafts_of(database, 12)

    def run(_: int) -> float:
        report = derive_outcomes(HOUR, drafts=PostgresDrafts(database), book=_Slow(database), chunk=2)
        return report.counts["derived"]

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(run, range(4))) == [0, 0, 0, 12]
    assert len(outcomes(database)) == 12


def test_a_run_that_began_later_does_not_lose_to_one_that_read_earlier(database: Database) -> None:
    (message_id,) = drafts_of(database, 1)
    drafts, book = PostgresDrafts(database), PostgresOutcomes(database)
    later = threading.Thread(target=derive, args=(database,))
    with drafts.changed_in(HOUR, chunk=10) as chunks:
        stale = next(iter(chunks))
        Application(database).decide(message_id, HOUR.start + 30 * MINUTE, "rejected")
        later.start()
        time.sleep(0.3)
        assert later.is_alive(), "whoever reads the same hour waits"
        book.save([derive_outcome(draft) for draft in stale])
    later.join()
    assert table(database, "SELECT outcome FROM kb_draft_outcome") == [("rejected",)]


def test_runs_of_different_hours_do_not_wait_for_each_other(database: Database) -> None:
    drafts_of(database)
    with PostgresDrafts(database).changed_in(HOUR, chunk=10):
        assert derive(database, closed_hour(29)) == {}


@pytest.mark.slow
def test_while_experts_decide_and_sources_delete_runs_of_every_hour_end_at_the_truth(database: Database) -> None:
    application = Application(database)
    hours = [closed_hour(back) for back in (30, 29, 28)]
    made = [application.served(hours[0].start + MINUTE * (number % 50)) for number in range(30)]
    until = time.monotonic() + 4

    def run(seed: int) -> None:
        while time.monotonic() < until:
            derive(database, hours[seed % 3], chunk=3)

    with ThreadPoolExecutor(4) as pool:
        work = [pool.submit(run, seed) for seed in range(4)]
        for number, message_id in enumerate(made):
            if number % 5 == 4:
                change(database, "DELETE FROM upstream.messages WHERE id = %s", message_id)
            else:
                application.decide(message_id, hours[number % 3].start + 55 * MINUTE)
            time.sleep(0.1)
        for each in work:
            each.result()
    settled(database, hours)
    kept = [message_id for number, message_id in enumerate(made) if number % 5 != 4]
    assert {row[1] for row in outcomes(database)} == set(kept)
    assert {row[8] for row in outcomes(database)} == {"accepted"}


def settled(database: Database, hours: Sequence[Window]) -> None:
    """What the next runs do: the hours that lag, until none does."""
    whole = Window(min(hours).start, max(hours).end)
    for _ in range(3):
        for each in PostgresDrafts(database).lagging(whole):
            derive(database, each.hour)
        for hour, _drafts in PostgresOutcomes(database).hours_to_forget(whole):
            forget(database, hour)
    assert PostgresDrafts(database).lagging(whole) == []
    assert PostgresOutcomes(database).hours_to_forget(whole) == []


TRACES: dict[str, str] = {
    "outcomes": "SELECT count(*) FROM kb_draft_outcome WHERE message_id = %s",
    "evidence": "SELECT count(*) FROM kb_evidence WHERE message_id = %s",
    "diagnoses": "SELECT count(*) FROM kb_retrieval_gap WHERE message_id = %s",
    "queries": "SELECT count(*) FROM kb_retrieval_event WHERE message_id = %s AND query <> ''",
    "other words": "SELECT count(*) FROM kb_retrieval_event WHERE message_id = %s AND query_rewritten IS NOT NULL",
    "second events": "SELECT count(*) FROM kb_retrieval_event_conflict WHERE message_id = %s AND event IS NOT NULL",
    "searches": "SELECT count(*) FROM kb_search_event WHERE message_id = %s AND query IS NOT NULL",
}


def traces(database: Database, message_id: UUID) -> dict[str, int]:
    return {name: table(database, statement, message_id)[0][0] for name, statement in TRACES.items()}


def traced(database: Database, message_id: UUID) -> None:
    """Everything else that we keep of a draft."""
    change(database, "UPDATE kb_retrieval_event SET query_rewritten = 'izin keluar' WHERE message_id = %s", message_id)
    change(
        database,
        "INSERT INTO kb_evidence (org_id, specialist_id, query_sha, doc_id, kind, weight, message_id, observed_at,"
        " rule_version, superseded_at) SELECT org_id, specialist_id, repeat('0', 64), 'permit', 'accepted', .5,"
        " message_id, now(), 'r', superseded_at FROM kb_draft_outcome, (VALUES (NULL), (now())) AS v (superseded_at)"
        " WHERE message_id = %s",
        message_id,
    )
    change(
        database,
        "INSERT INTO kb_retrieval_gap (message_id, org_id, specialist_id, conversation_id, event_id, query_sha, engine,"
        " kind, decided_at, source_state, rule_version) SELECT message_id, org_id, specialist_id, conversation_id,"
        " event_id, 'q', 'e', 'kb_gap', decided_at, 's', 'r' FROM kb_draft_outcome WHERE message_id = %s",
        message_id,
    )
    change(
        database,
        "INSERT INTO kb_retrieval_event_conflict (id, message_id, org_id, specialist_id, event)"
        " SELECT gen_random_uuid(), message_id, org_id, specialist_id, '{}' FROM kb_draft_outcome"
        " WHERE message_id = %s",
        message_id,
    )
    Application(database).search(HOUR.start, message_id=message_id)


def test_of_a_deleted_draft_nothing_stays_but_keys(database: Database) -> None:
    made = drafts_of(database)
    derive(database)
    for message_id in (made[0], made[4]):
        traced(database, message_id)
        assert traces(database, message_id) == {**dict.fromkeys(TRACES, 1), "evidence": 2}
    change(database, "DELETE FROM upstream.messages WHERE id = %s", made[4])
    assert PostgresOutcomes(database).hours_to_forget(HOUR) == [(HOUR, 1)]
    assert derive(database) == {"forgotten": 1}
    assert traces(database, made[4]) == dict.fromkeys(TRACES, 0)
    assert traces(database, made[0]) == {**dict.fromkeys(TRACES, 1), "evidence": 2}
    assert table(database, "SELECT count(*) FROM kb_retrieval_event WHERE text_expired_at IS NOT NULL") == [(1,)]
    assert PostgresOutcomes(database).hours_to_forget(HOUR) == []
    assert derive(database) == {}


def test_an_undecided_draft_is_forgotten_in_the_hour_it_was_made_in(database: Database) -> None:
    made = drafts_of(database)
    derive(database)
    change(database, "DELETE FROM upstream.messages WHERE id = %s", made[2])
    assert forget(database, closed_hour(29)) == 0
    assert forget(database) == 1


VIEW_OF_NOTHING = (
    "CREATE OR REPLACE VIEW kb_source.message AS SELECT id AS message_id, conversation_id, org_id, specialist_id,"
    " role, content, trace_id, created_at FROM upstream.messages WHERE false"
)


@pytest.mark.parametrize(
    "emptied",
    ["DELETE FROM upstream.messages", VIEW_OF_NOTHING, "DROP VIEW kb_source.message"],
    ids=["emptied", "view of nothing", "unmapped"],
)
def test_a_source_that_shows_nothing_at_all_has_deleted_nothing(database: Database, emptied: str) -> None:
    drafts_of(database)
    derive(database)
    change(database, emptied)
    assert forget(database) == 0
    assert PostgresOutcomes(database).hours_to_forget(HOUR) == []
    assert len(outcomes(database)) == 6


def test_rows_of_others_do_not_make_an_emptied_source_look_full(database: Database) -> None:
    """After a table was emptied, new messages come in; ours are still not deleted one by one."""
    drafts_of(database)
    derive(database)
    change(database, "DELETE FROM upstream.messages")
    Application(database, OTHER).draft(HOUR.end + LATE)
    assert forget(database) == 0


def test_a_draft_older_than_all_that_the_source_still_has_was_purged_and_keeps_its_outcome(database: Database) -> None:
    made = drafts_of(database)
    derive(database)
    change(database, "DELETE FROM upstream.messages WHERE created_at <= %s", HOUR.start + 2 * MINUTE)
    assert forget(database) == 0
    change(database, "DELETE FROM upstream.messages WHERE id = %s", made[4])
    assert forget(database) == 1
    assert len(outcomes(database)) == 5


def test_a_draft_that_lost_its_role_is_not_deleted(database: Database) -> None:
    made = drafts_of(database)
    derive(database)
    change(database, "UPDATE upstream.messages SET role = 'expert' WHERE id = %s", made[4])
    assert forget(database) == 0


def test_a_run_that_fails_half_way_keeps_its_chunks_and_the_next_one_does_the_rest(database: Database) -> None:
    drafts_of(database)

    class Failing(PostgresOutcomes):
        calls = 0

        def save(self, outcomes: Sequence[DraftOutcome]) -> int:
            self.calls += 1
            if self.calls == 2:
                raise RuntimeError("killed")
            return super().save(outcomes)

    with pytest.raises(RuntimeError, match="killed"):
        derive_outcomes(HOUR, drafts=PostgresDrafts(database), book=Failing(database), chunk=2)
    assert len(outcomes(database)) == 2
    assert derive(database)["derived"] == 4


def test_a_number_of_drafts_of_any_kind_adds_up(database: Database) -> None:
    application = Application(database)
    decide: list[Callable[[UUID, datetime], None]] = [
        application.decide,
        lambda message_id, at: application.decide(message_id, at, "rejected"),
        lambda message_id, at: application.correct(message_id, at, f"{DRAFT} Terima kasih."),
        lambda message_id, at: application.correct(message_id, at, WRONG),
        lambda message_id, at: None,  # noqa: ARG005
    ]
    for number in range(20):
        decide[number % 5](application.served(HOUR.start), HOUR.start + MINUTE)
    counts = derive(database)
    assert counts == {
        "derived": 20, "changed": 20, "accepted": 4, "rejected": 4, "edited_light": 4, "edited_heavy": 4, "pending": 4,
    }  # fmt: skip
