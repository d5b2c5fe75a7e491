"""The judge behind an OpenAI-compatible gateway, and who may be called at all.

Belongs here: HTTP to the judge. Does not: prompts and replies (grading/judging), retries (the judge step).
"""

from kb_pipeline.adapters.gateway.hosts import endpoint_of, refuse_public_host
from kb_pipeline.adapters.gateway.judge import DialectMemory, GatewayJudge, Probe
from kb_pipeline.adapters.gateway.window import ContextWindow, context_window

__all__ = [
    "ContextWindow",
    "DialectMemory",
    "GatewayJudge",
    "Probe",
    "context_window",
    "endpoint_of",
    "refuse_public_host",
]
