"""`kb-pipeline eval`: ranked runs against judgments.

Belongs here: options, where runs and judgments come from. Does not: scores, tables.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

import click

from kb_pipeline.cli.failures import say
from kb_pipeline.cli.invocation import Invocation, pass_invocation
from kb_pipeline.cli.output import progress, write_json, write_text
from kb_pipeline.cli.times import Instant, check_order
from kb_pipeline.counting import counted
from kb_pipeline.errors import KbPipelineError

if TYPE_CHECKING:
    from kb_pipeline.adapters.postgres.connection import Database
    from kb_pipeline.harness import Difference, Evaluation, Judgments, PostgresCorpus, QuerySource, Run
    from kb_pipeline.records import Tenant

SHOWN_TENANTS = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class _Asked:
    """The options that say what is evaluated against what."""

    runs: tuple[Path, ...]
    engines: tuple[str, ...]
    qrels: Path | None
    beir: Path | None
    part: str | None
    org: UUID | None
    specialist: UUID | None
    id_map: Path | None
    chunks: bool
    since: datetime | None
    until: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Matter:
    """Runs and the judgments of one tenant, or of a file, that they are held against."""

    tenant: "Tenant | None" = None
    judgments: "Judgments"
    excluded: Mapping[str, Collection[str]]
    runs: Sequence["Run"]
    document_of: Mapping[str, str]
    has_documents: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class _Comparison:
    """Two runs, and how they differ or why that was not to be said."""

    first: str
    second: str
    differences: Mapping[str, "Difference"]
    refused: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Result:
    """One evaluation a run, and a comparison of each further run with the first."""

    matter: _Matter
    evaluations: "list[Evaluation]"
    comparisons: list[_Comparison]


@click.command(name="eval", short_help="How well runs rank what experts judged.")
@click.option(
    "--run", "runs", type=click.Path(path_type=Path), multiple=True, metavar="FILE", help="A TREC run; - for stdin."
)
@click.option("--engine", "engines", multiple=True, metavar="E", help="What was recorded of this engine, as a run.")
@click.option("--measures", metavar="M", help="Measures by their public names, such as 'nDCG@10 R(rel=2)@5'.")
@click.option("--qrels", type=click.Path(path_type=Path), metavar="FILE", help="Judgments of this TREC or BEIR file.")
@click.option("--beir", type=click.Path(path_type=Path), metavar="DIR", help="Judgments of this BEIR folder.")
@click.option("--part", metavar="P", help="With --beir: train, dev or test alone.")
@click.option("--org", type=click.UUID, metavar="U", help="The organisation whose ground truth counts.")
@click.option("--specialist", type=click.UUID, metavar="U", help="The specialist whose ground truth counts.")
@click.option(
    "--id-map", type=click.Path(path_type=Path), metavar="FILE", help="Which document each id of the run stands for."
)
@click.option("--chunks", is_flag=True, help="The runs rank chunks; the knowledge base tells their documents.")
@click.option("--since", type=Instant(), metavar="T", help="With --engine: retrievals from T on.")
@click.option("--until", type=Instant(), metavar="T", help="With --engine: retrievals before T.")
@click.option("--seed", type=click.IntRange(min=0), default=0, metavar="N", help="The same seed, the same intervals.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pass_invocation
def evaluate_runs(invocation: Invocation, /, measures: str | None, seed: int, *, as_json: bool, **options: Any) -> None:
    """Scores of ranked runs with 95 % intervals, against the database's ground truth or that of a file.

    Name --run or --engine more than once, and every further one is compared with the first, query by query. The query
    ids of a run are those of an export: query_sha in the database.
    """
    asked = _Asked(**options)
    _check_usage(asked)
    _check_measures(measures)
    with progress() as hear:
        matters, results = _matters(asked, invocation), []
        _warn(matters)
        for matter in matters:
            results.append(_evaluated(matter, measures, seed))
            hear("runs", len(matter.runs))
    if as_json:
        write_json({"results": [_facts(result) for result in results]})
    else:
        _write(results)
    refused = [comparison.refused for result in results for comparison in result.comparisons if comparison.refused]
    if refused:
        raise KbPipelineError(refused[0])


def _matters(asked: _Asked, invocation: Invocation) -> list[_Matter]:
    matters = list(_file_matters(asked) if asked.qrels or asked.beir else _tenant_matters(asked, invocation))
    if not matters:
        names = " or ".join(asked.engines)
        raise KbPipelineError(f"no retrieval of {names} is recorded for any judged query; name another engine or time")
    return matters


def _warn(matters: Sequence[_Matter]) -> None:
    from kb_pipeline.cli.evaluation_table import warnings

    for matter in matters:
        for run in matter.runs:
            for warning in warnings(run.name, run.counts, has_documents=matter.has_documents):
                say(f"warning: {warning}")


def _check_usage(asked: _Asked) -> None:
    if not (asked.runs or asked.engines):
        raise click.UsageError("nothing to evaluate; name a run file with --run, or a recorded engine with --engine")
    if asked.qrels and asked.beir:
        raise click.UsageError("--qrels and --beir exclude each other: one of them has the judgments")
    of_file = asked.qrels or asked.beir
    if of_file and (asked.engines or asked.org or asked.specialist or asked.chunks):
        raise click.UsageError(
            "--engine, --org, --specialist and --chunks need the database, and exclude --qrels and --beir"
        )
    if asked.part and not asked.beir:
        raise click.UsageError("--part belongs to --beir")
    if (asked.since or asked.until) and not asked.engines:
        raise click.UsageError("--since and --until belong to --engine")
    check_order(asked.since, asked.until)
    for path in (*asked.runs, asked.qrels, asked.beir, asked.id_map):
        _check_is_there(path)


def _check_measures(names: str | None) -> None:
    """Before anything is read: a run may take minutes."""
    if names is None:
        return
    from kb_pipeline.harness import NotEvaluable
    from kb_pipeline.harness.measures import parse_measures

    try:
        parse_measures(names)
    except NotEvaluable as error:
        raise click.UsageError(str(error)) from None


def _check_is_there(path: Path | None) -> None:
    if path is None or path == Path("-"):
        return
    try:
        path.stat()
    except OSError as error:
        raise click.UsageError(f"{path} cannot be read: {error.strerror}; name a file that is there") from None


def _file_matters(asked: _Asked) -> Iterator[_Matter]:
    from kb_pipeline.harness import BeirQuerySource, read_qrels, recognised

    judgments: Judgments
    excluded: Mapping[str, Collection[str]] = {}
    if asked.beir:
        # Run and judgments carry the same ids, so nothing is to be mapped back.
        source = BeirQuerySource(asked.beir, split=asked.part, as_written=True)
        judgments, excluded = source.judgments(), source.excluded()
    else:
        judgments = read_qrels(cast(Path, asked.qrels))
    mapped = _id_map(asked)
    runs = [recognised(run, judgments, document_of=mapped) for run in _file_runs(asked)]
    yield _Matter(judgments=judgments, excluded=excluded, runs=runs, document_of=mapped)


def _tenant_matters(asked: _Asked, invocation: Invocation) -> Iterator[_Matter]:
    settings = invocation.settings()
    from kb_pipeline.adapters.postgres.grader import grader_database
    from kb_pipeline.harness import PostgresQuerySource

    with grader_database(settings.database_url) as database:
        tenants = _tenants(asked, database)
        files, mapped = _file_runs(asked), _id_map(asked)
        for tenant in tenants:
            source = PostgresQuerySource(database, tenant)
            recorded = _recorded_runs(asked, database, tenant, is_one_of_many=len(tenants) > 1)
            if files or recorded:
                yield _Identifiers.of(asked, database, tenant, mapped).matter(source, files, recorded)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Identifiers:
    """What the ids of a run can stand for: documents and, where asked, chunks of one tenant's knowledge base."""

    tenant: "Tenant"
    corpus: "PostgresCorpus | None"
    chunks: Mapping[str, str] | None
    mapped: Mapping[str, str]

    @classmethod
    def of(cls, asked: _Asked, database: "Database", tenant: "Tenant", mapped: Mapping[str, str]) -> "_Identifiers":
        from kb_pipeline.harness import PostgresCorpus

        corpus = PostgresCorpus(database)
        return cls(
            tenant=tenant,
            corpus=corpus if corpus.is_mapped() else None,
            chunks=corpus.document_of(tenant) if asked.chunks else None,
            mapped=mapped,
        )

    @property
    def document_of(self) -> dict[str, str]:
        return {**(self.chunks or {}), **self.mapped}

    def matter(self, source: "QuerySource", files: "Sequence[Run]", recorded: "Sequence[Run]") -> _Matter:
        judgments, excluded = source.judgments(), source.excluded()
        return _Matter(
            tenant=self.tenant,
            judgments=judgments,
            excluded=excluded,
            runs=[*(self._recognised(run, judgments, excluded) for run in files), *recorded],
            document_of=self.document_of,
            has_documents=self.corpus is not None,
        )

    def _recognised(self, run: "Run", judgments: "Judgments", excluded: Mapping[str, Collection[str]]) -> "Run":
        from kb_pipeline.harness import recognised

        return recognised(
            run, judgments, document_of=self.document_of, chunks=self.chunks, stored=partial(self._stored, excluded)
        )

    def _stored(self, excluded: Mapping[str, Collection[str]], identifiers: Collection[str]) -> set[str]:
        self_made = {each for documents in excluded.values() for each in documents}
        stored = self.corpus.stored(self.tenant, identifiers) if self.corpus else set()
        return stored | (self_made & set(identifiers))


