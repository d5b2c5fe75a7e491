"""What gaps have in common: the document, or the query that began them."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.records import GapKind, Tenant
from kb_pipeline.retrieval.gaps import AskedGap, subjects
from kb_pipeline.retrieval.queries import query_sha

TENANT = Tenant(org_id=UUID(int=1), specialist_id=UUID(int=2))
OTHER = Tenant(org_id=UUID(int=2), specialist_id=UUID(int=2))
DAY = datetime(2026, 7, 1, tzinfo=UTC)


def asked(
    number: int,
    query: str | None,
    kind: GapKind = GapKind.KB_GAP,
    doc_id: str | None = None,
    *,
    tenant: Tenant = TENANT,
    sha: str | None = None,
    hour: int | None = None,
) -> AskedGap:
    """A gap of the hour `number`, unless another hour is given."""
    return AskedGap(
        message_id=UUID(int=number),
        tenant=tenant,
        kind=kind,
        doc_id=doc_id,
        query_sha=sha or query_sha(query or ""),
        query=query,
        decided_at=DAY + timedelta(hours=number if hour is None else hour),
    )


def named(*gaps: AskedGap) -> list[str | None]:
    found = subjects(gaps)
    return [found[gap.message_id] for gap in gaps]


def test_a_gap_with_a_document_is_about_that_document() -> None:
    kinds = [GapKind.RANKING_GAP, GapKind.RECALL_GAP, GapKind.GENERATION_GAP]
    assert named(*(asked(number, "Biaya?", kind, "biaya") for number, kind in enumerate(kinds))) == ["biaya"] * 3


def test_what_is_no_gap_or_not_determined_has_no_subject() -> None:
    assert named(asked(1, "Biaya?", GapKind.NONE, "biaya"), asked(2, "Biaya?", GapKind.UNDETERMINED, "biaya")) == [
        None,
        None,
    ]


def test_queries_about_one_thing_are_about_the_first_of_them() -> None:
    first = "Di mana menitipkan hewan peliharaan?"
    gaps = [
        asked(3, "hewan peliharaan dititipkan dimana"),
        asked(1, first),
        asked(2, "penitipan hewan peliharaan"),
        asked(4, "Berapa tarif parkir sepeda?"),
    ]
    assert named(*gaps) == [query_sha(first)] * 3 + [query_sha("Berapa tarif parkir sepeda?")]


def test_english_queries_meet_too() -> None:
    first = "Are dogs allowed on the lawn?"
    assert named(asked(1, first), asked(2, "dog on lawns allowed"), asked(3, "When is the lawn mown?")) == [
        query_sha(first),
        query_sha(first),
        query_sha("When is the lawn mown?"),
    ]


def test_queries_of_two_tenants_never_meet() -> None:
    query = "Di mana menitipkan hewan?"
    other = "Di mana hewan dititipkan?"
    assert named(asked(1, query), asked(2, other, tenant=OTHER)) == [query_sha(query), query_sha(other)]


def test_a_query_whose_words_expired_is_known_by_its_key() -> None:
    query = "Di mana menitipkan hewan?"
    gaps = [
        asked(1, query),
        asked(2, None, sha=query_sha(query)),
        asked(3, None, sha="a" * 64),
        asked(4, None, sha="b" * 64),
    ]
    assert named(*gaps) == [query_sha(query), query_sha(query), "a" * 64, "b" * 64]


def test_a_query_joins_the_first_query_that_is_most_like_it() -> None:
    first, second = "tarif kartu anggota dewasa baru", "tarif kartu anggota anak"
    assert named(asked(1, first), asked(2, second), asked(3, "tarif kartu anggota anak-anak"))[2] in {
        query_sha(first),
        query_sha(second),
    }
    alone = asked(3, "tarif kartu anggota anak kecil")
    joined = named(asked(1, "tarif kartu parkir dewasa"), asked(2, second), alone)
    assert joined[2] == query_sha(second)


QUERIES = st.lists(
    st.lists(st.sampled_from("hewan parkir kartu tarif jam buka dog lawn 5 yang".split()), max_size=4).map(" ".join),
    max_size=12,
)


@given(QUERIES, st.integers(0, 5))
def test_the_order_in_which_gaps_are_read_does_not_matter(queries: Sequence[str], seed: int) -> None:
    gaps = [
        asked(number, query or None, tenant=TENANT if number % 3 else OTHER, hour=(number * 7) % 13)
        for number, query in enumerate(queries)
    ]
    shuffled = list(gaps)
    Random(seed).shuffle(shuffled)
    found = subjects(gaps)
    assert subjects(shuffled) == found
    # A subject is the key of one of the cluster's own queries, the oldest one.
    for gap in gaps:
        members = [
            each for each in gaps if found[each.message_id] == found[gap.message_id] and each.tenant == gap.tenant
        ]
        assert found[gap.message_id] == min(members, key=lambda each: each.decided_at).query_sha
