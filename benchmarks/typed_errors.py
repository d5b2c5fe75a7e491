"""How often the second opinion finds one planted error in a grounded answer, and what it costs.

    .venv/bin/python benchmarks/typed_errors.py [--data ../shared/data/triads_dev.jsonl] [--half report|tune] [--seed 7]

Grounded answers (label_faithful = 1, with passages) are changed in one place: a number, a money amount, a date, an
article or law number, a name, a negation, two names that change places, or an invented sentence. Money amounts and law
references are rare in such data, so where an answer has none, a sentence that holds one, in our own words, is put into
answer and passages alike before it is changed: the passages say it in another form ("10 juta rupiah" for
"Rp10.000.000"). The rows are split in two halves by group; the figures of the package were chosen on the half `tune`.

A threshold is set so that 5 % of the unchanged answers are above it; what of the changed ones is above is found. (a) is
the doubt of the error's own kind, against all unchanged answers of the language; "own" the same against the unchanged
forms of the changed answers alone; (b) the one doubt of the turn, against all unchanged answers; "at .5" what the shown
threshold finds; the baseline is plain word overlap, as (a). The second table is the AUC of
`support_score` against word overlap on the labelled triads. Intervals are 95 %, from a bootstrap over groups.
"""

import argparse
import hashlib
import json
import random
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from kb_pipeline.grading.metrics import measure
from kb_pipeline.grading.opinion import Kind, Opinion, second_opinion
from kb_pipeline.records import Message, ParseStatus, Passage, Triad
from kb_pipeline.support import sentences, word_overlap

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "triads_dev.jsonl"
FALSE_ALARMS = 0.05
DRAWS = 500
SHORTEST_SENTENCE = 40

_NUMBER = re.compile(
    r"(?<![\w.,/:$€£-])\d{1,3}(?:[.,]\d{3})+(?![\w])|(?<![\w.,/:$€£-])\d+(?:[.,]\d+)?(?![\w/]|[.,:]\d)"
)
_MONEY = re.compile(
    r"(?:Rp\.?|US\$|[$€£])\s?\d+(?:[.,]\d+)*|\d+(?:[.,]\d+)*\s(?:(?:ribu|juta|miliar|triliun|million|billion)\s)?"
    r"(?:rupiah|dollars?|dolar|euros?|USD)\b"
)
_MONTHS = {
    "id": "Januari Februari Maret April Mei Juni Juli Agustus September Oktober November Desember".split(),
    "en": "January February March April May June July August September October November December".split(),
}
_ANY_MONTH = "|".join({*_MONTHS["id"], *_MONTHS["en"]})
_DATE = re.compile(
    rf"\b\d{{1,2}}\s(?:{_ANY_MONTH})(?:\s\d{{4}})?\b|\b(?:{_ANY_MONTH})\s\d{{1,2}}(?:,?\s\d{{4}})?\b"
    rf"|\b(?:{_ANY_MONTH})\s\d{{4}}\b|\b\d{{1,2}}/\d{{1,2}}/\d{{4}}\b",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<![\w.,/$-])(?:1[5-9]|20)\d\d(?![\w/]|[.,]\d)")
