"""The shape that the project promises: sizes, names, the direction of imports, what a start costs."""

import ast
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import kb_pipeline
from kb_pipeline_tests.docs_pages import REPOSITORY, only_in_a_checkout

PACKAGE = Path(kb_pipeline.__file__).parent
# A wheel holds the migrations too; in a checkout they lie beside the package.
MODULES = sorted(module for module in PACKAGE.rglob("*.py") if not module.is_relative_to(PACKAGE / "sql"))
FRAMEWORKS = (
    "dagster sqlalchemy psycopg psycopg2 alembic httpx fastapi starlette click rich pydantic yaml pandas".split()
)
PURE_ROOMS = "records windows verdicts errors ports support alerting dashboard grading retrieval steps".split()
Function = ast.FunctionDef | ast.AsyncFunctionDef


def tree(module: Path) -> ast.Module:
    return ast.parse(module.read_text(encoding="utf-8"))


def functions() -> Iterator[tuple[Path, Function]]:
    for module in MODULES:
        for node in ast.walk(tree(module)):
            if isinstance(node, Function):
                yield module, node


def length(function: Function) -> int:
    """Lines of a function's body, without its docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return (function.end_lineno or 0) - body[0].lineno + 1 if body else 0


def share_up_to(sizes: list[int], limit: int) -> float:
    return sum(size <= limit for size in sizes) / len(sizes)


def test_modules_stay_small() -> None:
    sizes = {module: len(module.read_text(encoding="utf-8").splitlines()) for module in MODULES}
    assert {module.name: size for module, size in sizes.items() if size > 600} == {}
    assert share_up_to(list(sizes.values()), 400) >= 0.9


def test_functions_stay_small() -> None:
    sizes = {f"{module.name}:{function.name}": length(function) for module, function in functions()}
    assert {name: size for name, size in sizes.items() if size > 80} == {}
    assert share_up_to(list(sizes.values()), 25) >= 0.9
    assert statistics.median(sizes.values()) <= 8


def test_no_module_is_a_drawer_for_everything() -> None:
    drawers = {"utils", "util", "helpers", "common", "misc", "manager", "base"}
    assert [module for module in MODULES if module.stem in drawers] == []


def test_no_class_manages() -> None:
    names = [node.name for module in MODULES for node in ast.walk(tree(module)) if isinstance(node, ast.ClassDef)]
    assert [name for name in names if name.endswith(("Manager", "Helper", "Util", "Utils"))] == []


def test_a_modules_docstring_says_what_belongs_there_and_what_does_not() -> None:
    fence = re.compile(r"Belongs here:.*Does not:", re.DOTALL)
    rooms = [module for module in MODULES if module.stem not in {"__main__", "__init__"}]
    assert [module for module in rooms if not fence.search(ast.get_docstring(tree(module)) or "")] == []


def test_annotations_are_not_postponed() -> None:
    assert [
        module for module in MODULES if "from __future__ import annotations" in module.read_text(encoding="utf-8")
    ] == []


def statements(module: Path) -> Iterator[str]:
    """SQL in the string literals of a module, docstrings aside."""
    parsed = tree(module)
    docstrings = {
        node.body[0].value
        for node in ast.walk(parsed)
        if isinstance(node, ast.Module | ast.ClassDef | Function) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(parsed):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in docstrings:
            yield from re.findall(r"\b(?:SELECT .*FROM|INSERT INTO|UPDATE \w+ SET|DELETE FROM)\b.*", node.value)


def test_sql_lives_in_files_of_its_own() -> None:
    assert {module.name: found for module in MODULES if (found := list(statements(module)))} == {}


def project_files() -> list[Path]:
    """The text files that make up the checkout."""
    only_in_a_checkout()
    folders = ("kb_pipeline", "kb_pipeline_tests", "sql", "docs", "benchmarks", ".ci")
    below = [file for folder in folders for file in (REPOSITORY / folder).rglob("*") if file.is_file()]
    top = [file for file in REPOSITORY.iterdir() if file.is_file()]
    return [
        file for file in (*below, *top) if file.suffix in {".py", ".sql", ".md", ".sh", ".toml", ".yaml", ".html", ""}
    ]


def test_no_file_names_a_place_on_one_machine_or_work_left_undone() -> None:
    words = re.compile(r"(?<![\w.])/(?:root|home|Users|work)/\w|\b(?:TODO|FIXME|XXX)\b")
    found = {}
    for file in project_files():
        text = file.read_text(encoding="utf-8", errors="replace")
        if file != Path(__file__) and file.name != ".gitignore" and (match := words.search(text)):
            found[str(file.relative_to(REPOSITORY))] = match.group()
    assert found == {}


@pytest.mark.slow
def test_imports_go_downwards_only() -> None:
    project_files()
    command = [Path(sys.executable).with_name("lint-imports")]
    contract = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert contract.returncode == 0, contract.stdout


def modules_after(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter has loaded after running the code."""
    listing = "; import sys; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    run = subprocess.run([sys.executable, "-c", code + listing], capture_output=True, text=True, check=True)
    return set(run.stdout.splitlines()[-1].split())


def test_importing_the_pure_rooms_imports_no_framework() -> None:
    pure = [module for module in MODULES if module.relative_to(PACKAGE).with_suffix("").parts[0] in PURE_ROOMS]
    names = [".".join(("kb_pipeline", *module.relative_to(PACKAGE).with_suffix("").parts)) for module in pure]
    loaded = modules_after("import " + ", ".join(name.removesuffix(".__init__") for name in names))
    assert loaded.isdisjoint(FRAMEWORKS)


def test_importing_the_settings_imports_no_framework_but_their_own() -> None:
    loaded = modules_after("from kb_pipeline.settings import load_settings; load_settings(environ={})")
    assert loaded.isdisjoint({*FRAMEWORKS} - {"pydantic", "yaml"})
