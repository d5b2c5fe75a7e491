"""What the page of one turn shows.

Belongs here: marks on sentences and passages, where each fact comes from. Does not: reading the turn.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from kb_pipeline.adapters.postgres.dashboard.turns import OpenedTurn
from kb_pipeline.counting import counted
from kb_pipeline.dashboard import numbers
from kb_pipeline.dashboard.charts import tone_of
from kb_pipeline.dashboard.opinion_words import (
    MarkedSentence,
    marked_sentences,
    opinion_words,
    passage_pieces,
    turn_verdict,
)
from kb_pipeline.dashboard.quality_words import Level
from kb_pipeline.records import Message, ParseStatus, Passage, Triad
from kb_pipeline.service.viewing import Desk

ASPECTS = (
    ("faithfulness", "Faithfulness"),
    ("answer_relevance", "Answer relevance"),
    ("context_relevance", "Context relevance"),
)
# Marking takes time with sentences times passages: beyond this a page would keep its reader waiting.
MOST_MARKED_CHARS = 60_000
_SHORT_ID = 8
_NOT_JUDGED = "The judge has not graded this answer."
_UNJUDGED = {"pending": "The judge has not graded this answer yet.", "error": "The judge will be asked again."}


def turn_page(desk: Desk, found: OpenedTurn) -> dict[str, Any]:
    """The values of turn.html."""
    turn, limits = found.turn, desk.quality.limits
    score = found.scores[-1] if found.scores else {}
    triad = _triad(turn)
    size = len(triad.answer) + sum(len(passage.text) for passage in triad.passages)
    marked = marked_sentences(triad) if size <= MOST_MARKED_CHARS else []
    has_text = turn["answer"] is not None
    level, sentence, detail = _verdict(turn, marked, size) if has_text else _expired(turn)
    opinion = opinion_words(
        score.get("faithfulness"),
        turn["support_score"],
        turn["disagreement"],
        turn["opinion"],
        warn=limits.warn,
        had_context=bool(turn["had_context"]),
    )
    return {
        "title": f"Turn {turn['event_id'][:_SHORT_ID]}",
        "turn": turn,
        "opened": found,
        "level": level,
        "sentence": sentence,
        "detail": f"{detail} {opinion.head}: {opinion.reason}." if has_text else detail,
        "has_text": has_text,
        "scores": [
            {
                "name": name,
                "value": score.get(key),
                "reason": score.get(f"{key}_reason"),
                "tone": tone_of(score.get(key), limits.warn, limits.crit) if key == "faithfulness" else "data",
                "tick": limits.warn if key == "faithfulness" else None,
            }
            for key, name in ASPECTS
        ],
        "opinion": opinion,
        "marked": marked,
        "labels": [_label(place, passage) for place, passage in enumerate(triad.passages, 1)],
        "passages": [
            {
                "label": _label(place, passage),
                "score": passage.score,
                "pieces": passage_pieces(passage, place, marked),
                "is_used": not marked or any(each.passage == place for each in marked),
            }
            for place, passage in enumerate(triad.passages, 1)
        ],
        "facts": _facts(found, score),
        "dagster_url": desk.settings.service.dagster_url,
    }


def _verdict(turn: Mapping[str, Any], marked: Sequence[MarkedSentence], size: int) -> tuple[str, str, str]:
    """Level, sentence and detail of an answer whose text is there."""
    if size > MOST_MARKED_CHARS:
        detail = "Scores, reasons and the second opinion are below; the answer and its passages are shown as they are."
        return Level.NONE, "This turn is too long to be marked sentence by sentence.", detail
    level, sentence, detail = turn_verdict(marked)
    if turn["judge_status"] == "ok":
        return level, sentence, detail
    return Level.NONE, sentence, f"{_UNJUDGED.get(turn['judge_status'], _NOT_JUDGED)} By its words alone: {detail}"


def _kept(value: Any, kind: type | tuple[type, ...]) -> Any:
    """A value of a kind; whatever else stands in its place is nothing."""
    return value if isinstance(value, kind) and not isinstance(value, bool) else None


def _triad(turn: Mapping[str, Any]) -> Triad:
    passages = [
        Passage(
            rank=_kept(each.get("rank"), int),
            score=_kept(each.get("score"), (int, float)),
            text=str(each.get("text") or ""),
        )
        for each in turn["passages"] or ()
        if isinstance(each, Mapping)
    ]
    history = [
        Message(role=str(each.get("role")), text=str(each.get("text") or ""))
        for each in turn["history"] or ()
        if isinstance(each, Mapping)
    ]
    return Triad(
        parse_status=ParseStatus(turn["parse_status"] or "missing_body"),
        question=turn["question"] or "",
        context=turn["context"] or "",
        passages=tuple(passages),
        answer=turn["answer"] or "",
        history=tuple(history),
    )


def _label(place: int, passage: Passage) -> str:
    return f"RAG-{passage.rank if passage.rank is not None else place}"


def _expired(turn: Mapping[str, Any]) -> tuple[str, str, str]:
    if turn["text_expired_at"]:
        return "none", "The text of this turn has expired.", "Scores and metrics are kept; the text is not."
    return "none", "This call has no answer text.", f"It was read as {turn['verdict']}, {turn['parse_status']}."


def _facts(found: OpenedTurn, score: Mapping[str, Any]) -> Sequence[dict[str, Any]]:
    """Where each fact comes from, in the order in which it came; `run` where it is known."""
    turn, run = found.turn, found.run_id
    intact = {True: "body chain verified", False: "body chain BROKEN", None: "no body chain"}[turn["evidence_intact"]]
    tokens = (score.get("prompt_tokens") or 0) + (score.get("completion_tokens") or 0)
    outcome = found.outcome
    return [
        _fact("Called", f"event {turn['event_id'][:_SHORT_ID]}, gateway trail; {intact}", turn["ts"]),
        _fact("Recognised", f"{turn['verdict']} call; {turn['surface']}, {turn['engine']}", turn["examined_at"], run),
        _fact(
            "Extracted",
            f"parse_status {turn['parse_status']}; {counted(turn['num_passages'], 'passage')}",
            turn["examined_at"],
            run,
        ),
        _fact(
            "Measured",
            f"top score {numbers.score(turn['top_score'])}, mean {numbers.score(turn['mean_score'])}; "
            f"answer {counted(turn['answer_chars'], 'character')}",
            turn["examined_at"],
            run,
        ),
        _fact(
            "Judged",
            f"{score['judge_model']}, prompt {score['prompt_version']}, {score['status']} after "
            f"{counted(score['calls'], 'call')}; {counted(tokens, 'token')}"
            if score
            else f"not judged: {turn['skip_reason'] or turn['judge_status'] or 'no turn'}",
            score.get("judged_at"),
        ),
        _fact("Published", f"rag_quality, {turn['judge_status'] or 'not published'}", turn["published_at"]),
        _fact(
            "Outcome",
            f"an expert's decision: {outcome['outcome']}" if outcome else "no expert has reviewed this answer",
            outcome["decided_at"] if outcome else None,
        ),
    ]


def _fact(name: str, detail: str, at: Any, run: str | None = None) -> dict[str, Any]:
    return {"name": name, "detail": detail, "at": at, "run": run}
