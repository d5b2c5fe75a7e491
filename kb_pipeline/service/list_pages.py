"""What the lists show: all turns, all gaps, all judgments of a period and filters, page by page.

Belongs here: which rows and which sentence stand where. Does not: reading rows (listing.py), their formats (templates).
"""

from typing import Any

from kb_pipeline.adapters.postgres.dashboard.turns import TurnRow
from kb_pipeline.dashboard import list_words, numbers
from kb_pipeline.dashboard.charts import tone_of
from kb_pipeline.dashboard.filters import QualityFilter, RetrievalFilter
from kb_pipeline.dashboard.periods import Period
from kb_pipeline.dashboard.quality_words import Limits
from kb_pipeline.dashboard.retrieval_words import GRADES, KINDS, STATUSES
from kb_pipeline.service.access import Visitor
from kb_pipeline.service.forms import ALL, control, retrieval_filters, tenant_filters, turn_filters
from kb_pipeline.service.links import (
    Query,
    address,
    judgments_query,
    retrievals_query,
    turn_address,
    turns_query,
)
from kb_pipeline.service.listing import (
    Kind,
    Listed,
    Order,
    Status,
    listed_gaps,
    listed_judgments,
    listed_turns,
    opinion_on,
)
from kb_pipeline.service.viewing import Desk

_A_PAGE = 50
_ORDERS = ((list_words.WORST, "least faithful"), (list_words.NEWEST, "newest"))


def turns_page(  # noqa: PLR0917 what a list is asked for
    desk: Desk, visitor: Visitor, period: Period, chosen: QualityFilter, order: Order, cursor: str | None
) -> dict[str, Any]:
    """The values of turns.html."""
    found = listed_turns(desk, period, chosen, order=order, limit=_A_PAGE, cursor=cursor)
    tally, limits = desk.quality.summary(period, chosen).tally, desk.quality.limits
    query = turns_query(period, chosen, order=order)
    return {
        **_list("/turns", "/api/quality/recent.csv", query, found, cursor),
        "title": "Turns",
        "span": numbers.span(period.window.start, period.window.end, period.zone, desk.now()),
        "filters": [*turn_filters(desk, period, chosen), control("order", "Order", order, _ORDERS)],
        "sentence": list_words.turns_sentence(order, tally.turns, tally.faithfulness.n),
        "empty": list_words.no_turns(order, is_filtered=chosen.is_set, is_first=not cursor),
        "rows": [turn_row(row, period, limits, visitor) for row in found.rows],
        "limits": limits,
    }


def turn_row(row: TurnRow, period: Period, limits: Limits, visitor: Visitor) -> dict[str, Any]:
    """One row of a table of turns; it has a link for those alone who may see the text."""
    others = (row.answer_relevance, row.context_relevance)
    no_score = list_words.no_score_words(row.parse_status, has_others=others != (None, None))
    return {
        "row": row,
        "link": turn_address(row.event_id, period) if visitor.sees_text else None,
        "tone": tone_of(row.faithfulness, limits.warn, limits.crit),
        "no_score": no_score if row.faithfulness is None else None,
        "opinion": opinion_on(row, warn=limits.warn),
    }


def gaps_page(
    desk: Desk, period: Period, chosen: RetrievalFilter, kind: Kind | None, cursor: str | None
) -> dict[str, Any]:
    """The values of gaps.html."""
    found = listed_gaps(desk, period, chosen, kind=kind, limit=_A_PAGE, cursor=cursor)
    counts = {name: count for name, (count, _) in desk.retrieval.rows.gap_kinds(period.window, chosen).items()}
    kinds = [ALL, *((name, words) for name, (words, _) in KINDS.items())]
    return {
        **_list("/gaps", "/api/retrieval/gaps.csv", retrievals_query(period, chosen, kind=kind), found, cursor),
        "title": "Gaps",
        "span": numbers.span(period.window.start, period.window.end, period.zone, desk.now()),
        "filters": [*retrieval_filters(desk, period, chosen), control("kind", "Kind", kind, kinds)],
        "sentence": list_words.gaps_sentence(kind, counts),
        "empty": list_words.no_gaps(is_filtered=chosen.is_set or kind is not None, is_first=not cursor),
        "rows": [{"row": row, "kind": KINDS[row["kind"]][0]} for row in found.rows],
    }


def judgments_page(
    desk: Desk, chosen: RetrievalFilter, status: Status | None, grade: int | None, cursor: str | None
) -> dict[str, Any]:
    """The values of judgments.html."""
    found = listed_judgments(desk, chosen, status=status, grade=grade, limit=_A_PAGE, cursor=cursor)
    counts = desk.retrieval.rows.judgments(chosen).counts
    is_filtered = (chosen.org, chosen.specialist, status, grade) != (None,) * 4
    return {
        **_list(
            "/judgments", "/api/ground-truth.csv", judgments_query(chosen, status=status, grade=grade), found, cursor
        ),
        "title": "Judgments",
        "filters": [
            *tenant_filters(desk, chosen),
            control("status", "Status", status, [ALL, *STATUSES.items()]),
            control("grade", "Grade", grade, [ALL, *((str(each), words) for each, words in GRADES.items())]),
        ],
        "sentence": list_words.judgments_sentence(status, grade, counts),
        "conflicts": sum(count for (each, _), count in counts.items() if each == "conflict"),
        "conflicts_link": address("/retrieval/conflicts", judgments_query(chosen)),
        "empty": list_words.no_judgments(is_filtered=is_filtered, is_first=not cursor),
        "rows": [
            {"row": row, "status": STATUSES[row["status"]], "grade": GRADES.get(row["grade"])} for row in found.rows
        ],
    }


def paging(path: str, query: Query, found: Listed[Any], cursor: str | None) -> dict[str, str | None]:
    """Where a list begins, unless this is its beginning, and where it goes on."""
    return {
        "first": address(path, query) if cursor else None,
        "next": address(path, query | {"cursor": found.next}) if found.next else None,
    }


def _list(path: str, file: str, query: Query, found: Listed[Any], cursor: str | None) -> dict[str, Any]:
    return {"paging": paging(path, query, found, cursor), "csv": address(file, query)}
