"""The reference pages of the extraction name what the code has, and nothing else."""

from dataclasses import fields

from kb_pipeline.records import Metrics, ParseStatus
from kb_pipeline_tests.docs_pages import page, table_rows


def test_the_page_of_parse_status_lists_every_value_and_whether_it_is_judged() -> None:
    rows = [row for row in table_rows(page("docs/reference/parse-status.md")) if row[0].startswith("`")]
    listed = {status.strip("`"): judged == "yes" for status, _, judged in rows}
    assert listed == {str(status): status.is_judged for status in ParseStatus}


def test_the_page_of_metrics_gives_the_formula_of_every_metric() -> None:
    rows = [row for row in table_rows(page("docs/reference/metrics.md")) if row[0].startswith("`")]
    assert [row[0].strip("`") for row in rows] == [field.name for field in fields(Metrics)]
    assert all(len(formula) > 20 for _, formula in rows)
