"""A person's way through every page in a real browser: what was planted is read there, and is what the API says."""

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline_tests.builders import table
from kb_pipeline_tests.service.browser import axe, chromium
from kb_pipeline_tests.service.conftest import SECRET

pytestmark = [
    pytest.mark.slow,
    # Playwright leaves its own loop and pipes to be collected.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
PAGES = (
    "/", "/?window=90d", "/?surface=nobody", "/turns", "/turns?order=newest", "/turns?surface=nobody", "/retrieval",
    "/retrieval/conflicts", "/gaps", "/judgments", "/alerts", "/pipeline",
)  # fmt: skip
TURN = "/turns/turn%2Fwhole%3Fx%3D1%26y%23z"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests of this file."""
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def signed_in(browser: Browser, address: str) -> Iterator[BrowserContext]:
    """An auditor's session, begun at the login page."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, base_url=address)
    page = context.new_page()
    page.goto("/?tz=UTC")
    page.get_by_label("Your token").fill("auditor-token")
    page.get_by_role("button", name="Sign in").click()
    assert page.get_by_text("rina · auditor").is_visible()
    yield context
    context.close()


@pytest.fixture
def page(signed_in: BrowserContext) -> Iterator[Page]:
    """A page of the auditor's; whatever the browser complains of, or asks of anybody else, fails the test."""
    complaints: list[str] = []
    opened = signed_in.new_page()
    opened.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("request", lambda request: complaints.append(request.url) if "127.0.0.1" not in request.url else None)
    yield opened
    assert opened.evaluate("window.pwned") is None
    opened.close()
    assert complaints == []


def test_the_main_page_shows_what_the_api_says_without_scrolling(page: Page, operator: httpx.Client) -> None:
    page.goto("/?window=7d&tz=UTC&surface=public")
    said = operator.get("/api/quality/summary", params={"window": "7d", "surface": "public"}).json()
    assert page.locator(".verdict h2").inner_text() == said["verdict"]["sentence"]
    assert said["verdict"]["detail"] in page.locator(".verdict p").inner_text()
    last = operator.get("/api/quality/trend", params={"window": "7d", "surface": "public"}).json()["points"][-1]
    for place, aspect in enumerate(("faithfulness", "answer_relevance", "context_relevance")):
        assert page.locator(".panel .key strong").nth(place).inner_text() == f"{last[aspect]['value']:.2f}"
    tile = page.locator(".tile .of").first.inner_text()
    assert f"{said['grounded_rate']['part']:,} of {said['grounded_rate']['whole']:,} answers" in tile
    assert f"{said['coverage']['seen']:,} turns seen" in page.locator("#h-coverage").inner_text()
    worst = operator.get("/api/quality/recent", params={"window": "7d", "surface": "public", "limit": 5}).json()[
        "items"
    ]
    shown = page.locator(".worst tbody td.score:nth-child(3) span").all_inner_texts()
    assert shown == [f"{turn['faithfulness']:.2f}" for turn in worst]
    last_row = page.locator(".worst tbody tr").last.bounding_box()
    assert last_row is not None
    assert last_row["y"] < 800


def test_the_page_is_painted_and_light(page: Page) -> None:
    page.goto("/")
    painted = (
        "new Promise(done => new PerformanceObserver(done).observe({type: 'paint', buffered: true})).then(() => true)"
    )
    assert page.evaluate(painted)
    weight = page.evaluate(
        "performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'))"
        ".reduce((sum, each) => sum + each.decodedBodySize, 0)"
    )
    assert weight < 300_000


def test_the_filters_change_the_numbers_and_the_zone_is_kept(page: Page, operator: httpx.Client) -> None:
    page.goto("/")
    for name, value in (("tenant", "mobile"), ("window", "30d"), ("tz", "Asia/Jakarta")):
        page.locator(f"select[name={name}]").select_option(value)
    page.get_by_role("button", name="Apply").click()
    asked = {"window": "30d", "tenant": "mobile", "tz": "Asia/Jakarta"}
    said = operator.get("/api/quality/summary", params=asked).json()
    assert f"{said['coverage']['seen']:,} turns seen" in page.locator("#h-coverage").inner_text()
    assert "WIB" in page.locator(".span").inner_text()
    page.get_by_role("link", name="Retrieval", exact=True).click()
    assert "WIB" in page.locator(".span").inner_text()


def test_the_worst_answer_leads_to_its_turn_which_says_that_it_was_opened(page: Page) -> None:
    page.goto("/?window=24h")
    row = page.locator(".worst tbody tr", has_text="Alasan.").first
    row.get_by_role("link").click()
    assert SECRET in page.locator(".asked").inner_text()
    assert "Backed by RAG-1" in page.locator(".sentences").inner_text()
    assert page.locator("mark.evidence").first.inner_text() == "Biaya pendaftaran adalah Rp250.000."
    assert "Opening this page was recorded: rina, auditor" in page.locator(".foot").inner_text()


def test_all_turns_are_walked_through_and_one_is_opened(page: Page, operator: httpx.Client) -> None:
    page.goto("/?window=15d")
    page.get_by_role("link", name="All ").click()
    items = operator.get("/api/quality/recent", params={"window": "15d", "limit": 100}).json()["items"]
    scores = page.locator(".turns td.score:nth-child(3) span")
    assert scores.all_inner_texts() == [f"{turn['faithfulness']:.2f}" for turn in items[:50]]
    page.get_by_role("link", name="Next").click()
    assert scores.all_inner_texts() == [f"{turn['faithfulness']:.2f}" for turn in items[50:]]
    page.locator("select[name=order]").select_option("newest")
    page.get_by_role("button", name="Apply").click()
    newest = operator.get("/api/quality/recent", params={"window": "15d", "order": "newest", "limit": 50}).json()
    assert scores.all_inner_texts() == [
        "–" if turn["faithfulness"] is None else f"{turn['faithfulness']:.2f}" for turn in newest["items"]
    ]
    page.locator(".turns tbody tr", has_text="Alasan.").first.get_by_role("link").click()
    assert SECRET in page.locator(".asked").inner_text()
    assert page.get_by_role("link", name="RAG Quality").first.get_attribute("aria-current") == "page"


def test_gaps_and_judgments_are_listed_and_narrowed(page: Page, operator: httpx.Client) -> None:
    page.goto("/retrieval")
    page.get_by_role("link", name="All gaps").click()
    page.locator("select[name=kind]").select_option("recall_gap")
    page.get_by_role("button", name="Apply").click()
    items = operator.get("/api/retrieval/gaps", params={"kind": "recall_gap"}).json()["items"]
    ids = page.locator(".all-gaps td:last-child code")
    assert ids.all_inner_texts() == [gap["message_id"] for gap in items]
    assert set(page.locator(".all-gaps td:nth-child(3)").all_inner_texts()) == {"Not found by search"}
    page.goto("/retrieval")
    page.get_by_role("button", name="Apply").click()
    page.get_by_role("link", name="All judgments").click()
    page.locator("select[name=status]").select_option("judged")
    page.get_by_role("button", name="Apply").click()
    assert page.locator(".note").last.inner_text() == "No judgment has these filters."
    page.get_by_role("link", name="conflicts wait").click()
    assert page.locator(".conflict").count() == 50


def test_charts_tell_the_same_as_their_table_and_the_pointer_reads_them(page: Page) -> None:
    page.goto("/?window=7d")
    page.get_by_text("Numbers as table").click()
    rows = page.locator("#numbers tbody tr")
    assert rows.count() == 57
    newest = rows.first.locator("td").first.inner_text()
    assert newest == page.locator(".panel .key strong").first.inner_text()
    plot = page.locator(".plot").first
    assert newest in (plot.get_attribute("aria-label") or "")
    box = plot.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] - 1, box["y"] + 40)
    assert newest in page.locator(".readout").inner_text()


