"""The geometry of charts: numbers in, coordinates out; `x` in thousandths of the width, `y` in pixels.

Belongs here: scales, paths, ticks. Does not: SVG markup (templates), colours, what is charted.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from kb_pipeline.dashboard import numbers
from kb_pipeline.dashboard.periods import Period
from kb_pipeline.dashboard.trend import Point, lines

HEIGHT = 138
WIDTH = 1000
SPARK_HEIGHT = 28
_UPPER, _MIDDLE, _ZERO = (0.5, 1.0), 0.5, (0.0, 1.0)
_LEAST_SHARE = 12
_FEW_HOURS = 30
_MOST_LABELS = 8
_MANY_DAYS = 200


@dataclass(frozen=True, slots=True)
class Tick:
    """A label at a place along an axis."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Threshold:
    """A dashed line at `y` with its label; `tone` is warn or crit."""

    y: float
    label: str
    tone: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TrendChart:
    """One score over time: paths of lines and bands, columns of gaps (x and width), axes, the last point."""

    height: int
    lines: tuple[str, ...]
    bands: tuple[str, ...]
    gaps: tuple[tuple[float, float], ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    thresholds: tuple[Threshold, ...]
    last: tuple[float, float] | None
    last_tone: str
    warn_y: float | None
    crit_y: float | None


def scale(trends: Sequence[Sequence[Point]], aspects: Sequence[str]) -> tuple[float, float]:
    """One y-scale for all panels: 0.50 to 1.00, or 0 to 1 once a bound falls below 0.50."""
    bounds = [
        point.scores[aspect].interval()
        for trend in trends
        for aspect in aspects
        for run in lines(trend, aspect)
        for point in run
    ]
    return _ZERO if any(bound and bound[0] < _MIDDLE for bound in bounds) else _UPPER


def trend_chart(
    trend: Sequence[Point],
    aspect: str,
    period: Period,
    *,
    limits: tuple[float, float],
    warn: float | None = None,
    crit: float | None = None,
) -> TrendChart:
    """The chart of one aspect; a gap is a column and never bridged, thresholds are those of the aspect or None."""
    runs = lines(trend, aspect)
    x = _Time(period)

    def y(value: float) -> float:
        return round(HEIGHT * (limits[1] - value) / (limits[1] - limits[0]), 1)

    last = trend[-1].scores[aspect].mean if trend and not trend[-1].is_withheld else None
    marks = [(warn, "warning", "warn"), (crit, "critical", "crit")]
    shown = [
        Threshold(y(at), f"{word} {at:.2f}", tone) for at, word, tone in marks if at is not None and at >= limits[0]
    ]
    return TrendChart(
        height=HEIGHT,
        lines=tuple(_line([(x(p.at), y(p.scores[aspect].mean or 0.0)) for p in run]) for run in runs),
        bands=tuple(_band([(x(p.at), *(p.scores[aspect].interval() or _ZERO)) for p in run], y) for run in runs),
        gaps=tuple(_gaps(trend, aspect, x)),
        x_ticks=tuple(time_ticks(period)),
        y_ticks=tuple(Tick(y(value), f"{value:.2f}") for value in (limits[1], sum(limits) / 2, limits[0])),
        thresholds=tuple(shown),
        last=None if last is None else (WIDTH, y(last)),
        last_tone=tone_of(last, warn, crit),
        warn_y=None if warn is None else y(warn),
        crit_y=None if crit is None else y(crit),
    )


def tone_of(value: float | None, warn: float | None, crit: float | None) -> str:
    """crit, warn or data, by the thresholds."""
    if value is None:
        return "data"
    if crit is not None and value < crit:
        return "crit"
    return "warn" if warn is not None and value < warn else "data"


class _Time:
    def __init__(self, period: Period) -> None:
        self._start = period.window.start
        self._length = period.length

    def __call__(self, at: datetime) -> float:
        return round(min(1.0, max(0.0, (at - self._start) / self._length)) * WIDTH, 1)


def _line(places: Sequence[tuple[float, float]]) -> str:
    if len(places) == 1:
        # A stroke of no length with round ends is a dot.
        places = [*places, places[0]]
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in places)


def _band(places: Sequence[tuple[float, float, float]], y: Callable[[float], float]) -> str:
    upper = [f"{x:g} {y(high):g}" for x, _, high in places]
    lower = [f"{x:g} {y(low):g}" for x, low, _ in reversed(places)]
    return "M" + "L".join([*upper, *lower]) + "Z"


