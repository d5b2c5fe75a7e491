"""One message of a prompt, cut at its markers.

Belongs here: which occurrence of a marker opens a section. Does not: which messages belong to the turn.

The rule, in both orders of the sections:

* A marker counts where it opens a line. Elsewhere it is text: of a question that asks about it, of a passage that
  quotes it. Only in a prompt where it opens no line at all it may stand within one, and only where a passage header,
  a statement that nothing was found, or the end follows the context marker.
* The context section opens at the context marker that a passage header follows at once, or a statement that nothing
  was found; of several, at the last one behind an empty line (a question may quote a whole section), else at the first.
  Whichever starts with another rank than 0 or 1 goes without where one does start there: a passage quotes it.
  Where no marker is followed like that: at the last one before the first header; else at the first that is alone on its
  line; else at the last one.
* The question before the context opens at the first question marker of the message, or at the last one before the
  context where a conversation is quoted before it. The question after the context opens at the last question marker
  that follows an empty line, else at the last one: the earlier ones belong to passages.
"""

import re
from typing import NamedTuple

from kb_pipeline.grading.extraction.absence import states_nothing
from kb_pipeline.grading.extraction.passages import header_follows, headers_of, parse_rank, read_section, without_prompt
from kb_pipeline.grading.extraction.questions import unwrapped
from kb_pipeline.grading.extraction.template import Span, SurfaceTemplate
from kb_pipeline.records import Passage

_CONVERSATION = re.compile(r"RIWAYAT|PERCAKAPAN|HISTORY|CONVERSATION|DIALOG|CHAT", re.IGNORECASE)
_EMPTY_LINE_BEFORE = re.compile(r"(?:\r?\n|\r)[ \t]*(?:\r?\n|\r)\s*\Z")
# Where a question ends when no context marker says so: a heading, a tag, a header in brackets, a label in capitals.
_HEADING = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]+\S|<\w[\w -]*>|\[[^\]\n]{0,40}\d[^\]\n]{0,40}\]"
    r"|(?!INSTRU|PERINTAH|TUGAS|TASK)[*_]*[A-Z][A-Z0-9 /_()-]{2,50}[*_]*[:\uff1a]"
    r"|[*_]*(?i:hasil|dokumen|konteks|sumber|referensi|kutipan|rujukan|results?|documents?|contexts?|sources?|passages?)"
    r"\b[\w ()]{0,30}[*_]*[:\uff1a])",
    re.MULTILINE,
)
# What may separate a context too, if it is longer than what people write by the way: an empty line, a label of its own.
_BREAK = re.compile(
    r"(?:\r?\n|\r)(?:[ \t]*(?:\r?\n|\r)|[ \t]*[*_]*[A-Z]\w*(?: [\w()]+){0,2}[*_]*[:\uff1a][*_]*[ \t]*$)", re.MULTILINE
)
_BLANK_REST = re.compile(r"[ \t]*(?:[\r\n]|\Z)")
_UNSEEN = "\u200b\u200c\u200d\u2060\ufeff"
_LONG_REMAINDER = 200
_LONGEST_GAP = 100
_LONGEST_REST = 400


class Sections(NamedTuple):
    """What stands in one message: None for a section whose marker is absent; `rest` is the text outside of both."""

    question: str | None = None
    context: str | None = None
    passages: tuple[Passage, ...] = ()
    rest: str = ""


def split(text: str, template: SurfaceTemplate) -> Sections:
    """The sections of a message's text."""
    return _split_as_written(text, template) or _split_by_rule(text, template)


def context_in(text: str, template: SurfaceTemplate) -> Sections:
    """The sections of a tool's result: whatever stands in it, no question does."""
    span = _context_span(text, template)
    if span:
        return Sections(None, *read_section(text[span.end :], template), text[: span.start].strip())
    if headers_of(text, template):
        return Sections(None, *read_section(text, template))
    return Sections(rest=text)


def looks_retrieved(text: str, template: SurfaceTemplate) -> bool:
    """Whether text outside of the sections is a context whose marker vanished, rather than a word by the way."""
    if not text or states_nothing(text):
        return False
    return len(text) >= _LONG_REMAINDER or _HEADING.search(text) is not None or bool(headers_of(text, template))


def _split_as_written(text: str, template: SurfaceTemplate) -> Sections | None:
    """The common case without regular expressions: the question first, and a header right behind the context marker."""
    question, context = template.question.literal, template.context.first_on_line
    if not text.startswith(question):
        return None
    start = text.find(context, len(question))
    end = start + len(context)
    if start < 0 or not header_follows(text, end, template):
        return None
    found, passages = read_section(text[end:], template)
    for passage in passages:
        if passage.text.endswith(template.context.literal):
            return None  # a second marker: the rule decides
    if passages and template.context.literal in passages[-1].text:
        return None
    return Sections(_question(text[len(question) : start], template), found, passages)


