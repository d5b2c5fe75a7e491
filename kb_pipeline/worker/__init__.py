"""The consumer of the queue of retrieval events: jobs become rows, each event once, whatever fails meanwhile.

Belongs here: one process that runs beside others like it. Does not: reading a job (retrieval/events), SQL, producers.
"""

from kb_pipeline.worker.queue_server import Probe, QueueServer, probe_now
from kb_pipeline.worker.running import run_worker

__all__ = ["Probe", "QueueServer", "probe_now", "run_worker"]
