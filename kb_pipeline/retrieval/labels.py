"""What the evidence of one document and query comes to: a grade, a conflict, or not enough.

Belongs here: votes, decay, thresholds, a person's word. Does not: which evidence stands (a draft read anew, a document
changed since: the database leaves those out), storage, averages over queries.

The rules, in this order; every mass and p is rounded to six decimals before it is compared.

1. Weights halve every 180 days from their observation on. One conversation has one vote for and one against: its
   heaviest. Evidence without a conversation is a vote of its own. Later observations than the instant count in full.
2. A person's word (`settled`) decides alone, the newest one if there are several: relevant is grade 2, or 3 by rule 5;
   not relevant is 0. It is a vote among the others too, older words are none. It stands until somebody says otherwise.
3. Less than .6 of mass in all is `insufficient`.
4. p = (positive + .1) / (positive + negative + .2). Both sides from .3 on and p between .35 and .65 are a `conflict`.
   At p up to .35 the grade is 0. Between .35 and .5 more speaks against the document than for it, and too little for a
   0 or for a person's time: `insufficient`, because a wrong 1 spoils a measurement and an unjudged document does not.
5. Else it is relevant: grade 3 if it was cited or supports what an expert added, or from a positive mass of 2 on; 2
   from 1 on; else 1.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import fsum

from kb_pipeline.records import Evidence, EvidenceKind, Judgment, JudgmentStatus

RULE_VERSION = "labels-1"

HALF_LIFE_DAYS = 180
LEAST_MASS = 0.6
CONFLICT_SIDE = 0.3
IRRELEVANT_UP_TO = 0.35
RELEVANT_FROM = 0.5
CONFLICT_BELOW = 0.65
STRONG_MASS = 2.0
FAIR_MASS = 1.0
PRIOR = 0.1

CORRECTED_KINDS = frozenset({EvidenceKind.CITED, EvidenceKind.SUPPORTS_NEW})
DAY = timedelta(days=1)
MILLION = 1e6


@dataclass(frozen=True, kw_only=True, slots=True)
class Vote:
    """Evidence that counts, with its decayed mass, which is at most its weight and never negative."""

    evidence: Evidence
    mass: float

    @property
    def is_for(self) -> bool:
        """Whether it speaks for the document."""
        return self.evidence.weight > 0


def decayed(weight: float, observed_at: datetime, as_of: datetime) -> float:
    """The mass of a weight: its size, halved for every 180 days between the observation and `as_of`."""
    age_days = max(0.0, (as_of - observed_at) / DAY)
    return float(abs(weight) * 0.5 ** (age_days / HALF_LIFE_DAYS))


def votes(evidence: Sequence[Evidence], as_of: datetime) -> list[Vote]:
    """The votes among the evidence of one document and query, in its order: rules 1 and 2."""
    newest_word = _newest_word(evidence)
    best: dict[object, Vote] = {}
    for number, each in enumerate(evidence):
        is_word = each.kind is EvidenceKind.SETTLED
        if is_word and number != newest_word:
            continue
        vote = Vote(evidence=each, mass=decayed(each.weight, each.observed_at, as_of))
        voter = number if is_word or each.conversation_id is None else each.conversation_id
        key = voter, vote.is_for
        if key not in best or vote.mass > best[key].mass:
            best[key] = vote
    return list(best.values())


def judge(evidence: Sequence[Evidence], as_of: datetime) -> Judgment:
    """The judgment of one document and query, from all evidence that stands, as of the instant.

    The evidence is of one tenant, query and document; of two words of a person at one time the later in order is newer.
    """
    counted = votes(evidence, as_of)
    positive = _mass(vote for vote in counted if vote.is_for)
    negative = _mass(vote for vote in counted if not vote.is_for)
    p = _rounded((positive + PRIOR) / (positive + negative + 2 * PRIOR))
    status, grade = _verdict(positive, negative, p)
    grade_if_relevant = _relevant_grade(positive, corrected=any(each.kind in CORRECTED_KINDS for each in evidence))
    newest_word = _newest_word(evidence)
    if newest_word is not None:
        is_relevant = evidence[newest_word].weight > 0
        status, grade = JudgmentStatus.JUDGED, max(2, grade_if_relevant) if is_relevant else 0
    elif status is JudgmentStatus.JUDGED and grade is None:
        grade = grade_if_relevant
    heard = {each.conversation_id for each in evidence if each.kind is not EvidenceKind.SETTLED} - {None}
    return Judgment(status=status, grade=grade, p=p, positive=positive, negative=negative, conversations=len(heard))


def _verdict(positive: float, negative: float, p: float) -> tuple[JudgmentStatus, int | None]:
    """Rules 3 and 4; judged without a grade means relevant."""
    if _rounded(positive + negative) < LEAST_MASS:
        return JudgmentStatus.INSUFFICIENT, None
    if min(positive, negative) >= CONFLICT_SIDE and IRRELEVANT_UP_TO < p < CONFLICT_BELOW:
        return JudgmentStatus.CONFLICT, None
    if p <= IRRELEVANT_UP_TO:
        return JudgmentStatus.JUDGED, 0
    return (JudgmentStatus.JUDGED if p >= RELEVANT_FROM else JudgmentStatus.INSUFFICIENT), None


def _relevant_grade(positive: float, *, corrected: bool) -> int:
    """Rule 5."""
    if corrected or positive >= STRONG_MASS:
        return 3
    return 2 if positive >= FAIR_MASS else 1


def _newest_word(evidence: Sequence[Evidence]) -> int | None:
    """The position of the newest word of a person, the last one of two at one time."""
    words = [number for number, each in enumerate(evidence) if each.kind is EvidenceKind.SETTLED]
    return max(words, key=lambda number: (evidence[number].observed_at, number), default=None)


def _mass(counted: Iterable[Vote]) -> float:
    return _rounded(fsum(vote.mass for vote in counted))


def _rounded(value: float) -> float:
    """To six decimals; a plain quotient, because SQL can say exactly the same."""
    return round(value * MILLION) / MILLION
