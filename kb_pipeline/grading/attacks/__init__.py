"""The attack bench: texts that want a grade, planted into turns of known worth, and what they achieved.

Belongs here: attacks as data, planting, scoring; all pure. Does not: asking a judge (steps/attack).
"""

from kb_pipeline.grading.attacks.attack import Attack, Place, attacked_turn, clean_turn
from kb_pipeline.grading.attacks.catalogue import ATTACKS
from kb_pipeline.grading.attacks.scoring import Attacked, AttackRow, AttackScore, score_attacks

__all__ = [
    "ATTACKS",
    "Attack",
    "AttackRow",
    "AttackScore",
    "Attacked",
    "Place",
    "attacked_turn",
    "clean_turn",
    "score_attacks",
]
