"""Markers are found in what prompts have in common, and nothing that somebody wrote is taken for one."""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from random import Random

import pytest

from kb_pipeline.grading.bodies import PromptMessage, Request
from kb_pipeline.grading.templates import Prompt, Proposal, parses, prompt_of, propose
from kb_pipeline.settings.surfaces import SurfaceSettings

NOW = datetime(2026, 5, 4, 9, tzinfo=UTC)
CONFIGURED = SurfaceSettings().template("public")
ROUTER = "Pilih satu jalur untuk pesan ini: informasi, status, obrolan. Balas dengan satu kata."
INSTRUCTIONS = {
    "id": "Anda petugas layanan. Buat tanggapan dari bahan di bawah saja.\nSebutkan nomor bahan yang dipakai.",
    "en": "You are a desk officer.\nAnswer only from the material below, in the language of the question.\nBe brief.",
}
SUBJECTS = ("koperasi", "yayasan", "firma", "perseroan", "wasiat", "fidusia", "merek", "paten", "notaris", "izin")
WISHES = ("Berapa biaya", "Apa syarat", "Bagaimana cara mengubah", "Di mana mengurus", "How long takes", "Who may sign")
FACTS = (
    "berlaku lima tahun",
    "dibayar di loket",
    "needs two witnesses",
    "memuat pasal 12 ayat 3",
    "ditutup 31.12.2025",
)


def question(dice: Random, number: int) -> str:
    extra = dice.choice(["", "", " Saya tinggal di Kendari.", "\nMohon dijawab: secepatnya.", " (no. 17/B)"])
    return f"{dice.choice(WISHES)} {dice.choice(SUBJECTS)} untuk usaha ke-{number}?{extra}"


def passage(dice: Random) -> str:
    sentences = [f"{dice.choice(SUBJECTS).title()} {dice.choice(FACTS)}." for _ in range(dice.randint(2, 6))]
    return dice.choice([" ", " ", "\n"]).join(sentences)


def brackets(q: str, found: Sequence[tuple[str, float]]) -> str:
    listed = "\n\n".join(f"[SUMBER {i}] (relevansi {s:.2f}) {t}" for i, (t, s) in enumerate(found, 1))
    return f"[TANYA WARGA]\n{q}\n\n[BAHAN]\n{listed or 'Tidak ada hasil.'}"


def markdown(q: str, found: Sequence[tuple[str, float]]) -> str:
    listed = "\n\n".join(f"### Kutipan {i} (skor: {s:.3f})\n{t}" for i, (t, s) in enumerate(found, 1))
    return f"## Pertanyaan warga\n\n{q}\n\n## Kutipan peraturan\n\n{listed}\n\nJAWABAN:"


def tags(q: str, found: Sequence[tuple[str, float]]) -> str:
    listed = "\n".join(f'<doc id="{i}" score="{s:.2f}">\n{t}\n</doc>' for i, (t, s) in enumerate(found, 1))
    return f"<documents>\n{listed}\n</documents>\n\n<user_query>\n{q}\n</user_query>"


def labelled(q: str, found: Sequence[tuple[str, float]]) -> str:
    listed = "\n".join(f"Dokumen {i}: {t}" for i, (t, _) in enumerate(found, 1))
    return f"Dokumen yang ditemukan:\n{listed}\n\nSoal dari pengguna: {q}\nTanggapan:"


def json_like(q: str, found: Sequence[tuple[str, float]]) -> str:
    listed = ",\n".join(
        f'  {{"rank": {i}, "score": {s:.2f}, "text": {json.dumps(t)}}}' for i, (t, s) in enumerate(found, 1)
    )
    return f'{{\n"user_question": {json.dumps(q)},\n"retrieved": [\n{listed}\n]\n}}'


def numbered(q: str, found: Sequence[tuple[str, float]]) -> str:
    listed = "\n".join(f"{i}. {t}" for i, (t, _) in enumerate(found, 1))
    return f"Question: {q}\n\nSearch results:\n{listed}"


