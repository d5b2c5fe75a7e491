"""The retrieval harness's side: queries with judgments, exports, evaluation of a ranked run."""

from kb_pipeline.harness.beir import BeirCorpus, BeirQuerySource
from kb_pipeline.harness.comparison import Difference, compare
from kb_pipeline.harness.documents import CorpusDocument, CorpusProvider
from kb_pipeline.harness.evaluation import Evaluation, evaluate
from kb_pipeline.harness.export_folder import manifest_to_replace
from kb_pipeline.harness.exporting import TenantExport, export
from kb_pipeline.harness.failures import ExportRefused, Incomparable, NotEvaluable, UnreadableFile
from kb_pipeline.harness.identifiers import read_id_map
from kb_pipeline.harness.intervals import Estimate
from kb_pipeline.harness.labelled import Judgments, LabelledQuery, Provenance
from kb_pipeline.harness.measures import DEFAULT_MEASURES
from kb_pipeline.harness.postgres_corpus import PostgresCorpus
from kb_pipeline.harness.postgres_queries import PostgresQuerySource, tenants_with_ground_truth
from kb_pipeline.harness.qrels import read_qrels
from kb_pipeline.harness.recognition import recognised
from kb_pipeline.harness.recorded_runs import recorded_engines, runs_from_events
from kb_pipeline.harness.runs import Run, read_run
from kb_pipeline.harness.sources import QueryList, QuerySource
from kb_pipeline.harness.splits import ByCluster, ByTime, Split, split
from kb_pipeline.harness.trec import TrecQuerySource

__all__ = [
    "DEFAULT_MEASURES",
    "BeirCorpus",
    "BeirQuerySource",
    "ByCluster",
    "ByTime",
    "CorpusDocument",
    "CorpusProvider",
    "Difference",
    "Estimate",
    "Evaluation",
    "ExportRefused",
    "Incomparable",
    "Judgments",
    "LabelledQuery",
    "NotEvaluable",
    "PostgresCorpus",
    "PostgresQuerySource",
    "Provenance",
    "QueryList",
    "QuerySource",
    "Run",
    "Split",
    "TenantExport",
    "TrecQuerySource",
    "UnreadableFile",
    "compare",
    "evaluate",
    "export",
    "manifest_to_replace",
    "read_id_map",
    "read_qrels",
    "read_run",
    "recognised",
    "recorded_engines",
    "runs_from_events",
    "split",
    "tenants_with_ground_truth",
]
