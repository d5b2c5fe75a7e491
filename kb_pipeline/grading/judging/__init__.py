"""The judge's protocol: what is sent, what counts as a reply, and the key that makes a call repeatable.

Belongs here: prompt, reply reader, response formats, idempotency keys, waits; all pure. Does not: HTTP, time, retries.
"""

from kb_pipeline.grading.judging.backoff import LONGEST_WAIT_OF_HOUR, wait_of_hour, wait_of_judge, wait_of_turn
from kb_pipeline.grading.judging.dialect import Dialect, weaker_dialect
from kb_pipeline.grading.judging.keys import idempotency_key
from kb_pipeline.grading.judging.neutral import neutralise
from kb_pipeline.grading.judging.prompt import (
    INSTRUCTION,
    PROMPT_VERSION,
    RESPONSE_SCHEMA,
    Blocks,
    build_messages,
    nonce_of,
    read_blocks,
    wording,
)
from kb_pipeline.grading.judging.reply import ASPECTS, Aspect, http_date, read_reply, retry_after_seconds

__all__ = [
    "ASPECTS",
    "INSTRUCTION",
    "LONGEST_WAIT_OF_HOUR",
    "PROMPT_VERSION",
    "RESPONSE_SCHEMA",
    "Aspect",
    "Blocks",
    "Dialect",
    "build_messages",
    "http_date",
    "idempotency_key",
    "neutralise",
    "nonce_of",
    "read_blocks",
    "read_reply",
    "retry_after_seconds",
    "wait_of_hour",
    "wait_of_judge",
    "wait_of_turn",
    "weaker_dialect",
    "wording",
]
