"""Prompts by their instruction: each kind of call has its own, and so has each version of a template.

Belongs here: which instructions are one. Does not: which group is of turns.
"""

import re
from collections import Counter
from collections.abc import Sequence

from kb_pipeline.grading.templates.prompts import Prompt

_MOST_GROUPS = 24
_MOST_PIECES = 60
_LONGEST_PIECE = 240
_RECURRING = 5
_ALIKE = 0.5
_OPENING_WORDS = 4
_END = re.compile(r"\n|(?<=[.!?:;])\s+")
_DIGITS = re.compile(r"\d+")


def grouped(prompts: Sequence[Prompt]) -> list[list[Prompt]]:
    """The prompts by instruction, the largest group first. What is like no group forms the last one together.

    Two instructions are one where half of their recurring sentences are the same (Jaccard's index), numbers aside.
    """
    sentences = [instruction_sentences(prompt.instruction) for prompt in prompts]
    counts = Counter(sentence for each in sentences for sentence in each)
    recurring = [frozenset(s for s in each if counts[s] >= _RECURRING) for each in sentences]
    leaders: list[frozenset[str]] = []
    groups: list[list[Prompt]] = []
    rest: list[Prompt] = []
    for prompt, found in zip(prompts, recurring, strict=True):
        signature = found or _opening(prompt.instruction)
        place = next((i for i, leader in enumerate(leaders) if _are_alike(signature, leader)), None)
        if place is not None:
            groups[place].append(prompt)
        elif len(leaders) < _MOST_GROUPS:
            leaders.append(signature)
            groups.append([prompt])
        else:
            rest.append(prompt)
    small = [prompt for group in groups if len(group) < _RECURRING for prompt in group]
    whole = sorted((group for group in groups if len(group) >= _RECURRING), key=len, reverse=True)
    return [*whole, *filter(None, [small + rest])]


def instruction_sentences(instruction: str) -> frozenset[str]:
    """The sentences and lines of an instruction, numbers levelled."""
    pieces = (" ".join(piece.split()) for piece in _END.split(instruction, _MOST_PIECES)[:_MOST_PIECES])
    return frozenset(_DIGITS.sub("0", piece[:_LONGEST_PIECE]) for piece in pieces if any(map(str.isalpha, piece)))


def _opening(instruction: str) -> frozenset[str]:
    return frozenset([" ".join(instruction.split(None, _OPENING_WORDS)[:_OPENING_WORDS])])


def _are_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= _ALIKE * len(one | other)
