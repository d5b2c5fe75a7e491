"""The reference judge: a small OpenAI-compatible server that grades by counting, offline.

Belongs here: that server, its verdict and the faults it injects. Does not: the pipeline's own judge client.
"""

from kb_pipeline.demo.reference_judge.faults import Fault, Faults
from kb_pipeline.demo.reference_judge.server import ReferenceJudge, build_app
from kb_pipeline.demo.reference_judge.verdict import MODEL, reference_verdict

__all__ = ["MODEL", "Fault", "Faults", "ReferenceJudge", "build_app", "reference_verdict"]
