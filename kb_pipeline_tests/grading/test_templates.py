"""Markers are found in what prompts have in common, and nothing that somebody wrote is taken for one."""

import json
import re
import zlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.grading.bodies import PromptMessage, Request
from kb_pipeline.grading.templates import Prompt, Proposal, grouped, parses, prompt_of, propose
from kb_pipeline.grading.templates.constants import constants, openings
from kb_pipeline.grading.templates.headers import header_patterns
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


def after_history(q: str, found: Sequence[tuple[str, float]]) -> str:
    heads = ((i, t.partition(" ")[0], t) for i, (t, _) in enumerate(found, 1))
    listed = "\n\n".join(f"Hasil ke-{i}\nJudul: {title}\nIsi: {t}" for i, title, t in heads)
    history = f"RIWAYAT:\nWarga: halo\nPetugas sebelumnya menjawab: Silakan, {q.split()[1]} {len(q) % 7}"
    return f"{history}\n\nPERMINTAAN BARU:\n{q}\n\nHASIL PENCARIAN\n{listed}\n\nIngat: sebut nomor."


def with_a_common_passage(q: str, found: Sequence[tuple[str, float]]) -> str:
    listed = "\n\n".join(
        f"[{i}] Pasal 12: Ketentuan umum.\nDasar hukum yang dipakai: akta.\n{t}" for i, (t, _) in enumerate(found, 1)
    )
    return f"Pertanyaan: {q}\nKonteks:\n{listed}"


def one_line(q: str, found: Sequence[tuple[str, float]]) -> str:
    listed = " ".join(f"[{i}] {t}" for i, (t, _) in enumerate(found, 1))
    return f"Question: {q} Context: {listed}".replace("\n", " ")


def with_two_labels(q: str, found: Sequence[tuple[str, float]]) -> str:
    listed = "\n".join(f"[{i}] {t}" for i, (t, _) in enumerate(found, 1))
    return f"Pertanyaan: {q}\n\nKonteks:\nBerikut daftarnya:\n{listed}"


def with_a_setting(q: str, found: Sequence[tuple[str, float]]) -> str:
    listed = "\n\n".join(f"[{i}] {t}" for i, (t, _) in enumerate(found, 1))
    return f"Gaya:\nringkas\n\nHal:\n{q}\n\nRujukan:\n{listed}\n\nNada: ramah"


def with_rules(q: str, found: Sequence[tuple[str, float]]) -> str:
    rules = "\n".join(f"Aturan {name} yang berlaku:\nringkas dan sopan, {name}." + " Ulangi." * 12 for name in SUBJECTS)
    listed = "\n\n".join(f"[{i}] {t}" for i, (t, _) in enumerate(found, 1))
    return f"{rules}\n\nTanya:\n{q}\n\nRujukan:\n{listed}"


def without_headers(q: str, found: Sequence[tuple[str, float]]) -> str:
    listed = "\n".join(f"- {t}" for t, _ in found)
    return f"Konteks:\n{listed}\n\nPertanyaan pengguna: {q}"


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
    after_history: ("PERMINTAAN BARU:", "HASIL PENCARIAN", "id", False),
    with_a_common_passage: ("Pertanyaan:", "Konteks:", "id", False),
    with_two_labels: ("Pertanyaan:", "Konteks:", "id", False),
    with_rules: ("Tanya:", "Rujukan:", "id", False),
    with_a_setting: ("Hal:", "Rujukan:", "id", False),
    one_line: ("Question:", "Context:", "en", False),
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


@pytest.mark.slow
@pytest.mark.parametrize("count", [60, 150])
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_the_markers_of_a_template_are_found_and_read_its_prompts(family: Callable[..., str], count: int) -> None:
    question_marker, context_marker, language, has_scores = FAMILIES[family]
    made, others = prompts(family, count, language=language), router_calls()
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


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_whatever_is_proposed_can_be_configured(family: Callable[..., str]) -> None:
    for proposal in propose(prompts(family), CONFIGURED):
        template = proposal.template
        SurfaceSettings(
            synthesis_markers=template.synthesis_markers,
            question_marker=template.question_marker,
            context_marker=template.context_marker,
            passage_pattern=template.passage_pattern.pattern,
        )


