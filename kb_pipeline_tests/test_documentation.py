"""The pages hold together: links lead somewhere, words exist, the picture shows the real lineage."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kb_pipeline.definitions import build_definitions
from kb_pipeline.settings import RagQualitySettings, RetrievalSettings, Settings
from kb_pipeline_tests.docs_pages import REPOSITORY, page, table_rows

PAGES = sorted([*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/**/*.md")])


def link_targets(file: Path) -> list[str]:
    """The relative targets of a page's links, without their anchors."""
    targets = re.findall(r"\]\(([^)\s]+)\)", file.read_text(encoding="utf-8"))
    return [target.partition("#")[0] for target in targets if not re.match(r"https?:|#|mailto:", target)]


@pytest.mark.parametrize("file", PAGES, ids=lambda file: file.name)
def test_every_link_leads_to_a_file(file: Path) -> None:
    broken = [target for target in link_targets(file) if not (file.parent / target).exists()]
    assert not broken


def test_the_index_leads_to_every_page() -> None:
    page("docs/index.md")
    folder = REPOSITORY / "docs"
    listed = {(folder / target).resolve() for target in link_targets(folder / "index.md")}
    assert set(folder.glob("**/*.md")) - {folder / "index.md"} <= listed


def test_every_word_of_the_glossary_is_a_name_in_the_code_or_the_database() -> None:
    text = page("docs/glossary.md")
    sources = [*(REPOSITORY / "kb_pipeline").rglob("*.py"), *(REPOSITORY / "sql").rglob("*.sql")]
    code = "\n".join(file.read_text(encoding="utf-8") for file in sources)
    for word, _, where in table_rows(text):
        name = where.strip("`").rpartition(".")[2]
        assert re.search(rf"\b(class|TABLE|VIEW) {name}\b", code) or (REPOSITORY / "kb_pipeline" / name).exists(), word


def test_every_table_of_the_database_is_in_the_glossary_or_the_database_page() -> None:
    text = page("docs/glossary.md") + page("docs/reference/database.md")
    migrations = (REPOSITORY / "sql" / "migrations").glob("*.sql")
    for migration in migrations:
        for table in re.findall(r"^CREATE TABLE (\w+)", migration.read_text(encoding="utf-8"), re.MULTILINE):
            assert table in text


def lineage() -> str:
    """The lineage of both streets as a mermaid flowchart, from the definitions themselves."""
    queue = RetrievalSettings(enabled=True, redis_url="redis://localhost:6379/0")
    settings = Settings(rag_quality=RagQualitySettings(enabled=True), retrieval=queue)
    graph = build_definitions(settings).resolve_asset_graph()
    groups = {"kb_source", "grading", "retrieval", "trust", "alerts"}
    shown = [node for key in graph.toposorted_asset_keys if (node := graph.get(key)).group_name in groups]
    boxes = [f"  {node.key.path[-1]}[{label(node.key.path[-1], node.metadata)}]" for node in shown]
    arrows = [f"  {parent.path[-1]} --> {node.key.path[-1]}" for node in shown for parent in sorted(node.parent_keys)]
    return "\n".join(["flowchart LR", *boxes, *arrows])


def label(asset: str, metadata: Mapping[str, Any]) -> str:
    """What stands in a box: a view as a drum, an asset with the table that keeps it, if one does."""
    value = metadata.get("dagster/table_name", "")
    table = str(getattr(value, "text", value)).removeprefix("public.")
    if not table:
        return f'"{asset}"'
    return f"({table})" if table.startswith("kb_source.") else f'"{asset}<br/>{table}"'


def test_the_picture_of_the_lineage_shows_the_assets_as_they_are() -> None:
    picture = page("README.md").partition("```mermaid\n")[2].partition("\n```")[0]
    assert picture == lineage()
