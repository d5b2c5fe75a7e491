"""A context and an answer in pieces small enough to be shown in parts: nothing of either is lost.

Belongs here: where a text is cut, which passage a piece belongs to. Does not: which pieces go together.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from kb_pipeline.records import Passage, Triad
from kb_pipeline.support import segments


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """A stretch of a context, at `start` of it: a whole passage with its header, or as much of one as is short enough.

    `passage` is where the stretch comes from, None where no passages were told apart; `header_chars` of its characters
    are the header.
    """

    start: int
    text: str
    passage: Passage | None
    header_chars: int = 0

    @property
    def end(self) -> int:
        """Where the stretch ends in the context."""
        return self.start + len(self.text)

    @property
    def body(self) -> str:
        """The stretch without the header."""
        return self.text[self.header_chars :].strip()


def pieces_of(triad: Triad, *, longest: int) -> list[Piece]:
    """The context in pieces of at most `longest` characters; joined in their order they are the context.

    A passage with its header is one piece where it is short enough, else it is cut between sentences.
    """
    return [piece for span in _spans(triad) for piece in _short(span, longest)]


def _spans(triad: Triad) -> Iterator[Piece]:
    """One span a passage, each from the end of the one before to its own; what is left over is the last one's."""
    end = 0
    spans: list[Piece] = []
    for passage in triad.passages:
        found = triad.context.find(passage.text, end)
        if found < 0:
            # Not the text that the passages were read from: it is shown as it is, without them.
            return iter([Piece(start=0, text=triad.context, passage=None)])
        text = triad.context[end : found + len(passage.text)]
        spans.append(Piece(start=end, text=text, passage=passage, header_chars=found - end))
        end = found + len(passage.text)
    rest = triad.context[end:]
    if rest:
        spans.append(Piece(start=end, text=rest, passage=None))
    return iter(spans)


def _short(span: Piece, longest: int) -> Iterator[Piece]:
    """The span in stretches of sentences, each as long as `longest` allows."""
    if len(span.text) <= longest:
        yield span
        return
    start = 0
    for text in packed(segments(span.text, longest=longest), longest):
        header_chars = min(max(span.header_chars - start, 0), len(text))
        yield Piece(start=span.start + start, text=text, passage=span.passage, header_chars=header_chars)
        start += len(text)


def packed(texts: list[str], longest: int) -> Iterator[str]:
    """The texts in order, as many joined at a time as `longest` characters allow."""
    joined = ""
    for text in texts:
        if joined and len(joined) + len(text) > longest:
            yield joined
            joined = ""
        joined += text
    if joined:
        yield joined
