"""The graded day's turns as drafts of the portal's desk: one trace joins the audited call, the draft, the retrieval.

Belongs here: reading planted turns as cases. Does not: planting calls (kb_pipeline/demo/traffic).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from kb_pipeline.demo.retrieval.cases import Asked, Case
from kb_pipeline.demo.retrieval.conversations import Plan, Simulation, decide, identity, retrieval_event
from kb_pipeline.demo.retrieval.finding import Found, Ranker, Shelves, find
from kb_pipeline.demo.retrieval.world import Desk, Enquiry, Wording
from kb_pipeline.demo.retrieval.writing import Draft, Manner, Statement, reported
from kb_pipeline.demo.traffic import Traffic
from kb_pipeline.demo.traffic.answers import OPENINGS
from kb_pipeline.demo.traffic.generation import UNANSWERED, trace_id
from kb_pipeline.demo.traffic.plan import dice
from kb_pipeline.demo.traffic.turns import Turn
from kb_pipeline.support import sentences

# The engine that serves the graded traffic.
ENGINE = "fulltext"
# How long before the call completed its retrieval was made, and how long after it the draft was saved.
BEFORE = timedelta(seconds=3)
AFTER = timedelta(milliseconds=300)
_MARK = re.compile(r"\s*\[RAG-\d+\]")


def asked_in(desk: Desk, turns: Iterable[Turn]) -> Desk:
    """The desk with the wordings of the turns among those of its enquiries."""
    said: dict[str, dict[Wording, None]] = {}
    for turn in turns:
        said.setdefault(turn.question.key, {})[_wording(turn)] = None
    enquiries = [
        replace(each, wordings=tuple(dict.fromkeys((*each.wordings, *said.get(each.key, ())))))
        for each in desk.enquiries
    ]
    return replace(desk, enquiries=enquiries)


def with_graded(
    simulation: Simulation, desk: Desk, traffic: Traffic, turns: Sequence[Turn], ranker: Ranker
) -> Simulation:
    """The simulation with the drafts of the turns that have an answer; the desk is the one of `asked_in`."""
    reader = _Reader(simulation.plan, desk, traffic, simulation.shelves[desk.name], ranker)
    cases = [*simulation.cases, *(reader.case(turn) for turn in turns if turn.kind not in UNANSWERED)]
    return replace(simulation, cases=tuple(sorted(cases, key=lambda case: (case.drafted_at, case.message_id))))


class _Reader:
    """Makes cases of turns."""

    def __init__(self, plan: Plan, desk: Desk, traffic: Traffic, shelves: Shelves, ranker: Ranker) -> None:
        self._plan = plan
        self._desk = desk
        self._traffic = traffic
        self._shelves = shelves
        self._ranker = ranker
        self._enquiries = {enquiry.key: enquiry for enquiry in desk.enquiries}

    def case(self, turn: Turn) -> Case:
        random = dice(self._plan.seed, "graded", turn.number)
        trace = trace_id(self._traffic, turn.number)
        asked = Asked(
            at=turn.ts - BEFORE,
            conversation_id=identity("graded conversation", trace),
            message_id=identity("graded client", trace),
            enquiry=self._enquiries[turn.question.key],
            wording=_wording(turn),
        )
        found = find(self._ranker, self._shelves, ENGINE, asked.wording.searched, asked.at)
        draft = self._draft(turn, asked.enquiry, found)
        message_id = identity("graded draft", trace)
        facts = {"message_id": message_id, "trace_id": trace, "event_id": identity("graded event", trace)}
        results = replace(found, hits=reported(found, draft.used, random))
        case = Case(
            desk=self._desk,
            asked=asked,
            message_id=message_id,
            drafted_at=turn.ts + AFTER,
            found=found,
            draft=draft,
            event=retrieval_event(self._shelves, asked, results, asked.at, engine=ENGINE, random=random, **facts),
        )
        return decide(case, self._shelves, self._ranker, self._plan, random)

    def _draft(self, turn: Turn, enquiry: Enquiry, found: Found) -> Draft:
        if turn.answer.refused:
            declined = (Statement(text=turn.answer.text),)
            return Draft(text=turn.answer.text, manner=Manner.DECLINED, statements=declined)
        statements = tuple(self._statements(turn, enquiry, found))
        has_false = any(each.source and not each.point for each in statements)
        return Draft(
            text=turn.answer.text, manner=Manner.MISQUOTED if has_false else Manner.WHOLE, statements=statements
        )

    def _statements(self, turn: Turn, enquiry: Enquiry, found: Found) -> Iterator[Statement]:
        """The facts that the answer is made of, right or contradicted; then what is left of it."""
        text = _MARK.sub("", turn.answer.text)
        ranks = {hit.doc_id: hit.rank for hit in found.hits}
        for opening in OPENINGS[enquiry.language]:
            if text.startswith(opening):
                yield Statement(text=opening, is_right=True)
                text = text.removeprefix(opening)
        for key in turn.answer.facts:
            point = self._desk.points[key]
            source = self._source(key, ranks)
            if point.ways[0] in text:
                yield Statement(text=point.ways[0], point=key, source=source, is_right=key in enquiry.points)
            elif point.false and point.false in text:
                yield Statement(text=point.false, source=source)
            text = text.replace(point.ways[0], "").replace(point.false or point.ways[0], "")
        for sentence in sentences(text):
            # One that the length limit cut is no reason for anybody to call the draft wrong.
            is_cut = any(self._desk.points[key].ways[0].startswith(sentence) for key in enquiry.points)
            yield Statement(text=sentence, is_right=is_cut)

    def _source(self, point: str, ranks: Mapping[str, int]) -> str | None:
        holders = [doc_id for doc_id in self._desk.holders.get(point, ()) if doc_id in ranks]
        return min(holders, key=ranks.__getitem__, default=None)


def _wording(turn: Turn) -> Wording:
    rewritten = turn.question.query if turn.question.query != turn.wording else None
    return Wording(text=turn.wording, rewritten=rewritten)
