"""Suites of expectations: what must hold of rows whatever constraints stand.

Belongs here: the suites, Great Expectations on our connections, counts of offending rows. Does not: Dagster, rules on
hours and days (health.py of each street), values of rows.

Nothing of Great Expectations is imported before an evaluation: that costs seconds and 150 MB.
"""

from kb_pipeline.adapters.expectations.evaluation import ExpectationResult, evaluate
from kb_pipeline.adapters.expectations.published_row import RAG_QUALITY
from kb_pipeline.adapters.expectations.retrieval_rows import judgments, retrieval_events, search_events
from kb_pipeline.adapters.expectations.subject import Subject

__all__ = ["RAG_QUALITY", "ExpectationResult", "Subject", "evaluate", "judgments", "retrieval_events", "search_events"]
