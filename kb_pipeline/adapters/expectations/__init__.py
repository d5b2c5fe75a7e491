"""The expectation suite of rag_quality: what must hold of the published rows of an hour, whatever constraints stand.

Belongs here: the expectations, Great Expectations on our connections, counts of offending rows. Does not: Dagster,
rules on hours and days (grading/health.py), values of rows.

Nothing of Great Expectations is imported before an evaluation: that costs seconds and 150 MB.
"""

from kb_pipeline.adapters.expectations.evaluation import EXPECTATION_GROUPS, ExpectationResult, evaluate

__all__ = ["EXPECTATION_GROUPS", "ExpectationResult", "evaluate"]