def _tenants(asked: _Asked, database: "Database") -> "list[Tenant]":
    from kb_pipeline.harness import tenants_with_ground_truth

    tenants = tenants_with_ground_truth(database, org_id=asked.org, specialist_id=asked.specialist)
    if not tenants:
        raise KbPipelineError("there is no ground truth to evaluate against; harvest first, or name another tenant")
    if len(tenants) > 1 and asked.runs:
        shown = "; ".join(f"--org {each.org_id} --specialist {each.specialist_id}" for each in tenants[:SHOWN_TENANTS])
        raise KbPipelineError(
            f"{counted(len(tenants), 'tenant has', 'tenants have')} ground truth, and a run belongs to one of them; "
            f"name it, such as {shown}"
        )
    return tenants


def _recorded_runs(asked: _Asked, database: "Database", tenant: "Tenant", *, is_one_of_many: bool) -> "list[Run]":
    """The engines' runs; of many tenants each has some of the engines, of one all are expected."""
    from kb_pipeline.harness import recorded_engines, runs_from_events

    times: Any = {"since": asked.since, "until": asked.until}
    engines = list(dict.fromkeys(asked.engines))
    if is_one_of_many:
        known = {each.engine for each in recorded_engines(database, tenant, **times) if each.judged_queries}
        engines = [engine for engine in engines if engine in known]
    return list(runs_from_events(database, tenant, engines, **times).values()) if engines else []


