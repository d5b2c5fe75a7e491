"""What one choice of a completion says, and the verdict on it.

Belongs here: finish reasons, the order of verdicts. Does not: how the choice was found or folded.
"""

import re
from functools import lru_cache

import msgspec

from kb_pipeline.grading.bodies.failures import is_placeholder
from kb_pipeline.grading.bodies.reasoning import without_reasoning
from kb_pipeline.records import ParseStatus

_LENGTH_REASONS = frozenset(
    "length max_tokens model_length max_output_tokens max_length token_limit model_context_window_exceeded"
    " context_window_exceeded context_length_exceeded error_limit".split()
)
_FILTER_REASONS = frozenset(
    "content_filter content_filtered contentfilter safety blocked blocklist prohibited_content image_safety"
    " recitation spii guardrail_intervened guardrails sensitive content_policy moderation error_toxic".split()
)
_TOOL_REASONS = frozenset(
    "tool_calls function_call tool_use tool_call malformed_function_call unexpected_tool_call".split()
)
_REFUSAL_REASONS = frozenset({"refusal"})
# The server gave up; what it had written until then is no answer.
_BROKEN_REASONS = frozenset(
    "error abort aborted cancelled canceled insufficient_system_resource network_error timeout failed".split()
)
# Tool calls that the server's parser left in the text: at its start, or as a block with arguments behind some words.
_TOOL_MARKUP = re.compile(
    r"\s*(?:<(?:\w+:)?tool_(?:calls?|code|use)>|<function(?:_calls?>|=\w)|\[TOOL_(?:CALLS|REQUEST)\]|<\|python_tag\|>"
    r"|<\|tool_calls?(?:\|>|_)|<｜tool▁calls?▁)",
    re.IGNORECASE,
)
_TOOL_BLOCK = re.compile(
    r"[\r\n][ \t]{0,40}(?:<tool_call>\s*(?:\{|<function=)|<｜tool▁calls▁begin｜>|<\|tool_calls_section_begin\|>)"
)
_TOOL_CHANNEL = re.compile(r"<\|channel\|>\s*\w+\s+to=|\Aanalysis[A-Z].*assistant\s*commentary\s+to=", re.DOTALL)
_MARKUP_SIGNS = ("<", "[", " ", "\t", "\n")
# A text whose midst the keeper of the body cut out, for example `... (litellm_truncated skipped 912 chars. ...) ...`.
_CUT_TEXT = re.compile(r"(?:\.{3}|…)\s*[\[(<]\W{0,4}(?:\w+_)?truncated\b[^\])>]{0,40}?\d", re.IGNORECASE)


class Response(msgspec.Struct, frozen=True, gc=False):
    """One stored response: its own parse_status, the answer without reasoning, and the finish_reason as sent.

    `parse_status` is `ok`, `ok_length` or the reason why there is no answer to grade. `answer` is "" when there is
    none; beside `tool_calls` and `content_filter` it holds the text that came with them.
    """

    parse_status: ParseStatus
    answer: str = ""
    finish_reason: str | None = None


class Reply(msgspec.Struct, gc=False):
    """What a choice carries, gathered from a message or from the deltas of a stream."""

    text: str = ""
    finish_reason: str | None = None
    refused: bool = False
    calls_tools: bool = False
    failed: ParseStatus | None = None


@lru_cache(maxsize=256)
def _levelled(finish_reason: str) -> str:
    """One spelling for `MAX_TOKENS`, `FinishReason.MAX_TOKENS`, `max-tokens` and `content_filter: SAFETY`."""
    name = finish_reason.partition(":")[0].rpartition(".")[2]
    return re.sub(r"[\s-]+", "_", name.strip().lower())


def is_length(finish_reason: str | None) -> bool:
    """Whether a finish_reason, in any server's words, says that a limit of tokens cut the answer."""
    return finish_reason is not None and finish_reason != "stop" and _levelled(finish_reason) in _LENGTH_REASONS


def judged(reply: Reply) -> Response:
    """The response that a reply amounts to."""
    answer = without_reasoning(reply.text)
    if answer.isspace():
        answer = ""
    status = text_status(answer)
    if (
        reply.finish_reason != "stop"
        or reply.calls_tools
        or reply.refused
        or reply.failed
        or not answer
        or answer[:1] in _MARKUP_SIGNS
        or "<tool_call>" in answer
        or "<｜tool▁" in answer
        or "<|tool_" in answer
    ):
        status = _status(reply, answer, status)
    is_hidden = status is ParseStatus.ERROR or status is ParseStatus.REDACTED or status is ParseStatus.TRUNCATED_JSON
    return Response(status, "" if is_hidden else answer, reply.finish_reason)


def _status(reply: Reply, answer: str, status: ParseStatus) -> ParseStatus:
    finish = _levelled(reply.finish_reason or "")
    if reply.failed or finish in _BROKEN_REASONS:
        return reply.failed or ParseStatus.ERROR
    if finish in _FILTER_REASONS:
        return ParseStatus.CONTENT_FILTER
    if reply.calls_tools or finish in _TOOL_REASONS or _is_tool_markup(reply, answer):
        return ParseStatus.TOOL_CALLS
    if finish in _REFUSAL_REASONS or (reply.refused and not answer):
        return ParseStatus.REFUSAL
    return ParseStatus.OK_LENGTH if status is ParseStatus.OK and finish in _LENGTH_REASONS else status


def _is_tool_markup(reply: Reply, answer: str) -> bool:
    if not answer:
        return _TOOL_CHANNEL.search(reply.text) is not None
    return _TOOL_MARKUP.match(answer) is not None or _TOOL_BLOCK.search(answer) is not None


def text_status(answer: str) -> ParseStatus:
    """`ok`, or why a text is no answer: nothing in it, a place-holder, or a text that its keeper cut."""
    if not answer:
        return ParseStatus.EMPTY_ANSWER
    if is_placeholder(answer):
        return ParseStatus.REDACTED
    if ("(" in answer or "[" in answer or "<" in answer) and _is_cut(answer):
        return ParseStatus.TRUNCATED_JSON
    return ParseStatus.OK


def _is_cut(answer: str) -> bool:
    return ("runcated" in answer or "RUNCATED" in answer) and _CUT_TEXT.search(answer) is not None
