"""What a judge call will cost, before it is made.

Belongs here: the estimate of a prompt's tokens. Does not: what a server reports afterwards.
"""

from kb_pipeline.grading.judging.prompt import build_messages
from kb_pipeline.records import Metrics, Triad

# Between English (about 4) and Indonesian (about 3) in the tokenizers of common models: an estimate, on the high side.
CHARS_PER_TOKEN = 3.3
_NONCE = "0" * 16


def estimate_tokens(triad: Triad, metrics: Metrics) -> int:
    """Prompt tokens of the judge call for a turn, estimated from its characters."""
    messages = build_messages(triad, metrics, nonce=_NONCE)
    return round(sum(len(str(message["content"])) for message in messages) / CHARS_PER_TOKEN)
