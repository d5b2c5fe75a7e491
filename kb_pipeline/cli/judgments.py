"""`kb-pipeline ground-truth explain` and `settle`: one judgment, its evidence, and a person's word on it.

Belongs here: options. Does not: the facts, how they are shown (judgment_table.py).
"""

from typing import TYPE_CHECKING
from uuid import UUID

import click

from kb_pipeline.cli.invocation import Invocation, pass_invocation
from kb_pipeline.cli.output import write_facts, write_json, write_line

if TYPE_CHECKING:
    from kb_pipeline.records import Tenant


def _said(_: click.Context, __: click.Parameter, value: str) -> str:
    if not value.strip():
        raise click.BadParameter("it is empty; a judgment is settled by somebody, for a reason")
    return value


query_option = click.option(
    "--query", metavar="Q", required=True, help="The query's words, or its query_sha; 6 digits do."
)
document_option = click.option("--doc", "doc_id", metavar="D", required=True, help="The document's doc_id.")
org_option = click.option("--org", type=click.UUID, metavar="U", help="The organisation, where several tenants match.")
specialist_option = click.option("--specialist", type=click.UUID, metavar="U", help="The specialist, with --org.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


@click.command(name="explain", short_help="One judgment with all of its evidence.")
@query_option
@document_option
@org_option
@specialist_option
@json_option
@pass_invocation
def explain_one(
    invocation: Invocation, *, query: str, doc_id: str, org: UUID | None, specialist: UUID | None, as_json: bool
) -> None:
    """Why a document has the grade it has for a query: every piece of evidence, and what it counts for.

    The query's words are shown, so the reading is recorded in kb_access_record.
    """
    tenant = _tenant(org, specialist)
    settings = invocation.settings()
    from kb_pipeline.adapters.postgres.grader import grader_database
    from kb_pipeline.adapters.postgres.retrieval.explanation import explain_judgment

    with grader_database(settings.database_url) as database:
        found = explain_judgment(database, doc_id=doc_id, query=query, tenant=tenant)
    if as_json:
        write_json(found)
        return
    from kb_pipeline.cli.judgment_table import write_judgment

    write_judgment(found)


@click.command(name="settle", short_help="Say whether a document is relevant; a person's word decides.")
@query_option
@document_option
@click.option("--relevant/--not-relevant", "is_relevant", default=None, help="What you say of the document.")
@click.option("--author", callback=_said, metavar="NAME", required=True, help="Who says so.")
@click.option("--reason", callback=_said, metavar="TEXT", required=True, help="Why; do not repeat what clients wrote.")
@org_option
@specialist_option
@json_option
@pass_invocation
def settle_one(
    invocation: Invocation,
    *,
    query: str,
    doc_id: str,
    is_relevant: bool | None,
    author: str,
    reason: str,
    org: UUID | None,
    specialist: UUID | None,
    as_json: bool,
) -> None:
    """Settle a conflict, or any other judgment: your word is added to the evidence and decides, until the next word.

    It counts from the next harvest on, and no longer than the document stays as it is.
    """
    if is_relevant is None:
        raise click.UsageError("say what you found: --relevant or --not-relevant")
    tenant = _tenant(org, specialist)
    settings = invocation.settings()
    from kb_pipeline.adapters.postgres.grader import grader_database
    from kb_pipeline.adapters.postgres.retrieval.settlement import settle_judgment

    with grader_database(settings.database_url) as database:
        pair = settle_judgment(
            database,
            query=query,
            doc_id=doc_id,
            is_relevant=is_relevant,
            author=author,
            reason=reason,
            tenant=tenant,
        )
    facts = {**pair.key, "relevant": is_relevant, "author": author}
    if as_json:
        write_json(facts)
    else:
        write_line("noted; it counts from the next harvest on")
        write_facts(facts)


def _tenant(org: UUID | None, specialist: UUID | None) -> "Tenant | None":
    from kb_pipeline.records import Tenant

    if (org is None) != (specialist is None):
        raise click.UsageError("a tenant is an organisation and a specialist: give both --org and --specialist")
    return Tenant(org_id=org, specialist_id=specialist) if org and specialist else None
