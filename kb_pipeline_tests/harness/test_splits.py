"""Parts of the labelled queries that know nothing of each other."""

from datetime import UTC, datetime, timedelta
from itertools import combinations
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.harness import ByCluster, ByTime, LabelledQuery, NotEvaluable, Provenance, split
from kb_pipeline.harness.near_duplicates import are_near, clusters, telling_stems
from kb_pipeline.harness.splits import NEAR_ANOTHER_PART, PARTS, UNDATED, WITHIN_EMBARGO, SplitRule
from kb_pipeline.records import Tenant

ONE = Tenant(org_id=UUID(int=1), specialist_id=UUID(int=1))
OTHER = Tenant(org_id=UUID(int=2), specialist_id=UUID(int=2))
START = datetime(2026, 1, 1, tzinfo=UTC)
WEEK = timedelta(days=7)
# Few words, so that many queries come near to each other.
TEXTS = st.lists(st.sampled_from("biaya daftar yayasan akta notaris apa the fee deed 2026".split()), max_size=6)
DAYS = st.floats(0, 60)


def query(
    identifier: str,
    text: str | None = None,
    *,
    tenant: Tenant = ONE,
    first: datetime | None = START,
    last: datetime | None = None,
) -> LabelledQuery:
    """A query whose only judgment rests on evidence from `first` to `last`; without `first`, nobody knows."""
    known = (
        {
            "d": Provenance(
                as_of=START,
                rule_version="r",
                conversations=1,
                kinds=("cited",),
                first_observed_at=first,
                last_observed_at=last or first,
            )
        }
        if first
        else {}
    )
    text = identifier if text is None else text
    return LabelledQuery(id=identifier, text=text, tenant=tenant, grades={"d": 1}, provenance=known)


@st.composite
def some_queries(draw: st.DrawFn) -> list[LabelledQuery]:
    facts = draw(st.lists(st.tuples(TEXTS, DAYS, DAYS, st.sampled_from([ONE, OTHER])), max_size=25))
    return [
        query(
            f"q{number}",
            " ".join(words),
            tenant=tenant,
            first=START + timedelta(days=min(one, other)),
            last=START + timedelta(days=max(one, other)),
        )
        for number, (words, one, other, tenant) in enumerate(facts)
    ]


CUTS = st.lists(DAYS, max_size=2).map(lambda days: tuple(START + timedelta(days=day) for day in sorted(days)))
RULES = st.builds(ByCluster, shares=st.just((0.5, 0.2, 0.3)), salt=st.text(max_size=3)) | st.builds(
    ByTime, cuts=CUTS, embargo=st.timedeltas(timedelta(0), timedelta(days=20))
)


@given(some_queries(), RULES)
def test_no_two_near_queries_of_a_tenant_are_in_different_parts(queries: list[LabelledQuery], rule: SplitRule) -> None:
    parts = split(queries, rule).parts
    for one, other in combinations(PARTS, 2):
        for mine in parts[one]:
            for theirs in parts[other]:
                if mine.tenant == theirs.tenant:
                    assert not are_near(telling_stems(mine.text or ""), telling_stems(theirs.text or ""))


@given(some_queries(), RULES)
def test_every_query_is_in_one_part_or_left_out_and_counted(queries: list[LabelledQuery], rule: SplitRule) -> None:
    found = split(queries, rule)
    placed = [(query.tenant, query.id) for part in found.parts.values() for query in part]
    assert len(placed) == len(set(placed))
    assert len(placed) + sum(found.left_out.values()) == len(queries)
    if isinstance(rule, ByCluster):
        assert not found.left_out


@given(some_queries(), st.lists(DAYS, min_size=1, max_size=2), st.timedeltas(timedelta(0), timedelta(days=20)))
def test_no_test_evidence_lies_before_or_within_the_embargo(
    queries: list[LabelledQuery], days: list[float], embargo: timedelta
) -> None:
    cuts = tuple(START + timedelta(days=day) for day in sorted(days))
    parts = split(queries, ByTime(cuts=cuts, embargo=embargo)).parts
    assert all(each.last_observed_at is not None and each.last_observed_at < cuts[0] for each in parts["train"])
    for part, cut in (("dev", cuts[0]), ("test", cuts[-1])):
        for each in parts[part]:
            assert each.first_observed_at is not None
            assert each.first_observed_at >= cut + embargo
    assert all(each.last_observed_at is not None and each.last_observed_at < cuts[-1] for each in parts["dev"])


@given(some_queries(), RULES, st.randoms())
def test_a_split_does_not_depend_on_the_order(queries: list[LabelledQuery], rule: SplitRule, random: object) -> None:
    shuffled = list(queries)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = split(queries, rule), split(shuffled, rule)
    for part in PARTS:
        assert {(each.tenant, each.id) for each in one.parts[part]} == {
            (each.tenant, each.id) for each in other.parts[part]
        }


@given(st.lists(TEXTS.map(" ".join), max_size=30), st.sampled_from([0.3, 0.5, 0.6, 0.75, 1.0]))
def test_clusters_are_those_of_comparing_all_with_all(texts: list[str], threshold: float) -> None:
    sets = [telling_stems(text) for text in texts]
    together = {place: {place} for place in range(len(texts))}
    for one, other in combinations(range(len(texts)), 2):
        if are_near(sets[one], sets[other], threshold) and together[one] is not together[other]:
            together[one] |= together[other]
            for member in together[other]:
                together[member] = together[one]
    expected = sorted({tuple(sorted(members)) for members in together.values()})
    assert [tuple(members) for members in clusters(texts, threshold)] == expected


