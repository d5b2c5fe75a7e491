"""Servers that come with a wheel, for the demo and the tests.

Belongs here: starting, finding and stopping them. Does not: what is stored in them, servers of production.
"""

from kb_pipeline.adapters.embedded.postgres import EmbeddedPostgres

__all__ = ["EmbeddedPostgres"]
