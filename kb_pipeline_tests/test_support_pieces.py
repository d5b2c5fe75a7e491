"""Cutting a text without losing any of it, and finding the texts that speak of the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.support import Ranking, segments

TEXT = "# Syarat\nAkta dibuat notaris\ndi wilayahnya. Biayanya Rp250.000!\n\n- a.n. Budi\n- dr. Siti\n| a | b |\n"


@given(st.text(alphabet="ab .!?\n-#|1\t", max_size=200) | st.text(max_size=200), st.integers(1, 60))
def test_segments_joined_are_the_text_and_none_is_too_long(text: str, longest: int) -> None:
    pieces = segments(text, longest=longest)
    assert "".join(pieces) == text
    assert all(0 < len(piece) <= longest for piece in pieces)


def test_a_segment_is_a_sentence_a_list_item_or_a_line_of_a_table() -> None:
    assert segments(TEXT, longest=100) == [
        "# Syarat\n",
        "Akta dibuat notaris\ndi wilayahnya. ",
        "Biayanya Rp250.000!\n",
        "\n",
        "- a.n. Budi\n",
        "- dr. Siti\n",
        "| a | b |\n",
    ]


def test_a_long_sentence_is_cut_between_words_and_a_longer_word_within() -> None:
    assert segments("satu dua tiga", longest=9) == ["satu dua ", "tiga"]
    assert segments("x" * 7, longest=3) == ["xxx", "xxx", "x"]
    with pytest.raises(ValueError, match="longest is 0"):
        segments("x", longest=0)


def test_the_text_that_speaks_of_the_same_comes_first_whatever_its_affixes() -> None:
    texts = ["Rapat dicatat oleh sekretaris.", "Pendaftaran yayasan dilakukan notaris.", "Yayasan.", ""]
    ranking = Ranking.of(texts)
    assert ranking.order("mendaftarkan") == [1]
    assert ranking.order("pendaftaran yayasan oleh notaris")[0] == 1
    assert ranking.order("kucing") == ranking.order("") == []


def test_equals_keep_their_order() -> None:
    assert Ranking.of(["modal dasar"] * 5).order("modal") == [0, 1, 2, 3, 4]
    assert Ranking.of([]).order("modal") == []
