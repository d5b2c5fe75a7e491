"""Which of the two languages a text is in, its words without the little ones, and stems light enough to trust.

Belongs here: tokens, function words, negators, affixes. Does not: sentences, numbers, scores.
"""

import re
import unicodedata
from enum import StrEnum
from functools import lru_cache

_WORD = re.compile(r"\w+(?:['’]t\b)?")

_FUNCTION_ID = frozenset(
    "yang dan di ke dari untuk dengan pada adalah ini itu dalam oleh sebagai atau juga akan telah sudah dapat bisa "
    "karena ada para saat agar serta maka namun tetapi tersebut seperti bahwa mereka ia dia kami kita anda saya hanya "
    "lebih sangat yaitu yakni secara antara setelah sebelum ketika jika apabila lain adapun ialah merupakan harus "
    "apa apakah siapa bagaimana kapan mana berapa mengapa kenapa dimana tolong mohon kak pak bu ya".split()
)
_FUNCTION_EN = frozenset(
    "the a an of and or to in on at by for with from as is are was were be been being it its this that these those he "
    "she they i you we his her their my your our do does did have has had can could will would may might should "
    "there here which who whom what when where how why if then than so such into about between also more most other "
    "some any all one please".split()
)
FUNCTION_WORDS = _FUNCTION_ID | _FUNCTION_EN
NEGATORS = frozenset(
    "tidak bukan tak jangan belum tanpa tiada bukanlah tidaklah nggak gak enggak "
    "not no never without cannot neither nor none".split()
)

_PREFIXES = (
    "memper",
    "diper",
    "meng",
    "meny",
    "peng",
    "peny",
    "mem",
    "men",
    "pem",
    "pen",
    "ber",
    "ter",
    "per",
    "me",
    "pe",
    "di",
    "se",
    "ke",
)
_SUFFIXES = ("kannya", "annya", "inya", "nya", "lah", "kah", "pun", "kan", "an", "i")
# The consonant that the nasal prefix swallowed: memilih from pilih, menulis from tulis, menyewa from sewa.
_SWALLOWED = {"mem": "p", "pem": "p", "men": "t", "pen": "t", "meny": "s", "peny": "s", "meng": "k", "peng": "k"}
_ENDINGS_EN = ("ations", "ation", "ingly", "edly", "ings", "ing", "ies", "ers", "ed", "er", "es", "ly", "s", "e", "y")
_MIN_STEM = 4
_LONGEST_WORD = 64
_ROOT = 6


class Language(StrEnum):
    """The languages that the pipeline's own sentences come in."""

    INDONESIAN = "id"
    ENGLISH = "en"


def fold(text: str) -> str:
    """`text` in NFKC and casefolded: the form in which words are compared."""
    return unicodedata.normalize("NFKC", text).casefold()


def words(text: str) -> list[str]:
    """The folded words of `text` in order, each up to 64 characters; digits count as words."""
    return [word[:_LONGEST_WORD] for word in _WORD.findall(fold(text))]


def language_of(text: str) -> Language:
    """English when English function words outnumber the Indonesian ones, else Indonesian, the traffic's own."""
    tokens = words(text)
    english = sum(token in _FUNCTION_EN for token in tokens)
    indonesian = sum(token in _FUNCTION_ID for token in tokens)
    return Language.ENGLISH if english > indonesian else Language.INDONESIAN


def is_negator(word: str) -> bool:
    """Whether the folded `word` turns a statement around, in either language."""
    return word in NEGATORS or word.endswith(("n't", "n’t"))


@lru_cache(maxsize=65_536)
def stems(word: str) -> frozenset[str]:
    """The forms under which `word` may meet another: itself, its first letters, and its root less affixes.

    Two words match when their stems meet. Words with a digit only match themselves.
    """
    if len(word) < _MIN_STEM + 1 or any(character.isdigit() for character in word):
        return frozenset({word})
    return frozenset({word, word[:_ROOT], _english_root(word)} | _indonesian_roots(word))


def _english_root(word: str) -> str:
    for ending in _ENDINGS_EN:
        if word.endswith(ending) and len(word) - len(ending) >= _MIN_STEM:
            return word[: -len(ending)]
    return word


def _indonesian_roots(word: str) -> set[str]:
    bare = _without_suffix(word)
    roots = {bare}
    for prefix in _PREFIXES:
        if word.startswith(prefix):
            for form in (word, bare):
                rest = form[len(prefix) :]
                roots |= {rest, _SWALLOWED.get(prefix, "") + rest}
            break
    return {root for root in roots if len(root) >= _MIN_STEM}


def _without_suffix(word: str) -> str:
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _MIN_STEM:
            return word[: -len(suffix)]
    return word
