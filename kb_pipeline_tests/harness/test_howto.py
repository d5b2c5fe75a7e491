"""The example of the page runs as it stands there."""

import json
import re
from pathlib import Path

import pytest

from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline_tests.docs_pages import page
from kb_pipeline_tests.harness.planting import DEED, FEE, NOTARY, plant


def test_ten_lines_evaluate_a_search_of_ones_own(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    [example] = re.findall(r"```python\n(.*?)```", page("docs/how-to/evaluate-retrieval.md"), re.DOTALL)
    plant(database, NOTARY, FEE, {"fees": 3})
    plant(database, NOTARY, DEED, {"deeds": 3})
    config = tmp_path / "kb_pipeline.yaml"
    config.write_text(json.dumps({"database": {"url": database.url.render_as_string(hide_password=False)}}))
    monkeypatch.setenv("KB_PIPELINE_CONFIG", str(config))
    exec(example, {"search": lambda text: ["fees", "deeds"] if text == FEE else ["fees"]})  # noqa: S102 our own page
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "nDCG@10: 0.500 (0.000 to 1.000), 2 queries"
    assert len(printed) == 5
