"""Request and response to a triad.

Belongs here: which messages make up the turn, what is history, the status of the pair. Does not: cutting one message.

The turn is the last user message with what surrounds it since the assistant last spoke. Its sections may be spread: the
context may stand in a user message of its own, in a tool's result, or in a system message besides the instruction. The
instruction itself (the first system message, and any that holds all synthesis markers) is never read: its examples are
no turn. A message that carries a question of its own is another turn, and lends no context to this one.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kb_pipeline.grading.bodies import PromptMessage, Request, Response
from kb_pipeline.grading.bodies.reasoning import without_reasoning
from kb_pipeline.grading.extraction.passages import headers_of, read_section
from kb_pipeline.grading.extraction.sections import Sections, context_in, looks_retrieved, split
from kb_pipeline.grading.extraction.template import SurfaceTemplate
from kb_pipeline.grading.extraction.truncation import is_cut
from kb_pipeline.records import PARSED_STATUSES, Message, ParseStatus, Passage, Triad

_INSTRUCTING = frozenset({"system", "developer"})
# A person may quote the mark of a cut; a gateway leaves it in texts that were too long for it.
_LONG_QUESTION = 1000


class _Turn(NamedTuple):
    status: ParseStatus
    question: str = ""
    context: str = ""
    passages: tuple[Passage, ...] = ()
    history: tuple[Message, ...] = ()


def is_synthesis(request: Request, template: SurfaceTemplate) -> bool:
    """Whether the request is a synthesis call of the surface: all markers occur in its system (or developer) messages.

    The case counts, because a router may speak of the same things; white space and Unicode normal form do not.
    """
    instruction = "\n".join([message.text for message in request.messages if message.role in _INSTRUCTING])
    for marker in template.synthesis_markers:
        if marker not in instruction and _levelled(marker) not in _levelled(instruction):
            return False
    return bool(instruction and template.synthesis_markers)


def extract(request: Request, response: Response, template: SurfaceTemplate) -> Triad:
    """The triad of one pair. What is wrong with the response outranks what is wrong with the request."""
    turn = _read_turn(request.messages, template)
    status = response.parse_status
    if turn.status is not ParseStatus.OK and status in PARSED_STATUSES:
        status = turn.status
    return Triad(
        parse_status=status,
        question=turn.question,
        context=turn.context,
        passages=turn.passages,
        answer=response.answer,
        finish_reason=response.finish_reason,
        history=turn.history,
    )


def _read_turn(messages: Sequence[PromptMessage], template: SurfaceTemplate) -> _Turn:
    asked = len(messages) - 1
    while asked >= 0 and messages[asked].role != "user":
        asked -= 1
    if asked < 0:
        return _Turn(ParseStatus.NO_QUESTION)
    text = messages[asked].text.strip()
    own = split(text, template)
    if own.question and own.context is not None:
        status = ParseStatus.TRUNCATED_PROMPT if _is_cut(own, template) else ParseStatus.OK
        is_alone = asked == 0 or (asked == 1 and messages[0].role in _INSTRUCTING)
        history = () if is_alone else _history(messages[:asked], template)
        return _Turn(status, own.question, own.context, own.passages, history)
    return _SpreadTurn(messages, asked, own, template).read()


def _is_cut(sections: Sections, template: SurfaceTemplate) -> bool:
    context = sections.context or ""
    pieces = [passage.text for passage in sections.passages] or [context]
    header = template.headers.lenient.search(context) if sections.passages else None
    if header and header.start():
        pieces.insert(0, context[: header.start()])
    if sections.rest:
        pieces.insert(0, sections.rest)
    if sections.question and len(sections.question) > _LONG_QUESTION:
        pieces.insert(0, sections.question)
    return is_cut(pieces)


class _SpreadTurn:
    """A turn whose sections do not stand together in the last user message."""

    def __init__(self, messages: Sequence[PromptMessage], asked: int, own: Sections, template: SurfaceTemplate) -> None:
        self.messages = messages
        self.asked = asked
        self.own = own
        self.template = template
        self.start = asked
        while self.start > 0 and messages[self.start - 1].role != "assistant":
            self.start -= 1
        self.used: set[int] = {asked}
        roles = [message.role for message in messages]
        self.first_assistant = roles.index("assistant") if "assistant" in roles else len(roles)
        self.instruction = next((i for i, role in enumerate(roles) if role in _INSTRUCTING), -1)

    def read(self) -> _Turn:
        """The turn, from wherever its sections stand."""
        question = self._question()
        sources = [self.own] if self.own.context is not None else list(self._contexts())
        context, passages, status = self._joined(sources) if sources else self._fallback()
        if _is_cut(Sections(question, context, passages, self._beside(question)), self.template):
            status = ParseStatus.TRUNCATED_PROMPT
        elif not question:
            status = ParseStatus.NO_QUESTION
        earlier = [message for i, message in enumerate(self.messages[: self.asked]) if i not in self.used]
        return _Turn(status, question, context, passages, _history(earlier, self.template))

    def _beside(self, question: str) -> str:
        """What else a cut may have gone through: the whole message where it took a marker along."""
        lost_marker = not question or (self.own.context is None and self.own.rest)
        return self.messages[self.asked].text if lost_marker else self.own.rest

    def _question(self) -> str:
        """The own one; where the last message is nothing but a context, that of the nearest user message before."""
        if self.own.question is not None or self.own.context is None:
            return self.own.question or ""
        for i in range(self.asked - 1, self.start - 1, -1):
            if self.messages[i].role == "user":
                found = split(self.messages[i].text.strip(), self.template)
                if found.question and found.context is None:
                    self.used.add(i)
                    return found.question
                return ""
        return ""

    def _contexts(self) -> Iterator[Sections]:
        """The context sections around the last user message, in the order of the prompt."""
        for i, message in enumerate(self.messages):
            if message.role == "tool" and self._is_this_turns_tool(i):
                found = context_in(message.text, self.template)
            elif message.role in _INSTRUCTING and not self._is_instruction(i):
                found = split(message.text, self.template)
            elif message.role == "user" and self.start <= i < self.asked:
                found = split(message.text.strip(), self.template)
            else:
                continue
            if found.context is not None and found.question is None:
                self.used.add(i)
                yield found

    def _joined(self, sources: Sequence[Sections]) -> tuple[str, tuple[Passage, ...], ParseStatus]:
        context = "\n\n".join(source.context for source in sources if source.context)
        return context, tuple(passage for source in sources for passage in source.passages), ParseStatus.OK

    def _fallback(self) -> tuple[str, tuple[Passage, ...], ParseStatus]:
        """The rest of the turn as context, if it looks like one; else nothing was retrieved."""
        tools = [
            m.text.strip() for i, m in enumerate(self.messages) if m.role == "tool" and self._is_this_turns_tool(i)
        ]
        rest = "\n\n".join(filter(None, (self.own.rest if self.own.question else "", *tools)))
        if not any(tools) and not looks_retrieved(rest, self.template):
            rest = self._unmarked_system_context()
        if not rest:
            return "", (), ParseStatus.OK
        return rest, read_section(rest, self.template)[1], ParseStatus.CONTEXT_FALLBACK

    def _unmarked_system_context(self) -> str:
        texts = [m.text for i, m in enumerate(self.messages) if m.role in _INSTRUCTING and not self._is_instruction(i)]
        with_headers = (text.strip() for text in texts if headers_of(text, self.template))
        return "\n\n".join(text for text in with_headers if not self.template.question.on_lines(text))

    def _is_this_turns_tool(self, i: int) -> bool:
        """Behind the last user message; or before it in a conversation where the assistant has not spoken yet."""
        return i > self.asked or self.start <= i < self.first_assistant

    def _is_instruction(self, i: int) -> bool:
        text = self.messages[i].text
        return i == self.instruction or all(marker in text for marker in self.template.synthesis_markers)


def _history(messages: Sequence[PromptMessage], template: SurfaceTemplate) -> tuple[Message, ...]:
    """What user and assistant said before, without the context sections of their turns."""
    spoken = ((message.role, _spoken(message, template)) for message in messages)
    return tuple(Message(role=role, text=text) for role, text in spoken if text)


def _spoken(message: PromptMessage, template: SurfaceTemplate) -> str:
    if message.role not in {"user", "assistant"}:
        return ""
    text = message.text.strip() if message.role == "user" else without_reasoning(message.text).strip()
    sections = split(text, template)
    if message.role == "assistant" and sections.context is None:
        return text
    return sections.question or sections.rest


def _levelled(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())
