"""A chat request and its response to the triad: question, retrieved context, answer.

Belongs here: the template of a surface, and reading a prompt by it. Does not: bytes (bodies), scores (metrics).
"""

from kb_pipeline.grading.extraction.questions import PREVIEW_CHARACTERS, question_preview, question_sha
from kb_pipeline.grading.extraction.template import SurfaceTemplate
from kb_pipeline.grading.extraction.triads import extract, is_synthesis

__all__ = [
    "PREVIEW_CHARACTERS",
    "SurfaceTemplate",
    "extract",
    "is_synthesis",
    "question_preview",
    "question_sha",
]
