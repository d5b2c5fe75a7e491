"""How alerts are shown on a terminal: one entry each, within the terminal's width.

Belongs here: what is shown of states, flips, the outbox and a replay. Does not: options, deciding.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from kb_pipeline.cli.output import words, write_facts, write_text
from kb_pipeline.counting import out_of

if TYPE_CHECKING:
    from kb_pipeline.alert_desk import AlertDesk
    from kb_pipeline.records import AlertState
    from kb_pipeline.steps.replay_alerts import Replay

WAITING = DEAD = 50


def overview(
    desk: "AlertDesk", *, only_active: bool, history: datetime | None, fingerprint: str | None
) -> dict[str, Any]:
    """Everything that is known of alerts now."""
    now = desk.clock.now()
    every = desk.states()
    states = [
        state_facts(state)
        for state in every
        if fingerprint in {None, state.fingerprint} and (state.status.is_active or not only_active)
    ]
    waiting = [entry for entry in desk.outbox.waiting(limit=WAITING) if fingerprint in {None, entry.fingerprint}]
    dead = [entry for entry in desk.outbox.dead(limit=DEAD) if fingerprint in {None, entry.fingerprint}]
    return {
        "verdict": desk.verdict(),
        "states": states,
        "evaluated": len(every),
        "silences": desk.book.silences(now),
        "destinations": desk.delivery(),
        "waiting": [
            {
                "destination": entry.destination,
                "fingerprint": entry.fingerprint,
                "kb_seq": entry.kb_seq,
                "state": entry.state,
                "attempts": entry.attempts,
                "queued_at": entry.queued_at,
            }
            for entry in waiting
        ],
        "dead": [
            {
                "destination": entry.destination,
                "fingerprint": entry.fingerprint,
                "kb_seq": entry.kb_seq,
                "attempts": entry.attempts,
                "reason": entry.reason,
            }
            for entry in dead
        ],
        "history": desk.history(since=history, fingerprint=fingerprint) if history else [],
    }


def state_facts(state: "AlertState") -> dict[str, Any]:
    """One state."""
    return {
        "fingerprint": state.fingerprint,
        "status": state.status,
        "severity": state.memory.severity,
        "since": state.since,
        "window_end": state.window_end,
        "inhibited_by": state.inhibited_by,
        "is_silenced": state.is_silenced,
        "is_flapping": state.memory.is_flapping,
        "kb_seq": state.kb_seq,
        "reading": state.reading,
        "sentence": state.reading.sentence if state.reading else "",
    }


def write_overview(found: Mapping[str, Any]) -> None:
    """The overview in lines."""
    write_text(found["verdict"].sentence)
    if not found["states"]:
        write_text(
            "nothing fires" if found["evaluated"] else "no rule was evaluated yet; kb-pipeline alerts evaluate does it"
        )
    for state in sorted(found["states"], key=lambda state: not state["status"].is_active):
        marks = [
            str(state["severity"] or ""),
            "silenced" if state["is_silenced"] else "",
            "flapping" if state["is_flapping"] else "",
            f"held by {state['inhibited_by']}" if state["inhibited_by"] else "",
        ]
        status = " ".join(filter(None, [str(state["status"]), *marks]))
        write_text(f"{state['fingerprint']}  {status}  since {words(state['since'])}  {state['sentence']}", hanging=4)
    _write_rows("silence", found["silences"], ("pattern", "ends_at", "author", "reason"))
    _write_rows(
        "delivery",
        found["destinations"],
        ("destination", "pending", "unconfirmed", "dead", "oldest_pending_s", "last_confirmed_at", "reason"),
    )
    _write_rows("waiting", found["waiting"], ("destination", "fingerprint", "kb_seq", "state", "attempts", "queued_at"))
    _write_rows("dead", found["dead"], ("destination", "fingerprint", "kb_seq", "attempts", "reason"))
    _write_rows(
        "flip", found["history"], ("happened_at", "fingerprint", "from_status", "to_status", "reason", "sentence")
    )


def _write_rows(kind: str, rows: Sequence[Any], names: Sequence[str]) -> None:
    for row in rows:
        values = (row[name] if isinstance(row, Mapping) else getattr(row, name) for name in names)
        facts = (f"{name}={words(value)}" for name, value in zip(names, values, strict=True))
        write_text("  ".join([kind, *facts]), hanging=4)


def replay_facts(replay: "Replay") -> dict[str, Any]:
    """A replay as it is printed in JSON."""
    return {
        "rule": replay.rule,
        "since": replay.window.start,
        "until": replay.window.end,
        "evaluations": replay.evaluations,
        "episodes": replay.episodes,
        "expected": [
            {
                "subject": outlook.subject,
                "cases_a_day": outlook.per_day,
                "level": outlook.level,
                "false_alarms_a_month": outlook.per_month,
                "months_simulated": outlook.alarms.months if outlook.alarms else 0,
                "months_with_alarm": outlook.alarms.months_with_alarm if outlook.alarms else None,
                "because": outlook.because,
            }
            for outlook in replay.outlooks
        ],
    }


def write_replay(facts: Mapping[str, Any]) -> None:
    """A replay in lines."""
    write_facts({name: facts[name] for name in ("rule", "since", "until", "evaluations")})
    if not facts["episodes"]:
        write_text("it would not have fired")
    for episode in facts["episodes"]:
        end = f"resolved {words(episode.resolved_at)}" if episode.resolved_at else "still firing"
        write_text(
            f"fired {words(episode.fired_at)}  {end}  {episode.severity}  {episode.fingerprint}  {episode.sentence}",
            hanging=4,
        )
    for each in facts["expected"]:
        begin = f"{each['subject']}  {each['cases_a_day']:.1f} a day at {words(each['level'])}"
        if each["because"]:
            write_text(f"{begin}  no false alarms to expect: {each['because']}", hanging=4)
            continue
        write_text(
            f"{begin}  {words(each['false_alarms_a_month'])} false alarms a month to expect: "
            f"{out_of(each['months_with_alarm'], each['months_simulated'], 'month that is', 'months that are')} "
            "well had one",
            hanging=4,
        )
