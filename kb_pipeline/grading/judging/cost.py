"""What a judge call will cost, before it is made.

Belongs here: the estimate of a prompt's tokens. Does not: what a server reports afterwards.
"""

from kb_pipeline.grading.judging.prompt import INSTRUCTION, build_messages
from kb_pipeline.records import Metrics, Triad

# Between English (about 4) and Indonesian (about 3) in the tokenizers of common models: an estimate, on the high side.
CHARS_PER_TOKEN = 3.3
RESERVED_TOKENS = 1_500
_NONCE = "0" * 16


def estimate_tokens(triad: Triad, metrics: Metrics) -> int:
    """Prompt tokens of the judge call for a turn, estimated from its characters."""
    messages = build_messages(triad, metrics, nonce=_NONCE)
    return round(sum(len(str(message["content"])) for message in messages) / CHARS_PER_TOKEN)


def tokens_of(turns: int, characters: int) -> int:
    """The same for `turns` turns with `characters` characters of question, context and answer in all."""
    return round((turns * 2 * len(INSTRUCTION) + characters) / CHARS_PER_TOKEN)


def characters_within(context_tokens: int) -> int:
    """Characters of context and answer that surely fit a judge's context window, beside instruction and reply."""
    # The instruction is sent before and repeated after the data; the rest is for question, history and reply.
    room = context_tokens - 2 * len(INSTRUCTION) / CHARS_PER_TOKEN - RESERVED_TOKENS
    return max(0, int(room * CHARS_PER_TOKEN))
