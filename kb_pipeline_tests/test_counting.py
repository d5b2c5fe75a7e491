"""Counts in sentences: the helper, and that sentences use it."""

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from kb_pipeline.counting import counted, form, out_of
from kb_pipeline_tests.docs_pages import REPOSITORY

# Their number is given by a constant, or there are always several.
NEVER_ONE = re.compile(r"_?[A-Z][A-Z_]+")
PLURAL = re.compile(
    r" (?:(?!of\b|by\b|accepts\b)[a-z]+ )?(turns|calls|minutes|hours|days|drafts|passages|conversations|judgments|"
    r"answers(?! at)|events|searches|retrievals|documents|tokens|alerts|states|jobs|bodies|numbers|pairs|queries|"
    r"failures|checks|problems|tenants|columns|notices|canaries|sentences|attacks|months)\b"
)
SOURCES = sorted(REPOSITORY.glob("kb_pipeline/**/*.py"))


def fixed_plurals(tree: ast.AST) -> Iterator[str]:
    """Every count in an f-string with a word after it that stays as it is whatever the count."""
    for text in (node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)):
        for value, after in pairwise(text.values):
            if not isinstance(value, ast.FormattedValue) or not isinstance(after, ast.Constant):
                continue
            said, word = ast.unparse(value.value), PLURAL.match(str(after.value))
            if word and not NEVER_ONE.fullmatch(said) and not re.search(r"\b(counted|out_of|form)\(", said):
                yield f"line {text.lineno}: {{{said}}}{word[0]}"


def test_a_word_fits_its_count_and_thousands_stand_apart() -> None:
    said = [counted(count, "turn waits", "turns wait") for count in (0, 1, 2, 1543)]
    assert said == ["0 turns wait", "1 turn waits", "2 turns wait", "1,543 turns wait"]
    assert [counted(1, "minute"), counted(20, "minute"), out_of(1543, 1579, "turn"), out_of(1, 1, "turn")] == [
        "1 minute", "20 minutes", "1,543 of 1,579 turns", "1 of 1 turn",
    ]  # fmt: skip
    assert form(1, "is", "are") == "is"


def test_a_missing_count_is_not_0() -> None:
    assert counted(None, "passage") == "– passages"


def test_a_fixed_plural_is_found() -> None:
    assert [*fixed_plurals(ast.parse("f'{count} turns wait'"))] == ["line 1: {count} turns"]
    assert not [*fixed_plurals(ast.parse("f'{MOST} turns wait'"))]


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: str(file.relative_to(REPOSITORY)))
def test_no_sentence_has_a_count_with_a_fixed_plural(file: Path) -> None:
    assert [*fixed_plurals(ast.parse(file.read_text(encoding="utf-8")))] == []
