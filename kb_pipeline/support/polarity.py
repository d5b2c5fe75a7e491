"""What turns a statement round: negation, restriction, duty and permission, and words that have an opposite.

Belongs here: those closed lists, Indonesian and English. Does not: numbers, names.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from kb_pipeline.support import words
from kb_pipeline.support.language import is_negator

# Several words with the sense of one: what is not allowed is forbidden, what is not required is optional.
_SENSES = {
    "dilarang": (
        r"(?:tidak|tak) (?:di)?(?:boleh|perbolehkan|izinkan|perkenankan|benarkan)(?:kan)?",
        r"(?:may|must|shall) not",
        r"not (?:be )?(?:allowed|permitted)",
    ),
    "opsional": (
        r"(?:tidak|tak) (?:di)?(?:wajib|harus|perlu)(?:kan)?",
        r"(?:need|do|does) ?(?:not|n't) (?:have|need) to",
        r"need ?(?:not|n't)",
        r"not (?:be )?(?:required|necessary|mandatory)",
    ),
    "minimal": (
        r"(?:sekurang|setidak|sedikit)-?(?:kurang|tidak)?nya",
        r"paling (?:sedikit|kurang|rendah|cepat)",
        r"(?:tidak|tak) kurang dari",
        r"at least|(?:no|not) (?:less|fewer|earlier) than",
    ),
    "maksimal": (
        r"paling (?:banyak|lama|lambat|tinggi|besar)|(?:selambat-lambat|sebanyak-banyak|selama-lama)nya",
        r"(?:tidak|tak) lebih dari",
        r"at most|up to|(?:no|not) (?:more|later) than",
    ),
    "lebihdari": (r"lebih (?:dari|besar|banyak)|melebihi|di atas", r"more than|over|above|exceed(?:s|ing)?"),
    "kurangdari": (r"kurang dari|di bawah", r"less than|fewer than|under|below"),
    "luarnegeri": (r"luar negeri", r"abroad|overseas"),
    "dalamnegeri": (r"dalam negeri",),
    "gratis": (r"cuma-cuma", r"free of charge"),
}
_PHRASE = re.compile("|".join(rf"(?P<{sense}>\b(?:{'|'.join(phrases)})\b)" for sense, phrases in _SENSES.items()))
# A word of one of these that is there or not there changes what is said.
_TURNING = {
    word: kind
    for kind, listed in {
        "only": "hanya only cuma solely",
        "except": "kecuali except unless selain excluding",
        "without": "tanpa without",
        "not yet": "belum",
        "forbidden": "dilarang larangan terlarang jangan forbidden prohibited prohibits mustn't",
    }.items()
    for word in listed.split()
}
# Of these a word counts where one of another group on its line stands instead; to add or drop one is style.
_AXES = (
    (
        "wajib harus harusnya diwajibkan diharuskan mewajibkan perlu must shall mandatory required requires need needs",
        "boleh dapat bisa diperbolehkan diizinkan may can could allowed permitted opsional optional sukarela voluntary",
        "sebaiknya disarankan dianjurkan should recommended advised",
        "akan will pasti certainly",
    ),
    ("sebelum sebelumnya before prior", "setelah sesudah setelahnya after following"),
    ("minimal minimum", "maksimal maksimum maximum"),
    ("lebihdari", "kurangdari", "hampir nearly almost"),
    (
        "naik meningkat bertambah menaikkan meningkatkan increase increases increased rise rises rose raises raised",
        "turun menurun berkurang menurunkan mengurangi decrease decreases decreased fall falls fell drop drops reduced",
    ),
    ("gratis free", "berbayar dikenakan paid chargeable"),
    ("buka dibuka terbuka open opens opened", "tutup ditutup tertutup close closes closed"),
    (
        "diterima disetujui menerima menyetujui dikabulkan accept accepted accepts approve approved approves",
        "ditolak menolak reject rejected rejects deny denied denies decline declined",
    ),
    ("pertama awal first earliest", "terakhir akhir last latest"),
    ("tinggi tertinggi high higher highest", "rendah terendah low lower lowest"),
    ("besar terbesar large larger largest", "kecil terkecil small smaller smallest"),
    ("semua seluruh setiap all every each", "sebagian beberapa kebanyakan some several most"),
    ("sah valid", "batal void"),
    ("aktif active", "nonaktif inactive"),
    ("daring online", "luring offline"),
    ("sementara temporary", "permanen tetap permanent"),
    ("luarnegeri asing foreign", "dalamnegeri domestik domestic"),
    ("pembeli membeli buyer buys buy", "penjual menjual seller sells sell"),
    ("debitur debtor borrower peminjam", "kreditur creditor lender"),
    ("penggugat plaintiff", "tergugat defendant"),
    ("employer majikan", "employee karyawan pekerja"),
    ("penyewa tenant lessee", "landlord lessor"),
    ("pagi morning", "sore evening afternoon", "malam night"),
    ("termasuk include includes including included", "exclude excludes excluded"),
    ("menang won win wins", "kalah lost lose loses"),
    ("tambah menambah menambahkan add adds added", "hapus menghapus dihapus remove removes removed delete"),
    ("mulai dimulai start starts started begin begins began", "selesai berakhir end ends ended"),
    ("kiri left", "kanan right"),
    ("utara north northern", "selatan south southern", "timur east eastern", "barat west western"),
    ("impor import imports imported", "ekspor export exports exported"),
    ("melemahkan weaken weakens weakened", "memperkuat strengthen strengthens strengthened"),
    ("laki pria male man men", "perempuan wanita female woman women"),
)
_POLES = {
    word: (axis, pole)
    for axis, poles in enumerate(_AXES)
    for pole, listed in enumerate(poles)
    for word in listed.split()
}
_NUMERO = frozenset({"no"})
_DENYING_PREFIXES = ("un", "in", "im", "il", "ir", "non", "dis", "mis", "tak", "nir")
_SHORTEST_DENIED = 4

Pole = tuple[int, int]


def in_one_word(folded: str) -> str:
    """The text with what is said in several words said in one: "tidak boleh" is "dilarang", "at least" is "minimal"."""
    return _PHRASE.sub(lambda match: f" {match.lastgroup} ", folded)


class Polarity:
    """The turning words of a text from `in_one_word`, counted by kind, and its poles in their order."""

    __slots__ = ("poles", "turns")

    def __init__(self, folded: str) -> None:
        tokens = words(folded)
        self.turns: Counter[str] = Counter(_turns(tokens))
        self.poles = [_POLES[token] for token in tokens if token in _POLES]

    def agrees(self, other: "Polarity") -> bool:
        """Whether both are negated alike, and no word has become its opposite or changed places with it."""
        return self.turns == other.turns and not _swapped(self.poles, other.poles)


def denies(word: str, other: str) -> bool:
    """Whether one of two folded words is the other with a prefix that denies it: valid and invalid."""
    longer, shorter = sorted((word, other), key=len, reverse=True)
    return len(shorter) >= _SHORTEST_DENIED and any(longer == prefix + shorter for prefix in _DENYING_PREFIXES)


def _turns(tokens: Sequence[str]) -> Iterable[str]:
    for token, following in pairwise((*tokens, "")):
        if token in _TURNING:
            yield _TURNING[token]
        # No. 5 denies nothing.
        elif is_negator(token) and not (token in _NUMERO and following[:1].isdigit()):
            yield "not"


def _swapped(poles: Sequence[Pole], others: Sequence[Pole]) -> bool:
    counts, other_counts = Counter(poles), Counter(others)
    if counts == other_counts:
        return any(_on(axis, poles) != _on(axis, others) for axis, _ in counts)
    gone, come = counts - other_counts, other_counts - counts
    return any(axis == other and pole != other_pole for axis, pole in gone for other, other_pole in come)


def _on(axis: int, poles: Sequence[Pole]) -> list[int]:
    return [pole for each, pole in poles if each == axis]
