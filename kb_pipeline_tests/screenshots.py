"""`make screenshots`: the pages of the demo's data, as they are, into docs/pictures.

Belongs here: which page, how large, light or dark. Does not: the demo (make demo ARGS=--once plays it first).
"""

import sys
from datetime import UTC, datetime
from pathlib import Path

from playwright.sync_api import Browser

from kb_pipeline.adapters.embedded import EmbeddedPostgres
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.demo.stage import OUR_DATABASE
from kb_pipeline.settings import cache_folder, load_settings
from kb_pipeline_tests.docs_pages import REPOSITORY
from kb_pipeline_tests.service.browser import chromium
from kb_pipeline_tests.service.served import serving

PICTURES = REPOSITORY / "docs" / "pictures"
ZONE = "tz=Asia/Jakarta"
WORST = "SELECT event_id FROM rag_quality WHERE faithfulness BETWEEN 0.3 AND 0.7 ORDER BY ts DESC LIMIT 1"
SHOTS = (
    ("rag-quality", f"/?{ZONE}", 1280, 800, "light"),
    ("rag-quality-dark", f"/?{ZONE}", 1280, 800, "dark"),
    ("rag-quality-360", f"/?{ZONE}", 360, 780, "light"),
    ("turn", "/turns/{turn}?" + ZONE, 1280, 920, "light"),
    ("retrieval", f"/retrieval?{ZONE}", 1280, 800, "light"),
    ("alerts", f"/alerts?{ZONE}", 1280, 800, "light"),
    ("pipeline", f"/pipeline?{ZONE}", 1280, 800, "light"),
    ("empty", f"/?surface=nobody&{ZONE}", 1280, 560, "light"),
)


def main(folder: Path | None = None) -> int:
    """Write the pictures; 1 where no demo was played."""
    folder = folder or cache_folder() / "demo"
    config = folder / "kb_pipeline.yaml"
    if not config.exists():
        sys.stderr.write("no demo was played here; run make demo ARGS=--once first\n")
        return 1
    PICTURES.mkdir(parents=True, exist_ok=True)
    with EmbeddedPostgres(folder / "postgres") as server, chromium() as browser:
        url = server.url(OUR_DATABASE)
        settings = load_settings(config)
        settings = settings.model_copy(update={"database": settings.database.model_copy(update={"url": url})})
        with serving(settings, is_open=True, at=_end(url)) as address:
            for name, path, width, height, scheme in SHOTS:
                _take(browser, address + path.format(turn=_turn(url)), name, (width, height), scheme)
    return 0


def _take(browser: Browser, url: str, name: str, size: tuple[int, int], scheme: str) -> None:
    viewport = {"width": size[0], "height": size[1]}
    page = browser.new_page(viewport=viewport, color_scheme=scheme)  # type: ignore[arg-type]
    page.goto(url)
    page.screenshot(path=PICTURES / f"{name}.png", full_page=size[0] < 720)
    page.close()


def _turn(url: str) -> str:
    with Database(url).connect() as connection:
        row = connection.execute(WORST).fetchone()
    return str(row[0]) if row else ""


def _end(url: str) -> datetime:
    """The end of the demo's day, so that it does not matter when the pictures are taken."""
    with Database(url).connect() as connection:
        row = connection.execute("SELECT max(ts) + interval '20 minutes' FROM rag_quality").fetchone()
    return row[0] if row and row[0] else datetime.now(UTC)


if __name__ == "__main__":
    sys.exit(main())