SECRETS = (
    "Nama saya Budi Santoso: NIK hilang",
    "[Siti Aminah, Jl. Melati]",
    "# Pak Joko minta tolong",
    "KELUHAN IBU RATNA",
)


def confiding(family: Callable[..., str], often: int) -> list[Prompt]:
    """Prompts of which `often` per secret hold what a citizen wrote, on a line of its own before the question."""
    dice, made = Random(11), list[Prompt]()
    for number in range(60):
        asked = question(dice, number)
        secret = SECRETS[number // often] if number < often * len(SECRETS) else ""
        found = [(passage(dice), dice.uniform(0.1, 0.95)) for _ in range(3)]
        made.append(prompt(family(f"{secret}\n{asked}".strip(), found), INSTRUCTIONS["id"]))
    return made


@pytest.mark.slow
@pytest.mark.parametrize("often", [2, 5, 12])
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_what_a_few_turns_say_is_never_shown(family: Callable[..., str], often: int) -> None:
    proposals = propose(confiding(family, often), CONFIGURED)
    assert proposals
    for proposal in proposals:
        assert not re.search("budi|siti|melati|joko|ratna|nik", shown(proposal), re.IGNORECASE)


def without_markers(q: str, found: Sequence[tuple[str, float]]) -> str:
    return f"{q}\n\n" + "\n".join(f"[{i}] {t}" for i, (t, _) in enumerate(found, 1))


@pytest.mark.slow
@pytest.mark.parametrize("family", [*FAMILIES, without_markers], ids=lambda family: family.__name__)
@pytest.mark.parametrize("share", [0.6, 0.85, 1.0])
def test_one_question_that_is_asked_again_and_again_is_never_shown(family: Callable[..., str], share: float) -> None:
    dice, made = Random(12), list[Prompt]()
    for number in range(60):
        asked = "Budi Santoso: NIK hilang?" if number < 60 * share else question(dice, number)
        found = [(passage(dice), dice.uniform(0.1, 0.95)) for _ in range(3)]
        made.append(prompt(family(asked, found), INSTRUCTIONS["id"]))
    for proposal in propose(made, CONFIGURED):
        assert not re.search("budi|santoso|nik|hilang", shown(proposal), re.IGNORECASE)


@pytest.mark.parametrize(("often", "proposals"), [(12, 0), (25, 1)])
def test_a_template_of_few_among_many_is_shown_from_twenty_on(often: int, proposals: int) -> None:
    made = prompts(labelled, often) + prompts(without_markers, 150 - often, seed=8)
    assert len(propose(made, CONFIGURED)) == proposals


def test_what_the_redaction_patterns_match_is_never_shown() -> None:
    made = prompts(labelled)
    assert propose(made, CONFIGURED)
    for proposal in propose(made, CONFIGURED, redact=[re.compile("(?i)dokumen")]):
        assert "dokumen" not in shown(proposal).lower()


def test_two_templates_side_by_side_are_two_proposals_with_their_shares() -> None:
    made = prompts(brackets, 60) + prompts(markdown, 40, seed=9)
    found = propose(made, CONFIGURED)
    assert [(each.template.question_marker, each.share) for each in found] == [
        ("[TANYA WARGA]", 0.6),
        ("## Pertanyaan warga", 0.4),
    ]
    assert found[0].unparsed == {"no_question": 40}


def test_prompts_that_no_template_made_say_why_they_stay_unparsed() -> None:
    dice = Random(4)
    made = prompts(brackets) + [prompt(question(dice, i), INSTRUCTIONS["id"]) for i in range(20)]
    [proposal] = propose(made, CONFIGURED)
    assert (proposal.parses, proposal.bodies, proposal.unparsed) == (60, 80, {"no_question": 20})


def test_fewer_than_five_prompts_lead_to_no_proposal() -> None:
    assert propose(prompts(brackets, 4), CONFIGURED) == []
    assert len(propose(prompts(brackets, 5), CONFIGURED)) == 1


def test_prompts_without_any_marker_lead_to_no_proposal() -> None:
    assert propose(prompts(without_markers), CONFIGURED) == []


def test_a_label_that_some_people_write_is_no_context_marker() -> None:
    def without_label(q: str, found: Sequence[tuple[str, float]]) -> str:
        return f"Q: {q}\n\n{found[0][0][:150]}"

    assert propose(prompts(without_label, 150), CONFIGURED) == []


def test_prompts_without_an_instruction_lead_to_no_proposal() -> None:
    bare = [Request((each.request.messages[-1],)) for each in prompts(brackets)]
    made = [one for each in bare if (one := prompt_of(each, ts=NOW, is_turn=False))]
    assert propose(made, CONFIGURED) == []


def test_markers_are_found_where_passages_have_no_header() -> None:
    [proposal] = propose(prompts(without_headers), CONFIGURED)
    assert (proposal.template.question_marker, proposal.template.context_marker) == ("Pertanyaan pengguna:", "Konteks:")
    assert proposal.template.passage_pattern == CONFIGURED.passage_pattern
    assert proposal.share == 1.0


def test_calls_of_another_kind_with_the_same_instruction_cannot_be_told_apart() -> None:
    made = prompts(brackets)
    assert propose(made, CONFIGURED, others=[prompt("ringkas", INSTRUCTIONS["id"])]) == []
    half = f"{INSTRUCTIONS['id']} HASIL ALAT"
    kept = [prompt(each.text, half) for each in made]
    assert propose(kept, CONFIGURED, others=[prompt("ringkas", half)]) == []


def test_a_marker_that_still_fits_stays_as_it_is_configured() -> None:
    def renamed(q: str, found: Sequence[tuple[str, float]]) -> str:
        listed = "\n".join(f"[RAG-{i}] (skor {s:.2f}) {t}" for i, (t, s) in enumerate(found, 1))
        return f"PERTANYAAN: {q}\n\nTEMUAN PENCARIAN:\n{listed}"

    [proposal] = propose(prompts(renamed), CONFIGURED)
    assert proposal.template.question_marker == CONFIGURED.question_marker
    assert proposal.template.context_marker == "TEMUAN PENCARIAN:"
    assert proposal.template.passage_pattern == CONFIGURED.passage_pattern


def test_the_context_may_stand_in_a_message_of_its_own() -> None:
    dice, made = Random(4), list[Prompt]()
    for number in range(40):
        listed = "\n".join(f"[S{i}] ({dice.random():.2f}) {passage(dice)}" for i in range(1, 4))
        messages = (
            PromptMessage("system", INSTRUCTIONS["id"]),
            PromptMessage("system", f"Bahan rujukan:\n{listed}"),
            PromptMessage("user", f"Warga bertanya: {question(dice, number)}"),
        )
        made += filter(None, [prompt_of(Request(messages), ts=NOW, is_turn=False)])
    [proposal] = propose(made, CONFIGURED)
    assert (proposal.template.question_marker, proposal.template.context_marker) == (
        "Warga bertanya:",
        "Bahan rujukan:",
    )
    assert proposal.share == 1.0


def test_what_stands_behind_a_label_belongs_to_no_marker() -> None:
    assert openings("TANYA: Budi minta") == {"TANYA:"}
    assert openings('"tanya": "Budi",') == {'"tanya":'}
    assert openings("<tanya> Budi") == {"<tanya>"}
    assert openings("[TANYA] Budi") == {"[TANYA]"}
    assert openings("Budi minta surat nikah") == set()
    assert openings("## Soal warga hari ini\n\n=== BAHAN ===") >= {"## Soal warga hari ini", "=== BAHAN ==="}


def test_a_list_number_is_no_header_where_it_is_part_of_an_amount() -> None:
    [pattern] = header_patterns(prompts(numbered))
    assert re.match(pattern, "12. Biaya")
    assert not re.match(pattern, "12.050 rupiah")


def test_numbers_that_do_not_count_up_are_no_ranks() -> None:
    def by_id(q: str, found: Sequence[tuple[str, float]]) -> str:
        return f"Q: {q}\nC:\n" + "\n".join(f"<doc id={zlib.crc32(t.encode()) % 9000}> {t}" for t, _ in found)

    assert header_patterns(prompts(by_id)) == []


def test_labels_that_differ_by_their_number_are_headers_and_no_markers() -> None:
    found = constants(prompts(labelled), support=5)
    assert {"Dokumen yang ditemukan:", "Soal dari pengguna:", "Tanggapan:"} <= set(found)
    assert not any(re.search("[0-9]", piece) for piece in found)


def test_calls_of_other_kinds_are_told_apart_by_their_instruction() -> None:
    synthesis, routers = prompts(brackets), router_calls()
    mixed = [each for pair in zip(synthesis, routers, strict=False) for each in pair] + synthesis[len(routers) :]
    groups = grouped(mixed)
    assert [len(group) for group in groups] == [60, 40]
    assert {each.instruction for each in groups[1]} == {ROUTER}


def test_a_synthesis_marker_stands_in_no_instruction_of_another_kind() -> None:
    shared = "Anda petugas layanan. Buat tanggapan dari riwayat percakapan saja."
    others = [prompt("ringkas", shared)] * 10
    [proposal] = propose(prompts(brackets), CONFIGURED, others=others)
    assert proposal.share == 1.0
    assert not any(marker in shared for marker in proposal.template.synthesis_markers[:1])
    assert not any(parses(other, proposal.template) for other in others)


PIECES = st.sampled_from(
    [*"\n\n\n[]()<>{}:#*-.|\\^$+?0123", "TANYA:", "[1]", "(skor 0.5)", "<doc id=1>", "\r\n", "\x00", "\ud800", "\u2028",
     "\u0661", "\uff1a", "PERTANYAAN:", "HASIL ALAT:", "kata", "Dokumen 1:", "1. ", "9" * 60, "\u200b", "\u00a0"]
)  # fmt: skip
TEXTS = st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=30).map("".join)
MESSAGES = st.builds(PromptMessage, st.sampled_from(["system", "user", "user", "assistant", "tool", "odd"]), TEXTS)


