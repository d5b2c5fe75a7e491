"""A prompt as its template is looked for: what instructs, and what the turn says.

Belongs here: choosing the messages that may hold markers. Does not: what recurs in them.
"""

from dataclasses import dataclass
from datetime import datetime

from kb_pipeline.grading.bodies import PromptMessage, Request

# Characters of all messages together; a prompt beyond it is no help in finding what prompts have in common.
LONGEST_PROMPT = 200_000
_LONGEST_HEAD = 60_000
_LONGEST_TAIL = 10_000
_INSTRUCTING = frozenset({"system", "developer"})
_SPACES = str.maketrans(dict.fromkeys("\t\xa0\u2007\u2009\u202f\u3000", " ") | {"\u200b": "", "\ufeff": ""})


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    """One stored request. `is_turn`: the ledger has it as a synthesis call, and `ts` as completed then.

    `instruction` is what its system and developer messages say; `text` what the messages since the assistant last spoke
    say, the instruction aside, with plain spaces and line feeds and without the midst of what is very long.
    """

    request: Request
    instruction: str
    text: str
    ts: datetime
    is_turn: bool

    @property
    def instruction_line(self) -> str:
        """The instruction with single spaces, as a phrase over several of its lines is looked for."""
        return " ".join(self.instruction.split())

    @property
    def characters(self) -> int:
        """How much it takes to keep."""
        return sum(len(message.text) for message in self.request.messages) + len(self.instruction) + len(self.text)


def prompt_of(request: Request, *, ts: datetime, is_turn: bool) -> Prompt | None:
    """The prompt in a request; None where no user speaks, or where it is longer than LONGEST_PROMPT."""
    messages = request.messages
    asked = next((i for i in reversed(range(len(messages))) if messages[i].role == "user"), -1)
    if asked < 0 or sum(len(message.text) for message in messages) > LONGEST_PROMPT:
        return None
    instructing = [message.text for message in messages if message.role in _INSTRUCTING]
    return Prompt(
        request=request,
        instruction=_plain("\n".join(instructing)),
        text=_shortened(_plain("\n\n".join(_of_the_turn(messages, asked)))),
        ts=ts,
        is_turn=is_turn,
    )


def _of_the_turn(messages: tuple[PromptMessage, ...], asked: int) -> list[str]:
    start = asked
    while start > 0 and messages[start - 1].role != "assistant":
        start -= 1
    instruction = next((i for i, message in enumerate(messages) if message.role in _INSTRUCTING), -1)
    beside = [
        message.text.strip()
        for i, message in enumerate(messages)
        if i != instruction
        and (message.role in _INSTRUCTING or (i >= start and message.role in {"user", "tool"}))
        and i != asked
    ]
    return [*filter(None, beside), messages[asked].text.strip()]


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_SPACES)


def _shortened(text: str) -> str:
    if len(text) <= _LONGEST_HEAD + _LONGEST_TAIL:
        return text
    return f"{text[:_LONGEST_HEAD]}\n{text[-_LONGEST_TAIL:]}"
