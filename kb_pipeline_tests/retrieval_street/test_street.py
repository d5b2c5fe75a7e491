"""The street on the example application: runs, backlog, late events and decisions, deletion, retention."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.retrieval.drafts import PostgresDrafts
from kb_pipeline.adapters.postgres.retrieval.explanation import explain_judgment
from kb_pipeline.adapters.postgres.retrieval.gaps import PostgresGaps
from kb_pipeline.adapters.postgres.retrieval.knowledge import PostgresKnowledge
from kb_pipeline.errors import SettingsError
from kb_pipeline.retrieval.evidence import evidence_of
from kb_pipeline.retrieval.gaps import diagnose
from kb_pipeline.retrieval.knowledge import KnowledgeIndex
from kb_pipeline.retrieval_street import RetrievalStreet, spans
from kb_pipeline.settings import Settings
from kb_pipeline.windows import HOUR, Window
from kb_pipeline_tests.builders import closed_hour, table
from kb_pipeline_tests.retrieval_street.application import OTHER, PERMIT, QUERY, WRONG, Application, settings
from kb_pipeline_tests.retrieval_street.book import book

pytestmark = pytest.mark.postgres

DERIVED = ("kb_draft_outcome", "kb_retrieval_gap", "kb_retrieval_window", "kb_evidence", "kb_ground_truth", "kb_query")


@contextmanager
def street(database: Database, **changes: Any) -> Iterator[RetrievalStreet]:
    with RetrievalStreet.open(settings(database, **changes)) as opened:
        yield opened


def everything(database: Database) -> dict[str, list[tuple[Any, ...]]]:
    """Every derived row, with the transaction that wrote it: equal only where no row was touched."""
    return {name: table(database, f"SELECT xmin::text, t.* FROM {name} AS t ORDER BY 2, 3, 4, 5") for name in DERIVED}


def planted(database: Database, hour: Window) -> dict[str, UUID]:
    """A tenant's knowledge base, and one draft each: accepted, corrected, rejected, waiting."""
    ours = Application(database)
    ours.chunk("permit", PERMIT, datetime(2020, 1, 1, tzinfo=UTC))
    early = hour.start - 3 * HOUR
    drafts = {
        "accepted": ours.served(early + timedelta(minutes=1)),
        "corrected": ours.served(early, WRONG, ["passport", "permit"]),
        "rejected": ours.served(early),
        "waiting": ours.served(hour.start),
    }
    at = hour.start + timedelta(minutes=10)
    ours.decide(drafts["accepted"], at)
    ours.correct(drafts["corrected"], at, PERMIT)
    ours.decide(drafts["rejected"], at, "rejected", "sumber salah")
    return drafts


def hours(opened: RetrievalStreet) -> dict[Window, dict[str, int]]:
    return {each.hour: each.lagging for each in opened.backlog()}


def test_a_run_derives_every_hour_with_work_and_harvests_once(database: Database) -> None:
    hour = closed_hour(4)
    drafts = planted(database, hour)
    with street(database) as opened:
        assert {each.hour for each in opened.backlog()} == {hour, Window(hour.start - 3 * HOUR, hour.start - 2 * HOUR)}
        report = opened.run()
        assert opened.backlog() == []
    outcomes = dict(table(database, "SELECT message_id, outcome FROM kb_draft_outcome"))
    assert outcomes == {
        drafts["accepted"]: "accepted",
        drafts["corrected"]: "edited_heavy",
        drafts["rejected"]: "rejected",
        drafts["waiting"]: "pending",
    }
    assert table(database, "SELECT message_id FROM kb_retrieval_gap") == [(drafts["corrected"],)]
    assert table(database, "SELECT sum(retrievals) FROM kb_retrieval_window") == [(4,)]
    assert ("permit",) in table(database, "SELECT doc_id FROM kb_ground_truth WHERE grade >= 1")
    assert report.hours == 2
    assert report.outcomes["derived"] == 4
    assert report.windows["windows_changed"] == 2
    assert report.harvest["drafts"] == 3


def test_a_second_run_finds_no_work_and_touches_no_row(database: Database) -> None:
    planted(database, closed_hour(4))
    with street(database) as opened:
        opened.run()
        before = everything(database)
        report = opened.run()
    assert report.hours == 0
    assert everything(database) == before
    assert all(before.values())


def test_a_decision_that_comes_days_later_reopens_the_hour_it_is_made_in(database: Database) -> None:
    hour = closed_hour(50)
    drafts = planted(database, hour)
    with street(database) as opened:
        opened.run()
        decided = closed_hour(2)
        Application(database).decide(drafts["waiting"], decided.start)
        assert hours(opened) == {decided: {"outcomes": 1}}
        report = opened.run()
        assert opened.backlog() == []
    assert report.outcomes["accepted"] == 1
    found = table(database, "SELECT outcome, decided_at FROM kb_draft_outcome WHERE message_id = %s", drafts["waiting"])
    assert found == [("accepted", decided.start)]


