"""Where the folder `sql` is: beside the package in a checkout, inside it in an installed wheel.

Belongs here: finding and reading its files. Does not: running them.
"""

from functools import cache
from pathlib import Path
from typing import LiteralString

import kb_pipeline
from kb_pipeline.errors import DatabaseError

LANDMARK = Path("migrations") / "env.py"


@cache
def sql_folder() -> Path:
    """The folder with migrations, roles and views; raises DatabaseError where the installation lacks it."""
    package = Path(kb_pipeline.__file__).resolve().parent
    for folder in (package / "sql", package.parent / "sql"):
        if (folder / LANDMARK).is_file():
            return folder
    raise DatabaseError(
        f"the folder sql is missing beside and inside {package}; install kb_pipeline again from a wheel, or run it "
        "from a complete checkout"
    )


def read_sql(name: str) -> LiteralString:
    """The text of a file below the folder `sql`, for example "roles.sql"; raises FileNotFoundError for any other."""
    return (sql_folder() / name).read_text(encoding="utf-8")


def shipped_file(name: str) -> Path:
    """A file that is shipped beside the package in a checkout and inside it in a wheel, for example dagster.yaml."""
    package = Path(kb_pipeline.__file__).resolve().parent
    for folder in (package / "shipped", package.parent):
        if (folder / name).is_file():
            return folder / name
    raise DatabaseError(f"{name} is missing beside and inside {package}; install kb_pipeline again from a wheel")
