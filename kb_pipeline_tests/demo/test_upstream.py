"""Planted calls stand in the example upstream tables, and the source views show them."""

from datetime import UTC, datetime, timedelta

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.demo.knowledge import load
from kb_pipeline.demo.traffic import Effect, Incident, Traffic, generate
from kb_pipeline.demo.upstream import deliver, plant
from kb_pipeline.windows import HOUR, Window
from kb_pipeline_tests.demo.overlap import overlap

END = datetime(2026, 7, 9, 5, tzinfo=UTC)


def counts(database: Database) -> tuple[int, ...]:
    with database.connect() as connection:
        names = ("kb_source.ai_call", "kb_source.ai_call_body", "upstream.planted_truth")
        return tuple(row[0] for name in names if (row := connection.execute(f"SELECT count(*) FROM {name}").fetchone()))


def test_every_call_has_its_body_and_its_truth_and_planting_again_changes_nothing(database: Database) -> None:
    traffic = Traffic(end=END, turns=60)
    planting = plant(database, generate(traffic, load(), overlap))
    assert planting.turns == 60
    assert counts(database) == (planting.calls,) * 3
    again = plant(database, generate(traffic, load(), overlap))
    assert counts(database) == (again.calls,) * 3
    assert again.last_hash == planting.last_hash != bytes(32)


def test_what_is_stored_is_what_was_generated(database: Database) -> None:
    traffic = Traffic(end=END, turns=20)
    plant(database, generate(traffic, load(), overlap))
    expected = {call.call.event_id: call for chunk in generate(traffic, load(), overlap) for call in chunk}
    with database.connect() as connection:
        rows = connection.execute(
            """
            SELECT event_id, ts, tenant, surface, operation, engine, http_status,
                   request_body, response_body, prev_hash, body_hash
            FROM kb_source.ai_call JOIN kb_source.ai_call_body USING (event_id)
            """
        ).fetchall()
    assert len(rows) == len(expected)
    for event_id, ts, tenant, surface, operation, engine, status, *body in rows:
        call, stored = expected[event_id].call, expected[event_id].body
        assert (ts, tenant, surface, operation, engine, status) == (
            call.ts,
            call.tenant,
            call.surface,
            call.operation,
            call.engine,
            call.http_status,
        )
        assert body == [stored.request, stored.response, stored.prev_hash, stored.body_hash]


def test_a_late_body_is_delivered_when_its_time_has_come(database: Database) -> None:
    hour = Window(END - 2 * HOUR, END - HOUR)
    incidents = (Incident(effect=Effect.LATE_BODY, window=hour, share=0.5, delay=timedelta(hours=3)),)
    planting = plant(database, generate(Traffic(end=END, turns=200, incidents=incidents), load(), overlap))
    assert planting.late
    assert counts(database)[:2] == (planting.calls, planting.calls - len(planting.late))
    later = deliver(database, planting.late, until=planting.late[0].call.ts + timedelta(hours=3))
    assert len(later) == len(planting.late) - 1
    assert deliver(database, later, until=END + timedelta(days=1)) == ()
    assert counts(database) == (planting.calls,) * 3


def test_bodies_that_arrived_by_a_time_are_planted_with_their_calls(database: Database) -> None:
    window = Window(END - 24 * HOUR, END)
    incidents = (Incident(effect=Effect.LATE_BODY, window=window, delay=timedelta(minutes=5)),)
    traffic = Traffic(end=END, turns=100, incidents=incidents)
    assert plant(database, generate(traffic, load(), overlap), until=END + HOUR).late == ()
