"""When an event happened, out of whatever its producer sends as a time.

Belongs here: reading one instant and judging whether it can be true. Does not: asking what time it is.
"""

from datetime import UTC, datetime, timedelta

from kb_pipeline.retrieval.events.values import Notes, number_of
from kb_pipeline.retrieval.events.verdict import Note

EARLIEST = datetime(2020, 1, 1, tzinfo=UTC)
TOMORROW = timedelta(days=1)
# Below the first bound a number of the years 2020 to 5138 counts seconds, below the next milliseconds, and so on.
_UNITS = ((1e11, 1.0), (1e14, 1e3), (1e17, 1e6), (1e20, 1e9))
# Shorter digits are a date without hyphens.
_EPOCH_DIGITS = 9


def instant_of(value: object, *, received_at: datetime, notes: Notes) -> datetime:
    """The instant in UTC; `received_at` where there is none, or one before 2020 or a day and more after it."""
    if value is None:
        notes.add(Note.TIME_MISSING)
        return received_at
    found: Notes = set()
    instant = _instant(value, found)
    if instant is None or not EARLIEST <= instant < received_at + TOMORROW:
        notes.add(Note.TIME_REPLACED)
        return received_at
    notes |= found
    return instant


def _instant(value: object, notes: Notes) -> datetime | None:
    if isinstance(value, str):
        digits = value.strip()
        is_date = len(digits) < _EPOCH_DIGITS or number_of(digits) is None
        return _written(digits, notes) if is_date else _counted(digits, notes)
    return _counted(value, notes)


def _written(text: str, notes: Notes) -> datetime | None:
    try:
        instant = datetime.fromisoformat(text.upper())
        if instant.tzinfo is None:
            notes.add(Note.TIME_NAIVE)
            return instant.replace(tzinfo=UTC)
        return instant.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _counted(value: object, notes: Notes) -> datetime | None:
    number = number_of(value)
    unit = next((unit for bound, unit in _UNITS if number is not None and abs(number) < bound), None)
    if number is None or unit is None:
        return None
    notes.add(Note.TIME_EPOCH)
    try:
        return datetime.fromtimestamp(number / unit, UTC)
    except (ValueError, OverflowError, OSError):
        return None
