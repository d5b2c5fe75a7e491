"""The event store on a real database: each event once, conflicts kept apart, one bad event never takes others along."""

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.migrations import apply_roles
from kb_pipeline.adapters.postgres.retrieval.events import Event, EventsRefused, Kept, PostgresEventStore
from kb_pipeline.adapters.postgres.retrieval.recorder import recorder_database
from kb_pipeline.errors import DatabaseError
from kb_pipeline.records.retrieval import Candidate, RetrievedDocument, SearchEventType, Tenant
from kb_pipeline.retrieval.queries import query_sha
from kb_pipeline_tests.recorder.events import click, retrieval
from kb_pipeline_tests.servers import libpq_url

pytestmark = pytest.mark.postgres

OTHER_TENANT = Tenant(org_id=UUID(int=7), specialist_id=UUID(int=8))


@pytest.fixture
def store(database: Database) -> PostgresEventStore:
    return PostgresEventStore(database)


def rows(database: Database, table: str = "kb_retrieval_event") -> list[dict[str, Any]]:
    with database.connect() as connection:
        cursor = connection.execute(f"SELECT * FROM {table} ORDER BY created_at, id")
        names = [column.name for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor]


def kept(store: PostgresEventStore, *events: Event) -> list[Kept]:
    return list(store.save(events).kept)


def test_a_retrieval_is_kept_with_everything_it_says(database: Database, store: PostgresEventStore) -> None:
    event = retrieval(
        query_rewritten="pengembalian barang",
        candidate_pool=(Candidate(doc_id="garansi", chunk_id="g-1", pre_rank=1),),
        kb_version="2026-07",
        degraded=True,
        trace_id="jejak-1",
    )
    assert store.save([event]).written == 1
    [row] = rows(database)
    said = {
        name: getattr(event, name)
        for name in "id conversation_id message_id engine query top_k result_count latency_ms occurred_at".split()
    }
    assert said.items() <= row.items()
    assert (row["org_id"], row["specialist_id"]) == (event.tenant.org_id, event.tenant.specialist_id)
    assert row["query_sha"] == query_sha(event.query)
    assert (row["query_rewritten"], row["kb_version"], row["degraded"], row["shadow"], row["trace_id"]) == (
        "pengembalian barang", "2026-07", True, False, "jejak-1",
    )  # fmt: skip
    assert row["candidate_pool"] == [{"doc_id": "garansi", "chunk_id": "g-1", "pre_rank": 1}]
    assert row["created_at"] is not None


def test_a_result_has_all_nine_properties_whether_or_not_the_engine_gave_them(
    database: Database, store: PostgresEventStore
) -> None:
    store.save([retrieval(retrieved=(RetrievedDocument(doc_id="a", rank=1, score=0.5),), result_count=1)])
    [row] = rows(database)
    assert row["retrieved"] == [
        {
            "doc_id": "a", "chunk_id": None, "rank": 1, "score": 0.5, "bm25_score": None, "vector_similarity": None,
            "pre_rerank_rank": None, "rerank_score": None, "used_in_final": None,
        }
    ]  # fmt: skip


def test_steps_of_a_search_are_kept_beside_retrievals_in_one_batch(
    database: Database, store: PostgresEventStore
) -> None:
    search = click(event_type=SearchEventType.PERFORMED, query="Garansi?", doc_id=None, result_count=3)
    assert kept(store, retrieval(), search, click(rank=2, expert_id=UUID(int=5))) == [Kept.WRITTEN] * 3
    by_type = {row["event_type"]: row for row in rows(database, "kb_search_event")}
    assert by_type["kb.search.performed"]["query_sha"] == query_sha("Garansi?")
    assert (by_type["kb.result.clicked"]["rank"], by_type["kb.result.clicked"]["query_sha"]) == (2, None)


def test_a_repetition_is_a_duplicate_by_its_id_also_without_a_message(store: PostgresEventStore) -> None:
    event = retrieval(message_id=None)
    assert kept(store, event) == [Kept.WRITTEN]
    assert kept(store, event, event) == [Kept.DUPLICATE] * 2