def test_an_event_that_comes_hours_late_reopens_the_hour_it_happened_in(database: Database) -> None:
    ours, old = Application(database), closed_hour(30)
    ours.retrieval(old.start)
    with street(database) as opened:
        opened.run()
        ours.retrieval(old.start + timedelta(minutes=1))
        assert hours(opened) == {old: {"windows": 1}}
        opened.run()
        assert opened.backlog() == []
    assert table(database, "SELECT hour, retrievals FROM kb_retrieval_window") == [(old.start, 2)]


def test_an_event_that_was_committed_late_is_counted_although_it_is_not_the_newest(database: Database) -> None:
    ours, old = Application(database), closed_hour(30)
    ours.retrieval(old.start)
    with street(database) as opened:
        opened.run()
        ours.retrieval(old.start, created_at=datetime.now(UTC) - timedelta(minutes=5))
        assert hours(opened) == {old: {"windows": 1}}


def test_the_draft_of_a_late_event_is_derived_and_harvested_again(database: Database) -> None:
    ours, hour = Application(database), closed_hour(4)
    ours.chunk("permit", PERMIT, datetime(2020, 1, 1, tzinfo=UTC))
    conversation = uuid4()
    message_id = ours.draft(hour.start, conversation_id=conversation)
    ours.decide(message_id, hour.start + timedelta(minutes=5))
    with street(database) as opened:
        opened.run()
        assert table(database, "SELECT count(*) FROM kb_evidence") == [(0,)]
        ours.retrieval(hour.start, message_id=message_id, conversation_id=conversation)
        assert hours(opened) == {hour: {"outcomes": 1, "windows": 1}}
        opened.run()
        assert opened.backlog() == []
    assert table(database, "SELECT doc_id, kind FROM kb_evidence") == [("permit", "accepted")]


def test_progress_changes_with_the_work_and_only_with_it(database: Database) -> None:
    ours, old = Application(database), closed_hour(30)
    ours.served(old.start)
    with street(database) as opened:
        (first,) = opened.backlog()
        assert opened.backlog() == [first]
        ours.served(old.start)
        (second,) = opened.backlog()
    assert second.progress != first.progress


def test_a_bounded_look_leaves_out_what_lies_before_it(database: Database) -> None:
    ours = Application(database)
    for back in (2, 24 * 20):
        ours.served(closed_hour(back).start)
    with street(database) as opened:
        assert [each.hour for each in opened.backlog(look_back=timedelta(days=7))] == [closed_hour(2)]
        assert len(opened.backlog()) == 2


def test_diagnoses_that_a_crash_left_out_are_found_again(database: Database) -> None:
    drafts = planted(database, hour := closed_hour(4))
    with street(database) as opened:
        opened.run()
        table(database, "DELETE FROM kb_retrieval_gap RETURNING 1")
        assert hours(opened) == {hour: {"gaps": 1}}
        opened.run()
        assert opened.backlog() == []
        table(database, "UPDATE kb_retrieval_gap SET rule_version = 'older' RETURNING 1")
        assert hours(opened) == {hour: {"gaps": 1}}
        table(database, "UPDATE kb_retrieval_event SET query = E' \\n\\u00a0', text_expired_at = now() RETURNING 1")
        assert opened.backlog() == [], "of a query past its retention nothing can be diagnosed any more"
    assert table(database, "SELECT message_id FROM kb_retrieval_gap") == [(drafts["corrected"],)]


def test_since_and_until_choose_hours_and_the_ground_truth_is_made_all_the_same(database: Database) -> None:
    ours = Application(database)
    ours.chunk("permit", PERMIT, datetime(2020, 1, 1, tzinfo=UTC))
    for back in (10, 20, 30):
        ours.decide(ours.served(closed_hour(back).start), closed_hour(back).start + timedelta(minutes=5))
    with street(database) as opened:
        report = opened.run(since=closed_hour(20).start, until=closed_hour(10).start)
        assert report.hours == 1
        assert [each.hour for each in opened.backlog()] == [closed_hour(30), closed_hour(10)]
    assert report.harvest["drafts"] == 1


def test_progress_is_told_by_the_hour_and_by_the_draft(database: Database) -> None:
    planted(database, closed_hour(4))
    heard: list[tuple[str, int]] = []
    with street(database) as opened:
        opened.run(on_progress=lambda step, more: heard.append((step, more)))
    assert heard == [("hours", 1), ("hours", 1), ("drafts", 3)]


def test_a_switched_off_street_says_so_and_does_nothing(database: Database) -> None:
    planted(database, closed_hour(4))
    with street(database, enabled=False) as opened, pytest.raises(SettingsError, match=r"retrieval\.enabled is false"):
        opened.run()
    assert not any(everything(database).values())


def test_without_any_view_of_the_operators_there_are_windows_and_no_labels(database: Database) -> None:
    for back in (4, 40):
        Application(database).retrieval(closed_hour(back).start)
    with database.connect() as connection:
        connection.execute("DROP SCHEMA kb_source CASCADE")
    with street(database) as opened:
        report = opened.run()
        assert opened.backlog() == []
    assert report.windows["windows_changed"] == 2
    assert report.outcomes["views_absent"] == 3
    assert report.harvest["knowledge_base_mapped"] == 0


