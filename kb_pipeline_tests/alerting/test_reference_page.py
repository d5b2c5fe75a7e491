"""docs/reference/alert-rules.md says what the rules are: every rule, every state, every field of an alert."""

from kb_pipeline.alerting.catalogue import RULE_NAMES
from kb_pipeline.records import AlertStatus
from kb_pipeline_tests.alerting.test_payloads import alert
from kb_pipeline_tests.docs_pages import page, table_rows

PAGE = "docs/reference/alert-rules.md"


def first_words(heading: str) -> list[str]:
    """What stands in the first column of the table under a heading, entry by entry."""
    section = page(PAGE).partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    _, *rows = table_rows(section)
    return [word.strip("` ") for row in rows for word in row[0].split(",")]


def test_every_rule_is_documented_and_no_other() -> None:
    assert sorted(first_words("Rules")) == sorted(RULE_NAMES)


def test_every_state_and_field_is_documented_and_no_other() -> None:
    assert first_words("States") == [str(status) for status in AlertStatus]
    assert sorted(first_words("The alert")) == sorted(alert())