_REFERENCE = re.compile(
    r"\b(?:Pasal|Article|Section|ayat|Art\.|Nomor|No\.)\s\(?\d+\)?|\b(?:UU|PP|Perpres)\s\d+/\d{4}", re.IGNORECASE
)
_NAME = re.compile(r"(?<![\w'-])[A-Z][\w'-]+(?:\s[A-Z][\w'-]+)*")
_NO_NAME = frozenset(
    "the this that these those there it he she they we you i in on at for from by with a an and or but if when while "
    "as yes no not after before during although however also according based what who where how why which its his her "
    "their pada di ke dari ini itu dan atau tetapi jika bila ketika saat yang untuk dengan oleh dalam ada tidak ya "
    "sebagai menurut berdasarkan selain setelah sebelum karena ia dia mereka kami kita para beberapa semua "
    "setiap".split()
)
_NAMES = {
    "id": [
        "Suryadi Wiranto", "Kartika Lestari", "Bambang Hermanto", "Wulandari", "Yosef Tambunan", "Nirmala", "Prasetyo",
        "Lubuk Damar", "Tanjung Selira", "Gunung Wetan", "Banyu Asri", "Karangjati", "Mandraguna", "Sukawening",
        "Dian Purnama", "Ratna Kusuma", "Haryono", "Sei Kelapa", "Pulau Renggas", "Merapi Timur", "Zulfikar",
        "Citrawati",
    ],
    "en": [
        "Harold Whitcombe", "Margaret Ellery", "Thornbury", "Kestrel Bay", "Dunmore", "Ottoline Pryce", "Lakeford",
        "Bertram", "Greywell", "Ivor Hastings", "Pemberly", "Rosalind Fenwick", "Calder Heights", "Winterbourne",
        "Edmund Sallow", "Northgate", "Marlowe", "Quillan", "Ashcombe", "Stanhope Vale", "Delphine Roux", "Halvard",
    ],
}  # fmt: skip
_INVENTED = {
    "id": [
        "Selain itu, {x} pernah mendapat penghargaan dari kementerian pada sebuah upacara resmi.",
        "Biaya tambahan akan dibebankan kepada pemohon yang terlambat menyerahkan berkas.",
        "Keputusan tersebut kemudian dibatalkan oleh pengadilan setelah muncul keberatan masyarakat.",
        "Banyak pengunjung mengeluhkan pelayanan yang lambat dan ruang tunggu yang sempit.",
        "{x} juga dikenal karena kegemarannya mengumpulkan perangko kuno.",
        "Proses ini biasanya selesai dalam beberapa jam apabila jaringan sedang lancar.",
        "Para ahli memperkirakan jumlahnya akan berlipat dalam dekade mendatang.",
        "Sebagian besar dana berasal dari sumbangan perusahaan swasta asing.",
        "Warga setempat merayakannya dengan pawai lampion setiap musim panen.",
        "Hal ini sempat menimbulkan perdebatan sengit di antara anggota keluarga.",
        "Pemerintah daerah berencana membangun museum khusus mengenai {x}.",
        "Semua peserta wajib membawa surat keterangan sehat dari dokter.",
    ],
    "en": [
        "In addition, {x} once received an award from the ministry at an official ceremony.",
        "An extra fee is charged to applicants who hand in their papers late.",
        "The decision was later overturned by a court after residents objected.",
        "Many visitors complained about slow service and a cramped waiting room.",
        "{x} is also known for a lifelong habit of collecting old stamps.",
        "The process usually finishes within a few hours when the network is fast.",
        "Experts expect the figure to double over the coming decade.",
        "Most of the money came from donations by foreign private companies.",
        "Local people celebrate it with a lantern parade every harvest season.",
        "This led to a bitter quarrel among the members of the family.",
        "The city council plans to build a museum devoted to {x}.",
        "All participants must bring a certificate of good health from a doctor.",
    ],
}
_UNITS_OF_THOUSAND = {
    "id": ((10**9, "miliar"), (10**6, "juta"), (10**3, "ribu")),
    "en": ((10**9, "billion"), (10**6, "million")),
}


@dataclass(frozen=True, kw_only=True)
class Row:
    """One answer of the file."""

    source: str
    language: str
    group: str
    question: str
    passages: tuple[str, ...]
    answer: str
    label: float | None
    label_kind: str
    history: tuple[str, ...]

    @property
    def triad(self) -> Triad:
        """What the pipeline would have read."""
        return Triad(
            parse_status=ParseStatus.OK,
            question=self.question,
            context="\n\n".join(self.passages),
            passages=tuple(Passage(rank=n, score=None, text=text) for n, text in enumerate(self.passages, start=1)),
            answer=self.answer,
            history=tuple(Message(role="user", text=text) for text in self.history),
        )

    def opinion(self) -> Opinion:
        """The second opinion."""
        triad = self.triad
        return second_opinion(triad, measure(triad, refusal_phrases=()))

    def overlap(self) -> float:
        """The baseline."""
        return word_overlap(self.answer, "\n".join(self.passages))


Change = Callable[[Row, random.Random], tuple[Row, Row] | None]


def read(file: Path) -> list[Row]:
    """The triads of the file that have an answer and passages."""
    found = []
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            passages = tuple(text if isinstance(text, str) else text["text"] for text in row["passages"])
            if passages and row["answer"].strip():
                found.append(
                    Row(
                        source=row["source"],
                        language=row["lang"],
                        group=row["group"],
                        question=row.get("question") or "",
                        passages=passages,
                        answer=row["answer"],
                        label=None if row["label_faithful"] is None else float(row["label_faithful"]),
                        label_kind=row["meta"].get("label_kind", ""),
                        history=tuple(row["meta"].get("history", ())),
                    )
                )
    return found


