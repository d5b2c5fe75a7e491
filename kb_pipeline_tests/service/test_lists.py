"""The lists as pages: what the API lists, row for row, on pages that follow each other."""

from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from kb_pipeline.dashboard.list_words import KEPT
from kb_pipeline.dashboard.retrieval_words import KINDS, STATUSES
from kb_pipeline.service.templating import calm
from kb_pipeline_tests.service.conftest import ORG, SECRET, whole_turn
from kb_pipeline_tests.service.hostile import HOSTILE

HTML = {"Accept": "text/html"}
A_PAGE = 50


class Shown(HTMLParser):
    """The rows of a page's tables as texts, its links by their text, and the sentence above the list."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.links: list[tuple[str, str]] = []
        self.sentence = ""
        self._inside: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag == "tr":
            self.rows.append([])
        if tag in {"td", "th"}:
            self.rows[-1].append("")
        if tag == "a":
            self.links.append((attributes.get("href") or "", ""))
        if tag in {"a", "td", "th"} or attributes.get("class") == "sentence":
            self._inside.append("sentence" if tag == "p" else tag)

    def handle_endtag(self, tag: str) -> None:
        if self._inside and self._inside[-1] in {tag, "sentence" if tag == "p" else tag}:
            self._inside.pop()

    def handle_data(self, data: str) -> None:
        if {"td", "th"} & set(self._inside):
            self.rows[-1][-1] += data
        if "a" in self._inside:
            href, text = self.links[-1]
            self.links[-1] = (href, text + data)
        if "sentence" in self._inside:
            self.sentence += data

    def link(self, text: str) -> str | None:
        """Where the link of this text leads; None where there is none."""
        return next((href for href, shown in self.links if shown == text), None)

    @property
    def body(self) -> list[list[str]]:
        """The rows below the head, their white space as a browser shows it."""
        return [[" ".join(cell.split()) for cell in row] for row in self.rows[1:]]


def pages_of(client: httpx.Client, path: str) -> Iterator[Shown]:
    """The page and all that follow it by its link Next."""
    following: str | None = path
    while following:
        reply = client.get(following)
        assert reply.status_code == 200, reply.text
        shown = Shown(reply.text)
        yield shown
        following = shown.link("Next")


def all_items(client: httpx.Client, path: str, **asked: str) -> list[dict[str, Any]]:
    """Every item that the API lists."""
    items: list[dict[str, Any]] = []
    query = {"limit": "200", **asked}
    while True:
        page = client.get(path, params=query).json()
        items += page["items"]
        if page["next"] is None:
            return items
        query["cursor"] = page["next"]


def score(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def plain(text: str | None) -> str:
    """Text as a browser shows it."""
    return " ".join(calm(text).split())


@pytest.mark.parametrize("order", ["worst", "newest"])
def test_the_pages_of_turns_visit_each_turn_of_the_api_once_in_its_order(auditor: httpx.Client, order: str) -> None:
    items = all_items(auditor, "/api/quality/recent", window="15d", order=order, tenant="portal")
    pages = list(pages_of(auditor, f"/turns?window=15d&order={order}&tenant=portal&tz=UTC"))
    opened = [href for page in pages for href, _ in page.links if href.startswith("/turns/")]
    assert opened == [f"/turns/{quote(item['event_id'], safe='')}?window=15d" for item in items]
    assert {len(page.body) for page in pages[:-1]} == {A_PAGE}
    rows = [row for page in pages for row in page.body]
    shown = [[row[2], row[3], row[4]] for row in rows]
    aspects = ("faithfulness", "answer_relevance", "context_relevance")
    assert shown == [[score(item[aspect]) for aspect in aspects] for item in items]
    assert [row[6] for row in rows] == [item["second_opinion"] for item in items]


def test_the_sentence_of_a_list_says_how_many_rows_it_has(operator: httpx.Client) -> None:
    said = operator.get("/api/quality/summary", params={"window": "15d"}).json()
    scored, published = said["mean_faithfulness"]["n"], said["count"]
    worst = Shown(operator.get("/turns?window=15d").text).sentence
    assert worst.startswith(f"{scored:,} turns with a faithfulness score, the least faithful first, equal ones from")
    newest = Shown(operator.get("/turns?window=15d&order=newest").text).sentence
    ending = f"{scored:,} of them with a faithfulness score. {KEPT}"
    assert newest == f"{published:,} published turns, the newest first; {ending}"


def test_a_turn_without_scores_tells_how_it_was_read(operator: httpx.Client) -> None:
    rows = [row for page in pages_of(operator, "/turns?window=15d&order=newest") for row in page.body]
    missing = [row for row in rows if row[2] == "–"]
    assert missing
    assert {row[5] for row in missing} == {"not graded so far; read as ok", "no score for faithfulness; read as ok"}
    assert all(row[6].startswith("No opinion: ") for row in missing)


def test_an_operator_walks_the_list_without_a_link_to_a_turn_or_a_word_of_its_text(
    operator: httpx.Client, auditor: httpx.Client
) -> None:
    for page in pages_of(operator, "/turns?window=15d"):
        assert not [href for href, _ in page.links if href.startswith("/turns/")]
    assert SECRET not in operator.get("/turns?window=24h").text
    leads = Shown(auditor.get("/turns?window=24h").text).links
    opened = next(href for href, _ in leads if href.startswith(f"/turns/{quote(whole_turn().event_id, safe='')}"))
    assert SECRET in auditor.get(opened).text


@pytest.mark.parametrize("kind", [None, "kb_gap", "undetermined"])
def test_the_pages_of_gaps_are_the_gaps_of_the_api(operator: httpx.Client, kind: str | None) -> None:
    asked = {"window": "14d", **({"kind": kind} if kind else {})}
    items = all_items(operator, "/api/retrieval/gaps", **asked)
    pages = list(pages_of(operator, f"/gaps?window=14d&kind={kind or ''}"))
    rows = [row for page in pages for row in page.body]
    assert len(rows) == len(HOSTILE) / (5 if kind else 1)
    assert [row[6] for row in rows] == [item["message_id"] for item in items]
    assert [row[2] for row in rows] == [KINDS[item["kind"]][0] for item in items]
    assert [row[3] for row in rows] == [plain(item["doc_id"]) for item in items]
    assert [row[1] for row in rows] == [plain(item["query_preview"]) or "no preview kept" for item in items]
    assert pages[0].sentence.startswith(f"{len(items)} corrected drafts, the newest first")


@pytest.mark.parametrize("asked", [{}, {"status": "conflict"}, {"status": "judged", "grade": "3"}, {"org": str(ORG)}])
def test_the_pages_of_judgments_are_the_judgments_of_the_api(operator: httpx.Client, asked: dict[str, str]) -> None:
    items = all_items(operator, "/api/ground-truth", **asked)
    query = {"org": "", "specialist": "", "status": "", "grade": "", **asked}
    pages = list(pages_of(operator, f"/judgments?{httpx.QueryParams(query)}"))
    rows = [row for page in pages for row in page.body]
    assert len(rows) == len(items) == (0 if "grade" in asked else len(HOSTILE))
    assert [row[1] for row in rows] == [plain(item["doc_id"]) for item in items]
    assert [row[2] for row in rows] == [STATUSES[item["status"]] for item in items]
    assert pages[0].sentence.startswith(f"{len(items)} judgments")
    assert pages[0].link(f"{len(HOSTILE)} conflicts wait for somebody’s word") is not None


def test_conflicts_to_settle_go_on_from_page_to_page(auditor: httpx.Client) -> None:
    sections = [auditor.get("/retrieval/conflicts").text]
    while following := Shown(sections[-1]).link("Next"):
        sections.append(auditor.get(following).text)
    assert sum(page.count('class="conflict"') for page in sections) == len(HOSTILE)


def test_a_page_leads_on_and_back_to_the_first(operator: httpx.Client) -> None:
    first = Shown(operator.get("/turns?window=15d&order=newest&tenant=portal").text)
    assert first.link("First") is None
    second = Shown(operator.get(first.link("Next") or "").text)
    assert Shown(operator.get(second.link("First") or "").text).body == first.body
    assert second.body != first.body
    assert (
        second.link("CSV")
        == first.link("CSV")
        == "/api/quality/recent.csv?window=15d&tz=UTC&tenant=portal&order=newest"
    )


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/turns?cursor=abc", "The cursor is not one of this list"),
        ("/gaps?cursor=WyIxIiwiMSJd", "The cursor is not one of this list"),
        ("/judgments?cursor=%00", "The cursor is not one of this list"),
        ("/retrieval/conflicts?cursor=abc", "The cursor is not one of this list"),
        ("/gaps?kind=anything", "kind"),
        ("/judgments?status=anything", "status"),
        ("/judgments?grade=4", "grade"),
        ("/turns?order=best", "order"),
        ("/turns?window=7w", "a number of hours or days is accepted"),
        ("/gaps?from=2026-11-03&amp;to=x", "to"),
    ],
)
def test_what_cannot_be_listed_is_refused_on_a_page_in_a_sentence(
    operator: httpx.Client, path: str, sentence: str
) -> None:
    reply = operator.get(path.replace("&amp;", "&"), headers=HTML)
    assert (reply.status_code, reply.headers["content-type"]) == (422, "text/html; charset=utf-8")
    assert sentence in reply.text


def test_a_cursor_of_the_other_order_is_refused(operator: httpx.Client) -> None:
    following = Shown(operator.get("/turns?window=15d&order=newest").text).link("Next") or ""
    assert operator.get(following.replace("order=newest", "order=worst"), headers=HTML).status_code == 422


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/turns?surface=nobody", "No turn of this period, as these filters leave it, has a faithfulness score."),
        ("/turns?from=2026-01-01&to=2026-01-02", "No turn of this period has a faithfulness score."),
        ("/turns?order=newest&from=2026-01-01&to=2026-01-02", "No turn of this period is published."),
        ("/gaps?kind=none", "No corrected draft of this period has these filters."),
        ("/gaps?from=2026-01-01&to=2026-01-02", "No corrected draft of this period was diagnosed."),
        ("/judgments?grade=0", "No judgment has these filters."),
    ],
)
def test_an_empty_list_says_what_there_is_none_of(operator: httpx.Client, path: str, sentence: str) -> None:
    page = operator.get(path).text
    assert sentence in page
    assert "<table" not in page


@pytest.mark.parametrize("path", ["/retrieval", "/gaps", "/judgments", "/api/retrieval/gaps", "/api/ground-truth"])
def test_what_a_form_leaves_empty_is_no_filter(operator: httpx.Client, path: str) -> None:
    names = ("org", "specialist", "engine", "kind", "status", "grade")
    reply = operator.get(path, params={"window": "7d", **dict.fromkeys(names, "")})
    assert reply.status_code == 200
    whole = operator.get(path, params={"window": "7d"}).text
    assert Shown(reply.text).rows == Shown(whole).rows


def test_a_page_links_lists_as_pages_with_its_period_and_filters(operator: httpx.Client) -> None:
    quality = Shown(operator.get("/?window=14d&surface=public&tenant=portal").text)
    listed = next(href for href, text in quality.links if text.startswith("All "))
    assert listed == "/turns?window=14d&tz=UTC&tenant=portal&surface=public"
    asked = f"/retrieval?from=2026-10-25&to=2026-11-03&org={ORG}&engine=hybrid"
    retrieval = Shown(operator.get(asked).text)
    kept = f"from=2026-10-25&to=2026-11-03&tz=UTC&org={ORG}&engine=hybrid"
    assert retrieval.link("All gaps") == f"/gaps?{kept}"
    assert retrieval.link("Knowledge missing") == f"/gaps?{kept}&kind=kb_gap"
    assert retrieval.link("All judgments") == f"/judgments?org={ORG}"
    for page in (quality, retrieval):
        assert {href.partition("?")[0][-4:] for href, _ in page.links if href.startswith("/api/")} == {".csv"}


def test_a_turn_leads_to_its_neighbours_of_the_same_days(auditor: httpx.Client) -> None:
    turn = Shown(auditor.get("/turns?from=2026-10-25&to=2026-11-03").text).links
    path = [href for href, _ in turn if href.startswith("/turns/")][3]
    assert path.endswith("?from=2026-10-25&to=2026-11-03")
    page = Shown(auditor.get(path).text)
    for name in ("Previous worse", "Next better"):
        neighbour = page.link(name) or ""
        assert neighbour.endswith("?from=2026-10-25&to=2026-11-03")
        assert auditor.get(neighbour).status_code == 200
