"""`python -m kb_pipeline.demo.local_keep`: the local Keep as a process of its own.

Belongs here: its command line. Does not: anything else.
"""

import argparse
import sys
from pathlib import Path

from kb_pipeline.demo.local_keep.server import KEY, NAME, READ_KEY, Conduct, LocalKeep
from kb_pipeline.demo.threaded import listening_socket
from kb_pipeline.errors import KbPipelineError


def main() -> int:
    """Serve until Ctrl-C or SIGTERM; the first line of output tells the address."""
    parser = argparse.ArgumentParser(prog="python -m kb_pipeline.demo.local_keep", description=__doc__)
    parser.add_argument("--port", type=int, default=8091, help="port on 127.0.0.1; 0 takes a free one")
    parser.add_argument("--file", type=Path, help="where alerts are kept; without one they end with the process")
    parser.add_argument("--key", default=KEY, help="the key that sends")
    parser.add_argument("--read-key", default=READ_KEY, help="the key that reads")
    parser.add_argument("--visible-after-s", type=float, default=0.0, help="until what was accepted is seen, at most")
    given = parser.parse_args()
    try:
        listener = listening_socket(given.port, name=NAME)
    except KbPipelineError as error:
        sys.stderr.write(f"{str(error).replace('the reference judge', 'the local Keep')}\n")
        return 1
    conduct = Conduct(visible_after_s=given.visible_after_s)
    keep = LocalKeep(conduct, file=given.file, key=given.key, read_key=given.read_key)
    sys.stdout.write(f"local Keep at http://127.0.0.1:{listener.getsockname()[1]}\n")
    sys.stdout.flush()
    keep.serve(listener)
    return 0


if __name__ == "__main__":
    sys.exit(main())
