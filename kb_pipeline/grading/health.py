"""Verdicts on the measurement itself: whether turns can be read, are still recognised, and none is lost.

Belongs here: pure decisions from counts. Does not: how a verdict is shown or delivered.
"""

from kb_pipeline.counting import counted, form, out_of
from kb_pipeline.grading.aggregates import CallCounts, Coverage
from kb_pipeline.grading.canary import CanaryReport
from kb_pipeline.verdicts import MIN_CASES, Health, Z, failed, passed, warned, wilson

PARSE_WARN = 0.99
PARSE_ERROR = 0.90
MIN_CALLS = 20
LOST_SHARE = 0.25


def parse_success(counts: CallCounts) -> Health:
    """Whether the prompt template is still the one that the markers describe.

    Fails when the upper Wilson bound (one-sided 95 %) of the parse-success rate is below 90 %, warns below 99 %.
    """
    attempted, failures = counts.parse_attempted, counts.parse_attempted - counts.parsed
    if not attempted:
        return passed("No turn to read.")
    sentence = f"{out_of(counts.parsed, attempted, 'turn')} could be read by the template's markers."
    upper = wilson(counts.parsed, attempted, z=Z)[1]
    if failures < MIN_CASES or upper >= PARSE_WARN:
        return passed(sentence)
    verdict = failed if upper < PARSE_ERROR else warned
    return verdict(f"{sentence} kb-pipeline suggest-template --since 24h says what the new markers probably are.")


def synthesis_share(counts: CallCounts, baseline: CallCounts) -> Health:
    """Whether turns are still recognised: the share of recognised calls against that of the days before.

    Fails when the upper Wilson bound of the share is below a quarter of the baseline's share, from 20 calls on.
    """
    usual = baseline.synthesis_share
    if counts.read < MIN_CALLS or not usual or baseline.read < MIN_CALLS:
        return passed(f"{counted(counts.read, 'call')} and what came before are too few to compare.")
    recognised = counts.synthesis + counts.sampled_out
    sentence = f"{_were(recognised, counts.read, 'call')} recognised as turns; {usual:.1%} is usual."
    if wilson(recognised, counts.read, z=Z)[1] >= LOST_SHARE * usual:
        return passed(sentence)
    return failed(f"{sentence} kb-pipeline suggest-template --since 24h says what the new markers probably are.")


def judge_answers(scored: int, unscored: int) -> Health:
    """Whether the judge gives scores: warns when most of the called turns of an hour have none, never on one turn."""
    called = counted(unscored, "was called and has", "were called and have")
    sentence = f"{counted(scored, 'turn has', 'turns have')} scores, {called} none."
    if unscored < MIN_CASES or unscored <= scored:
        return passed(sentence)
    return warned(f"{sentence} kb-pipeline check tells whether the judge answers.")


def canary(newest: CanaryReport | None) -> Health:
    """Whether the judge still tells turns with known verdicts apart; an outage says nothing of that and warns."""
    if newest is None:
        return passed("The judge was not asked yet.")
    if newest.healthy is None:
        return warned("The judge answered no canary; kb-pipeline check tells whether it answers.")
    sentence = f"{out_of(newest.right_verdicts, newest.asked, 'canary', 'canaries')} got the right verdict."
    if newest.healthy:
        return passed(sentence)
    return failed(f"{sentence} Distrust its scores from then on until model, server and prompt are as they were.")


def coverage(found: Coverage) -> Health:
    """Whether every recognised turn is in exactly one place."""
    places = (
        f"{found.graded:,} graded + {found.ungraded:,} ungraded + {found.skipped:,} skipped + {found.pending:,} pending"
        f" + {found.sampled_out:,} sampled out"
    )
    if found.adds_up:
        return passed(f"{found.seen:,} seen = {places}.")
    return failed(f"{found.seen:,} seen, but {places}; materialize the hour again.")


def newest_hour(calls_at_source: int, calls_examined: int) -> Health:
    """Whether the newest closed hour was graded at all."""
    if calls_at_source and not calls_examined:
        return failed(
            f"The newest closed hour has {counted(calls_at_source, 'call')} and none was examined; "
            "is the daemon running?"
        )
    return passed(f"{_were(calls_examined, calls_at_source, 'call')} examined.")


def _were(part: int, whole: int, one: str) -> str:
    return f"{out_of(part, whole, one)} {form(part, 'was', 'were')}"