@given(st.lists(st.lists(MESSAGES, min_size=1, max_size=4), min_size=1, max_size=5), st.integers(1, 6), TEXTS)
def test_no_prompt_makes_it_fail_and_what_it_proposes_can_be_configured(
    conversations: list[list[PromptMessage]], times: int, instruction: str
) -> None:
    made: list[Prompt] = []
    for number in range(times * len(conversations)):
        messages = (PromptMessage("system", instruction), *conversations[number % len(conversations)])
        messages = (*messages[:-1], PromptMessage(messages[-1].role, f"{messages[-1].text}\n{number}"))
        made += filter(None, [prompt_of(Request(messages), ts=NOW, is_turn=number % 2 == 0)])
    for group in grouped(made):
        for proposal in propose(group, CONFIGURED, others=made):
            template = proposal.template
            SurfaceSettings(
                synthesis_markers=template.synthesis_markers,
                question_marker=template.question_marker,
                context_marker=template.context_marker,
                passage_pattern=template.passage_pattern.pattern,
            )


def test_huge_and_repetitive_texts_are_looked_through_to_an_end() -> None:
    hostile = [
        "Q: " * 60_000,
        "A: [1]\n" * 25_000,
        "[" * 190_000,
        "1" * 190_000,
        "<a " * 60_000,
        "\n1. x: 0.5" * 19_000,
    ]
    made = [prompt(f"{text}{i}", INSTRUCTIONS["en"]) for text in hostile for i in range(4)]
    propose(made, CONFIGURED)


def test_a_prompt_longer_than_is_looked_through_is_none() -> None:
    messages = (PromptMessage("user", "x" * 200_001),)
    assert prompt_of(Request(messages), ts=NOW, is_turn=True) is None
    assert prompt_of(Request((PromptMessage("system", "x"),)), ts=NOW, is_turn=True) is None
