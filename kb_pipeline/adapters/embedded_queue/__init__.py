"""A queue server that comes with a wheel, for the demo, the tests and a first try.

Belongs here: starting, finding and stopping it. Does not: what is queued in it, servers of production.
"""

from kb_pipeline.adapters.embedded_queue.queue import EmbeddedQueue

__all__ = ["EmbeddedQueue"]
