"""Stored bytes to requests and responses: any bytes in, a value out, never an exception.

Belongs here: compression, character sets, JSON, and the shapes of servers, gateways and tracers. Does not: the template
of a prompt (extraction), the ledger's verdict (examination).
"""

from kb_pipeline.grading.bodies.compression import MAX_BODY_BYTES, decompress
from kb_pipeline.grading.bodies.replies import Response, is_length
from kb_pipeline.grading.bodies.requests import PromptMessage, Request, read_request
from kb_pipeline.grading.bodies.responses import read_response

__all__ = [
    "MAX_BODY_BYTES",
    "PromptMessage",
    "Request",
    "Response",
    "decompress",
    "is_length",
    "read_request",
    "read_response",
]
