"""`kb-pipeline extract`: what the extractor makes of one stored pair, without any database.

Belongs here: files in, JSON out. Does not: the extraction.
"""

import difflib
from pathlib import Path

import click

from kb_pipeline.cli.invocation import Invocation, pass_invocation
from kb_pipeline.cli.output import read_file, write_json

STORED = click.Path(path_type=Path, allow_dash=True)


@click.command(short_help="The triad of one stored pair, without a database.")
@click.option("--request", type=STORED, metavar="FILE", help="The stored request body; - for standard input.")
@click.option("--response", type=STORED, metavar="FILE", required=True, help="The stored response body; - as above.")
@click.option("--surface", help="The surface whose markers are used; public, or the only one configured.")
@pass_invocation
def extract(invocation: Invocation, request: Path | None, response: Path, surface: str | None) -> None:
    """The triad of one stored pair as JSON.

    Files may be raw or compressed (zstd, gzip, zlib). Without --request the response's side alone is reported.
    """
    if request and str(request) == str(response) == "-":
        raise click.UsageError("--request and --response cannot both be standard input")
    surfaces = invocation.settings().rag_quality.surfaces
    name = surface or ("public" if "public" in surfaces else next(iter(surfaces)))
    if name not in surfaces:
        raise click.UsageError(unknown_surface(name, list(surfaces)))
    bodies = (read_file(request) if request else None, read_file(response))
    from kb_pipeline.grading.examination import extract_pair

    write_json(extract_pair(*bodies, surfaces[name].template(name)))


def unknown_surface(name: str, known: list[str]) -> str:
    """The sentence about a surface that is not configured."""
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"rag_quality.surfaces has {', '.join(known)}"
    return f"--surface {name} is not configured; {hint}"
