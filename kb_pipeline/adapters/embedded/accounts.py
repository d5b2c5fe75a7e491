"""Whose server it is and where its files are: postgres refuses to run as root.

Belongs here: the choice of an account and of a folder that it reaches. Does not: processes.
No mode of a folder that existed before is ever changed.
"""

import os
import pwd
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from kb_pipeline.errors import DatabaseError

UNPRIVILEGED = ("postgres", "nobody")
SHARED_CACHE = Path("/var/cache/kb_pipeline")
CLUSTER = "cluster"
ROOT = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Account:
    """The system account that the server runs as; `switch` when that is not the account of this process."""

    uid: int
    gid: int
    switch: bool

    def popen_arguments(self) -> dict[str, Any]:
        """What subprocess needs to start a child as this account."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []} if self.switch else {}

    def own(self, path: Path) -> None:
        """Hand a folder made by this process to the account."""
        if self.switch:
            os.chown(path, self.uid, self.gid)

    def reaches(self, path: Path) -> bool:
        """Whether every existing folder above `path` lets this account pass, by its mode."""
        return all(self._passes(parent.stat()) for parent in path.resolve().parents if parent.is_dir())

    def runs(self, program: Path) -> bool:
        """Whether this account reaches the program and may execute it."""
        return self.reaches(program) and self._passes(program.stat())

    def _passes(self, status: os.stat_result) -> bool:
        if status.st_uid == self.uid:
            return bool(status.st_mode & stat.S_IXUSR)
        if status.st_gid == self.gid:
            return bool(status.st_mode & stat.S_IXGRP)
        return bool(status.st_mode & stat.S_IXOTH)


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A folder of this process and the account of the server in it; `notice` says when it is not the one asked for."""

    folder: Path
    account: Account
    notice: str | None = None


def choose_place(wanted: Path) -> Place:
    """`wanted`, made if need be; for root the first of some folders that an unprivileged account reaches.

    Raises DatabaseError when no folder can be used.
    """
    wanted = wanted.resolve()
    if os.geteuid() != ROOT:
        account = Account(uid=os.geteuid(), gid=os.getegid(), switch=False)
        _make(wanted, account)
        return Place(folder=wanted, account=account)
    obstacles = []
    for folder in _places_for_root(wanted):
        account = _account_in(folder)
        obstacle = _obstacle(folder, account)
        if obstacle is None:
            return Place(folder=folder, account=account, notice=_notice(wanted, folder, account))
        obstacles.append(obstacle)
    raise DatabaseError(
        f"PostgreSQL refuses to run as root, and no folder suits the account it would run as: {', '.join(obstacles)}; "
        "run as a plain user, or give database.url of a running server"
    )


def _places_for_root(wanted: Path) -> Iterator[Path]:
    yield wanted
    # The same name for the same wish, so that the next run finds the data.
    name = f"{wanted.name}-{sha256(os.fsencode(wanted)).hexdigest()[:8]}"
    yield SHARED_CACHE / name
    yield Path(tempfile.gettempdir()).resolve() / f"kb_pipeline-{name}"


def _account_in(folder: Path) -> Account:
    cluster = folder / CLUSTER
    if cluster.exists() and cluster.stat().st_uid != ROOT:
        status = cluster.stat()
        return Account(uid=status.st_uid, gid=status.st_gid, switch=True)
    entry = _unprivileged()
    return Account(uid=entry.pw_uid, gid=entry.pw_gid, switch=True)


def _unprivileged() -> pwd.struct_passwd:
    for name in UNPRIVILEGED:
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise DatabaseError(
        f"PostgreSQL refuses to run as root and this machine has no account {' or '.join(UNPRIVILEGED)}; run as a "
        "user, or give database.url of a running server"
    )


def _obstacle(folder: Path, account: Account) -> str | None:
    inside = folder / CLUSTER
    if account.reaches(inside):
        try:
            _make(folder, account)
        except DatabaseError as error:
            return str(error).partition(";")[0]
        if account.reaches(inside):
            return None if _can_hand_over(folder, account) else f"nothing in {folder} can be given to uid {account.uid}"
    return f"{folder} is closed to uid {account.uid}"


def _can_hand_over(folder: Path, account: Account) -> bool:
    """False where even root may not give files away: some mounts, some containers."""
    with tempfile.TemporaryDirectory(dir=folder, prefix="probe-") as probe:
        try:
            account.own(Path(probe))
        except OSError:
            return False
    return True


def _make(folder: Path, account: Account) -> None:
    try:
        for missing in reversed([path for path in (folder, *folder.parents) if not path.exists()]):
            missing.mkdir(exist_ok=True)
            if account.switch:
                missing.chmod(0o711)
        status = folder.lstat()
    except OSError as error:
        raise DatabaseError(
            f"the folder {folder} for the embedded database cannot be made: {error.strerror}; give another folder, or "
            "database.url of a running server"
        ) from None
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & stat.S_IWOTH:
        raise DatabaseError(
            f"{folder} is not a folder of this user alone, so the embedded database may not lie there; remove it, give "
            "another folder, or give database.url of a running server"
        )


def _notice(wanted: Path, folder: Path, account: Account) -> str | None:
    if folder == wanted:
        return None
    return (
        f"the embedded database lies in {folder}: PostgreSQL refuses to run as root, and the account it runs as (uid "
        f"{account.uid}) may not use {wanted}"
    )
