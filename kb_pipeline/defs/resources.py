"""What assets are given: a street per run, opened on the configured database.

Belongs here: resources. Does not: secrets in run configuration (a street reads its own settings).
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Generic, TypeVar

from kb_pipeline.alert_desk import AlertDesk
from kb_pipeline.grading_street import GradingStreet
from kb_pipeline.retrieval_street import RetrievalStreet
from kb_pipeline.settings import Settings

StreetT = TypeVar("StreetT")


class Streets(Generic[StreetT]):
    """Opens a street, or the desk; a plain object, so that no setting ever stands in a run's configuration."""

    def __init__(self, settings: Settings, opener: Callable[..., AbstractContextManager[StreetT]]) -> None:
        self.settings = settings
        self._opener = opener

    def open(self, run_id: str | None = None) -> AbstractContextManager[StreetT]:
        """The street for one run or tick; its connections are closed at the end of the block."""
        return self._opener(self.settings, run_id=run_id)


class GradingStreets(Streets[GradingStreet]):
    """Opens the grading street."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings, GradingStreet.open)


class RetrievalStreets(Streets[RetrievalStreet]):
    """Opens the retrieval street."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings, RetrievalStreet.open)


class AlertDesks(Streets[AlertDesk]):
    """Opens the alert desk."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings, AlertDesk.open)
