"""Labelled queries and their corpus as files that other harnesses read.

Belongs here: one export, from sources to a finished folder with its manifests. Does not: file formats, folders.
"""

import json
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from kb_pipeline.adapters.clock import SystemClock
from kb_pipeline.harness.documents import CorpusProvider
from kb_pipeline.harness.export_folder import MANIFEST, WRITTEN_BY, replaced_folder
from kb_pipeline.harness.failures import ExportRefused
from kb_pipeline.harness.labelled import LabelledQuery
from kb_pipeline.harness.layouts import LAYOUTS, Layout
from kb_pipeline.harness.row_files import FILE_MODE, FOLDER_MODE, RowFiles
from kb_pipeline.harness.sources import QuerySource
from kb_pipeline.harness.splits import PARTS, ByTime, Split, SplitRule, split
from kb_pipeline.ports import Clock
from kb_pipeline.records import Tenant

Format = Literal["beir", "trec"]
MANIFEST_VERSION = 1
NOTICE = (
    "The queries are words of clients and may hold personal data; the documents belong to the organisation. They are "
    "this tenant's alone, under no licence to anybody else: keep them inside, and delete them when their words expire."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class TenantExport:
    """One tenant's source, and the folder for it below the target; "." is the target itself.

    `tenant` may be None where the corpus does not ask for one, as with foreign files. `options` tell in the manifest
    how the source was asked.
    """

    source: QuerySource
    folder: str = "."
    tenant: Tenant | None = None
    corpus: CorpusProvider | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


def export(
    target: Path,
    tenants: Iterable[TenantExport],
    *,
    layout: Format,
    split_by: SplitRule | None = None,
    force: bool = False,
    clock: Clock | None = None,
) -> dict[str, Any]:
    """Write every tenant's files with a manifest each, and one over all; returns the latter.

    The target appears whole at the end or stays as it was; `replaced_folder` says what it replaces and refuses. Queries
    are streamed; a split holds one tenant's in memory. A tenant without a query gets no folder. Raises ExportRefused
    where no tenant has one.
    """
    written_at = (clock or SystemClock()).now()
    with replaced_folder(target, force=force) as root:
        manifests: dict[str, dict[str, Any]] = {}
        for tenant in tenants:
            folder = root / tenant.folder
            folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
            manifest = _TenantFolder(folder, tenant, split_by).written(layout, written_at)
            if manifest["counts"]["queries"]:
                manifests[tenant.folder] = manifest
            else:
                _remove(folder, below=root)
        if not manifests:
            raise ExportRefused("there is no labelled query to export; harvest first, or ask for less")
        overview = _overview(manifests, written_at, layout)
        if "." not in manifests:
            _write_manifest(root, overview)
    return overview


class _TenantFolder:
    """One tenant's files in the making."""

    def __init__(self, folder: Path, asked: TenantExport, rule: SplitRule | None) -> None:
        self._folder, self._asked, self._rule = folder, asked, rule
        self._counts: Counter[str] = Counter(queries=0, judgments=0)
        self._parts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._left_out: Counter[str] = Counter(asked.source.left_out())
        self._judged: set[str] = set()
        self._as_of: set[datetime] = set()
        self._rules: set[str] = set()
        self._split: Split | None = None

    def written(self, layout: Format, written_at: datetime) -> dict[str, Any]:
        """The manifest, once everything is written."""
        parts = PARTS if self._rule else ()
        with RowFiles(self._folder) as files:
            writer = LAYOUTS[layout](files, parts=parts, with_corpus=self._asked.corpus is not None)
            for query, part in self._queries():
                self._write(writer, query, part)
            if self._asked.corpus:
                self._write_corpus(writer, self._asked.corpus, written_at)
            writer.finish()
        manifest = self._manifest(files.rows, layout, written_at)
        _write_manifest(self._folder, manifest)
        return manifest

    def _queries(self) -> Iterator[tuple[LabelledQuery, str | None]]:
        worded = self._worded()
        if self._rule is None:
            yield from ((query, None) for query in worded)
            return
        self._split = split(worded, self._rule)
        self._left_out.update(self._split.left_out)
        for part, queries in self._split.parts.items():
            yield from ((query, part) for query in queries)

    def _worded(self) -> Iterator[LabelledQuery]:
        """A file of queries has no place for one without words."""
        for query in self._asked.source:
            if query.text is None:
                self._left_out["tombstones"] += 1
            else:
                yield query

    def _write(self, writer: Layout, query: LabelledQuery, part: str | None) -> None:
        writer.query(query, part)
        grades = query.grades
        self._counts.update(f"grade_{grade}" for grade in grades.values())
        self._counts["queries"] += 1
        self._counts["judgments"] += len(grades)
        if part:
            self._parts[part].update(queries=1, judgments=len(grades))
        self._judged.update(grades)
        for known in query.provenance.values():
            self._as_of.add(known.as_of)
            self._rules.add(known.rule_version)

    def _write_corpus(self, writer: Layout, corpus: CorpusProvider, written_at: datetime) -> None:
        """The knowledge base as it stood when the newest judgment was made."""
        as_of = max(self._as_of, default=written_at)
        missing = set(self._judged)
        # A source without a tenant comes with a corpus that asks for none.
        tenant: Any = self._asked.tenant
        for document in corpus.documents(tenant, as_of):
            writer.document(document)
            self._counts["documents"] += 1
            missing.discard(document.doc_id)
        self._counts["judged_documents_not_in_corpus"] = len(missing)

    def _manifest(self, rows: Mapping[str, int], layout: Format, written_at: datetime) -> dict[str, Any]:
        self._counts["judged_documents"] = len(self._judged)
        tenant = self._asked.tenant
        return {
            **_heading(written_at, layout),
            "tenant": tenant and {"org_id": str(tenant.org_id), "specialist_id": str(tenant.specialist_id)},
            "as_of": max(self._as_of).isoformat() if self._as_of else None,
            "rule_versions": sorted(self._rules),
            "options": dict(self._asked.options),
            "counts": dict(self._counts),
            "left_out": {reason: count for reason, count in self._left_out.items() if count},
            "split": self._split_facts(),
            "files": {name: {"rows": count, **_size(self._folder / name)} for name, count in sorted(rows.items())},
        }

    def _split_facts(self) -> dict[str, Any] | None:
        if self._rule is None or self._split is None:
            return None
        rule, found = self._rule, self._split
        facts: dict[str, Any] = {"by": "time" if isinstance(rule, ByTime) else "cluster", "shares": list(rule.shares)}
        if isinstance(rule, ByTime):
            cuts = found.cuts.get(self._asked.tenant, ())
            facts |= {"cuts": [cut.isoformat() for cut in cuts], "embargo_days": rule.embargo.total_seconds() / 86_400}
        else:
            facts |= {"salt": rule.salt}
        return facts | {
            "near_duplicate_from": rule.threshold,
            "clusters": found.clusters,
            "largest_cluster": found.largest_cluster,
            "parts": {part: dict(self._parts[part]) for part in PARTS},
            "empty": [part for part in PARTS if not self._parts[part]],
        }


def _remove(folder: Path, *, below: Path) -> None:
    """The folder and those above it that are empty without it."""
    shutil.rmtree(folder)
    for above in folder.parents:
        if not above.is_relative_to(below) or above == below or any(above.iterdir()):
            return
        above.rmdir()


def _heading(written_at: datetime, layout: Format) -> dict[str, Any]:
    return {
        "written_by": WRITTEN_BY,
        "manifest_version": MANIFEST_VERSION,
        "kb_pipeline": version("kb-pipeline"),
        "written_at": written_at.isoformat(),
        "format": layout,
        "notice": NOTICE,
    }


def _overview(manifests: Mapping[str, dict[str, Any]], written_at: datetime, layout: Format) -> dict[str, Any]:
    """The one manifest of a target without folders below; else what stands in each, and every file."""
    if set(manifests) == {"."}:
        return manifests["."]
    files: dict[str, Any] = {}
    for folder, manifest in manifests.items():
        named = {**manifest["files"], MANIFEST: {}}
        files |= {str(PurePosixPath(folder) / name): facts for name, facts in named.items()}
    tenants = [
        {"folder": folder, **{name: manifest[name] for name in ("tenant", "as_of", "counts", "left_out", "split")}}
        for folder, manifest in manifests.items()
    ]
    return {**_heading(written_at, layout), "tenants": tenants, "files": files}


def _size(path: Path) -> dict[str, int]:
    return {"bytes": path.stat().st_size}


def _write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    path = folder / MANIFEST
    path.touch(mode=FILE_MODE)
    path.write_text(json.dumps(manifest, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
