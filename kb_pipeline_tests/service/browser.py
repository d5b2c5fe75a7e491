"""The system's Chromium through Playwright, and axe-core where npm gives it.

Belongs here: finding and starting them. Does not: assertions.
KB_PIPELINE_TEST_REQUIRE_BROWSER=1 makes a missing one a failure in place of a skip.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync"
)
NAMES = ("chromium", "chromium-browser", "google-chrome")
AXE = "axe-core@4"


def is_required() -> bool:
    """Whether a missing browser is a failure."""
    return os.environ.get("KB_PIPELINE_TEST_REQUIRE_BROWSER") == "1"


def missing(what: str) -> None:
    """Skip the test with a word, or fail it where what is missing is required."""
    if is_required():
        pytest.fail(f"{what} is missing, and KB_PIPELINE_TEST_REQUIRE_BROWSER is set")
    pytest.skip(f"{what} is missing")


@contextmanager
def chromium() -> Iterator[Browser]:
    """A running browser; skips where the system has none."""
    program = next((found for name in NAMES if (found := shutil.which(name))), None)
    if program is None:
        missing("Chromium (apt-get install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS.split())
        try:
            yield browser
        finally:
            browser.close()


def axe(folder: Path) -> str:
    """The source of axe-core, fetched by npm into a folder; skips where it cannot be had."""
    npm = shutil.which("npm")
    if npm is None:
        missing("npm, which fetches axe-core")
    command = [str(npm), "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder), AXE]
    done = subprocess.run(command, capture_output=True, check=False, timeout=120)
    source = folder / "node_modules" / "axe-core" / "axe.min.js"
    if done.returncode or not source.exists():
        missing("axe-core, which npm could not fetch,")
    return source.read_text(encoding="utf-8")
