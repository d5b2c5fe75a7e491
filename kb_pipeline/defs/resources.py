"""What assets are given: a street per run, opened on the configured database.

Belongs here: resources. Does not: secrets in run configuration (the street reads its own settings).
"""

from contextlib import AbstractContextManager

from kb_pipeline.grading_street import GradingStreet
from kb_pipeline.settings import Settings


class GradingStreets:
    """Opens the grading street; a plain object, so that no setting ever stands in a run's configuration."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def open(self, run_id: str | None = None) -> AbstractContextManager[GradingStreet]:
        """The street for one run or tick; its connections are closed at the end of the block."""
        return GradingStreet.open(self.settings, run_id=run_id)
