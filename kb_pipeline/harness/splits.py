"""Train, dev and test: parts of the labelled queries that know nothing of each other.

Belongs here: the two rules, what they leave out. Does not: files, databases.

Both rules work within a tenant, on clusters of near-duplicate queries: no two queries of different parts are near.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from kb_pipeline.harness.failures import NotEvaluable
from kb_pipeline.harness.labelled import LabelledQuery
from kb_pipeline.harness.near_duplicates import THRESHOLD, clusters
from kb_pipeline.records import Tenant

TRAIN, DEV, TEST = "train", "dev", "test"
PARTS = (TRAIN, DEV, TEST)
SHARES = (0.8, 0.1, 0.1)
EMBARGO = timedelta(days=7)
WITHIN_EMBARGO, NEAR_ANOTHER_PART, UNDATED = "within_embargo", "near_another_part", "undated"
_NEVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class ByCluster:
    """Whole clusters at random: the hash of a cluster's leader, its oldest query, decides, the same every time.

    `shares` are the expected shares of train, dev and test. Another `salt` is another draw. `threshold` is the overlap
    from which two queries are near-duplicates, a fraction above 0.
    """

    shares: tuple[float, float, float] = SHARES
    threshold: float = THRESHOLD
    salt: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ByTime:
    """Train on what was known before a cut, test on what came later.

    A query belongs to train where all its evidence lies before the first cut, to test where all of it lies at least
    `embargo` after the last one, to dev, where there are two cuts, where all of it lies at least `embargo` after the
    first and before the second. All others are left out, and so are those that are near to a query of an earlier part.
    Without `cuts`, they lie where `shares` of the queries have their newest evidence before them.
    """

    cuts: tuple[datetime, ...] = ()
    embargo: timedelta = EMBARGO
    shares: tuple[float, float, float] = SHARES
    threshold: float = THRESHOLD


SplitRule = ByCluster | ByTime


@dataclass(frozen=True, kw_only=True, slots=True)
class Split:
    """The parts, each in the order given; how many queries were left out and why; the clusters behind it.

    `cuts` are by tenant, empty for a split by cluster. `largest_cluster` counts queries: where it is a large share of
    all, the threshold is too low for these queries.
    """

    parts: Mapping[str, Sequence[LabelledQuery]]
    left_out: Mapping[str, int]
    clusters: int
    largest_cluster: int
    cuts: Mapping[Tenant | None, tuple[datetime, ...]] = field(default_factory=dict)


def split(queries: Iterable[LabelledQuery], rule: SplitRule) -> Split:
    """Every query in one part, or left out and counted. Raises NotEvaluable for a rule that cannot be.

    Pure and deterministic. Memory holds the queries.
    """
    _check(rule)
    tenants: defaultdict[Tenant | None, list[LabelledQuery]] = defaultdict(list)
    for query in queries:
        tenants[query.tenant].append(query)
    parts: dict[str, list[LabelledQuery]] = {part: [] for part in PARTS}
    left_out: Counter[str] = Counter()
    sizes: list[int] = []
    cuts: dict[Tenant | None, tuple[datetime, ...]] = {}
    for tenant, owned in tenants.items():
        found = clusters([query.text for query in owned], rule.threshold)
        sizes.extend(map(len, found))
        if isinstance(rule, ByTime):
            cuts[tenant] = rule.cuts or _cuts(owned, rule.shares)
            verdicts = _by_time(owned, found, cuts[tenant], rule.embargo)
        else:
            verdicts = _by_cluster(owned, found, rule)
        for query, verdict in zip(owned, verdicts, strict=True):
            if verdict in parts:
                parts[verdict].append(query)
            else:
                left_out[verdict] += 1
    return Split(parts=parts, left_out=left_out, clusters=len(sizes), largest_cluster=max(sizes, default=0), cuts=cuts)


def _check(rule: SplitRule) -> None:
    if not 0 < rule.threshold <= 1:
        raise NotEvaluable(f"a threshold of {rule.threshold} is none; accepted is a fraction above 0, up to 1")
    if min(rule.shares) < 0 or abs(sum(rule.shares) - 1) > 1e-9:  # noqa: PLR2004 float's rounding
        raise NotEvaluable(f"shares of {rule.shares} are none; accepted are three fractions that add up to 1")
    if isinstance(rule, ByTime):
        if len(rule.cuts) > len(PARTS) - 1 or list(rule.cuts) != sorted(rule.cuts):
            raise NotEvaluable("accepted are one cut, train and test, or two in order, train, dev and test")
        if rule.embargo < timedelta(0):
            raise NotEvaluable("an embargo is not negative; accepted is zero or a length of time")


def _by_cluster(queries: Sequence[LabelledQuery], found: Sequence[Sequence[int]], rule: ByCluster) -> list[str]:
    """The part of each query."""
    verdicts = [""] * len(queries)
    bounds = (rule.shares[0], rule.shares[0] + rule.shares[1])
    for members in found:
        leader = min((queries[member] for member in members), key=_age)
        part = PARTS[bisect_right(bounds, _fraction(leader, rule.salt))]
        for member in members:
            verdicts[member] = part
    return verdicts


def _age(query: LabelledQuery) -> tuple[datetime, str]:
    return query.first_observed_at or _NEVER, query.id


def _fraction(leader: LabelledQuery, salt: str) -> float:
    """A number in [0, 1) that only the query's key decides."""
    tenant = f"{leader.tenant.org_id}/{leader.tenant.specialist_id}" if leader.tenant else ""
    digest = sha256(f"{salt}|{tenant}|{leader.id}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


def _by_time(
    queries: Sequence[LabelledQuery],
    found: Sequence[Sequence[int]],
    cuts: Sequence[datetime],
    embargo: timedelta,
) -> list[str]:
    """The part of each query, or why it has none."""
    verdicts = [_period(query, cuts, embargo) for query in queries]
    for members in found:
        taken = {verdicts[member] for member in members} & set(PARTS)
        first = min(taken, key=PARTS.index, default=None)
        for member in members:
            if verdicts[member] in taken - {first}:
                verdicts[member] = NEAR_ANOTHER_PART
    return verdicts


def _period(query: LabelledQuery, cuts: Sequence[datetime], embargo: timedelta) -> str:
    first, last = query.first_observed_at, query.last_observed_at
    if first is None or last is None or not cuts:
        return UNDATED
    if last < cuts[0]:
        return TRAIN
    if first >= cuts[-1] + embargo:
        return TEST
    if len(cuts) > 1 and first >= cuts[0] + embargo and last < cuts[1]:
        return DEV
    return WITHIN_EMBARGO


def _cuts(queries: Sequence[LabelledQuery], shares: Sequence[float]) -> tuple[datetime, ...]:
    times = sorted(query.last_observed_at for query in queries if query.last_observed_at is not None)
    if not times:
        return ()
    return tuple(times[min(len(times) - 1, int(share * len(times)))] for share in (shares[0], shares[0] + shares[1]))