def test_two_dispatches_of_one_draft_are_one_event_although_their_ids_and_times_differ(
    database: Database, store: PostgresEventStore
) -> None:
    first = retrieval()
    again = replace(first, id=uuid4(), occurred_at=first.occurred_at + timedelta(seconds=2), latency_ms=99)
    assert kept(store, first, again) == [Kept.WRITTEN, Kept.DUPLICATE]
    assert [row["id"] for row in rows(database)] == [first.id]


@pytest.mark.parametrize(
    "change",
    [
        {"query": "Bagaimana garansi?"},
        {"engine": "keyword"},
        {"tenant": OTHER_TENANT},
        {"retrieved": ()},
        {"result_count": 9},
        {"trace_id": "t"},
        {"degraded": True},
        {"candidate_pool": (Candidate(doc_id="x", pre_rank=1),)},
    ],
)
def test_a_second_different_event_of_a_message_is_kept_as_a_conflict(
    database: Database, store: PostgresEventStore, change: dict[str, Any]
) -> None:
    first = retrieval()
    second = replace(first, id=uuid4(), **change)
    assert kept(store, first) == [Kept.WRITTEN]
    assert store.save([second]).conflicts == 1
    [row] = rows(database, "kb_retrieval_event_conflict")
    assert (row["id"], row["message_id"], row["org_id"]) == (second.id, first.message_id, second.tenant.org_id)
    assert row["event"]["query"] == second.query
    assert row["event"]["engine"] == second.engine
    assert [each["id"] for each in rows(database)] == [first.id]


def test_the_first_of_a_batch_stands_and_the_second_of_its_message_is_the_conflict(
    database: Database, store: PostgresEventStore
) -> None:
    first = retrieval()
    second = replace(first, id=uuid4(), query="Lain")
    assert kept(store, first, second) == [Kept.WRITTEN, Kept.CONFLICT]
    assert [row["query"] for row in rows(database)] == [first.query]


def test_a_conflict_that_is_sent_again_is_a_duplicate(database: Database, store: PostgresEventStore) -> None:
    first = retrieval()
    second = replace(first, id=uuid4(), query="Lain")
    assert kept(store, first, second, second) == [Kept.WRITTEN, Kept.CONFLICT, Kept.DUPLICATE]
    later = replace(second, occurred_at=second.occurred_at + timedelta(seconds=5), latency_ms=1)
    assert kept(store, later) == [Kept.DUPLICATE]
    assert len(rows(database, "kb_retrieval_event_conflict")) == 1


def test_an_id_given_to_a_different_event_is_said_to_be_taken(database: Database, store: PostgresEventStore) -> None:
    event = retrieval(message_id=None)
    other = replace(event, query="Sesuatu yang lain")
    assert kept(store, event, other) == [Kept.WRITTEN, Kept.ID_TAKEN]
    of_a_message = retrieval()
    assert kept(store, of_a_message) == [Kept.WRITTEN]
    assert kept(store, retrieval(id=of_a_message.id)) == [Kept.ID_TAKEN]
    assert rows(database, "kb_retrieval_event_conflict") == []


def test_a_step_of_a_search_under_the_id_of_another_is_said_to_be_taken(store: PostgresEventStore) -> None:
    step = click()
    assert kept(store, step, step, replace(step, doc_id="garansi")) == [Kept.WRITTEN, Kept.DUPLICATE, Kept.ID_TAKEN]


def test_a_third_event_of_a_message_under_the_id_of_the_conflict_is_said_to_be_taken(store: PostgresEventStore) -> None:
    first = retrieval()
    second = replace(first, id=uuid4(), query="Kedua")
    third = replace(second, query="Ketiga")
    assert kept(store, first, second, third) == [Kept.WRITTEN, Kept.CONFLICT, Kept.ID_TAKEN]


def test_a_message_of_its_own_and_the_id_of_another_event_is_compared_by_its_message(
    store: PostgresEventStore,
) -> None:
    first, second = retrieval(), retrieval()
    assert kept(store, first, second) == [Kept.WRITTEN] * 2
    assert kept(store, replace(second, id=first.id)) == [Kept.DUPLICATE]


