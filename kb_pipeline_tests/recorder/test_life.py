"""The recorder in processes that fork and end."""

import subprocess
import sys
from pathlib import Path

import pytest

from kb_pipeline_tests.docs_pages import REPOSITORY
from kb_pipeline_tests.queue_servers import QueueServer

PREAMBLE = """
import os, sys, threading, time
from kb_pipeline.recorder import RetrievalRecorder
from kb_pipeline_tests.recorder.events import drops, retrieval
recorder = RetrievalRecorder(sys.argv[1], queue=sys.argv[2], closing_s=float(sys.argv[3]))
"""


def run(url: str, queue: str, program: str, *, closing_s: float = 60) -> subprocess.CompletedProcess[str]:
    """A process of its own that runs the program, with `recorder` at hand."""
    command = [sys.executable, "-c", PREAMBLE + program, url, queue, str(closing_s)]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=120)


def lost(done: subprocess.CompletedProcess[str]) -> list[str]:
    """What it said on its way, but for a server that did not answer at once: the machine may be busy."""
    return [line for line in done.stderr.splitlines() if "they wait in memory" not in line]


def job_count(server: QueueServer, queue: str) -> int:
    return len(server.jobs(queue))


def test_what_was_recorded_just_before_the_process_ends_arrives_also_by_the_name_of_a_host(
    server: QueueServer, queue: str
) -> None:
    by_name = server.url.replace("127.0.0.1", "localhost")
    done = run(by_name, queue, "[recorder.record(retrieval()) for _ in range(25)]")
    assert (done.returncode, lost(done)) == (0, [])
    assert job_count(server, queue) == 25


def test_a_process_that_ends_while_the_server_is_away_ends_and_says_what_is_lost(queue: str) -> None:
    done = run("redis://127.0.0.1:1/0", queue, "recorder.record(retrieval())", closing_s=0.2)
    assert done.returncode == 0
    assert "retrieval events dropped: 1, closed" in done.stderr


@pytest.mark.parametrize(
    "moment", ["", "recorder.record(retrieval()); time.sleep(0.3)", "recorder.record(retrieval())"]
)
def test_a_forked_process_records_for_itself_whatever_its_parent_was_doing(
    server: QueueServer, queue: str, moment: str
) -> None:
    program = f"""
{moment}
child = os.fork()
mine = [recorder.record(retrieval()) for _ in range(10)]
if child:
    _, status = os.waitpid(child, 0)
    sys.exit(os.waitstatus_to_exitcode(status))
sys.exit(0 if all(mine) else 1)
"""
    done = run(server.url, queue, program)
    assert (done.returncode, lost(done)) == (0, [])
    assert job_count(server, queue) == 20 + bool(moment)


def test_what_waits_in_the_parent_is_not_sent_or_counted_by_the_child(tmp_path: Path, queue: str) -> None:
    program = """
[recorder.record(retrieval()) for _ in range(7)]
if os.fork() == 0:
    print("waiting in the child:", recorder.waiting, flush=True)
    recorder.close(0)
    os._exit(0)
os.wait()
recorder.close(0)
"""
    done = run(QueueServer(tmp_path).url, queue, program)
    assert "waiting in the child: 0\n" in done.stdout
    assert done.stderr.count("retrieval events dropped: 7, closed") == 1


def test_a_fork_while_other_threads_record_leaves_both_processes_working(server: QueueServer, queue: str) -> None:
    program = """
stop = threading.Event()
def busy():
    while not stop.is_set():
        recorder.record(retrieval())
        time.sleep(0.001)
threads = [threading.Thread(target=busy) for _ in range(3)]
[thread.start() for thread in threads]
children = []
for _ in range(10):
    child = os.fork()
    if child == 0:
        ok = all([recorder.record(retrieval(trace_id="child")) for _ in range(3)])
        recorder.close(30)
        os._exit(0 if ok and not drops_here() else 1)
    children.append(child)
codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
stop.set()
[thread.join() for thread in threads]
sys.exit(max(codes))
"""
    program = program.replace("drops_here()", "drops(__import__('prometheus_client').REGISTRY)")
    done = run(server.url, queue, program)
    assert (done.returncode, lost(done)) == (0, [])
    from_children = [job for job in server.jobs(queue) if job.data.get("trace_id") == "child"]
    assert len(from_children) == 30


def test_a_fork_waits_until_no_other_thread_counts(server: QueueServer, queue: str) -> None:
    program = """
from kb_pipeline.recorder.metrics import _counting
counting, counted = threading.Event(), threading.Event()
def count():
    with _counting:
        counting.set()
        time.sleep(0.2)
        counted.set()
threading.Thread(target=count).start()
counting.wait()
if os.fork() == 0:
    os._exit(0 if counted.is_set() and recorder.record(retrieval()) else 1)
sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
"""
    done = run(server.url, queue, program)
    assert (done.returncode, lost(done)) == (0, [])