def half_of(row: Row) -> str:
    """The half that a row's group is in."""
    return "tune" if hashlib.sha256(row.group.encode()).digest()[0] % 2 else "report"


def put(row: Row, start: int, end: int, text: str) -> Row:
    """The row with other text at one place of the answer."""
    return replace(row, answer=row.answer[:start] + text + row.answer[end:])


def other_digits(written: str, dice: random.Random) -> str:
    """Another number in the same form: a digit changed, one more or less, ten times as much."""
    digits = [place for place, sign in enumerate(written) if sign.isdigit()]
    way = dice.random()
    if len(written) == 4 and _YEAR.fullmatch(written):
        return written[:2] + dice.choice([f"{each:02}" for each in range(100) if f"{each:02}" != written[2:]])
    if way < 0.3 and written.isdigit() and int(written) < 10**6:
        return str(max(1, int(written) + dice.choice((-3, -2, -1, 1, 2, 3)))) if int(written) != 1 else "2"
    if way < 0.4 and written.isdigit():
        return written + "0"
    place = dice.choice(digits)
    first = place == digits[0]
    digit = dice.choice([each for each in "123456789" + ("" if first else "0") if each != written[place]])
    return written[:place] + digit + written[place + 1 :]


def change_match(
    pattern: re.Pattern[str], taken: Sequence[re.Pattern[str]], row: Row, dice: random.Random
) -> Row | None:
    """One number of a match of the pattern changed, outside of the matches of the taken ones."""
    holes = [match.span() for other in taken for match in other.finditer(row.answer)]
    found = [m for m in pattern.finditer(row.answer) if not any(a < m.end() and m.start() < b for a, b in holes)]
    if not found:
        return None
    match = dice.choice(found)
    number = dice.choice(list(re.finditer(r"\d+(?:[.,]\d+)*", match.group())))
    start = match.start() + number.start()
    new = other_digits(number.group(), dice)
    return None if new == number.group() else put(row, start, start + len(number.group()), new)


def number(row: Row, dice: random.Random) -> tuple[Row, Row] | None:
    """A plain number; list markers and citations are none."""
    marks = re.compile(r"^\s*\d+[.)]|\[\d+\]|\bpassages? \d+", re.MULTILINE | re.IGNORECASE)
    changed = change_match(_NUMBER, (_MONEY, _DATE, _YEAR, _REFERENCE, marks), row, dice)
    return (row, changed) if changed else None


def date(row: Row, dice: random.Random) -> tuple[Row, Row] | None:
    """Day, month or year of a date; a bare year where there is no date."""
    found = list(_DATE.finditer(row.answer))
    months = re.compile(rf"\b(?:{_ANY_MONTH})\b", re.IGNORECASE)
    if found and dice.random() < 0.4:
        match = dice.choice(found)
        month = months.search(match.group())
        if month:
            names = _MONTHS[row.language]
            start = match.start() + month.start()
            new = dice.choice([name for name in names if name[:2].casefold() != month.group()[:2].casefold()])
            return row, put(row, start, start + len(month.group()), new)
    changed = change_match(_DATE if found else _YEAR, (_MONEY,), row, dice)
    return (row, changed) if changed else None


