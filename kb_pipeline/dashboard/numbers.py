"""Numbers and times as people read them; what is missing is –, never 0.

Belongs here: formats. Does not: what is shown.
"""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

MISSING = "–"
THIN = "\u202f"
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_WEEK = timedelta(days=7)
_UNITS = ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k"))
_NO_CHANGE = 0.005
_FEW_MINUTES = 120


def score(value: float | None) -> str:
    """0.74."""
    return MISSING if value is None else f"{value:.2f}"


def between(bounds: tuple[float, float] | None) -> str:
    """0.69–0.78."""
    return MISSING if bounds is None else f"{bounds[0]:.2f}–{bounds[1]:.2f}"


def rate(value: float | None) -> str:
    """77.5 %, with a narrow no-break space."""
    return MISSING if value is None else f"{value * 100:.1f}{THIN}%"


def count(value: float | None) -> str:
    """1,927."""
    return MISSING if value is None else f"{value:,.0f}"


def short(value: float | None) -> str:
    """11.9 M."""
    if value is None:
        return MISSING
    for size, unit in _UNITS:
        if value >= size:
            return f"{value / size:.1f}{THIN}{unit}"
    return f"{value:.0f}"


def milliseconds(value: float | None) -> str:
    """Whole milliseconds."""
    return MISSING if value is None else f"{value:,.0f}"


def age(length: timedelta) -> str:
    """4 min, 3 h, 2 d."""
    minutes = max(0, int(length.total_seconds() // 60))
    if minutes < _FEW_MINUTES:
        return f"{minutes} min"
    return f"{minutes // 60} h" if minutes < 2 * 24 * 60 else f"{minutes // (24 * 60)} d"


def change(now: float | None, before: float | None, base: str, *, is_clear: bool) -> str:
    """▼ 0.11 on the week before; "no clear change" where the difference may be chance."""
    if now is None or before is None:
        return f"no {base} to compare"
    if not is_clear or abs(now - before) < _NO_CHANGE:
        return "no clear change"
    return f"{'▼' if now < before else '▲'} {abs(now - before):.2f} on the {base}"


def moment(at: datetime, zone: ZoneInfo, now: datetime) -> str:
    """Today 11:26, Wed 16:48, 13 July, 13 July 2025."""
    local, today = at.astimezone(zone), now.astimezone(zone)
    if local.date() == today.date():
        return f"Today {local:%H:%M}"
    if timedelta() <= today - local < _WEEK - timedelta(days=1):
        return f"{DAYS[local.weekday()]} {local:%H:%M}"
    return day(local, with_year=local.year != today.year)


def full_moment(at: datetime, zone: ZoneInfo) -> str:
    """Thu 16 July 2026, 11:26 WIB."""
    local = at.astimezone(zone)
    return f"{DAYS[local.weekday()]} {day(local)}, {local:%H:%M} {local:%Z}"


def clock(at: datetime, zone: ZoneInfo) -> str:
    """11:26."""
    return f"{at.astimezone(zone):%H:%M}"


def day(at: datetime, *, with_year: bool = True) -> str:
    """16 July 2026."""
    return f"{at.day} {MONTHS[at.month - 1]}" + (f" {at.year}" if with_year else "")


def span(start: datetime, end: datetime, zone: ZoneInfo, now: datetime) -> str:
    """9–16 July 2026, until 14:07 WIB."""
    first, last = start.astimezone(zone), min(end, now).astimezone(zone)
    until = f"until {last:%H:%M} {last:%Z}"
    if first.date() == last.date():
        return f"{day(last)}, {until}"
    if (first.year, first.month) == (last.year, last.month):
        return f"{first.day}–{day(last)}, {until}"
    since = f"{first.day} {MONTHS[first.month - 1][:3]}" + (f" {first.year}" if first.year != last.year else "")
    return f"{since} – {last.day} {MONTHS[last.month - 1][:3]} {last.year}, {until}"
