"""The answer without the thinking that a model put into the same text.

Belongs here: how models and servers mark reasoning inside the content. Does not: reasoning in fields of its own.
"""

import re

# Element names, with or without a namespace: <think>, <thinking time="3">, <seed:think>, <antThinking>.
_NAMES = (
    r"(?:\w+:)?(?:think|thinking|thoughts?|reasoning|reflection|scratchpad|inner[_ ]?monologue|antthinking"
    r"|longcat_think|berpikir|pikiran|pemikiran|penalaran|思考)"
)
_OPEN = (
    rf"<\s*{_NAMES}(?:\s[^<>]*)?>|◁think▷|\[THINK\]|<\|(?:begin_of_thought|START_THINKING|inner_prefix|thinking|think)\|>"
    r"|<unused94>|<\|channel>\s*thought\b"
)
_CLOSE = (
    rf"<\s*/\s*{_NAMES}\s*>|◁/think▷|\[/THINK\]|<\|(?:end_of_thought|END_THINKING|inner_suffix|/thinking|/think)\|>"
    r"|<unused95>|<channel\|>"
)
_TAG = re.compile(rf"(?<!`)(?:(?P<open>{_OPEN})|(?P<close>{_CLOSE}))(?!`)", re.IGNORECASE)
# What models put around the answer once they have thought.
_WRAPPED = re.compile(
    r"\s*(?:<(?P<name>answer|response|final_answer|jawaban)>(?P<inner>.*?)(?:</(?P=name)>)?"
    r"|<\|(?:begin_of_solution|START_RESPONSE)\|>(?P<solution>.*?)(?:<\|(?:end_of_solution|END_RESPONSE)\|>)?)\s*",
    re.DOTALL | re.IGNORECASE,
)
# The channels of the Harmony format; a message ends with one of its control tokens.
_CHANNEL = re.compile(
    r"<\|channel\|>\s*(?P<name>\w++)[^<]*+(?:<\|constrain\|>[^<]*+)?<\|message\|>"
    r"(?P<text>.*?)(?=<\|(?:end|return|call|start|channel)\|>|\Z)",
    re.DOTALL,
)
_BARE_CHANNELS = re.compile(
    r"analysis(?=[A-Z\s]).*assistant\s*final(?P<text>.*)|analysis(?=[A-Z]).*|final\s*<\|message\|>(?P<final>.*)",
    re.DOTALL,
)
_UNMARKED = ("analysis", "final", "Here")
_SPOKEN = re.compile(
    r"\s*Here(?: is|'s) my thought process:.*?(?:Here(?: is|'s) my response:(?P<text>.*)|(?P<final>\Z))", re.DOTALL
)


def without_reasoning(content: str) -> str:
    """The answer in `content`: text as it is when nothing in it is marked as reasoning, "" when everything is.

    Reasoning is a marked block anywhere, everything before a closing mark that was never opened, and everything after
    an opening mark at the start of a line that is never closed. A mark between backticks is text.
    """
    if "<" not in content and "◁" not in content and ("[" not in content or "[THINK]" not in content):
        return _without_unmarked(content) if content.startswith(_UNMARKED) else content
    if "<|channel|>" in content:
        return _final_channel(content)
    if content.startswith(_UNMARKED):
        content = _without_unmarked(content)
    kept = _outside_of_blocks(content)
    if kept is None:
        return content
    wrapped = _WRAPPED.fullmatch(kept)
    answer = (wrapped["inner"] or wrapped["solution"] or "") if wrapped else kept
    return answer.lstrip()


def _without_unmarked(content: str) -> str:
    for pattern in (_BARE_CHANNELS, _SPOKEN):
        match = pattern.fullmatch(content)
        if match:
            return (match["text"] or match["final"] or "").lstrip()
    return content


def _final_channel(content: str) -> str:
    messages = list(_CHANNEL.finditer(content))
    if not messages:
        return content
    return "".join(message["text"] for message in messages if message["name"] == "final").strip()


def _outside_of_blocks(content: str) -> str | None:
    """What stands outside of reasoning blocks; None when there is no block."""
    kept: list[str] = []
    position = 0
    found = False
    while tag := _TAG.search(content, position):
        if tag["close"]:  # never opened: everything up to here was reasoning
            kept.clear()
            found, position = True, tag.end()
            continue
        end = _end_of_block(content, tag)
        if end is None:
            break
        kept.append(content[position : tag.start()])
        found, position = True, end
    return "".join((*kept, content[position:])) if found else None


def _end_of_block(content: str, tag: re.Match[str]) -> int | None:
    """Where the block that `tag` opens ends; None when the tag is only mentioned in the text."""
    for later in _TAG.finditer(content, tag.end()):
        if later["close"]:
            return later.end()
    line_start = content.rfind("\n", 0, tag.start()) + 1
    return None if content[line_start : tag.start()].strip() else len(content)
