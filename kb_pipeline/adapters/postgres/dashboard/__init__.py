"""What the dashboard, the API and /metrics read: hourly windows and their daily roll-ups; turns by an index only.

Belongs here: reading, one module per subject. Does not: arithmetic and words (kb_pipeline/dashboard), HTTP.
"""
