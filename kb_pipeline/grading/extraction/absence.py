"""Whether a context section only states that nothing was found.

Belongs here: the wording of tools and templates, Indonesian and English. Does not: refusals of the model (refusals).
"""

import re

_THINGS = frozenset(
    "hasil hasilnya data dokumen informasi konteks referensi sumber pencarian potongan kutipan rujukan alat artikel"
    " jumlah result results document documents passage passages context contexts information info hit hits source"
    " sources match matches tool tools search output total count reference references article articles".split()
)
_NOT = frozenset(
    "tidak tak belum no not nothing without couldnt didnt wasnt werent cannot cant unable failed gagal tanpa".split()
)
_ZERO = frozenset("0 nol zero nihil kosong empty none null nil undefined".split())
_FINDING = frozenset(
    "ada ditemukan tersedia terdapat menemukan mengembalikan dikembalikan memberikan berhasil relevan terkait cocok"
    " sesuai found find return returned retrieved available relevant related matching match matched".split()
)
_LITTLE_WORDS = frozenset(
    "yang satu pun untuk dengan dari di pada dalam pertanyaan kueri ini tersebut itu anda basis pengetahuan kami apa"
    " apapun maaf sorry saya i we you your useful any was were is are be did could to this that the a an question query"
    " of in from by for with our my knowledge base database it".split()
)
_KNOWN = _THINGS | _NOT | _ZERO | _FINDING | _LITTLE_WORDS
_WORD = re.compile(r"\w+")
_APOSTROPHE = re.compile(r"(?<=\w)['’](?=\w)")
# An empty list or object, an empty string, "n/a".
_EMPTY_VALUE = re.compile(r"\[\s*\]|\{\s*\}|\(\s*\)|\"\"|\bn\W?a\b", re.IGNORECASE)
_LONGEST = 200


def states_nothing(text: str) -> bool:
    """Whether a context is empty, or only states that nothing was found.

    Every word must belong to such a statement: "Tidak ada hasil yang relevan." does, "Tidak ada biaya." is a finding,
    and so is a bare "Tidak."
    """
    if len(text) > _LONGEST:
        return False
    words = _WORD.findall(_APOSTROPHE.sub("", _EMPTY_VALUE.sub(" nihil ", text)).lower())
    if not words:
        return True
    if not _KNOWN.issuperset(words):
        return False
    return not _ZERO.isdisjoint(words) or (not _NOT.isdisjoint(words) and not (_THINGS | _FINDING).isdisjoint(words))
