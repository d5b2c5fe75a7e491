"""Judge: claim turns that wait, call the judge, record every outcome. The one place that tries a turn again.

Belongs here: order, concurrency, retries and the end of a run. Does not: HTTP, SQL, what a reply means.
"""

from kb_pipeline.steps.judge.fairness import Visit, visits
from kb_pipeline.steps.judge.in_parts import InParts
from kb_pipeline.steps.judge.limits import JudgeLimits
from kb_pipeline.steps.judge.pacing import Pace, RetryBudget, wait_before_retry
from kb_pipeline.steps.judge.run import judge_window

__all__ = ["InParts", "JudgeLimits", "Pace", "RetryBudget", "Visit", "judge_window", "visits", "wait_before_retry"]