def spoken(value: int, language: str) -> str:
    """10 juta for 10,000,000; as digits where no word fits."""
    for unit, word in _UNITS_OF_THOUSAND[language]:
        if value >= unit and value % (unit // 10) == 0:
            whole = f"{value / unit:.1f}".removesuffix(".0")
            return f"{whole.replace('.', ',') if language == 'id' else whole} {word}"
    return f"{value:,}".replace(",", "." if language == "id" else ",")


def with_sentence(row: Row, said: str, known: str, dice: random.Random) -> Row:
    """The row with one more supported sentence, in answer and context."""
    place = dice.randrange(len(row.passages))
    passages = list(row.passages)
    passages[place] = f"{passages[place].rstrip()} {known}" if dice.random() < 0.5 else f"{known} {passages[place]}"
    ends = row.answer.rstrip()
    stop = "" if ends.endswith((".", "!", "?")) else "."
    return replace(row, answer=f"{ends}{stop} {said}", passages=tuple(passages))


def amount(row: Row, dice: random.Random) -> tuple[Row, Row] | None:
    """A money amount of the answer's own, or of a sentence put into answer and context."""
    if not _MONEY.search(row.answer):
        value = dice.choice((5, 12, 25, 75, 150, 250, 480, 900, 1_500)) * dice.choice(
            (1_000, 10_000, 100_000, 1_000_000)
        )
        grouped = f"{value:,}"
        if row.language == "id":
            forms = [
                f"Rp{grouped.replace(',', '.')}",
                f"{spoken(value, 'id')} rupiah",
                f"Rp {grouped.replace(',', '.')},00",
            ]
            subject = dice.choice(("Biaya pengurusan akta", "Denda keterlambatan", "Modal dasar", "Tarif layanan"))
            text = f"{subject} ditetapkan sebesar {{}} per permohonan."
        else:
            forms = [f"${grouped}", f"{spoken(value, 'en')} dollars", f"USD {grouped}.00"]
            subject = dice.choice(
                ("The registration fee", "The late penalty", "The paid-up capital", "The service charge")
            )
            text = f"{subject} is set at {{}} per application."
        known, said = dice.choice(forms), dice.choice(forms[:2])
        row = with_sentence(row, text.format(said), text.format(known), dice)
    changed = change_match(_MONEY, (), row, dice)
    return (row, changed) if changed else None


def reference(row: Row, dice: random.Random) -> tuple[Row, Row] | None:
    """An article or law number of the answer's own, or of a sentence put into answer and context."""
    if not _REFERENCE.search(row.answer):
        article, paragraph, law, year = (
            dice.randint(2, 98),
            dice.randint(1, 7),
            dice.randint(2, 48),
            dice.randint(1995, 2023),
        )
        if row.language == "id":
            kind, short = dice.choice((("Undang-Undang", "UU"), ("Peraturan Pemerintah", "PP")))
            forms = [
                (
                    f"Pasal {article} ayat ({paragraph}) {short} {law}/{year}",
                    f"Pasal {article} ayat ({paragraph}) {kind} Nomor {law} Tahun {year}",
                ),
                (f"{kind} Nomor {law} Tahun {year}", f"{short} No. {law} Tahun {year}"),
                (f"Pasal {article}", f"Pasal {article} ayat ({paragraph})"),
            ]
            text = dice.choice(
                ("Ketentuan ini diatur dalam {}.", "Dasar hukumnya adalah {}.", "Kewajiban tersebut bersumber dari {}.")
            )
        else:
            forms = [
                (
                    f"Article {article}({paragraph}) of Law No. {law} of {year}",
                    f"Article {article} paragraph ({paragraph}) of Law Number {law} of {year}",
                ),
                (f"Section {article}", f"section {article} of the Act"),
                (f"Article {article}", f"Article {article} ({paragraph})"),
            ]
            text = dice.choice(("This is laid down in {}.", "The legal basis is {}.", "The duty follows from {}."))
        said, known = dice.choice(forms)
        row = with_sentence(row, text.format(said), text.format(dice.choice((said, known))), dice)
    changed = change_match(_REFERENCE, (), row, dice)
    return (row, changed) if changed else None


def names_of(text: str) -> list[re.Match[str]]:
    """Capitalised words, those at the beginning of a sentence only where the passages would know them as names."""
    found = []
    for match in _NAME.finditer(text):
        before = text[: match.start()].rstrip()
        opens = not before or before[-1] in '.!?:\n"“-*'
        words = match.group().split()
        if words[0].casefold() in _NO_NAME or words[0] in {*_MONTHS["id"], *_MONTHS["en"]}:
            continue
        if not opens or len(words) > 1:
            found.append(match)
    return found


def name(row: Row, dice: random.Random) -> tuple[Row, Row] | None:
    """A name, or one word of it, replaced by another."""
    found = names_of(row.answer) or (
        [m] if (m := _NAME.fullmatch(row.answer.strip())) and row.answer == row.answer.strip() else []
    )
    if not found or row.answer.istitle():
        return None
    match = dice.choice(found)
    other = dice.choice(_NAMES[row.language])
    words = match.group().split()
    if len(words) > 1 and dice.random() < 0.4:
        words[dice.randrange(len(words))] = other.split()[0]
        other = " ".join(words)
    return row, put(row, match.start(), match.end(), other)


def roles(row: Row, dice: random.Random) -> tuple[Row, Row] | None:
    """Two names of one sentence change places."""
    for sentence in sentences(row.answer):
        found = {match.group(): match for match in names_of(sentence)}
        if len(found) > 1 and sentence in row.answer:
            first, second = sorted(dice.sample(sorted(found), 2), key=lambda each: found[each].start())
            a, b = found[first], found[second]
            changed = sentence[: a.start()] + second + sentence[a.end() : b.start()] + first + sentence[b.end() :]
            return row, replace(row, answer=row.answer.replace(sentence, changed, 1))
    return None


_AUXILIARIES = "is are was were can will should must may has have would could".split()
_BEHIND_AUXILIARY = "|".join(rf"(?<=\b{word})(?=\s)" for word in _AUXILIARIES)
_VERB = r"dapat|bisa|harus|boleh|memiliki|mempunyai|pernah|akan|telah|di[a-z]{4,}(?:kan)?|ber[a-z]{3,}|me[nmr][a-z]{4,}"
_NEGATED = r"(?<!tidak )(?<!bukan )(?<!belum )"
# The negations that may be taken out, and the places where which one may be put in.
_DENIED = {
    "id": (
        r"\b(?:tidak|bukan|belum|tak)\s",
        ((rf"{_NEGATED}\b(?=(?:adalah|merupakan)\b)", "bukan "), (rf"{_NEGATED}\b(?=(?:{_VERB})\b)", "tidak ")),
    ),
    "en": (r"\b(?:not|never)\s", ((rf"(?:{_BEHIND_AUXILIARY})(?! not\b)", " not"),)),
}


def negation(row: Row, dice: random.Random) -> tuple[Row, Row] | None:
    """A negation put in, or taken out where there is one."""
    gone, come = _DENIED[row.language]
    present = list(re.finditer(gone, row.answer))
    if present and dice.random() < 0.7:
        match = dice.choice(present)
        return row, put(row, match.start(), match.end(), "")
    for pattern, word in come:
        found = list(re.finditer(pattern, row.answer))
        if found:
            match = dice.choice(found)
            return row, put(row, match.start(), match.end(), word)
    return None


def invented(row: Row, dice: random.Random, *, others: Mapping[str, Sequence[tuple[str, str]]]) -> tuple[Row, Row]:
    """One more sentence: of ours, about a name or word of the answer, or of the answer to another question."""
    if dice.random() < 0.5:
        _, sentence = dice.choice([each for each in others[row.language] if each[0] != row.group])
    else:
        subject = [match.group() for match in names_of(row.answer)] or re.findall(r"\w{5,}", row.answer) or ["program"]
        sentence = dice.choice(_INVENTED[row.language]).format(x=dice.choice(subject))
    parts = sentences(row.answer)
    if len(parts) > 1 and dice.random() < 0.5 and row.answer.startswith(parts[0]):
        answer = f"{parts[0]} {sentence}{row.answer[len(parts[0]) :]}"
    else:
        ends = row.answer.rstrip()
        answer = f"{ends}{'' if ends.endswith(('.', '!', '?')) else '.'} {sentence}"
    return row, replace(row, answer=answer)


def changes(rows: Sequence[Row]) -> dict[str, tuple[Kind, Change]]:
    """By name of the error: the detector that is meant for it, and the change."""
    others = {
        language: [
            (r.group, s)
            for r in rows
            if r.language == language
            for s in sentences(r.answer)
            if len(s) >= SHORTEST_SENTENCE
        ]
        for language in ("id", "en")
    }
    return {
        "number": (Kind.NUMBER, number),
        "amount": (Kind.AMOUNT, amount),
        "date": (Kind.DATE, date),
        "reference": (Kind.REFERENCE, reference),
        "name": (Kind.NAME, name),
        "invented": (Kind.SENTENCE, partial(invented, others=others)),
        "negation": (Kind.NEGATION, negation),
        "roles": (Kind.ROLES, roles),
    }


Doubts = Mapping[str, float]
TURN, BASELINE = "turn", "baseline"


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One answer that was changed: its group, and the doubts before and after."""

    group: str
    language: str
    before: Doubts
    after: Doubts


def doubts_of(row: Row) -> Doubts:
    """The doubt of each kind, of the turn, and the baseline's: what of the words is not in the passages."""
    opinion = row.opinion()
    kinds = {kind.value: count.doubt for kind, count in opinion.counts.items()}
    return {**kinds, TURN: opinion.doubt, BASELINE: 1 - row.overlap()}


def trials(rows: Sequence[Row], change: Change, seed: int) -> list[Trial]:
    """Every row that can be changed so, changed once."""
    dice = random.Random(seed)
    pairs = [pair for row in rows if (pair := change(row, dice))]
    return [
        Trial(group=a.group, language=a.language, before=doubts_of(a), after=doubts_of(b))
        for a, b in pairs
        if a.answer != b.answer
    ]


def values(found: Sequence[Doubts], name: str) -> np.ndarray:
    """One doubt of each answer; an answer that claims nothing of a kind is not doubted."""
    return np.array([each.get(name, 0.0) for each in found])


def share_found(clean: np.ndarray, changed: np.ndarray) -> float:
    """The share of the changed above the threshold that at most 5 % of the clean are above."""
    return float(np.mean(changed > np.quantile(clean, 1 - FALSE_ALARMS, method="higher")))


def draws(groups: Sequence[str], seed: int) -> Iterator[list[str]]:
    """Resampled groups, with repetitions."""
    dice = np.random.default_rng(seed)
    names = sorted(set(groups))
    for _ in range(DRAWS):
        yield [names[place] for place in dice.integers(len(names), size=len(names))]


def interval(clean: np.ndarray, changed: np.ndarray, clean_groups: Sequence[str], changed_groups: Sequence[str]) -> str:
    """The share found with its 95 % interval: both samples drawn anew by group, the threshold set anew each time."""
    of_clean, of_changed = places(clean_groups), places(changed_groups)
    shares = []
    for names in draws([*clean_groups, *changed_groups], 1):
        a = np.array([place for name in names for place in of_clean.get(name, ())], dtype=int)
        b = np.array([place for name in names for place in of_changed.get(name, ())], dtype=int)
        if len(a) and len(b):
            shares.append(share_found(clean[a], changed[b]))
    low, high = np.quantile(shares, (0.025, 0.975))
    return f"{share_found(clean, changed):.3f} [{low:.2f}, {high:.2f}]"


def places(groups: Sequence[str]) -> Mapping[str, Sequence[int]]:
    """Where each group stands."""
    found: dict[str, list[int]] = defaultdict(list)
    for place, group in enumerate(groups):
        found[group].append(place)
    return found


def report_errors(rows: Sequence[Row], seed: int) -> None:
    """The first table."""
    clean = [(row.group, row.language, doubts_of(row)) for row in rows]
    everything = [each for _, _, each in clean]
    turn = values(everything, TURN)
    for language in ("id", "en"):
        doubts = np.array([each[TURN] for _, spoken_in, each in clean if spoken_in == language])
        print(f"{language}: {len(doubts)} unchanged answers, {np.mean(doubts >= 0.5):.1%} with a doubt of .5 or more")
    print(f"both: {np.mean(turn >= 0.5):.1%}; 5 % are above {np.quantile(turn, 0.95, method='higher'):.3f}\n")
    print(
        f"{'error':11}{'':4}{'n':>4}  {'(a) its kind':20}{'    own':>8}  {'(b) the turn':20}{'at .5':>7}  word overlap"
    )
    for name, (kind, change) in changes(rows).items():
        tried = trials(rows, change, seed)
        for language in ("id", "en"):
            mine = [trial for trial in tried if trial.language == language]
            spoken_here = [(group, each) for group, spoken_in, each in clean if spoken_in == language]
            print_error(f"{name:11}{language:4}", kind, mine, spoken_here, [(group, each) for group, _, each in clean])


def print_error(
    name: str,
    kind: Kind,
    tried: Sequence[Trial],
    spoken_here: Sequence[tuple[str, Doubts]],
    everything: Sequence[tuple[str, Doubts]],
) -> None:
    """One row of the first table."""
    groups = [trial.group for trial in tried]
    before, after = [trial.before for trial in tried], [trial.after for trial in tried]
    here, here_groups = [each for _, each in spoken_here], [group for group, _ in spoken_here]
    all_of, all_groups = [each for _, each in everything], [group for group, _ in everything]
    by_kind = interval(values(here, kind), values(after, kind), here_groups, groups)
    by_turn = interval(values(all_of, TURN), values(after, TURN), all_groups, groups)
    baseline = interval(values(here, BASELINE), values(after, BASELINE), here_groups, groups)
    own = share_found(values(before, kind), values(after, kind))
    at_half = np.mean(values(after, TURN) >= 0.5)
    print(f"{name}{len(tried):>4}  {by_kind:20}{own:>8.3f}  {by_turn:20}{at_half:>7.3f}  {baseline}")


def auc(faithful: np.ndarray, score: np.ndarray) -> float:
    """The chance that a faithful answer has the higher score."""
    good, bad = score[faithful], score[~faithful]
    return float(np.mean([np.mean(each > bad) + np.mean(each == bad) / 2 for each in good]))


def report_auc(rows: Sequence[Row]) -> None:
    """The second table; faithful is a label of 1, everything below is not."""
    print(f"\n{'source':14}{'label':24}{'n':>4}{'faithful':>10}{'overlap':>9}{'support':>9}  difference")
    by_source: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row.label is not None:
            by_source[row.source].append(row)
    for source, mine in sorted(by_source.items()):
        scored = [(row, score) for row in mine if (score := row.opinion().support_score) is not None]
        faithful = np.array([row.label == 1 for row, _ in scored])
        if 1 < faithful.sum() < len(faithful) - 1:
            print_auc(f"{source:14}{scored[0][0].label_kind:24}", scored, faithful)


def print_auc(name: str, scored: Sequence[tuple[Row, float]], faithful: np.ndarray) -> None:
    """One row of the second table."""
    support, overlap = np.array([score for _, score in scored]), np.array([row.overlap() for row, _ in scored])
    of_group = places([row.group for row, _ in scored])
    differences = []
    for names in draws([row.group for row, _ in scored], 2):
        drawn = np.array([place for each in names for place in of_group[each]])
        if 0 < faithful[drawn].sum() < len(drawn):
            mine = faithful[drawn]
            differences.append(auc(mine, support[drawn]) - auc(mine, overlap[drawn]))
    low, high = np.quantile(differences, (0.025, 0.975))
    verdict = "better" if low > 0 else "worse" if high < 0 else ""
    a, b = auc(faithful, overlap), auc(faithful, support)
    print(
        f"{name}{len(scored):>4}{faithful.sum():>10}{a:>9.3f}{b:>9.3f}  "
        f"{b - a:+.3f} [{low:+.3f}, {high:+.3f}] {verdict}"
    )


def report_speed(rows: Sequence[Row]) -> None:
    """What an opinion costs on turns of about 6 kB, beside the baseline; the least of 25 runs each."""
    turns = [
        row for row in rows if 5_000 <= len(row.answer) + sum(map(len, row.passages)) <= 7_000 and len(row.answer) > 300
    ]
    if not turns:
        print("\nspeed: skipped, because no turn has about 6 kB")
        return
    costs = []
    for row in turns:
        triad = row.triad
        metrics = measure(triad, refusal_phrases=())
        size = (len(triad.answer) + len(triad.context)) / 6_000
        context = triad.context
        mine = least(partial(second_opinion, triad, metrics)) / size
        costs.append((mine, least(partial(word_overlap, triad.answer, context)) / size))
    mine, baseline = np.array(costs).T
    print(
        f"\n{len(turns)} turns of 5 to 7 kB, per 6 kB of processor time: median {np.median(mine):.2f} ms, 95 % below "
        f"{np.quantile(mine, 0.95):.2f} ms; word overlap {np.median(baseline):.2f} ms, "
        f"{np.median(mine / baseline):.1f} times less"
    )
    hostile = {
        "digits": "17 ",
        "names": "Xa Yb ",
        "quotes": '"a b c d e" ',
        "dates": "5 Mei 2024, ",
        "dots": ". ",
        "one word": "x",
    }
    for name, piece in hostile.items():
        triad = replace(turns[0].triad, answer=(piece * 1_000_000)[:1_000_000])
        took = least(partial(second_opinion, triad, measure(triad, refusal_phrases=())), times=1)
        print(f"an answer of 1 MB of {name}: {took:.0f} ms")


def least(call: Callable[[], object], times: int = 25) -> float:
    """The least processor time of a call, in ms."""
    took = []
    for _ in range(times):
        began = time.process_time()
        call()
        took.append(time.process_time() - began)
    return min(took) * 1_000


def main() -> None:
    """All tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--half", choices=("report", "tune", "both"), default="report")
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    if not given.data.exists():
        print(f"typed errors: skipped, because {given.data} is not there")
        return
    everything = read(given.data)
    rows = [row for row in everything if given.half in {"both", half_of(row)}]
    print(f"half {given.half}, seed {given.seed}")
    report_errors([row for row in rows if row.label == 1], given.seed)
    report_auc(rows)
    report_speed(everything)


if __name__ == "__main__":
    main()
