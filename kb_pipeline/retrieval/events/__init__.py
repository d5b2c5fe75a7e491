"""Retrieval events and search events on their way: built by a producer, sent as a job, read by the worker. Pure.

Belongs here: the contract of the queue's jobs. Does not: the queue, the database, metrics.
"""

from kb_pipeline.retrieval.events.building import build_retrieval_event
from kb_pipeline.retrieval.events.citations import CITATION, cited_ranks
from kb_pipeline.retrieval.events.hits import MAX_HITS
from kb_pipeline.retrieval.events.reading import OTHER_ENGINE, read_job
from kb_pipeline.retrieval.events.verdict import Note, Read, Reason, Rejected
from kb_pipeline.retrieval.events.wire import SCHEMA_VERSION, job_id, job_of, job_options, job_schema

__all__ = [
    "CITATION",
    "MAX_HITS",
    "OTHER_ENGINE",
    "SCHEMA_VERSION",
    "Note",
    "Read",
    "Reason",
    "Rejected",
    "build_retrieval_event",
    "cited_ranks",
    "job_id",
    "job_of",
    "job_options",
    "job_schema",
    "read_job",
]
