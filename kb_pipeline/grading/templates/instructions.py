"""Phrases of the instruction by which a synthesis call is told from any other.

Belongs here: phrases that all calls of one kind have and no call of another kind has. Does not: the kinds (groups).
"""

import re
from collections.abc import Sequence

from kb_pipeline.grading.templates.groups import instruction_sentences
from kb_pipeline.grading.templates.prompts import Prompt

MOST_MARKERS = 2
_SAMPLE = 60
_MOST_LINES = 60
_FEWEST_WORDS = 2
_MOST_WORDS = 5
_LONGEST = 60
_SHORTEST = 8
_LONG_SENTENCE = 30
_QUOTED_SENTENCES = 2
_USUAL = 0.95
_LEAD = re.compile(r"^[\s>#*_\-\u2022`|]*(?:\d{1,2}[.)]\s+)?[*_]*")
_END = re.compile(r"(?<=[.!?:;])\s+|[\"'`<>\[\]{}()|*_#]+")
# Words of what a synthesis call is asked to do: of two phrases, the one with such a word says more.
_TELLING = re.compile(
    r"\b(?:jawab\w*|menjawab|balas\w*|susun\w*|tulis\w*|rangkum\w*|konteks|dokumen|sumber|kutipan|potongan|rujukan"
    r"|answer\w*|respond\w*|repl(?:y|ies)|write|compose|context|passages?|documents?|sources?|excerpts?|only|hanya)\b",
    re.IGNORECASE,
)


def synthesis_markers(
    prompts: Sequence[Prompt], others: Sequence[Prompt], configured: Sequence[str], *, longest: int = _MOST_WORDS
) -> tuple[str, ...]:
    """Those `configured` where they still tell; else those and others, at most two; () where none tell.

    They tell where each stands in nearly every instruction of the prompts, and all together in none of the others.
    """
    instructions = _sample([_levelled(prompt.instruction) for prompt in prompts], _SAMPLE)
    foreign = _sample(list(dict.fromkeys(_levelled(prompt.instruction) for prompt in others)), 4 * _SAMPLE)
    kept = tuple(marker for marker in configured if _is_usual(_levelled(marker), instructions))
    if kept and len(kept) == len(configured) and _tell(kept, foreign):
        return kept
    found = kept[: MOST_MARKERS - 1]
    for phrase in _phrases(prompts, instructions, foreign, longest):
        found = (*found, phrase) if phrase not in found else found
        if len(found) == MOST_MARKERS:
            break
    return found if found and _tell(found, foreign) else ()


def quotes_another(prompt: Prompt, instruction: str) -> bool:
    """Whether the turn's text holds long sentences of an instruction that is another call's."""
    own = " ".join(prompt.instruction.split())
    text = " ".join(prompt.text.split())
    long = [each for each in instruction_sentences(instruction) if len(each) >= _LONG_SENTENCE and "0" not in each]
    return sum(each in text and each not in own for each in long) >= min(_QUOTED_SENTENCES, max(len(long), 1))


def _phrases(prompts: Sequence[Prompt], instructions: Sequence[str], foreign: Sequence[str], longest: int) -> list[str]:
    """The best phrase of each sentence, those of sentences with many telling words first."""
    shortest = min(prompts, key=lambda prompt: len(prompt.instruction)).instruction
    sentences = [each for line in shortest.split("\n")[:_MOST_LINES] for each in _END.split(_LEAD.sub("", line))]
    sentences.sort(key=lambda sentence: -len(_TELLING.findall(sentence)))
    found = (_phrase(sentence, instructions, foreign, longest) for sentence in sentences[: 2 * _MOST_LINES])
    return list(dict.fromkeys(filter(None, found)))


def _phrase(sentence: str, instructions: Sequence[str], foreign: Sequence[str], longest: int) -> str:
    """The first words of a sentence, as few as tell: in every instruction, in no foreign one."""
    words = sentence.split()
    for count in range(_FEWEST_WORDS, min(longest, len(words)) + 1):
        phrase = " ".join(words[:count]).rstrip(",;:.!? ")
        if len(phrase) > _LONGEST or not _may_be_marker(phrase) or not _is_usual(phrase, instructions):
            return ""
        if len(phrase) >= _SHORTEST and count > _FEWEST_WORDS and not any(phrase in each for each in foreign):
            return phrase
    return ""


def _may_be_marker(phrase: str) -> bool:
    return phrase.isprintable() and any(map(str.isalpha, phrase)) and not any(map(str.isdecimal, phrase))


def _tell(markers: Sequence[str], foreign: Sequence[str]) -> bool:
    levelled = [_levelled(marker) for marker in markers]
    return not any(all(marker in each for marker in levelled) for each in foreign)


def _is_usual(phrase: str, instructions: Sequence[str]) -> bool:
    return sum(phrase in each for each in instructions) >= _USUAL * len(instructions)


def _sample(texts: Sequence[str], most: int) -> Sequence[str]:
    return texts[:: max(1, len(texts) // most)][:most]


def _levelled(text: str) -> str:
    return " ".join(text.split())
