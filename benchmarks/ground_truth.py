"""How much of the planted truth the retrieval street recovers, over several seeds, with the naive rules beside it.

    .venv/bin/python benchmarks/ground_truth.py [--seeds 5] [--drafts 1200]

The demo's desks, engines, model and experts (kb_pipeline/demo/retrieval) in one process: events are stored as the
worker stores them, then every step of the street runs on an embedded server. Exit code 1 when a limit is missed.
"""

import argparse
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from kb_pipeline.adapters.embedded import EmbeddedPostgres
from kb_pipeline.adapters.postgres.connection import Database
from kb_pipeline.adapters.postgres.migrations import migrate
from kb_pipeline.adapters.postgres.sql_files import read_sql
from kb_pipeline.demo import knowledge
from kb_pipeline.demo.retrieval.conversations import DRAFTS, Plan
from kb_pipeline.demo.retrieval.engines import PostgresEngines
from kb_pipeline.demo.retrieval.findings import Findings
from kb_pipeline.demo.retrieval.library import ENGINES, desks
from kb_pipeline.demo.retrieval.rehearsal import rehearse
from kb_pipeline.demo.retrieval.world import Desk
from kb_pipeline.records import GapKind
from kb_pipeline.settings import Settings

END = datetime(2026, 1, 5, 5, tzinfo=UTC)
LEAST_PRECISION = 0.90
LEAST_RECALL = 0.25
LEAST_TAU = 0.8
LEAST_GAP_PRECISION = 0.9
BOUND_GAPS = (GapKind.KB_GAP, GapKind.RANKING_GAP)


@contextmanager
def embedded_server() -> Iterator[EmbeddedPostgres]:
    """A server whose data go with the run."""
    with tempfile.TemporaryDirectory(prefix="kb_pipeline-benchmark-") as folder:
        # The server's account passes through it; else the data would be kept elsewhere, for ever.
        Path(folder).chmod(0o711)
        with EmbeddedPostgres(Path(folder) / "postgres", fsync=False) as server:
            yield server


@contextmanager
def fresh_database(server: EmbeddedPostgres, name: str) -> Iterator[Database]:
    """A migrated database with the example upstream tables, all empty."""
    server.create_database(name)
    database = Database(server.url(name))
    try:
        migrate(database)
        with database.connect() as connection:
            connection.execute(read_sql("source_example.sql"))
            connection.execute(read_sql("source_views.sql"))
        yield database
    finally:
        database.dispose()
        server.drop_database(name)


def settings_for(database: Database) -> Settings:
    """Settings of the retrieval street over a database."""
    retrieval = {"enabled": True, "redis_url": "redis://127.0.0.1:6379/0", "engines": list(ENGINES)}
    url = database.url.render_as_string(hide_password=False)
    return Settings.model_validate({"retrieval": retrieval, "database": {"url": url}})


def findings_of(
    server: EmbeddedPostgres, seed: int, drafts: int, made: Sequence[Desk], engines: PostgresEngines
) -> Findings:
    """What the street finds in one simulation."""
    plan = Plan(end=END, seed=seed, drafts=drafts)
    with fresh_database(server, f"seed_{seed}") as database:
        _, found = rehearse(database, settings_for(database), plan, made, engines)
    return found


class Report:
    """One row per seed and rule, and whether the limits hold."""

    def __init__(self, title: str) -> None:
        self._rows: list[Findings] = []
        self._table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
        for name in ("seed", "rule", "drafts", "judgments", "precision", "recall", "tau"):
            self._table.add_column(name, justify="left" if name == "rule" else "right")
        for kind in (GapKind.KB_GAP, GapKind.RANKING_GAP, GapKind.RECALL_GAP, GapKind.GENERATION_GAP):
            self._table.add_column(kind, justify="right")

    def add(self, seed: int, found: Findings) -> None:
        """The numbers of one seed."""
        self._rows.append(found)
        gaps = [f"{_share(gap.precision)} of {gap.found}" for gap in found.gaps.values()]
        for name, rule in {"kb_ground_truth": found.harvested, **found.naive}.items():
            agreed = rule.agreement
            self._table.add_row(
                f"{seed}", name, f"{found.drafts}", f"{agreed.positives}", _share(agreed.precision),
                _share(agreed.recall), _share(rule.kendall_tau), *(gaps if name == "kb_ground_truth" else ()),
            )  # fmt: skip

    def show(self, console: Console) -> None:
        """Print the rows, and the means of the harvested judgments."""
        console.print(self._table)
        harvested = [found.harvested for found in self._rows]
        means = {
            "precision": [rule.agreement.precision or 0.0 for rule in harvested],
            "recall": [rule.agreement.recall or 0.0 for rule in harvested],
            "tau": [rule.kendall_tau or 0.0 for rule in harvested],
        }
        for name, values in means.items():
            console.print(f"mean {name:<10} {statistics.mean(values):.3f} (lowest {min(values):.3f})")

    def holds(self) -> bool:
        """Whether every seed keeps every limit."""
        return all(map(_holds, self._rows))


def _holds(found: Findings) -> bool:
    agreed = found.harvested.agreement
    return (
        (agreed.precision or 0) >= LEAST_PRECISION
        and (agreed.recall or 0) >= LEAST_RECALL
        and (found.harvested.kendall_tau or 0) >= LEAST_TAU
        and all((found.gaps[kind].precision or 0) >= LEAST_GAP_PRECISION for kind in BOUND_GAPS)
    )


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def main() -> int:
    """Rehearse every seed, print the table, say by the exit code whether the limits hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--drafts", type=int, default=DRAFTS)
    arguments = parser.parse_args()
    report = Report("Ground truth of simulated experts over the demo's knowledge base")
    with embedded_server() as server, fresh_database(server, "engines") as database:
        engines = PostgresEngines(database)
        for seed in range(1, arguments.seeds + 1):
            made = desks(knowledge.load(), seed)
            if seed == 1:
                # Documents and wordings are the same for every seed.
                engines.index(made)
            report.add(seed, findings_of(server, seed, arguments.drafts, made, engines))
    report.show(Console(width=150))
    print(
        f"limits: precision {LEAST_PRECISION}, recall {LEAST_RECALL}, tau {LEAST_TAU}, "
        f"precision of {' and '.join(BOUND_GAPS)} {LEAST_GAP_PRECISION}"
    )
    return 0 if report.holds() else 1


if __name__ == "__main__":
    sys.exit(main())
