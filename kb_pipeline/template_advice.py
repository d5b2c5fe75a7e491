"""Advice on templates, wired: settings and a database become proposals for markers that would fit.

Belongs here: composition. Does not: looking for markers, words and YAML.
"""

from collections.abc import Callable, Iterable

from kb_pipeline.adapters.postgres.grader import grader_database
from kb_pipeline.adapters.postgres.unparsed import PostgresUnparsedCalls
from kb_pipeline.grading.judging import INSTRUCTION
from kb_pipeline.settings import Settings
from kb_pipeline.steps.suggest import MAX_BODY_BYTES, Suggestion, suggest
from kb_pipeline.windows import Window


def suggested_templates(
    settings: Settings, surfaces: Iterable[str], window: Window, *, on_progress: Callable[[int], None] | None = None
) -> list[Suggestion]:
    """What the markers of the configured `surfaces` probably are, from the window's calls that they do not fit.

    The reading of stored requests is recorded. `on_progress` hears how many more calls were read.
    """
    quality = settings.rag_quality
    with grader_database(settings.database_url) as database:
        calls = PostgresUnparsedCalls(database, pipeline_tenant=quality.judge_tenant, max_body_bytes=MAX_BODY_BYTES)
        return [
            suggest(
                window,
                calls=calls,
                template=quality.surfaces[name].template(name),
                judge_instruction=INSTRUCTION,
                redact=settings.redaction.compiled(),
                on_progress=on_progress,
            )
            for name in surfaces
        ]
