"""Ids that every reader can take."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.harness.failures import UnreadableFile
from kb_pipeline.harness.identifiers import IdMap, portable, read_id_map

HOSTILE = st.text(st.characters(), max_size=8) | st.text("ab# %\t\n\r\"'\u00a0\u2028\x00\ufeff", max_size=6)


@pytest.mark.parametrize(
    ("identifier", "expected"),
    [
        ("fees-2026", "fees-2026"),
        ("dokumen/3#bagian-1", "dokumen/3#bagian-1"),
        ("überblick", "überblick"),
        ("a b", "a%20b"),
        ("a\tb\nc", "a%09b%0Ac"),
        ("#1", "%231"),
        ("50%", "50%25"),
        ('say "hi"', "say%20%22hi%22"),
        ("a\u00a0b", "a%C2%A0b"),
        ("", "%"),
    ],
)
def test_only_what_breaks_a_reader_is_encoded(identifier: str, expected: str) -> None:
    assert portable(identifier) == expected


@given(HOSTILE)
def test_an_encoded_id_is_one_column_and_no_comment(identifier: str) -> None:
    encoded = portable(identifier)
    assert encoded.split() == [encoded]
    assert encoded.splitlines() == [encoded]
    assert not encoded.startswith("#")
    assert '"' not in encoded
    assert encoded.isprintable()


@given(HOSTILE, HOSTILE)
def test_two_ids_never_become_one(one: str, other: str) -> None:
    assert (portable(one) == portable(other)) == (one == other)


@given(st.lists(HOSTILE.filter(lambda text: not any("\ud800" <= letter <= "\udfff" for letter in text))))
def test_the_map_file_leads_back_to_every_id(identifiers: list[str]) -> None:
    ids = IdMap()
    encoded = [ids.document(identifier) for identifier in identifiers]
    originals = {entry["id"]: entry["original"] for entry in map(json.loads, ids.lines())}
    assert [originals.get(each, each) for each in encoded] == identifiers


def test_a_map_is_json_lines_of_one_kind_or_two_columns(tmp_path: Path) -> None:
    file = tmp_path / "map"
    file.write_text(
        '{"kind": "document", "id": "a%20b", "original": "a b"}\n{"kind": "query", "id": "%231", "original": "#1"}\n'
        "chunk-7\tfees\n{brace\tdeeds\n"
    )
    assert read_id_map(file) == {"a%20b": "a b", "chunk-7": "fees", "{brace": "deeds"}
    assert read_id_map(file, kind="query") == {"%231": "#1"}


@pytest.mark.parametrize("line", ["one", "a\tb\tc", "\tb", '{"id": 1, "original": "b"}', '{"id": "a"}'])
def test_a_line_that_is_no_entry_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "map"
    file.write_text(f"a\tb\n{line}\n")
    with pytest.raises(UnreadableFile, match=r"map, line 2: .*two columns"):
        read_id_map(file)


def test_an_id_mapped_to_two_documents_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "map"
    file.write_text("a\tb\na\tb\na\tc\n")
    with pytest.raises(UnreadableFile, match="line 3: the same id"):
        read_id_map(file)
