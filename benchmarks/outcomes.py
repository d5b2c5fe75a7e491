"""What the rules make of texts that people really edited, and how fast.

    .venv/bin/python benchmarks/outcomes.py --data ../shared/data/edits [--rounds 5]

The folder holds JSON lines with `source`, `draft` and `edited`: answers that experts revised (ExpertQA; Malaviya et
al., 2024), and summaries with minimal corrections of what was factually wrong (DeFacto; Liu et al., 2023), whose rows
say in `has_error` whether anything was. Nobody labelled an edit as light or heavy: what can be counted is how many are
which, and that a correction of a wrong fact is heavy. Without the folder there is nothing to do.
"""

import argparse
import json
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import patch
from uuid import UUID

from rich.console import Console
from rich.table import Table

from kb_pipeline.records import Outcome, ReviewedDraft, Tenant
from kb_pipeline.retrieval.outcomes import derive_outcome
from kb_pipeline.retrieval.outcomes.alignment import similarity
from kb_pipeline.retrieval.outcomes.wording import Wording
from kb_pipeline.support.particulars import Particulars

AT = datetime(2026, 7, 9, 10, tzinfo=UTC)
NOBODY = UUID(int=0)
ALIKE = 0.90
CLASSES = (Outcome.ACCEPTED, Outcome.EDITED_LIGHT, Outcome.EDITED_HEAVY)


@dataclass(frozen=True, kw_only=True, slots=True)
class Edit:
    """One text before and after; `has_error` is None where nobody said."""

    source: str
    draft: str
    edited: str
    has_error: bool | None


def read(folder: Path) -> list[Edit]:
    """Every edit of the two collections."""
    return [
        Edit(source=row["source"], draft=row["draft"], edited=row["edited"], has_error=row.get("has_error"))
        for file in sorted(folder.glob("*.jsonl"))
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines())
    ]


def reviewed(edit: Edit) -> ReviewedDraft:
    """The edit as a draft with a correction."""
    return ReviewedDraft(
        message_id=NOBODY,
        tenant=Tenant(org_id=NOBODY, specialist_id=NOBODY),
        conversation_id=NOBODY,
        drafted_at=AT,
        draft=edit.draft,
        status="edited",
        decided_at=AT,
        correction_id=NOBODY,
        final=edit.edited,
    )


def by_rule(edit: Edit) -> Outcome:
    """The class that the pipeline gives."""
    return derive_outcome(reviewed(edit)).outcome


def by_likeness(edit: Edit) -> Outcome:
    """The class by the similarity of the whole texts alone."""
    if edit.draft.split() == edit.edited.split():
        return Outcome.ACCEPTED
    return Outcome.EDITED_LIGHT if (similarity(edit.draft, edit.edited) or 0) >= ALIKE else Outcome.EDITED_HEAVY


def always(*_: object) -> bool:
    """A guard that lets everything pass."""
    return True


def without(*guards: AbstractContextManager[object]) -> AbstractContextManager[ExitStack]:
    """A block in which these guards let everything pass."""
    stack = ExitStack()
    for guard in guards:
        stack.enter_context(guard)
    return stack


def guards() -> Iterator[tuple[str, Callable[[Edit], Outcome], AbstractContextManager[object]]]:
    """Each way to decide: its name, itself, and the block to run it in."""
    yield f"likeness of the whole text (light from {ALIKE})", by_likeness, without()
    words, particulars = patch.object(Wording, "is_near", always), patch.object(Particulars, "agree", always)
    yield "sentences, no guard", by_rule, without(words, particulars)
    yield "sentences, guard of critical tokens", by_rule, without(patch.object(Wording, "is_near", always))


def counted(edits: Sequence[Edit], decide: Callable[[Edit], Outcome]) -> Counter[tuple[str, Outcome]]:
    """Edits by source and class."""
    return Counter((edit.source, decide(edit)) for edit in edits)


def table_of_classes(edits: Sequence[Edit]) -> Table:
    """How many edits of each source are of which class, by each way to decide."""
    table = Table(title="classes")
    for column in ("rule", "source", *CLASSES):
        table.add_column(str(column), justify="left" if column in {"rule", "source"} else "right")
    for name, decide, block in guards():
        with block:
            _add(table, name, counted(edits, decide))
    _add(table, "the rule: guard, and one telling word at most", counted(edits, by_rule))
    return table


def _add(table: Table, name: str, counts: Counter[tuple[str, Outcome]]) -> None:
    for source in sorted({source for source, _ in counts}):
        table.add_row(name, source, *(str(counts[source, each]) for each in CLASSES))


def table_of_errors(edits: Sequence[Edit]) -> Table:
    """The class against what annotators found."""
    counts = Counter((edit.has_error, by_rule(edit)) for edit in edits if edit.has_error is not None)
    table = Table(title="had the draft a factual error, and what is the edit")
    for column in ("error", *CLASSES, "heavy of changed"):
        table.add_column(str(column), justify="right")
    for has_error in (True, False):
        row = [counts[has_error, each] for each in CLASSES]
        changed = sum(row[1:])
        share = f"{row[2] / changed:.3f}" if changed else "–"
        table.add_row("yes" if has_error else "no", *map(str, row), share)
    return table


def speed(edits: Sequence[Edit], rounds: int) -> str:
    """Drafts a second, of those that were changed."""
    changed = [reviewed(edit) for edit in edits if edit.draft != edit.edited]
    rates = []
    for _ in range(rounds):
        begin = time.perf_counter()
        for draft in changed:
            derive_outcome(draft)
        rates.append(len(changed) / (time.perf_counter() - begin))
    characters = statistics.mean(len(draft.draft) for draft in changed)
    return f"{statistics.median(rates):,.0f} changed drafts/s of {characters:,.0f} characters on average, one core"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    edits = read(arguments.data)
    if not edits:
        sys.exit(f"no edits in {arguments.data}: nothing to measure")
    console = Console(width=140)
    console.print(table_of_classes(edits))
    console.print(table_of_errors(edits))
    console.print(speed(edits, arguments.rounds))


if __name__ == "__main__":
    main()
