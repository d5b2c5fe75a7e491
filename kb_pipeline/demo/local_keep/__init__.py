"""A local Keep: a small server that takes alerts as a real Keep was measured to, its losses included.

Belongs here: that server and the faults it shows. Does not: the pipeline's own client of Keep.
"""

from kb_pipeline.demo.local_keep.memory import Alerts
from kb_pipeline.demo.local_keep.server import KEY, READ_KEY, Conduct, LocalKeep

__all__ = ["KEY", "READ_KEY", "Alerts", "Conduct", "LocalKeep"]
