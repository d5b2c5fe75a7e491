"""The data of an embedded server on disk: made once by initdb, with settings that do not depend on the machine.

Belongs here: making and checking the data folder and its password. Does not: the running server.

`folder/cluster` belongs to the server's account; everything beside it to this process.
"""

import os
import secrets
import shutil
import subprocess
import tempfile
from pathlib import Path

from kb_pipeline.adapters.embedded.accounts import CLUSTER, Place
from kb_pipeline.adapters.embedded.binaries import Binaries, copy_binaries
from kb_pipeline.errors import DatabaseError

USER = "kb_pipeline"
ENVIRONMENT = {"LC_ALL": "C", "TZ": "UTC"}
PASSWORD_FILE = "password"  # noqa: S105
INITDB = (
    "--encoding=UTF8",
    "--locale=C",
    "--data-checksums",
    f"--username={USER}",
    "--auth-local=trust",
    "--auth-host=scram-sha-256",
)


def prepare(place: Place, binaries: Binaries, *, fsync: bool) -> Binaries:
    """See that there is a cluster these programs can run; returns the programs as the account can run them.

    Raises DatabaseError when the cluster cannot be made, or was made by another major version.
    """
    for leftover in (*place.folder.glob("initdb-*"), *place.folder.glob("copy-*")):
        shutil.rmtree(leftover, ignore_errors=True)
    if place.account.switch and not place.account.runs(binaries.folder / "postgres"):
        binaries = copy_binaries(binaries, place.folder)
    if not (place.folder / CLUSTER).exists():
        _initdb(place, binaries, fsync=fsync)
    _check_version(place.folder / CLUSTER, binaries)
    return binaries


def password_in(folder: Path) -> str:
    """The password of the server's user, made when first asked for."""
    path = folder / PASSWORD_FILE
    if not path.exists():
        descriptor, unfinished = tempfile.mkstemp(dir=folder, prefix="initdb-")
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(secrets.token_urlsafe(24))
        Path(unfinished).rename(path)
    return path.read_text(encoding="utf-8")


def _initdb(place: Place, binaries: Binaries, *, fsync: bool) -> None:
    with tempfile.TemporaryDirectory(dir=place.folder, prefix="initdb-") as name:
        unfinished = Path(name)
        password = unfinished / PASSWORD_FILE
        password.touch(mode=0o600)
        password.write_text(password_in(place.folder), encoding="utf-8")
        for path in (unfinished, password):
            place.account.own(path)
        made = unfinished / CLUSTER
        options = [*INITDB, f"--pwfile={password}", *([] if fsync else ["--no-sync"])]
        run_as_account(place, [binaries.program("initdb"), "-D", str(made), *options])
        # A cluster has its final name when it is whole, so a killed initdb leaves nothing that looks like one.
        made.rename(place.folder / CLUSTER)


def run_as_account(place: Place, command: list[str]) -> None:
    """Run a program to its end as the server's account; raises DatabaseError with the program's last line."""
    try:
        subprocess.run(  # noqa: S603
            command,
            check=True,
            capture_output=True,
            text=True,
            errors="replace",
            cwd="/",
            env=ENVIRONMENT,
            umask=0o077,
            **place.account.popen_arguments(),
        )
    except subprocess.CalledProcessError as error:
        lines = [line for line in error.stderr.splitlines() if line.strip()]
        raise DatabaseError(
            f"the embedded database in {place.folder} could not be made: {lines[0] if lines else error}; mend that, or "
            "give database.url of a running server"
        ) from None
    except (OSError, subprocess.SubprocessError) as error:
        raise cannot_run(place, command[0], error) from None


def cannot_run(place: Place, program: str, error: Exception) -> DatabaseError:
    """The sentence for a program that this machine or sandbox does not let us start."""
    return DatabaseError(
        f"{Path(program).name} of the embedded database cannot be run as uid {place.account.uid}: {error}; run as a "
        "plain user, or give database.url of a running server"
    )


def _check_version(cluster: Path, binaries: Binaries) -> None:
    made_by = (cluster / "PG_VERSION").read_text(encoding="utf-8").strip()
    if made_by != str(binaries.major):
        raise DatabaseError(
            f"the data in {cluster} were made by PostgreSQL {made_by} and the server found here is {binaries.version}; "
            f"install PostgreSQL {made_by}, move the folder away to begin anew, or give another folder"
        )
