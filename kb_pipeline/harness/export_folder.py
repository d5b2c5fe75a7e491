"""A folder that is there whole or not at all, and never takes the place of somebody else's files.

Belongs here: the hidden folder beside it, the exchange, what may be replaced. Does not: what is in the files.
"""

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from kb_pipeline.harness.failures import ExportRefused

MANIFEST = "manifest.json"
WRITTEN_BY = "kb-pipeline ground-truth export"
ONLY_OWNER = 0o700


@contextmanager
def replaced_folder(target: Path, *, force: bool = False) -> Iterator[Path]:
    """A new folder to write into, which becomes `target` at the end of the block; on any failure nothing changes.

    Replaces an empty folder, and one that an export wrote and nobody added to. Any other is refused with ExportRefused;
    with `force` it is kept beside, as `target`.before-1, -2 …. Only the owner may enter the new folder. What a killed
    export left behind is removed. One export at a time writes below a folder: a second one is refused.
    """
    target = target.absolute()
    target.parent.mkdir(parents=True, exist_ok=True)
    with _alone_in(target.parent):
        _refuse(target, force=force)
        _remove_remains(target)
        partial = target.parent / f".{target.name}.partial-{uuid4().hex[:8]}"
        partial.mkdir(mode=ONLY_OWNER)
        try:
            yield partial
            _exchange(partial, target, force=force)
        finally:
            shutil.rmtree(partial, ignore_errors=True)


@contextmanager
def _alone_in(parent: Path) -> Iterator[None]:
    """The kernel takes this lock back however its holder ends."""
    descriptor = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise ExportRefused(
            f"another export is being written in {parent}; wait for it, or choose another folder"
        ) from None
    try:
        yield
    finally:
        os.close(descriptor)


def _refuse(target: Path, *, force: bool) -> None:
    if not target.exists():
        return
    if not target.is_dir():
        raise ExportRefused(f"{target} is a file; name a folder")
    if not force and (strange := _strange_file(target)):
        raise ExportRefused(
            f"{target} holds {strange}, which no export wrote; choose another folder, or add --force to keep that one "
            f"beside it as {_free_name(target).name}"
        )


def _strange_file(folder: Path) -> str | None:
    """The name of a file that the folder's manifest does not list; None where all are ours, or none is there."""
    listed = _listed_files(folder)
    found = (file.relative_to(folder).as_posix() for file in sorted(folder.rglob("*")) if not file.is_dir())
    return next((name for name in found if name not in listed), None)


def manifest_to_replace(target: Path) -> dict[str, Any] | None:
    """The manifest of the export that a new one would replace; None where there is none, or it would be kept."""
    manifest = _manifest(target)
    return manifest if manifest and _strange_file(target) is None else None


def _listed_files(folder: Path) -> set[str]:
    files = _manifest(folder).get("files")
    return {MANIFEST, *files} if isinstance(files, dict) else set()


def _manifest(folder: Path) -> dict[str, Any]:
    """What an export wrote about the folder; nothing where none did."""
    try:
        manifest: Any = json.loads((folder / MANIFEST).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    is_ours = isinstance(manifest, dict) and manifest.get("written_by") == WRITTEN_BY
    return manifest if is_ours else {}


def _remove_remains(target: Path) -> None:
    """Hidden folders of earlier exports to this target: nobody writes them, for we hold the lock."""
    for kind in ("partial", "replaced"):
        for remains in target.parent.glob(f".{_escaped(target.name)}.{kind}-*"):
            shutil.rmtree(remains, ignore_errors=True)


def _escaped(name: str) -> str:
    return "".join(f"[{character}]" if character in "*?[" else character for character in name)


def _exchange(partial: Path, target: Path, *, force: bool) -> None:
    _refuse(target, force=force)
    if not target.exists():
        partial.rename(target)
        return
    is_ours = _strange_file(target) is None
    beside = target.parent / f".{target.name}.replaced-{uuid4().hex[:8]}" if is_ours else _free_name(target)
    target.rename(beside)
    try:
        partial.rename(target)
    except OSError:
        beside.rename(target)
        raise
    if is_ours:
        shutil.rmtree(beside, ignore_errors=True)


def _free_name(target: Path) -> Path:
    number = 1
    while (free := target.with_name(f"{target.name}.before-{number}")).exists():
        number += 1
    return free
