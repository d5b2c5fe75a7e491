"""What a retrieval event, a search event and a judgment are, in words that Great Expectations and our SQL are given.

Belongs here: vocabularies and bounds of the three tables, their checks. Does not: how they are checked, their columns,
which are those of sql/schema.sql.
"""

from collections.abc import Collection, Mapping

from kb_pipeline.adapters.expectations.subject import Subject
from kb_pipeline.adapters.postgres.retrieval.queries import load
from kb_pipeline.adapters.postgres.schema_file import columns
from kb_pipeline.records import EvidenceKind, JudgmentStatus, SearchEventType
from kb_pipeline.retrieval.events import MAX_HITS, OTHER_ENGINE

SHA_CHARS = 64
SHA_PATTERN = "^[0-9a-f]+$"
EVENT_TYPES = [str(event_type) for event_type in SearchEventType]
STATUSES = [str(status) for status in JudgmentStatus]
KINDS = [str(kind) for kind in EvidenceKind]
MAX_GRADE = 3
# p and the two masses are rounded to six decimals; more than that may not lie between them.
P_TOLERANCE = 1e-5

COLUMNS_SAY = "The table has its columns in their order and types, and what is always filled is filled."


def retrieval_events(engines: Collection[str]) -> Subject:
    """The events of an hour, whose engines are of the configured list."""
    return _subject(
        "kb_retrieval_event",
        "retrieval_event",
        {
            "ranges": "Sizes and latencies are not negative, engines are configured ones, times and hashes sane.",
            "unique": "Each event stands once, and each message has at most one.",
            "lists": "Results and candidates are lists of distinct documents by rank, and no more than was counted.",
        },
        {"engines": [*engines, OTHER_ENGINE], "max_hits": MAX_HITS},
    )


def search_events() -> Subject:
    """The steps of the experts' searches of an hour."""
    return _subject(
        "kb_search_event",
        "search_event",
        {
            "ranges": "Event types are known words, ranks count from one, times and hashes are sane.",
            "unique": "Each step stands once.",
            "consistent": "A performed search has its query until it expires, a click or a citation its document.",
        },
        {"event_types": EVENT_TYPES},
    )


def judgments() -> Subject:
    """The judgments that were first made in the window: all of them, where it reaches back far enough."""
    return _subject(
        "kb_ground_truth",
        "judgment",
        {
            "ranges": "Grades are 0 to 3, masses are not negative, p is a fraction, words are of their vocabularies.",
            "unique": "Each tenant, query and document has one judgment.",
            "consistent": "A judgment has a grade exactly when it is judged, and p follows from its masses.",
        },
        {"statuses": STATUSES, "kinds": KINDS, "max_grade": MAX_GRADE, "tolerance": P_TOLERANCE},
    )


def _subject(table: str, noun: str, groups: Mapping[str, str], constants: Mapping[str, object]) -> Subject:
    checks = {"schema": COLUMNS_SAY, **groups}
    known = columns(table)
    return Subject(
        table=table,
        groups={f"{table}_{name}": says for name, says in checks.items()},
        columns={each.name: each.type for each in known},
        always_filled=tuple(each.name for each in known if not each.nullable),
        load=load,
        rows=f"expect_{noun}s",
        counts={f"{table}_{name}": f"expect_count_{noun}_{name}" for name in checks},
        constants={"sha_chars": SHA_CHARS, "sha_pattern": SHA_PATTERN, **constants},
    )
