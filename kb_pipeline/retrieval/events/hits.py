"""The list of results, and the pool of candidates behind it: in order, each document and chunk once, bounded.

Belongs here: lists. Does not: the event around them, single values (values.py).
"""

import math
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from kb_pipeline.records.retrieval import Candidate, RetrievedDocument
from kb_pipeline.retrieval.events.objects import value_of
from kb_pipeline.retrieval.events.values import Notes, flag_of, id_of, number_of, score_of, whole_of
from kb_pipeline.retrieval.events.verdict import Note

MAX_HITS = 50
"""Results, and candidates, that one event keeps."""

Listed = Mapping[str, object]


class Key(NamedTuple):
    """What makes two results the same."""

    doc_id: str
    chunk_id: str | None


def in_order(listed: Sequence[object], notes: Notes) -> list[Listed]:
    """The results by their rank; one without a rank stays behind the one before it."""
    ranked: list[tuple[float, Listed]] = []
    rank = -math.inf
    for each in listed:
        if not isinstance(each, dict):
            notes.add(Note.HIT_DROPPED)
            continue
        given = value_of(each, "rank")
        number = number_of(given)
        if number is not None:
            rank = number
        elif given is not None:
            notes.add(Note.NUMBER_DROPPED)
        ranked.append((rank, each))
    ranked.sort(key=itemgetter(0))
    return [each for _, each in ranked]


def hits_of(
    listed: Sequence[object], notes: Notes, *, from_zero: bool = False
) -> tuple[tuple[RetrievedDocument, ...], int]:
    """The best 50 results by rank, numbered from 1, and how many different ones there were.

    `from_zero`: `pre_rerank_rank` counts from 0, as the candidate pool shows; a 0 among them shows it too.
    """
    found = _by_key(in_order(listed, notes), notes)
    best = list(found.items())[:MAX_HITS]
    if len(found) > MAX_HITS:
        notes.add(Note.HITS_CUT)
    if _is_numbered_otherwise([number_of(value_of(same[0], "rank")) for _, same in best]):
        notes.add(Note.RANKS_RENUMBERED)
    pre_ranks = [whole_of(value_of(same[0], "pre_rerank_rank"), least=0, notes=notes) for _, same in best]
    shift = int(from_zero or 0 in pre_ranks)
    hits = tuple(
        _hit(key, same, notes, rank=rank, pre_rerank_rank=None if pre_rank is None else pre_rank + shift)
        for rank, ((key, same), pre_rank) in enumerate(zip(best, pre_ranks, strict=True), start=1)
    )
    return hits, len(found)


def candidates_of(listed: object, notes: Notes) -> tuple[tuple[Candidate, ...], bool]:
    """The best 50 candidates by `pre_rank`, and whether it counted from 0."""
    given = listed if isinstance(listed, list) else [] if listed is None else [listed]
    objects = [each for each in given if isinstance(each, dict)]
    ranks = _pre_ranks(objects)
    shift = int(0 in ranks)
    best: dict[Key, int] = {}
    for rank, each in sorted(zip(ranks, objects, strict=True), key=itemgetter(0)):
        if (key := _key(each, notes)) is not None:
            best.setdefault(key, rank + shift)
    if len(best) < len(given) or len(best) > MAX_HITS:
        notes.add(Note.POOL_CLEANED)
    pool = [Candidate(doc_id=key.doc_id, chunk_id=key.chunk_id, pre_rank=rank) for key, rank in best.items()]
    return tuple(pool[:MAX_HITS]), bool(shift)


def _pre_ranks(objects: Sequence[Listed]) -> list[int]:
    """The candidates' own ranks, or where one of them has none, all their places in the list."""
    given = [whole_of(value_of(each, "pre_rank"), least=0, notes=set()) for each in objects]
    ranks = [rank for rank in given if rank is not None]
    return ranks if len(ranks) == len(given) else list(range(1, len(given) + 1))


def _by_key(ordered: Sequence[Listed], notes: Notes) -> dict[Key, list[Listed]]:
    found: dict[Key, list[Listed]] = {}
    for each in ordered:
        key = _key(each, notes)
        if key is None:
            notes.add(Note.HIT_DROPPED)
        elif key in found:
            notes.add(Note.HITS_MERGED)
            found[key].append(each)
        else:
            found[key] = [each]
    return found


def _key(each: Listed, notes: Notes) -> Key | None:
    doc_id = id_of(value_of(each, "doc_id"), notes)
    return None if doc_id is None else Key(doc_id, id_of(value_of(each, "chunk_id"), notes))


def _is_numbered_otherwise(ranks: Sequence[float | None]) -> bool:
    return any(rank is not None and rank != place for place, rank in enumerate(ranks, start=1))


def _hit(
    key: Key, same: Sequence[Listed], notes: Notes, *, rank: int, pre_rerank_rank: int | None
) -> RetrievedDocument:
    first = same[0]
    return RetrievedDocument(
        doc_id=key.doc_id,
        chunk_id=key.chunk_id,
        rank=rank,
        score=score_of(value_of(first, "score"), notes),
        bm25_score=score_of(value_of(first, "bm25_score"), notes),
        vector_similarity=score_of(value_of(first, "vector_similarity"), notes),
        pre_rerank_rank=pre_rerank_rank,
        rerank_score=score_of(value_of(first, "rerank_score"), notes),
        used_in_final=_used(same, notes),
    )


def _used(same: Sequence[Listed], notes: Notes) -> bool | None:
    """Whether the answer cites one of them; None where the producer could not tell of any."""
    said = [flag_of(value_of(each, "used_in_final"), notes) for each in same]
    known = [flag for flag in said if flag is not None]
    return any(known) if known else None