def test_a_repetition_is_recognised_after_the_text_has_expired(database: Database, store: PostgresEventStore) -> None:
    first = retrieval(query_rewritten="ditulis ulang")
    store.save([first])
    with database.connect() as connection:
        connection.execute("UPDATE kb_retrieval_event SET query = '', query_rewritten = NULL, text_expired_at = now()")
    assert kept(store, replace(first, id=uuid4())) == [Kept.DUPLICATE]
    assert kept(store, replace(first, id=uuid4(), query="Lain")) == [Kept.CONFLICT]


@pytest.mark.parametrize(
    "poison",
    [
        {"query": "rahasia \0"},
        {"query": "rahasia \ud800"},
        {"query": "rahasia " * 1025},
        {"top_k": -1},
        {"top_k": 2**31},
        {"result_count": 0},
        {"trace_id": "rahasia " * 26},
        {
            "retrieved": tuple(RetrievedDocument(doc_id="rahasia " * 400, rank=n) for n in range(100)),
            "result_count": 100,
        },
    ],
)
def test_an_event_that_cannot_be_stored_is_refused_without_its_text_and_nothing_of_the_batch_is_kept(
    database: Database, store: PostgresEventStore, poison: dict[str, Any]
) -> None:
    with pytest.raises(EventsRefused) as refused:
        store.save([retrieval(), retrieval(**poison), click()])
    assert str(refused.value).endswith("; the event was not kept")
    assert "rahasia" not in str(refused.value)
    assert len(str(refused.value)) < 300
    assert rows(database) == rows(database, "kb_search_event") == []
    assert kept(store, retrieval()) == [Kept.WRITTEN]


def test_a_missing_table_blames_no_event(empty_database: Database) -> None:
    with pytest.raises(DatabaseError, match="kb-pipeline migrate") as error:
        PostgresEventStore(empty_database).save([retrieval()])
    assert not isinstance(error.value, EventsRefused)
    with pytest.raises(DatabaseError, match="kb-pipeline migrate"):
        PostgresEventStore(empty_database).check()


def test_writers_who_send_the_same_events_in_any_order_neither_wait_for_each_other_nor_write_twice(
    database: Database,
) -> None:
    found: list[Kept] = []
    together = threading.Barrier(4)

    def write(batch: Sequence[Event]) -> None:
        store = PostgresEventStore(database)
        together.wait()
        found.extend(store.save(batch).kept)

    for _ in range(4):
        events = [retrieval() for _ in range(150)]
        # The same messages under other ids, the other way round.
        again = [replace(event, id=uuid4()) for event in reversed(events)]
        writers = [threading.Thread(target=write, args=[each]) for each in (events, again, events[::-1], again[::-1])]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
    assert Counter(found) == {Kept.WRITTEN: 600, Kept.DUPLICATE: 1800}
    assert len(rows(database)) == 600


@pytest.fixture
def login(database: Database) -> Iterator[str]:
    """The address for a user who may log in and nothing else."""
    apply_roles(database)
    name = f"kb_login_{uuid4().hex[:8]}"
    address = database.url.render_as_string(hide_password=False)
    with closing(psycopg.connect(libpq_url(address), autocommit=True)) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'geheim'")
        yield database.url.set(username=name, password="geheim").render_as_string(hide_password=False)
        connection.execute(f"DROP ROLE {name}")


@pytest.mark.parametrize("role", ["kb_recorder", "kb_grader"])
def test_a_login_takes_the_narrowest_role_that_may_add_events(database: Database, login: str, role: str) -> None:
    user = psycopg.conninfo.conninfo_to_dict(libpq_url(login))["user"]
    with database.connect() as connection:
        connection.execute(f"GRANT {role} TO {user}")
    with recorder_database(login) as restricted:
        with restricted.connect() as connection:
            assert connection.execute("SELECT current_user").fetchone() == (role,)
        store = PostgresEventStore(restricted)
        store.check()
        event = retrieval()
        conflict = replace(event, id=uuid4(), query="Lain")
        assert kept(store, event, event, conflict, click()) == [
            Kept.WRITTEN, Kept.DUPLICATE, Kept.CONFLICT, Kept.WRITTEN,
        ]  # fmt: skip


def test_a_login_without_a_role_uses_its_own_rights(login: str) -> None:
    with recorder_database(login) as own, pytest.raises(DatabaseError, match=r"sql/roles\.sql"):
        PostgresEventStore(own).check()
