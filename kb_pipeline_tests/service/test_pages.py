"""Pages without a browser: hostile text stays text, nothing comes from elsewhere, nothing is inline."""

import re
from html import unescape
from html.parser import HTMLParser
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from kb_pipeline.dashboard.opinion_words import Mark, marked_sentences, opinion_words, passage_pieces, turn_verdict
from kb_pipeline.records import ParseStatus, Passage, Triad
from kb_pipeline_tests.http_servers import PLAIN
from kb_pipeline_tests.service.hostile import HOSTILE

PAGES = (
    "/?window=24h",
    "/?window=7d",
    "/?window=90d",
    "/retrieval",
    "/retrieval/conflicts",
    "/turns",
    "/turns?order=newest",
    "/gaps",
    "/judgments",
    "/alerts",
    "/pipeline",
    "/login",
)
HEAVIEST = 300_000


class Found(HTMLParser):
    """The tags of a page with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def auditors_turn(client: httpx.Client, number: int) -> str:
    event_id = quote(f"hostile-{number}-{HOSTILE[number][:40]}", safe="")
    reply = client.get(f"/turns/{event_id}")
    assert reply.status_code == 200
    return reply.text


@pytest.mark.parametrize("path", PAGES)
def test_a_page_asks_nobody_else_for_anything_and_has_nothing_inline(auditor: httpx.Client, path: str) -> None:
    reply = auditor.get(path)
    assert reply.status_code == 200
    assert len(reply.content) < HEAVIEST
    for tag, attributes in Found(reply.text).tags:
        assert "style" not in attributes
        assert not [name for name in attributes if name.startswith("on")]
        assert tag != "style"
        for name in ("src", "href", "action"):
            target = attributes.get(name) or ""
            assert re.match(r"/(?!/)|#|\?|$", target), target
        if tag == "script":
            assert attributes.get("src") == "/static/live.js"


def test_two_hundred_hostile_strings_show_as_text_on_every_page(auditor: httpx.Client) -> None:
    assert len(HOSTILE) == 200
    pages = {path: auditor.get(path).text for path in ("/?window=24h", "/retrieval")}
    for path in ("/retrieval/conflicts", "/turns?window=24h", "/gaps", "/judgments"):
        following: str | None = path
        while following:
            pages[following] = auditor.get(following).text
            leads_on = re.search(r'href="([^"]+)" rel="next"', pages[following])
            following = unescape(leads_on[1]) if leads_on else None
    assert len(pages) >= 2 + 4 * len(HOSTILE) // 50
    pages |= {f"turn {number}": auditors_turn(auditor, number) for number in (*range(0, 40, 3), 40, 121, 199)}
    harmless = {tag for tag, _ in Found(auditor.get("/alerts").text).tags}
    harmless |= set(
        "p h1 h2 h3 strong span em ol ul li dl dt dd div section aside article table caption thead tbody tr th td a"
        " form input label select option button svg g path rect line circle text defs pattern clippath details summary"
        " mark sup code pre script link meta main header nav html head body title".split()
    )
    for name, page in pages.items():
        tags = {tag for tag, _ in Found(page).tags}
        assert tags <= harmless, name
        scripts = [attributes for tag, attributes in Found(page).tags if tag == "script"]
        assert scripts == [{"src": "/static/live.js", "defer": None}], name
        assert "<b>bold" not in page
        # A form sends a key back as it is; what is shown, or read aloud, holds no sign that reorders what is around it.
        shown = re.sub(r'<input type="hidden"[^>]*>', "", page)
        assert not set(shown) & {chr(sign) for sign in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}


def test_a_preview_is_never_cut_within_a_character_or_an_entity(operator: httpx.Client) -> None:
    page = operator.get("/", params={"window": "24h"}).text
    assert not re.search(r"&(?:[a-z]+|#\d+)(?![a-z0-9#;])", re.sub(r"&(?:[a-z]+|#\d+);", "", page))


def test_an_operator_sees_previews_without_links(operator: httpx.Client, auditor: httpx.Client) -> None:
    assert 'href="/turns/' not in operator.get("/").text
    assert 'href="/turns/' in auditor.get("/").text


TRIAD = Triad(
    parse_status=ParseStatus.OK,
    question="Berapa biaya pendaftaran yayasan?",
    context="x",
    passages=(
        Passage(
            rank=3, score=0.8, text="Akta dibuat notaris. Biaya pendaftaran yayasan adalah Rp250.000 sekali bayar."
        ),
        Passage(rank=4, score=0.4, text="Nama PT berlaku 60 hari."),
    ),
    answer="Biaya pendaftaran yayasan adalah Rp250.000. Prosesnya selesai dalam 17 hari di Surabaya. Terima kasih.",
)


def test_each_sentence_is_marked_and_its_evidence_found() -> None:
    marked = marked_sentences(TRIAD)
    assert [each.mark for each in marked] == [Mark.BACKED, Mark.NO_SOURCE, Mark.NOTHING]
    assert marked[0].passage == 1
    pieces = passage_pieces(TRIAD.passages[0], 1, marked)
    assert [(piece.text, piece.sentences) for piece in pieces] == [
        ("Akta dibuat notaris. ", ()),
        ("Biaya pendaftaran yayasan adalah Rp250.000 sekali bayar.", (1,)),
    ]
    assert turn_verdict(marked)[:2] == ("warning", "Part of this answer has no source.")


def test_the_pieces_of_a_passage_are_all_of_its_text() -> None:
    for text in HOSTILE:
        passage = Passage(rank=1, score=0.5, text=f"Biaya adalah Rp250.000. {text} Akta dibuat notaris.")
        triad = Triad(
            parse_status=ParseStatus.OK, context="x", passages=(passage,), answer=f"Biaya adalah Rp250.000. {text}"
        )
        pieces = passage_pieces(passage, 1, marked_sentences(triad))
        assert "".join(piece.text for piece in pieces) == passage.text


def test_the_second_opinion_begins_with_one_of_three_words() -> None:
    counts = {"flags": ["number"], "counts": {"number": {"claimed": 2, "found": 1, "doubt": 0.9}}}
    clean = {"flags": [], "counts": {"name": {"claimed": 5, "found": 5, "doubt": 0.0}}}
    heads = [
        opinion_words(0.3, 0.4, 0.2, counts, warn=0.7, had_context=True).head,
        opinion_words(0.95, 0.4, 0.9, counts, warn=0.7, had_context=True).head,
        opinion_words(0.2, 0.9, 0.75, clean, warn=0.7, had_context=True).head,
        opinion_words(0.9, 0.9, 0.0, clean, warn=0.7, had_context=True).head,
        opinion_words(0.5, 0.6, 0.4, clean, warn=0.7, had_context=True).head,
        opinion_words(0.5, None, None, None, warn=0.7, had_context=True).head,
    ]
    assert heads == ["Agrees", "Disagrees", "Disagrees", "Agrees", "No opinion", "No opinion"]


@pytest.mark.parametrize(
    ("faithfulness", "support", "opinion", "had_context", "reason"),
    [
        (0.0, None, {}, False, "no passage to check against"),
        (1.0, None, {}, True, "nothing in the answer to check"),
        (None, None, {}, True, "no faithfulness score to compare with"),
        (None, 0.8, {}, True, "no faithfulness score to compare with"),
        (0.5, None, None, False, "not counted yet"),
        (0.9, 0.9, {"counts": {"date": {"claimed": 1, "found": 1}}}, True,
         "its one number, date or name is in the passages"),
        (0.9, 0.9, {"counts": {"date": {"claimed": 1200, "found": 1200}}}, True,
         "all 1,200 numbers, dates and names are in the passages"),
        (0.2, 0.5, {"flags": ["number"], "counts": {"number": {"claimed": 1, "found": 0}}}, True,
         "1 of 1 number is in no passage"),
        (0.2, 0.5, {"flags": ["roles"], "counts": {"roles": {"claimed": 3, "found": 1}}}, True,
         "2 of 3 pairs of names do not fit"),
    ],
)  # fmt: skip
def test_the_second_opinion_says_what_it_found_or_why_it_has_none(
    faithfulness: float | None,
    support: float | None,
    opinion: dict[str, Any] | None,
    had_context: bool,  # noqa: FBT001
    reason: str,
) -> None:
    words = opinion_words(faithfulness, support, 0.0, opinion, warn=0.7, had_context=had_context)
    assert words.reason == reason


@pytest.mark.parametrize("target", ["//[x", "http://[", "http://[::1"])
def test_a_way_back_that_is_no_address_leads_home(address: str, target: str) -> None:
    reply = httpx.get(f"{address}/login", params={"next": target}, verify=PLAIN)
    assert reply.status_code == 200
    assert 'name="next" value="/"' in reply.text


def test_a_form_of_too_many_fields_is_refused(address: str) -> None:
    assert httpx.post(f"{address}/login", content="a=1&" * 30, verify=PLAIN).status_code == 413


@pytest.mark.parametrize("path", ["/", "/pipeline", "/api/quality/summary", "/api/quality/trend"])
def test_a_day_at_the_beginning_of_the_calendar_is_refused(operator: httpx.Client, path: str) -> None:
    assert operator.get(path, params={"from": "0002-01-01", "to": "0002-01-02"}).status_code == 422
