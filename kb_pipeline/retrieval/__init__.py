"""The retrieval street's decisions, pure: events, outcomes of drafts, evidence and judgments, gaps.

Belongs here: functions from records to records. Does not: I/O, a clock, SQL, Dagster.
"""
