"""Audited traffic with known truth: `generate(Traffic(...), knowledge, retrieve)`.

Belongs here: what the demo and its tests call. Does not: tables; they are kb_pipeline/demo/upstream.py.
"""

from kb_pipeline.demo.traffic.generation import generate
from kb_pipeline.demo.traffic.kinds import COMPANIONS, DEFAULT_MIX, Kind, PlantedCall, PlantedTruth
from kb_pipeline.demo.traffic.plan import Effect, Incident, Traffic
from kb_pipeline.demo.traffic.samples import synthetic_pair

__all__ = [
    "COMPANIONS",
    "DEFAULT_MIX",
    "Effect",
    "Incident",
    "Kind",
    "PlantedCall",
    "PlantedTruth",
    "Traffic",
    "generate",
    "synthetic_pair",
]
