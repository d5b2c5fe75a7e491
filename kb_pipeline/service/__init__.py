"""The HTTP service: dashboard, JSON API and /metrics over one read service.

Belongs here: requests, roles, pages. Does not: SQL (adapters), arithmetic and words (kb_pipeline/dashboard).
"""