def _split_by_rule(text: str, template: SurfaceTemplate) -> Sections:
    context = _context_span(text, template)
    questions = template.question.on_lines(text)
    if context is None:
        return _without_context(text, questions or _inline_question(text, len(text), template), template)
    opening = _question_before(text, questions, context, template)
    if opening:
        question = _question(text[opening.end : context.start], template)
        return Sections(question, *read_section(text[context.end :], template), text[: opening.start].strip())
    closing = _question_after(text, questions, context, template)
    if closing is None:
        return Sections(None, *read_section(text[context.end :], template), text[: context.start].strip())
    section = read_section(text[context.end : closing.start], template)
    return Sections(_question(text[closing.end :], template), *section, text[: context.start].strip())


def _question_before(text: str, questions: list[Span], context: Span, template: SurfaceTemplate) -> Span | None:
    before = [span for span in questions if span.start < context.start]
    if before:
        return _first_or_after_conversation(before, text)
    if any(span.start >= context.end and _is_after_empty_line(span, text) for span in questions):
        return None
    return next(iter(_inline_question(text, context.start, template)), None)


def _question_after(text: str, questions: list[Span], context: Span, template: SurfaceTemplate) -> Span | None:
    after = [span for span in questions if span.start >= context.end]
    if not after and "\n" not in text:
        after = [span for span in template.question.anywhere(text) if span.start >= context.end]
    return _last_after_empty_line(after, text) if after else None


def _context_span(text: str, template: SurfaceTemplate) -> Span | None:
    spans = template.context.on_lines(text)
    followed = [span for span in spans or template.context.anywhere(text) if _context_follows(text, span, template)]
    if followed:
        followed = [span for span in followed if _starts_the_list(text, span, template)] or followed
        return next((span for span in reversed(followed) if _is_after_empty_line(span, text)), followed[0])
    if not spans:
        return None
    header = next((each.start() for each in headers_of(text, template) if each.start() > spans[0].end), None)
    if header is not None:
        return [span for span in spans if span.end <= header][-1]
    return next((span for span in spans if _is_alone(span, text)), spans[-1])


def _context_follows(text: str, span: Span, template: SurfaceTemplate) -> bool:
    rest = text[span.end : span.end + _LONGEST_REST]
    return header_follows(text, span.end, template) or (len(rest) < _LONGEST_REST and states_nothing(rest.strip()))


def _starts_the_list(text: str, span: Span, template: SurfaceTemplate) -> bool:
    """Whether the first passage behind a context marker has the rank of a first passage, or none."""
    header = template.headers.lenient.search(text, span.end, span.end + _LONGEST_REST)
    rank = header["rank"] if header and template.headers.rank else None
    return rank is None or parse_rank(rank[:_LONGEST_GAP]) in {None, 0, 1}


def _is_after_empty_line(span: Span, text: str) -> bool:
    return _EMPTY_LINE_BEFORE.search(text, max(0, span.start - _LONGEST_GAP), span.start) is not None


def _is_alone(span: Span, text: str) -> bool:
    return _BLANK_REST.match(text, span.end) is not None


def _inline_question(text: str, end: int, template: SurfaceTemplate) -> list[Span]:
    """Where the question marker opens no line: the first place where it stands as written."""
    return [span for span in template.question.anywhere(text) if span.end <= end][:1]


def _first_or_after_conversation(spans: list[Span], text: str) -> Span:
    return spans[-1] if _CONVERSATION.search(text, 0, spans[0].start) else spans[0]


def _last_after_empty_line(spans: list[Span], text: str) -> Span:
    return next((span for span in reversed(spans) if _is_after_empty_line(span, text)), spans[-1])


def _without_context(text: str, questions: list[Span], template: SurfaceTemplate) -> Sections:
    if not questions:
        return Sections(rest=text.strip())
    headers = headers_of(text, template)
    context_first = bool(headers) and headers[0].start() < questions[0].start
    opening = (
        _last_after_empty_line(questions, text) if context_first else _first_or_after_conversation(questions, text)
    )
    end = _end_of_question(text, opening.end, template)
    rest = (text[: opening.start].strip(), text[end:].strip())
    return Sections(_question(text[opening.end : end], template), rest="\n\n".join(filter(None, rest)))


def _end_of_question(text: str, start: int, template: SurfaceTemplate) -> int:
    """Where the question ends when no context marker follows: at structure, or at a long text behind a break."""
    while text[start : start + 1].isspace():
        start += 1
    heading = _HEADING.search(text, start + 1)
    header = next((each.start() for each in headers_of(text, template) if each.start() > start), len(text))
    end = min(heading.start() if heading else len(text), header)
    pause = _BREAK.search(text, start, end)
    return pause.start() if pause and len(text[pause.end() : end].strip()) >= _LONG_REMAINDER else end


def _question(text: str, template: SurfaceTemplate) -> str:
    text = text.strip()
    while text and (text[0] in _UNSEEN or text[-1] in _UNSEEN):
        text = text.strip(_UNSEEN).strip()
    return unwrapped(without_prompt(template.question.before_closing_tag(text), 1, template))