def titled(q: str, found: Sequence[tuple[str, float]]) -> str:
    heads = ((i, t.partition(" ")[0], s, t) for i, (t, s) in enumerate(found, 1))
    listed = "\n".join(f"({i}) Perihal {title} - cocok {s:.0%}\n{t}" for i, title, s, t in heads)
    return f"=== PERMINTAAN ===\n{q}\n=== TEMUAN ===\n{listed}"


def windows_lines(q: str, found: Sequence[tuple[str, float]]) -> str:
    listed = "\r\n".join(f"**Passage {i}** [{s:.4f}]\r\n{t}" for i, (t, s) in enumerate(found, 1))
    return f"**User asks:** {q}\r\n\r\n**Evidence:**\r\n{listed}"


def starred(q: str, found: Sequence[tuple[str, float]]) -> str:
    listed = "\n".join(f"* (*{i}*) nilai=+{s:.2f}$ | {t}" for i, (t, s) in enumerate(found, 1))
    return f"Tanya (warga)? *wajib*: {q}\n\nBahan $utama$ [a|b]:\n{listed}"


FAMILIES: dict[Callable[[str, Sequence[tuple[str, float]]], str], tuple[str, str, str, bool]] = {
    brackets: ("[TANYA WARGA]", "[BAHAN]", "id", True),
    markdown: ("## Pertanyaan warga", "## Kutipan peraturan", "id", True),
    tags: ("<user_query>", "<documents>", "en", True),
    labelled: ("Soal dari pengguna:", "Dokumen yang ditemukan:", "id", False),
    json_like: ('"user_question":', '"retrieved": [', "en", True),
    numbered: ("Question:", "Search results:", "en", False),
    titled: ("=== PERMINTAAN ===", "=== TEMUAN ===", "id", True),
    windows_lines: ("**User asks:**", "**Evidence:**", "en", True),
    starred: ("Tanya (warga)? *wajib*:", "Bahan $utama$ [a|b]:", "id", True),
}


def prompt(text: str, instruction: str, *, is_turn: bool = False) -> Prompt:
    messages = (PromptMessage("system", instruction), PromptMessage("user", text))
    made = prompt_of(Request(messages), ts=NOW, is_turn=is_turn)
    assert made is not None
    return made


def prompts(family: Callable[..., str], count: int = 60, seed: int = 3, language: str = "id") -> list[Prompt]:
    dice = Random(seed)
    made = []
    for number in range(count):
        found = [(passage(dice), dice.uniform(0.1, 0.95)) for _ in range(dice.randint(2, 5))]
        made.append(prompt(family(question(dice, number), found), INSTRUCTIONS[language]))
    return made


def router_calls(count: int = 40) -> list[Prompt]:
    dice = Random(5)
    return [prompt(question(dice, number), ROUTER) for number in range(count)]


def shown(proposal: Proposal) -> str:
    template = proposal.template
    texts = (template.question_marker, template.context_marker, template.passage_pattern.pattern)
    return "\n".join((*template.synthesis_markers, *texts))


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_the_markers_of_a_template_are_found_and_read_its_prompts(family: Callable[..., str]) -> None:
    question_marker, context_marker, language, has_scores = FAMILIES[family]
    made, others = prompts(family, language=language), router_calls()
    proposal, *more = propose(made, CONFIGURED, others=others)
    template = proposal.template
    assert not more
    assert (template.question_marker, template.context_marker) == (question_marker, context_marker)
    assert proposal.share >= 0.95
    assert not any(parses(other, template) for other in others)
    headed = [template.passage_pattern.findall(each.text) for each in made]
    assert sum(len(found) >= 2 for found in headed) >= 0.95 * len(made)
    assert ("score" in template.passage_pattern.groupindex) == has_scores
    assert "rank" in template.passage_pattern.groupindex
