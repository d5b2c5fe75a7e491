"""`kb-pipeline ground-truth export`: the judgments as files for a harness.

Belongs here: options, which tenants, the words at the end. Does not: files, folders, SQL.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

import click

from kb_pipeline.cli.failures import say
from kb_pipeline.cli.invocation import Invocation, pass_invocation
from kb_pipeline.cli.output import Hear, progress, write_facts, write_json, write_line
from kb_pipeline.cli.times import Instant, refuse_future
from kb_pipeline.errors import KbPipelineError

if TYPE_CHECKING:
    from kb_pipeline.adapters.postgres.connection import Database
    from kb_pipeline.harness import PostgresCorpus, TenantExport
    from kb_pipeline.harness.splits import SplitRule
    from kb_pipeline.records import Tenant

EMPTY_PART = "its files hold no row; harvest more queries, or split otherwise"


@click.command(name="export", short_help="Judgments, queries and documents as files for a harness.")
@click.option(
    "--format", "layout", type=click.Choice(["beir", "trec"]), required=True, help="How the files are laid out."
)
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", required=True, help="The folder to write.")
@click.option("--org", type=click.UUID, metavar="U", help="This organisation's tenants alone.")
@click.option("--specialist", type=click.UUID, metavar="U", help="This specialist's tenants alone.")
@click.option(
    "--split",
    type=click.Choice(["none", "time", "cluster"]),
    default="none",
    help="Train, dev and test by near-duplicate cluster, or by time with an embargo of seven days.",
)
@click.option("--cut", type=Instant(), metavar="T", help="With --split time: train before T, test after it.")
@click.option(
    "--min-grade",
    type=click.IntRange(1, 3),
    default=1,
    metavar="N",
    help="Leave out relevant documents below grade N (1 to 3); they are unjudged then, not irrelevant.",
)
@click.option(
    "--with-corpus/--no-corpus", "corpus", default=None, help="Write the documents too, or not; if mapped unless said."
)
@click.option("--force", is_flag=True, help="Keep a folder that no export wrote beside the new one.")
@click.option("--json", "as_json", is_flag=True, help="Print the manifest.")
@pass_invocation
def export_ground_truth(
    invocation: Invocation,
    *,
    layout: Literal["beir", "trec"],
    out: Path,
    org: UUID | None,
    specialist: UUID | None,
    split: str,
    cut: datetime | None,
    min_grade: int,
    corpus: bool | None,
    force: bool,
    as_json: bool,
) -> None:
    """Write judgments, queries and documents, one folder for each tenant: DIR/organisation/specialist.

    With both --org and --specialist they are in DIR itself. The words of queries are read, so the reading is recorded
    in kb_access_record; the files can be read by you alone.
    """
    if cut and split != "time":
        raise click.UsageError("--cut belongs to --split time")
    refuse_future(cut, "--cut")
    settings = invocation.settings()
    from kb_pipeline.adapters.postgres.grader import grader_database
    from kb_pipeline.harness import PostgresCorpus, export, manifest_to_replace, tenants_with_ground_truth

    earlier = manifest_to_replace(out)
    with grader_database(settings.database_url) as database, progress() as hear:
        documents = _corpus(PostgresCorpus(database), wanted=corpus)
        is_one = org is not None and specialist is not None
        exports = (
            _heard(hear, _tenant_export(database, tenant, min_grade, documents, in_place=is_one))
            for tenant in tenants_with_ground_truth(database, org_id=org, specialist_id=specialist)
        )
        manifest = export(out, exports, layout=layout, split_by=_rule(split, cut), force=force)
    _warn(out, manifest, earlier)
    if as_json:
        write_json(manifest)
    else:
        _write(out, manifest)


def _heard(hear: Hear, each: "TenantExport") -> "TenantExport":
    hear("tenants", 1)
    return each


def _corpus(corpus: "PostgresCorpus", *, wanted: bool | None) -> "PostgresCorpus | None":
    if wanted is False:
        return None
    if corpus.is_mapped():
        return corpus
    if wanted:
        raise KbPipelineError(
            "there is no view kb_source.kb_chunk to take the documents from; map it, or export with --no-corpus"
        )
    return None


def _tenant_export(
    database: "Database", tenant: "Tenant", min_grade: int, corpus: "PostgresCorpus | None", *, in_place: bool
) -> "TenantExport":
    from kb_pipeline.harness import PostgresQuerySource, TenantExport

    return TenantExport(
        source=PostgresQuerySource(database, tenant, min_grade=min_grade, purpose="ground-truth export"),
        folder="." if in_place else f"{tenant.org_id}/{tenant.specialist_id}",
        tenant=tenant,
        corpus=corpus,
        options={"min_grade": min_grade, "include_self_made": False},
    )


def _rule(split: str, cut: datetime | None) -> "SplitRule | None":
    from kb_pipeline.harness import ByCluster, ByTime

    if split == "cluster":
        return ByCluster()
    return ByTime(cuts=(cut,) if cut else ()) if split == "time" else None


def _warn(out: Path, manifest: Mapping[str, Any], earlier: Mapping[str, Any] | None) -> None:
    if earlier and _kind(earlier) != _kind(manifest):
        say(f"{out} held an export as {_kind(earlier)}, which this one as {_kind(manifest)} replaced")
    for tenant in _tenants(manifest):
        found = tenant["split"] or {"empty": []}
        # Who names one cut asks for no dev.
        meant = {"dev"} if len(found.get("cuts", ())) == 1 else set()
        if empty := [part for part in found["empty"] if part not in meant]:
            say(f"warning: no query of {out / tenant['folder']} is in {' or '.join(empty)}: {EMPTY_PART}")


def _kind(manifest: Mapping[str, Any]) -> str:
    """Format and split in words; a manifest of an earlier version may not know its split."""
    found = _tenants(manifest)[0].get("split")
    return f"{manifest.get('format')} with a split by {found['by']}" if found else f"{manifest.get('format')}"


def _tenants(manifest: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    found: Sequence[Mapping[str, Any]] = manifest.get("tenants") or [{"folder": ".", **manifest}]
    return found


def _write(out: Path, manifest: Mapping[str, Any]) -> None:
    for tenant in _tenants(manifest):
        write_line(f"{out / tenant['folder']}")
        facts = {**tenant["counts"], **{f"left out, {reason}": n for reason, n in tenant["left_out"].items()}}
        write_facts({f"  {name.replace('_', ' ')}": value for name, value in facts.items()})
