"""How far a judge can be trusted: its scores beside labels, as agreement with intervals.

Belongs here: labelled triads, experts' outcomes, agreement, bootstrap. Does not: calling a judge, reading files.
"""

from kb_pipeline.grading.calibration.agreement import (
    Agreement,
    Estimate,
    Observation,
    agreement,
    auc,
    balanced_accuracy,
    kappa,
    precision,
    recall,
    spearman,
)
from kb_pipeline.grading.calibration.dataset import Labelled, read_labelled
from kb_pipeline.grading.calibration.experts import (
    BAD,
    GOOD,
    UNKNOWN_LANGUAGE,
    ExpertAgreement,
    ExpertLabel,
    Figure,
    ScoreSums,
    corrected_mean,
    expert_agreements,
)

__all__ = [
    "BAD",
    "GOOD",
    "UNKNOWN_LANGUAGE",
    "Agreement",
    "Estimate",
    "ExpertAgreement",
    "ExpertLabel",
    "Figure",
    "Labelled",
    "Observation",
    "ScoreSums",
    "agreement",
    "auc",
    "balanced_accuracy",
    "corrected_mean",
    "expert_agreements",
    "kappa",
    "precision",
    "read_labelled",
    "recall",
    "spearman",
]
