"""A comparison of two judges as a person reads it on a terminal.

Belongs here: columns and words. Does not: figures.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kb_pipeline.cli.output import words, write_line, write_text
from kb_pipeline.cli.tables import table_lines
from kb_pipeline.counting import counted

if TYPE_CHECKING:
    from kb_pipeline.grading.calibration import Estimate
    from kb_pipeline.grading.comparison.figures import Comparison, VersionFigures
    from kb_pipeline.grading.comparison.verdict import Verdict

Rows = list[tuple[str, ...]]
INTERVAL = "95 % interval"
# Names and lists, which go below their row where they find no room in it.
SINKING = frozenset({"version", "ungraded", "question"})


def write_comparison(comparison: "Comparison", found: "Verdict") -> None:
    """The verdict, then every table."""
    write_text(found.sentence)
    write_text(f"over {counted(comparison.turns, 'turn')} that both scored; figures with their 95 % intervals")
    for title, rows in tables(comparison):
        write_line("")
        write_line(title)
        heading, *body = rows
        for line in table_lines(heading, body, sinking=SINKING):
            write_line(line)


def tables(comparison: "Comparison") -> Iterator[tuple[str, Rows]]:
    """Every table with its title; the first row of each is its heading."""
    yield "the two", _versions(comparison)
    yield "scores", _scores(comparison)
    yield "agreement of the scores, and turns where one is lacking", _agreements(comparison)
    yield "faithfulness at the thresholds", _thresholds(comparison)
    yield "faithfulness by language of the question", _languages(comparison)
    if comparison.largest:
        yield "where faithfulness differs most", _largest(comparison)


def _versions(comparison: "Comparison") -> Rows:
    heading = ("", "version", "graded", "ungraded", "tokens a turn", "seconds a turn")
    return [heading, *(_version(side, each) for side, each in (("from", comparison.first), ("to", comparison.second)))]


def _version(side: str, each: "VersionFigures") -> tuple[str, ...]:
    ungraded = ", ".join(f"{name} {words(count)}" for name, count in sorted(each.ungraded.items())) or "0"
    tokens = None if each.tokens is None else round(each.tokens)
    return (side, each.name, words(each.graded), ungraded, words(tokens), words(each.seconds))


def _scores(comparison: "Comparison") -> Rows:
    heading = ("score", "n", "from", "to", "shift", INTERVAL)
    return [
        heading,
        *(
            (
                each.aspect,
                words(each.n),
                words(each.first_mean),
                words(each.second_mean),
                *_estimate(each.shift),
            )
            for each in comparison.aspects
        ),
    ]


def _agreements(comparison: "Comparison") -> Rows:
    heading = ("score", "mean |difference|", "Spearman", "lacks from", "lacks to", "lacks both")
    return [
        heading,
        *(
            (
                each.aspect,
                words(each.mean_absolute_difference),
                words(each.spearman),
                words(each.missing_first),
                words(each.missing_second),
                words(each.missing_both),
            )
            for each in comparison.aspects
        ),
    ]


def _thresholds(comparison: "Comparison") -> Rows:
    heading = ("threshold", "agreement", "kappa", "fell below", "rose above")
    return [
        heading,
        *(
            (f"{each.threshold:g}", words(each.agreement), words(each.kappa), words(each.fell), words(each.rose))
            for each in comparison.aspects[0].thresholds
        ),
    ]


def _languages(comparison: "Comparison") -> Rows:
    warning = comparison.aspects[0].thresholds[0].threshold
    heading = ("language", "n", "shift", INTERVAL, f"fell below {warning:g}", f"rose above {warning:g}")
    return [
        heading,
        *(
            (each.language, words(each.n), *_estimate(each.shift), words(each.fell), words(each.rose))
            for each in comparison.languages
        ),
    ]


def _largest(comparison: "Comparison") -> Rows:
    return [
        ("event_id", "from", "to", "question"),
        *(
            (turn.event_id, words(turn.scores[0][0]), words(turn.scores[0][1]), turn.preview or "-")
            for turn in comparison.largest
        ),
    ]


def _estimate(estimate: "Estimate | None") -> tuple[str, str]:
    if estimate is None:
        return "-", "-"
    return f"{estimate.value:+.3f}", f"{estimate.low:+.3f} to {estimate.high:+.3f}"
