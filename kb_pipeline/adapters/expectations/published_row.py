"""What a published row is, in words that both Great Expectations and our SQL are given.

Belongs here: columns, vocabularies and bounds of rag_quality, its checks. Does not: how they are checked.
"""

from collections.abc import Mapping

from kb_pipeline.adapters.expectations.subject import Subject
from kb_pipeline.adapters.postgres.queries import load
from kb_pipeline.records import ErrorClass, JudgeStatus, ParseStatus

SCHEMA = "rag_quality_schema"
RANGES = "rag_quality_ranges"
UNIQUE = "rag_quality_unique"
STATUS_CONSISTENT = "rag_quality_status_consistent"

COLUMNS: Mapping[str, str] = {
    "event_id": "text",
    "trace_id": "text",
    "ts": "timestamp with time zone",
    "tenant": "text",
    "engine": "text",
    "surface": "text",
    "question_sha": "text",
    "question_preview": "text",
    "parse_status": "text",
    "had_context": "boolean",
    "num_passages": "integer",
    "top_score": "double precision",
    "mean_score": "double precision",
    "context_chars": "integer",
    "answer_chars": "integer",
    "refused": "boolean",
    "answer_truncated": "boolean",
    "faithfulness": "double precision",
    "answer_relevance": "double precision",
    "context_relevance": "double precision",
    "faithfulness_reason": "text",
    "answer_relevance_reason": "text",
    "context_relevance_reason": "text",
    "judge_status": "text",
    "error_class": "text",
    "skip_reason": "text",
    "judge_model": "text",
    "prompt_version": "text",
    "support_score": "double precision",
    "evidence_intact": "boolean",
    "judged_at": "timestamp with time zone",
    "created_at": "timestamp with time zone",
    "disagreement": "double precision",
    "judge_parts": "integer",
}
ALWAYS_FILLED = (
    "event_id",
    "ts",
    "tenant",
    "engine",
    "surface",
    "parse_status",
    "had_context",
    "num_passages",
    "context_chars",
    "answer_chars",
    "refused",
    "answer_truncated",
    "judge_status",
    "created_at",
)
FRACTIONS = ("faithfulness", "answer_relevance", "context_relevance", "support_score", "disagreement")
FINITE = ("top_score", "mean_score")
SIZES = ("num_passages", "context_chars", "answer_chars")
PREVIEW_CHARS = 120
SHA_CHARS = 64
# Without a length: PostgreSQL takes fifteen times as long over [0-9a-f]{64}.
SHA_PATTERN = "^[0-9a-f]+$"

PARSE_STATUSES = [str(status) for status in ParseStatus]
JUDGE_STATUSES = [str(status) for status in JudgeStatus]
ERROR_CLASSES = [str(error_class) for error_class in ErrorClass]

RAG_QUALITY = Subject(
    table="rag_quality",
    groups={
        SCHEMA: "The table has its columns in their order and types, and what is always filled is filled.",
        RANGES: "Scores are fractions or null, sizes are not negative, previews and hashes have their form.",
        UNIQUE: "Each turn stands once, and the ledger knows it as a living turn of the same instant.",
        STATUS_CONSISTENT: "Statuses are known words and agree with the scores, reasons and metrics beside them.",
    },
    columns=COLUMNS,
    always_filled=ALWAYS_FILLED,
    load=load,
    rows="expect_rows",
    counts={
        SCHEMA: "expect_count_nulls",
        RANGES: "expect_count_ranges",
        UNIQUE: "expect_count_unique",
        STATUS_CONSISTENT: "expect_count_status_consistent",
    },
    constants={
        "preview_chars": PREVIEW_CHARS,
        "sha_chars": SHA_CHARS,
        "sha_pattern": SHA_PATTERN,
        "parse_statuses": PARSE_STATUSES,
        "judge_statuses": JUDGE_STATUSES,
        "error_classes": ERROR_CLASSES,
    },
)
