"""The page of the simulated experts states the rates that the code has."""

from collections.abc import Iterable, Mapping
from enum import StrEnum

from kb_pipeline.demo.retrieval.experts import RATES, Action, Quality
from kb_pipeline.demo.retrieval.writing import UNANSWERABLE, WITH_ANSWER, WITHOUT_ANSWER, Manner
from kb_pipeline_tests.docs_pages import page, table_rows

ROWS = table_rows(page("docs/reference/simulated-experts.md"))


def stated(names: Iterable[StrEnum]) -> dict[str, list[str]]:
    """The cells behind each of the names."""
    wanted = {f"`{name}`" for name in names}
    return {row[0].strip("`"): row[1:] for row in ROWS if row[0] in wanted}


def cells(name: StrEnum, columns: Iterable[Mapping[StrEnum, float]]) -> list[str]:
    return [f"{column[name]:.0%}" if name in column else "" for column in columns]


def test_the_table_of_decisions_is_that_of_the_experts() -> None:
    columns = [RATES[quality] for quality in Quality]
    assert stated(Action) == {action: cells(action, columns) for action in Action}  # type: ignore[arg-type]


def test_the_table_of_manners_is_that_of_the_model() -> None:
    columns = (WITH_ANSWER, WITHOUT_ANSWER, UNANSWERABLE)
    assert stated(Manner) == {manner: cells(manner, columns) for manner in Manner}  # type: ignore[arg-type]