def test_a_draft_that_the_source_deleted_leaves_at_the_next_run(database: Database) -> None:
    drafts = planted(database, hour := closed_hour(4))
    with street(database) as opened:
        opened.run()
        table(database, "DELETE FROM upstream.messages WHERE id = %s RETURNING 1", drafts["accepted"])
        assert hours(opened) == {hour: {"deleted": 1}}
        opened.run()
        assert opened.backlog() == []
    assert (drafts["accepted"],) not in table(database, "SELECT message_id FROM kb_draft_outcome")


def test_retention_takes_words_previews_and_events_in_their_time_and_leaves_judgments(database: Database) -> None:
    planted(database, closed_hour(24 * 100))
    with street(database) as opened:
        opened.run()
        opened.expire()
        assert table(database, "SELECT query_preview, query FROM kb_query") == [(None, QUERY)]
    judgments = "SELECT count(*) FROM kb_ground_truth"
    before = table(database, judgments)
    assert before != [(0,)]
    given = settings(database).model_dump()
    given["retention"] |= {"query_text_days": 99, "quality_days": 99}
    given["database"]["url"] = database.url.render_as_string(hide_password=False)
    given["retrieval"]["redis_url"] = "redis://localhost:6379/0"
    with RetrievalStreet.open(Settings.model_validate(given)) as opened:
        report = opened.expire()
        assert report.counts["events_expired"] == 4
        assert opened.backlog() == [], "what was made of events that are gone stays as it was"
        opened.run()
        assert opened.aggregate(closed_hour(24 * 100 + 3)).counts == {"windows_changed": 0}
    assert table(database, "SELECT query FROM kb_query") == [(None,)]
    assert table(database, "SELECT count(*) FROM kb_retrieval_event") == [(0,)]
    assert table(database, "SELECT sum(retrievals) FROM kb_retrieval_window") == [(4,)]
    assert table(database, judgments) == before


def test_what_was_read_of_a_draft_before_the_source_deleted_it_does_not_come_back(database: Database) -> None:
    hour = closed_hour(4)
    corrected = planted(database, hour)["corrected"]
    # The source still has an older one: nothing was purged there by age.
    Application(database).draft(hour.start - 9 * HOUR)
    with street(database) as opened:
        opened.run()
    # A harvest and a diagnosis that had read the draft, and are slower than the deletion.
    with PostgresDrafts(database).decided_in(hour, chunk=10) as chunks:
        drafts = [draft for chunk in chunks for draft in chunk if draft.message_id == corrected]
    knowledge = KnowledgeIndex(PostgresKnowledge(database).chunks(drafts[0].tenant))
    evidence, gap = evidence_of(drafts[0], knowledge), diagnose(drafts[0], knowledge)
    assert evidence
    assert gap is not None
    with database.connect() as connection:
        connection.execute("DELETE FROM upstream.messages WHERE id = %s", [corrected])
    with street(database) as opened:
        opened.run()
    assert book(database).replace("rules", [(drafts[0], evidence)]) == 0
    assert PostgresGaps(database).save([(drafts[0], gap)], "rules") == 0
    for name in ("kb_evidence", "kb_retrieval_gap"):
        assert table(database, f"SELECT count(*) FROM {name} WHERE message_id = %s", corrected) == [(0,)]


def test_the_same_query_of_two_tenants_is_judged_apart(database: Database) -> None:
    hour = closed_hour(4)
    for tenant in (None, OTHER):
        application = Application(database, tenant) if tenant else Application(database)
        application.chunk("permit" if tenant else "leave", PERMIT, datetime(2020, 1, 1, tzinfo=UTC))
        retrieved = ["permit" if tenant else "leave"]
        application.decide(application.served(hour.start, retrieved=retrieved), hour.start + timedelta(minutes=5))
    with street(database) as opened:
        opened.run()
        assert not any(opened.soundness.other_tenants().values())
        (ours, theirs) = (explain_judgment(database, doc_id=doc_id, query=QUERY) for doc_id in ("leave", "permit"))
    assert ours.tenant != theirs.tenant == OTHER


def test_neighbouring_hours_of_a_day_are_taken_together_and_no_others() -> None:
    noon = datetime(2026, 3, 4, 12, tzinfo=UTC)

    def hours_from(first: int, after: int) -> list[Window]:
        return [Window(noon + HOUR * n, noon + HOUR * (n + 1)) for n in range(first, after)]

    taken = list(spans([*hours_from(-2, 1), *hours_from(3, 14)]))
    bounds = [(window.start - noon, window.end - noon) for window in taken]
    assert bounds == [(-2 * HOUR, HOUR), (3 * HOUR, 12 * HOUR), (12 * HOUR, 14 * HOUR)]
    assert list(spans([])) == []


def test_a_report_is_plain_counts(database: Database) -> None:
    planted(database, closed_hour(4))
    with street(database) as opened:
        report = asdict(opened.run())
    counts = [count for name, step in report.items() if name != "hours" for count in step.values()]
    assert counts
    assert all(isinstance(count, int | float) for count in counts)