def test_an_expert_settles_a_conflict_on_the_page(page: Page, planted_database: Database) -> None:
    page.goto("/retrieval")
    page.get_by_role("link", name="pairs").click()
    form = page.locator(".conflict").nth(7)
    form.get_by_label("Reason").fill("it does not answer")
    form.get_by_role("button", name="Not relevant").click()
    assert page.get_by_role("status").inner_text() == "Noted; it counts from the next harvest on."
    kept = "SELECT author, weight FROM kb_evidence WHERE reason = 'it does not answer'"
    assert table(planted_database, kept) == [("rina", -1.0)]


@pytest.mark.parametrize("path", [*PAGES, TURN])
def test_a_phone_scrolls_no_page_sideways(signed_in: BrowserContext, path: str) -> None:
    page = signed_in.new_page()
    page.set_viewport_size({"width": 360, "height": 780})
    page.goto(path)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    page.close()


def test_everything_but_hover_and_refresh_works_without_scripts(browser: Browser, address: str) -> None:
    context = browser.new_context(java_script_enabled=False, base_url=address)
    page = context.new_page()
    page.goto("/")
    page.get_by_label("Your token").fill("operator-token")
    page.get_by_role("button", name="Sign in").click()
    assert page.locator(".verdict h2").is_visible()
    page.get_by_text("Numbers as table").click()
    assert page.locator("#numbers").is_visible()
    page.get_by_role("link", name="All ").click()
    page.get_by_role("link", name="Next").click()
    page.get_by_role("link", name="First").click()
    assert page.locator(".turns tbody tr").count() == 50
    page.get_by_role("button", name="Sign out").click()
    assert page.get_by_label("Your token").is_visible()
    context.close()


def test_the_keyboard_reaches_the_content_first(page: Page) -> None:
    page.goto("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "RAG Quality"


def test_axe_finds_nothing_to_complain_of(
    browser: Browser, address: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    source = axe(tmp_path_factory.mktemp("axe"))
    found: dict[str, list[str]] = {}
    for scheme in ("light", "dark"):
        # The test itself puts the checker into the page, which the page's own policy forbids.
        context = browser.new_context(
            color_scheme=scheme,
            bypass_csp=True,
            base_url=address,
            extra_http_headers={"Authorization": "Bearer auditor-token"},
        )
        page = context.new_page()
        for path in (*PAGES, TURN, "/login"):
            page.goto(path)
            page.evaluate(source)
            result = page.evaluate("axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']})")
            wrong = [f"{each['id']}: {each['nodes'][0]['html'][:160]}" for each in result["violations"]]
            if wrong:
                found[f"{scheme} {path}"] = wrong
        context.close()
    assert found == {}
