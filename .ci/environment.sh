#!/bin/sh
# Makes .venv from uv.lock, on a machine where nothing was installed by hand. Running it again is quick.
#
# uv does the work. Where it is not on PATH, it is fetched into .bootstrap, in the first of these ways that works: a venv
# with pip; pip alone (--target, which PEP 668 leaves to the user); nothing but Python, by fetch_uv.py.
# Plain sh, so that macOS and small images run it too.

set -eu
cd "$(dirname "$0")/.."

say() { printf '%s\n' "$*" >&2; }
die() { say "kb-pipeline: $*"; exit 1; }

# What .venv was made from. The folder counts: scripts in .venv name it, so a moved checkout needs a new one.
fingerprint() { { pwd; cat uv.lock pyproject.toml; } | cksum; }

is_current() {
    [ -x .venv/bin/kb-pipeline ] && [ -x .venv/bin/python ] && [ "$(cat .venv/.fingerprint 2>/dev/null)" = "$(fingerprint)" ]
}

is_python() { # NAME LOWEST: whether NAME runs and is at least version 3.LOWEST, and older than what the lock file covers
    "$1" -c "import sys; sys.exit(not (3, $2) <= sys.version_info[:2] < (3, 15))" >/dev/null 2>&1
}

find_python() { # LOWEST: the first python that will do, or nothing
    for name in python3 python3.13 python3.12 python3.11 python3.14 python; do
        if is_python "$name" "$1"; then
            "$name" -c 'import sys; print(sys.executable)'
            return
        fi
    done
}

runs() { "$1" --version >/dev/null 2>&1; }

# The version that the lock file pins.
uv_version() { awk '$0 == "name = \"uv\"" { getline; gsub(/version = |"/, ""); print; exit }' uv.lock; }

with_venv() {
    "$python" -m venv .bootstrap/venv && .bootstrap/venv/bin/python -m pip install --quiet "uv==$(uv_version)" &&
        ln -sf ../venv/bin/uv .bootstrap/bin/uv
}

with_pip() {
    "$python" -m pip install --quiet --target .bootstrap/site "uv==$(uv_version)" && ln -sf ../site/bin/uv .bootstrap/bin/uv
}

with_python_alone() { "$python" .ci/fetch_uv.py uv.lock .bootstrap/bin; }

by() { # WAY: in words
    case $1 in
        with_venv) printf 'with pip in a folder of its own' ;;
        with_pip) printf 'with the pip of %s' "$python" ;;
        *) printf 'without pip' ;;
    esac
}

fetch_uv() {
    python=$(find_python 8)
    [ -n "$python" ] || die "no Python was found and no uv either; install Python 3.11 to 3.14 (or uv) and run this again"
    for way in with_venv with_pip with_python_alone; do
        rm -rf .bootstrap
        mkdir -p .bootstrap/bin
        say "fetching uv, the program that installs the packages, $(by "$way")"
        if "$way" >.bootstrap/log 2>&1 && runs .bootstrap/bin/uv; then
            return
        fi
        cat .bootstrap/log >&2
    done
    die "uv could not be fetched; check the network and the package index settings above, or install uv, and run this again"
}

sync_with() { # UV
    interpreter=$(find_python 11)
    # Without a usable interpreter uv looks for one of its own accord, or fetches one.
    set -- "$1" sync --frozen --inexact --quiet ${interpreter:+--python "$interpreter"}
    UV_PROJECT_ENVIRONMENT=.venv VIRTUAL_ENV='' "$@"
}

make_environment() {
    say "bringing .venv up to date (the first time it downloads a few hundred megabytes)"
    # The lock file pins an uv into .venv too, so only a first run may have to fetch one.
    for uv in uv .venv/bin/uv; do
        if runs "$uv" && sync_with "$uv"; then
            return
        fi
    done
    runs .bootstrap/bin/uv || fetch_uv
    sync_with .bootstrap/bin/uv ||
        die "the packages of uv.lock could not be installed; the lines above say why (Python 3.11 to 3.14 and a package index are needed)"
}

if ! is_current; then
    make_environment
    fingerprint >.venv/.fingerprint
fi
