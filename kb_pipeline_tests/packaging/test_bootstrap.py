"""The last way to get uv, for a Python without pip: address and hash come from the lock file."""

import hashlib
import os
import runpy
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from kb_pipeline_tests.docs_pages import REPOSITORY, only_in_a_checkout

SCRIPT = REPOSITORY / ".ci" / "fetch_uv.py"


@pytest.fixture
def fetch_uv() -> SimpleNamespace:
    """The functions of the script."""
    only_in_a_checkout()
    return SimpleNamespace(**runpy.run_path(str(SCRIPT)))


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """A wheel of an uv that says its name."""
    file = tmp_path / "uv-1.0-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("uv-1.0.data/scripts/uv", "#!/bin/sh\necho uv 1.0\n")
        archive.writestr("uv/__init__.py", "")
    return file


def test_the_lock_file_names_a_wheel_for_this_machine(fetch_uv: SimpleNamespace) -> None:
    found = fetch_uv.wheels((REPOSITORY / "uv.lock").read_text(encoding="utf-8"))
    url, sha256 = fetch_uv.choose(found)
    assert url.endswith(".whl")
    assert len(sha256) == 64


@pytest.mark.parametrize(
    ("tag", "name"),
    [
        ("linux x86_64", "uv-1-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"),
        ("linux aarch64", "uv-1-py3-none-manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64.whl"),
        ("darwin arm64", "uv-1-py3-none-macosx_11_0_arm64.whl"),
        ("darwin x86_64", "uv-1-py3-none-macosx_10_12_x86_64.whl"),
    ],
)
def test_the_chosen_wheel_suits_system_and_machine(
    fetch_uv: SimpleNamespace, tag: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    system, machine = tag.split()
    names = [
        "uv-1-py3-none-macosx_11_0_arm64.whl",
        "uv-1-py3-none-macosx_10_12_x86_64.whl",
        "uv-1-py3-none-manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64.whl",
        "uv-1-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
        "uv-1-py3-none-musllinux_1_1_x86_64.whl",
        "uv-1-py3-none-win_amd64.whl",
    ]
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr("platform.machine", lambda: machine)
    monkeypatch.setattr("sysconfig.get_config_var", lambda _: "x86_64-pc-linux-gnu")
    assert fetch_uv.choose([(f"https://index/{each}", "") for each in names])[0].endswith(name)


def test_a_machine_without_a_wheel_is_told_so(fetch_uv: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "pdp11")
    with pytest.raises(SystemExit, match="has no uv for"):
        fetch_uv.choose([("https://index/uv-1-py3-none-win_amd64.whl", "")])


def test_the_wheel_is_unpacked_only_when_its_hash_is_the_locked_one(
    fetch_uv: SimpleNamespace, wheel: Path, tmp_path: Path
) -> None:
    with pytest.raises(SystemExit, match="not the one that"):
        fetch_uv.download(wheel.as_uri(), "0" * 64)
    content = fetch_uv.download(wheel.as_uri(), hashlib.sha256(wheel.read_bytes()).hexdigest())
    fetch_uv.unpack(content, tmp_path)
    assert subprocess.run([tmp_path / "uv"], capture_output=True, check=True).stdout == b"uv 1.0\n"


def test_an_address_that_cannot_be_reached_is_one_sentence(fetch_uv: SimpleNamespace, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="could not be downloaded"):
        fetch_uv.download((tmp_path / "missing").as_uri(), "0" * 64)


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
def test_a_machine_without_python_and_uv_is_told_what_to_install(tmp_path: Path) -> None:
    only_in_a_checkout()
    checkout = tmp_path / "a folder with spaces"
    (checkout / ".ci").mkdir(parents=True)
    for name in (".ci/environment.sh", "uv.lock", "pyproject.toml"):
        (checkout / name).write_bytes((REPOSITORY / name).read_bytes())
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("sh", "cat", "cksum", "dirname", "rm", "mkdir", "awk", "ln"):
        found = next(folder / tool for folder in map(Path, ("/usr/bin", "/bin")) if (folder / tool).exists())
        (tools / tool).symlink_to(found)
    done = subprocess.run(
        [tools / "sh", checkout / ".ci" / "environment.sh"],
        env={"PATH": str(tools)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert "install Python 3.11 to 3.14 (or uv)" in done.stderr
