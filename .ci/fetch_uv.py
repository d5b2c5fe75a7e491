"""Fetch uv with nothing but Python: `python3 .ci/fetch_uv.py uv.lock FOLDER` puts it into FOLDER.

Belongs here: the last way of environment.sh, for a Python without pip. Does not: installing anything else. Address and
hash come from the lock file; what does not match the hash is not run. Runs on Python 3.8, so it keeps to its grammar.
"""

import hashlib
import io
import platform
import re
import sys
import sysconfig
import urllib.request
import zipfile
from pathlib import Path

ENTRY = re.compile(r'url = "(?P<url>[^"]+/uv-[^"/]+\.whl)", hash = "sha256:(?P<sha256>[0-9a-f]{64})"')
MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}


def wheels(lock):
    """Address and hash of every wheel of uv in the lock file."""
    block = lock.partition('\n[[package]]\nname = "uv"\n')[2].partition("\n[[package]]\n")[0]
    return [(match["url"], match["sha256"]) for match in ENTRY.finditer(block)]


def wanted_tags():
    """Parts of a wheel's file name that suit this machine, best first."""
    machine = platform.machine().lower()
    if sys.platform == "darwin":
        return ["macosx_[0-9_]+_" + machine]
    machine = MACHINES.get(machine, machine)
    if sys.platform == "win32":
        return ["win_amd64" if machine == "x86_64" else "win_arm64"]
    # A wheel linked statically against musl runs with any C library, and so serves where glibc is too old.
    glibc = ["manylinux[0-9_a-z]*_" + machine] if "gnu" in (sysconfig.get_config_var("HOST_GNU_TYPE") or "gnu") else []
    return [*glibc, "musllinux[0-9_]+_" + machine, "linux_" + machine]


def choose(found):
    """The first wheel that suits this machine; exits with a sentence when none does."""
    for tag in wanted_tags():
        for url, sha256 in found:
            if re.search(r"[-.]" + tag + r"[.]", url.rsplit("/", 1)[-1]):
                return url, sha256
    sys.exit("uv.lock has no uv for {0} on {1}; install uv by hand".format(sys.platform, platform.machine()))


def download(url, sha256):
    """The wheel's bytes; exits with a sentence when it cannot be had or is not what the lock file promises."""
    try:
        with urllib.request.urlopen(url, timeout=120) as reply:
            wheel = reply.read()
    except OSError as error:
        sys.exit("uv could not be downloaded: {0}".format(error))
    if hashlib.sha256(wheel).hexdigest() != sha256:
        sys.exit("the downloaded uv is not the one that uv.lock names (its SHA-256 differs); nothing was installed")
    return wheel


def unpack(wheel, folder):
    """Put uv itself into the folder, executable."""
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
        for name in archive.namelist():
            if re.search(r"\.data/scripts/uv(\.exe)?$", name):
                target = folder / name.rsplit("/", 1)[-1]
                target.write_bytes(archive.read(name))
                target.chmod(0o755)


def main():
    """Fetch the wheel and put uv into the folder."""
    lock, folder = Path(sys.argv[1]), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    unpack(download(*choose(wheels(lock.read_text(encoding="utf-8")))), folder)


if __name__ == "__main__":
    main()