def _gaps(trend: Sequence[Point], aspect: str, x: _Time) -> list[tuple[float, float]]:
    """Columns from the last point before a gap to the first one after it."""
    columns: list[tuple[float, float]] = []
    opened: float | None = None
    before = 0.0
    for point in trend:
        missing = point.is_withheld or not point.scores[aspect].n
        if missing and opened is None:
            opened = before
        elif not missing and opened is not None:
            columns.append((opened, round(x(point.at) - opened, 1)))
            opened = None
        before = x(point.at)
    if opened is not None:
        columns.append((opened, round(WIDTH - opened, 1)))
    return [column for column in columns if column[1] > 0]


def time_ticks(period: Period) -> list[Tick]:
    """Hours within two days, weekdays at noon within nine, else dates; at most eight labels."""
    x = _Time(period)
    if period.length <= timedelta(hours=_FEW_HOURS):
        return [Tick(x(at), numbers.clock(at, period.zone)) for at in _every(period, 4)]
    days = list(period.local_days())
    if len(days) <= _MOST_LABELS + 1:
        whole = [window for _, window in days if window.end - window.start > timedelta(hours=12)]
        return [Tick(x(w.start + (w.end - w.start) / 2), _weekday(w.start, period.zone)) for w in whole]
    # The names of months with years are twice as wide.
    most = _MOST_LABELS if len(days) <= _MANY_DAYS else _MOST_LABELS // 2
    stride = -(-len(days) // max(1, most - 1))
    chosen = days[stride // 2 :: stride]
    return [Tick(x(window.start), _date(day, len(days))) for day, window in chosen]


def _every(period: Period, hours: int) -> list[datetime]:
    step = timedelta(hours=1)
    found, at = [], period.window.start
    while at < period.window.end:
        if not at.astimezone(period.zone).hour % hours:
            found.append(at)
        at += step
    return found


def _weekday(at: datetime, zone: ZoneInfo) -> str:
    return numbers.DAYS[at.astimezone(zone).weekday()]


def _date(day: date, count: int) -> str:
    name = numbers.MONTHS[day.month - 1][:3]
    return f"{name} {day.year}" if count > _MANY_DAYS else f"{day.day} {name}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Sparkline:
    """A small line with its last point and a dotted base."""

    height: int
    path: str
    last: tuple[float, float] | None
    base_y: float | None


def sparkline(values: Sequence[float | None], *, base: float | None = None, span: float | None = None) -> Sparkline:
    """Values in [0, 1]; missing ones are left out.

    With `span` the scale is 0 to span, for lines that are compared; else it is at least 20 points of a hundred high.
    """
    known = [(place, value) for place, value in enumerate(values) if value is not None]
    if not known:
        return Sparkline(height=SPARK_HEIGHT, path="", last=None, base_y=None)
    every = [value for _, value in known] + ([base] if base is not None else [])
    middle = (max(every) + min(every)) / 2 if span is None else span / 2
    spread = max(0.2, max(every) - min(every)) if span is None else span or 1.0
    steps = max(1, len(values) - 1)

    def y(value: float) -> float:
        return round(4 + (SPARK_HEIGHT - 8) * (0.5 - (value - middle) / spread), 1)

    places = [(round(WIDTH * place / steps, 1), y(value)) for place, value in known]
    return Sparkline(
        height=SPARK_HEIGHT,
        path=_line(places),
        last=places[-1],
        base_y=None if base is None else y(base),
    )


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a bar in thousandths of its width."""

    name: str
    x: float
    width: float


def segments(named: Sequence[tuple[str, int]]) -> list[Segment]:
    """A bar of parts; a part that is there at all is at least 12 thousandths wide, the widest one gives."""
    whole = sum(size for _, size in named)
    if not whole:
        return []
    widths = {name: max(_LEAST_SHARE, WIDTH * size / whole) for name, size in named if size}
    widest = max(widths, key=lambda name: widths[name])
    widths[widest] -= sum(widths.values()) - WIDTH
    placed, at = [], 0.0
    for name, width in widths.items():
        placed.append(Segment(name, round(at, 1), round(width, 1)))
        at += width
    return placed


@dataclass(frozen=True, slots=True)
class Bar:
    """A column: place, width and top in its chart."""

    x: float
    width: float
    y: float
    height: float


def columns(values: Sequence[float], *, top: float, height: int) -> list[Bar]:
    """Columns side by side, the highest possible `top`; a value that is not 0 is at least a pixel high."""
    if not values:
        return []
    each = WIDTH / len(values)
    bars = []
    for place, value in enumerate(values):
        tall = max(1.0, height * value / top) if value and top else 0.0
        bars.append(
            Bar(round(place * each + each * 0.08, 1), round(each * 0.84, 1), round(height - tall, 1), round(tall, 1))
        )
    return bars
