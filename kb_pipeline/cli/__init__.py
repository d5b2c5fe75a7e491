"""The command line: `kb-pipeline COMMAND`.

Belongs here: options, words on the terminal, exit codes. Does not: work. A command imports what it needs when it runs,
so that `kb-pipeline --help` loads neither Dagster nor a database driver.
"""

import sys
from collections.abc import Sequence

from kb_pipeline.cli.failures import run
from kb_pipeline.cli.root import kb_pipeline


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and exit: 0 done, 1 the work failed, 2 wrong usage or configuration."""
    sys.exit(run(kb_pipeline, sys.argv[1:] if arguments is None else arguments))