def _file_runs(asked: _Asked) -> "list[Run]":
    from kb_pipeline.harness import read_run

    return [read_run(path, name=path.name) for path in asked.runs]


def _id_map(asked: _Asked) -> dict[str, str]:
    from kb_pipeline.harness import read_id_map

    return read_id_map(asked.id_map) if asked.id_map else {}


def _evaluated(matter: _Matter, measures: str | None, seed: int) -> _Result:
    from kb_pipeline.harness import DEFAULT_MEASURES, evaluate

    evaluations = [
        evaluate(
            run,
            matter.judgments,
            DEFAULT_MEASURES if measures is None else measures,
            document_of=matter.document_of,
            excluded=matter.excluded,
            seed=seed,
        )
        for run in matter.runs
    ]
    comparisons = [_compared(evaluations[0], other, seed) for other in evaluations[1:]]
    return _Result(matter=matter, evaluations=evaluations, comparisons=comparisons)


def _compared(first: "Evaluation", second: "Evaluation", seed: int) -> _Comparison:
    from kb_pipeline.harness import Incomparable, compare

    try:
        differences, refused = compare(first, second, seed=seed), None
    except Incomparable as error:
        differences, refused = {}, str(error)
    return _Comparison(first=first.name, second=second.name, differences=differences, refused=refused)


def _facts(result: _Result) -> dict[str, Any]:
    return {
        "tenant": result.matter.tenant,
        "runs": [
            {
                "name": evaluation.name,
                "measures": evaluation.measures,
                "counts": _added(run.counts, evaluation.counts),
            }
            for run, evaluation in zip(result.matter.runs, result.evaluations, strict=True)
        ],
        "comparisons": result.comparisons,
    }


def _write(results: "Sequence[_Result]") -> None:
    from kb_pipeline.cli.evaluation_table import write_comparison, write_evaluation

    for result in results:
        if tenant := result.matter.tenant:
            write_text(f"organisation {tenant.org_id}, specialist {tenant.specialist_id}", hanging=4)
        for run, evaluation in zip(result.matter.runs, result.evaluations, strict=True):
            write_evaluation(evaluation.name, _added(run.counts, evaluation.counts), evaluation.measures)
        for comparison in result.comparisons:
            if comparison.differences:
                write_comparison(comparison.first, comparison.second, comparison.differences)


def _added(reading: Mapping[str, int], evaluation: Mapping[str, int]) -> dict[str, int]:
    """Counts of both, added up where both know them: repeated documents of the file, and those that a map made."""
    return {name: reading.get(name, 0) + evaluation.get(name, 0) for name in dict.fromkeys([*evaluation, *reading])}
