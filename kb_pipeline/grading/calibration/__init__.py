"""How far a judge can be trusted: its scores beside labels, as agreement with intervals.

Belongs here: labelled triads, agreement, bootstrap. Does not: calling a judge, reading files.
"""

from kb_pipeline.grading.calibration.agreement import (
    Agreement,
    Estimate,
    Observation,
    agreement,
    auc,
    balanced_accuracy,
    precision,
    recall,
)
from kb_pipeline.grading.calibration.dataset import Labelled, read_labelled

__all__ = [
    "Agreement",
    "Estimate",
    "Labelled",
    "Observation",
    "agreement",
    "auc",
    "balanced_accuracy",
    "precision",
    "read_labelled",
    "recall",
]