@pytest.mark.parametrize(
    ("one", "other", "is_near"),
    [
        ("Berapa biaya pendaftaran yayasan?", "apa biaya mendaftar yayasan", True),
        ("How do I register a foundation?", "registering a foundation, how?", True),
        ("biaya pendaftaran yayasan", "biaya pendaftaran perseroan", False),
        ("Who signs the deed?", "Siapa penanda tangan akta?", False),
        ("apa itu?", "apa ini?", False),
        ("apa itu?", "Itu apa", True),
        ("", "", False),
    ],
)
def test_near_duplicates_share_most_of_their_telling_words(one: str, other: str, *, is_near: bool) -> None:
    assert (len(clusters([one, other])) == 1) == is_near


def test_near_is_a_share_of_all_words_at_the_threshold_itself() -> None:
    assert are_near(frozenset("abc"), frozenset("bcd"), 0.5)
    assert not are_near(frozenset("abc"), frozenset("bcd"), 0.51)
    assert are_near(frozenset("abcde"), frozenset("abc"), 0.6)
    assert not are_near(frozenset(), frozenset())


def test_a_query_without_words_is_near_to_nothing() -> None:
    assert clusters([None, None, "", "?!"]) == [[0], [1], [2], [3]]


def test_a_chain_of_near_queries_is_one_cluster() -> None:
    assert clusters(["aaaa bbbb cccc", "bbbb cccc dddd", "dddd eeee cccc"], 0.5) == [[0, 1, 2]]


def test_shares_are_kept_on_average_and_another_salt_is_another_draw() -> None:
    queries = [query(f"unik{number}") for number in range(3000)]
    found = split(queries, ByCluster())
    assert [round(len(found.parts[part]) / 3000, 1) for part in PARTS] == [0.8, 0.1, 0.1]
    salted = split(queries, ByCluster(salt="again"))
    assert {each.id for each in salted.parts["test"]} != {each.id for each in found.parts["test"]}
    assert (found.clusters, found.largest_cluster) == (3000, 1)


def test_a_newer_near_duplicate_does_not_move_a_cluster_to_another_part() -> None:
    old = [query(f"q{number}", f"kata{number} lain{number} beda{number}") for number in range(50)]
    newer = [
        query(f"a{number}", f"kata{number} lain{number} beda{number} baru", first=START + WEEK) for number in range(50)
    ]
    before = {each.id: part for part, each in _placed(split(old, ByCluster()))}
    after = {each.id: part for part, each in _placed(split([*newer, *old], ByCluster()))}
    assert {identifier: after[identifier] for identifier in before} == before
    assert all(after[f"a{number}"] == after[f"q{number}"] for number in range(50))


def _placed(found: object) -> list[tuple[str, LabelledQuery]]:
    return [(part, each) for part, members in found.parts.items() for each in members]  # type: ignore[attr-defined]


def test_the_same_words_of_two_tenants_are_split_apart_from_each_other() -> None:
    mine = [query("q", "biaya yayasan", tenant=ONE), query("q", "biaya yayasan", tenant=OTHER, first=START + 9 * WEEK)]
    found = split(mine, ByTime(cuts=(START + WEEK,)))
    assert ([each.tenant for each in found.parts["train"]], [each.tenant for each in found.parts["test"]]) == (
        [ONE],
        [OTHER],
    )


def test_what_a_split_by_time_leaves_out_is_counted_by_reason() -> None:
    cut = START + 4 * WEEK
    queries = [
        query("biaya akta", first=START),
        query("biaya akta lagi", first=cut + 2 * WEEK),
        query("straddles", first=START, last=cut),
        query("within", first=cut + WEEK - timedelta(seconds=1)),
        query("after", first=cut + WEEK),
        query("undated", first=None),
    ]
    found = split(queries, ByTime(cuts=(cut,)))
    assert {part: [each.id for each in members] for part, members in found.parts.items()} == {
        "train": ["biaya akta"],
        "dev": [],
        "test": ["after"],
    }
    assert found.left_out == {NEAR_ANOTHER_PART: 1, WITHIN_EMBARGO: 2, UNDATED: 1}


def test_without_cuts_they_lie_where_the_shares_of_the_queries_are() -> None:
    queries = [query(f"unik{number}", first=START + timedelta(days=number)) for number in range(100)]
    found = split(queries, ByTime())
    assert found.cuts == {ONE: (START + timedelta(days=80), START + timedelta(days=90))}
    assert [len(found.parts[part]) for part in PARTS] == [80, 3, 3]


@pytest.mark.parametrize(
    "rule",
    [
        ByCluster(threshold=0),
        ByCluster(shares=(0.5, 0.1, 0.1)),
        ByCluster(shares=(1.2, -0.1, -0.1)),
        ByTime(cuts=(START + WEEK, START)),
        ByTime(cuts=(START, START, START)),
        ByTime(embargo=-WEEK),
    ],
)
def test_a_rule_that_cannot_be_is_refused(rule: SplitRule) -> None:
    with pytest.raises(NotEvaluable, match="accepted"):
        split([], rule)
