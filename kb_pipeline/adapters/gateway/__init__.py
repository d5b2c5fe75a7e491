"""The judge behind an OpenAI-compatible gateway, and who may be called at all.

Belongs here: HTTP to the judge. Does not: prompts and replies (grading/judging), retries (the judge step).
"""

from kb_pipeline.adapters.gateway.hosts import endpoint_of, refuse_public_host
from kb_pipeline.adapters.gateway.judge import DialectMemory, GatewayJudge, Probe

__all__ = ["DialectMemory", "GatewayJudge", "Probe", "endpoint_of", "refuse_public_host"]
