"""The producer's side for Python applications: record a retrieval and never wait."""

from kb_pipeline.recorder.drops import DropReason
from kb_pipeline.recorder.metrics import RetrievalMetrics
from kb_pipeline.recorder.recorder import DEFAULT_ENGINES, DEFAULT_QUEUE, RetrievalRecorder

__all__ = ["DEFAULT_ENGINES", "DEFAULT_QUEUE", "DropReason", "RetrievalMetrics", "RetrievalRecorder"]
