"""The second opinion on a turn: the doubts of its claims made comparable, and joined with word overlap into one score.

Belongs here: the formula and the figures it was calibrated with. Does not: reading texts, I/O.
"""

from collections.abc import Mapping, Sequence

from kb_pipeline.grading.metrics import asserts_nothing
from kb_pipeline.grading.opinion.claims import Answer
from kb_pipeline.grading.opinion.evidence import Evidence
from kb_pipeline.grading.opinion.quoting import citations
from kb_pipeline.grading.opinion.reading import normal
from kb_pipeline.grading.opinion.record import DOUBTFUL, Count, Kind, Opinion
from kb_pipeline.records import Metrics, Triad
from kb_pipeline.support import language_of
from kb_pipeline.support.language import FUNCTION_WORDS

# It changes with anything that changes a score.
VERSION = "opinion-1"

LONGEST_ANSWER = 60_000
LONGEST_CONTEXT = 300_000
LONGEST_QUESTION = 20_000

# The doubt of a kind that becomes .5: chosen so that about 5 % of grounded answers have more in any kind.
_HALFWAY: Mapping[Kind, float] = {
    Kind.NUMBER: 0.56,
    Kind.AMOUNT: 0.64,
    Kind.DATE: 0.56,
    Kind.REFERENCE: 0.56,
    Kind.NAME: 0.52,
    Kind.QUOTE: 0.72,
    Kind.CITATION: 0.56,
    Kind.SENTENCE: 0.56,
    Kind.NEGATION: 0.46,
    Kind.ROLES: 0.56,
}
_SHARE_OF_DOUBT = 0.5
_FEWEST_FUNCTION_WORDS = 2
# From here on judge and second opinion disagree strongly.
DISAGREEMENT = 0.7


def second_opinion(triad: Triad, metrics: Metrics) -> Opinion:
    """What of the answer's claims the context has, kind by kind; pure and deterministic, below 2 ms for 6 kB.

    `support_score` = word overlap × (1 − doubt / 2).
    """
    context = normal(_context(triad), longest=LONGEST_CONTEXT)
    text = normal(triad.answer, longest=LONGEST_ANSWER)
    asks = normal(triad.question, longest=LONGEST_QUESTION)
    counts: Mapping[Kind, Count] = {}
    score, partial = None, False
    if not (metrics.refused or not metrics.had_context or asserts_nothing(triad.answer)):
        answer = Answer(text, Evidence(context, _asked(triad)), _passages(triad))
        counts = {kind: _count(kind, doubts) for kind, doubts in answer.claims().items()}
        doubt = max((count.doubt for count in counts.values()), default=0.0)
        score = answer.overlap * (1 - _SHARE_OF_DOUBT * doubt)
        partial = answer.is_partly_read or len(text) >= LONGEST_ANSWER or len(context) >= LONGEST_CONTEXT
    return Opinion(
        version=VERSION,
        support_score=score,
        counts=counts,
        question_language=_language(asks),
        answer_language=_language(text),
        partial=partial,
    )


def disagreement(opinion: Opinion, faithfulness: float | None) -> float:
    """How strongly the judge's faithfulness and the second opinion contradict each other, in [0, 1].

    The judge trusts what is doubted here, min(faithfulness, doubt), or doubts what is all found here,
    min(1 − faithfulness, support_score · (1 − doubt)); 0 where either has no score. Turns are listed by it.
    """
    if faithfulness is None or opinion.support_score is None:
        return 0.0
    overlooked = min(faithfulness, opinion.doubt)
    distrusted = min(1 - faithfulness, opinion.support_score * (1 - opinion.doubt))
    return max(overlooked, distrusted)


def disagrees(opinion: Opinion, faithfulness: float | None) -> bool:
    """Whether they contradict each other so strongly that the turn is listed first for human eyes."""
    return disagreement(opinion, faithfulness) >= DISAGREEMENT


def _context(triad: Triad) -> str:
    """The passages without their headers, whose ranks and scores are no evidence."""
    return "\n\n".join(passage.text for passage in triad.passages) if triad.passages else triad.context


def _asked(triad: Triad) -> str:
    """The question and, the newest first, what was said before it: an answer may repeat all that."""
    said = (triad.question, *(message.text for message in reversed(triad.history)))
    return normal("\n\n".join(said), longest=LONGEST_QUESTION)


def _passages(triad: Triad) -> frozenset[int]:
    """The numbers by which passages may be cited: their ranks, their places, and those of headers in the context."""
    ranks = (passage.rank for passage in triad.passages if passage.rank is not None)
    return frozenset((*ranks, *range(1, len(triad.passages) + 1), *citations(triad.context[:LONGEST_CONTEXT])))


def _count(kind: Kind, doubts: Sequence[float]) -> Count:
    """The claims with less than half a doubt are found."""
    calibrated = [_calibrated(doubt, _HALFWAY[kind]) for doubt in doubts]
    return Count(len(doubts), sum(doubt < DOUBTFUL for doubt in calibrated), max(calibrated))


def _calibrated(doubt: float, halfway: float) -> float:
    """0, halfway and 1 become 0, .5 and 1, on straight lines between."""
    if doubt < halfway:
        return 0.5 * doubt / halfway
    return 0.5 + 0.5 * (doubt - halfway) / (1 - halfway)


def _language(text: str) -> str | None:
    known = sum(word in FUNCTION_WORDS for word in text[:500].casefold().split())
    return language_of(text[:500]).value if known >= _FEWEST_FUNCTION_WORDS else None
