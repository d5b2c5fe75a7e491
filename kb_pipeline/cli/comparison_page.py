"""A comparison of two judges as one HTML page that loads nothing and tells nobody that it was opened.

Belongs here: markup, the picture. Does not: figures, the cells of the tables (comparison_table.py).
"""

from collections import Counter
from html import escape
from math import sqrt
from typing import TYPE_CHECKING

from kb_pipeline.cli.comparison_table import Rows, tables
from kb_pipeline.counting import counted

if TYPE_CHECKING:
    from kb_pipeline.grading.comparison.figures import Cells, Comparison
    from kb_pipeline.grading.comparison.verdict import Verdict
    from kb_pipeline.windows import Window

WIDTH, HEIGHT, MARGIN = 640, 400, 48
# Points are gathered on a grid of this step, so that a page of a million turns stays small.
STEP = 0.02
LARGEST_RADIUS, SMALLEST_RADIUS = 14.0, 1.5

CAPTION = (
    "Faithfulness, turn by turn: how far the second judge is above (+) or below (−) the first, over the mean of both. "
    "The larger a point, the more turns; the line is the mean shift, the band its interval."
)
STYLE = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 64rem; margin: 2rem auto; padding: 0 1rem; }
.verdict { font-size: 1.2rem; font-weight: 600; }
table { border-collapse: collapse; margin: .5rem 0 1.5rem; }
th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid #8884; vertical-align: top; }
td { overflow-wrap: break-word; font-variant-numeric: tabular-nums; }
svg { max-width: 100%; height: auto; }
svg text { font-size: 12px; fill: currentColor; }
.axis { stroke: currentColor; stroke-width: 1; }
.zero { stroke: currentColor; stroke-dasharray: 3 3; opacity: .6; }
.shift { stroke: #c2410c; stroke-width: 2; }
.band { fill: #c2410c; opacity: .18; }
.turns { fill: #2563eb; opacity: .5; }
"""


def page(comparison: "Comparison", found: "Verdict", window: "Window") -> str:
    """The whole page. Every text of it is escaped, and its policy forbids scripts and requests."""
    period = f"{window.start.isoformat(timespec='minutes')} to {window.end.isoformat(timespec='minutes')}"
    names = f"{comparison.first.name} → {comparison.second.name}"
    sections = "\n".join(f"<h2>{escape(title)}</h2>\n{_table(rows)}" for title, rows in tables(comparison))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(names)}</title>
<style>{STYLE}</style>
</head>
<body>
<h1>{escape(names)}</h1>
<p class="verdict">{escape(found.sentence)}</p>
<p>{counted(comparison.turns, "turn")} that both scored, {escape(period)}; figures with their 95 % intervals.</p>
{picture(comparison)}
<p>{CAPTION}</p>
{sections}
</body>
</html>
"""


def picture(comparison: "Comparison") -> str:
    """Faithfulness after Bland and Altman (1986): a turn's difference over the mean of its two scores, as SVG.

    The area of a point is the number of turns there; the line is the mean shift, the band its interval.
    """
    shift = comparison.aspects[0].shift
    lines = f'<line class="zero" x1="{_x(0)}" x2="{_x(1)}" y1="{_y(0)}" y2="{_y(0)}"/>'
    if shift is not None:
        top, bottom = _y(shift.high), _y(shift.low)
        lines += f'<rect class="band" x="{_x(0)}" width="{_x(1) - _x(0)}" y="{top}" height="{bottom - top:.1f}"/>'
        lines += f'<line class="shift" x1="{_x(0)}" x2="{_x(1)}" y1="{_y(shift.value)}" y2="{_y(shift.value)}"/>'
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" role="img" aria-labelledby="what">'
        '<title id="what">Faithfulness: difference of the two scores of each turn over their mean</title>'
        f"{_axes()}{lines}{_points(comparison.faithfulness_pairs)}</svg>"
    )


def _axes() -> str:
    left, right, top, bottom = _x(0), _x(1), _y(1), _y(-1)
    marks = [
        f'<path class="axis" fill="none" d="M{left} {top}V{bottom}H{right}"/>',
        f'<text x="{left}" y="{top - 12}">to − from</text>',
        f'<text x="{right}" y="{HEIGHT - 8}" text-anchor="end">mean of both</text>',
    ]
    marks += [f'<text x="{left - 8}" y="{_y(v) + 4}" text-anchor="end">{v:g}</text>' for v in (-1, -0.5, 0, 0.5, 1)]
    marks += [f'<text x="{_x(v)}" y="{bottom + 18}" text-anchor="middle">{v:g}</text>' for v in (0, 0.25, 0.5, 0.75, 1)]
    return "".join(marks)


def _points(cells: "Cells") -> str:
    gathered: Counter[tuple[float, float]] = Counter()
    for (first, second), count in cells.items():
        gathered[_on_grid((first + second) / 2), _on_grid(second - first)] += count
    most = max(gathered.values(), default=1)
    return "".join(
        f'<circle class="turns" cx="{_x(mean)}" cy="{_y(difference)}" '
        f'r="{max(SMALLEST_RADIUS, LARGEST_RADIUS * sqrt(count / most)):.1f}">'
        f"<title>{count:,} × {difference:+.2f} at {mean:.2f}</title></circle>"
        for (mean, difference), count in sorted(gathered.items())
    )


def _on_grid(value: float) -> float:
    return round(round(value / STEP) * STEP, 6)


def _x(mean: float) -> float:
    return round(MARGIN + mean * (WIDTH - 2 * MARGIN), 1)


def _y(difference: float) -> float:
    return round(HEIGHT / 2 - difference * (HEIGHT / 2 - MARGIN), 1)


def _table(rows: Rows) -> str:
    heading, *body = rows
    head = "".join(f"<th>{escape(cell)}</th>" for cell in heading)
    lines = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>\n" for row in body)
    return f"<table>\n<tr>{head}</tr>\n{lines}</table>"
