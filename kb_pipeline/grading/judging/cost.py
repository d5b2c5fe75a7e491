"""What a judge call will cost, before it is made, and what fits into one.

Belongs here: estimates of tokens from characters. Does not: what a server reports afterwards.
"""

from kb_pipeline.grading.judging.prompt import INSTRUCTION, REMINDER, build_messages, reply_tokens
from kb_pipeline.records import Metrics, Triad

# Between English (about 4) and Indonesian (about 3) in the tokenizers of common models: an estimate, on the high side.
CHARS_PER_TOKEN = 3.3
# The window of a judge that tells none.
ASSUMED_CONTEXT_TOKENS = 32_768
# Borders, notes and whatever a chat template puts around the messages.
_FRAME_CHARS = 1_000
_NONCE = "0" * 16
FIXED_CHARS = len(INSTRUCTION) + len(REMINDER) + _FRAME_CHARS


def estimate_tokens(triad: Triad, metrics: Metrics) -> int:
    """Prompt tokens of the judge call for a turn, or a part of one, estimated from its characters."""
    messages = build_messages(triad, metrics, nonce=_NONCE)
    return round(sum(len(str(message["content"])) for message in messages) / CHARS_PER_TOKEN)


def tokens_of(calls: int, characters: int) -> int:
    """The same for `calls` calls with `characters` characters of question, context and answer in all."""
    return round((calls * FIXED_CHARS + characters) / CHARS_PER_TOKEN)


def characters_within(context_tokens: int) -> int:
    """Characters of question, history, context and answer that fit a judge's window beside instruction and reply."""
    room = (context_tokens - reply_tokens(context_tokens)) * CHARS_PER_TOKEN - FIXED_CHARS
    return max(0, int(room))
