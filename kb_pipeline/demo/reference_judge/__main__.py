"""`python -m kb_pipeline.demo.reference_judge`: the reference judge as a process of its own.

Belongs here: its command line. Does not: anything else.
"""

import argparse
import sys
from dataclasses import fields

from kb_pipeline.demo.reference_judge.faults import Faults
from kb_pipeline.demo.reference_judge.server import NAME, build_app
from kb_pipeline.demo.threaded import listening_socket, server_of
from kb_pipeline.errors import KbPipelineError


def main() -> int:
    """Serve until Ctrl-C or SIGTERM; the first line of output tells the address."""
    parser = argparse.ArgumentParser(prog="python -m kb_pipeline.demo.reference_judge", description=__doc__)
    parser.add_argument("--port", type=int, default=8090, help="port on 127.0.0.1; 0 takes a free one")
    for field in fields(Faults):
        option = "--" + field.name.replace("_", "-")
        if isinstance(field.default, bool):
            parser.add_argument(option, action="store_true")
        else:
            kind = int if field.name in {"seed", "only_first"} else float
            parser.add_argument(option, type=kind, default=field.default)
    arguments = vars(parser.parse_args())
    try:
        listener = listening_socket(arguments.pop("port"), name=NAME)
        server = server_of(build_app(Faults(**arguments)))
    except (KbPipelineError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"reference judge at http://127.0.0.1:{listener.getsockname()[1]}\n")
    sys.stdout.flush()
    server.run(sockets=[listener])
    return 0


if __name__ == "__main__":
    sys.exit(main())
