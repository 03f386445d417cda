"""Calls that had others at work when the agent died: what those came to, and how to go on."""

from collections.abc import Sequence

from detent.app.agents.mending import NOT_BEGUN
from detent.session.agent_records import fold
from detent.tools.registry import built_in
from detent.types.agents import AgentRecord
from detent.types.events import CallStarted, Entry
from detent.types.outcomes import Cut, Outcome

CUT_OFF = "interrupted: the agent ended before its subagents had."


def outcome_of(started: CallStarted, entries: Sequence[Entry]) -> Outcome | None:
    """None for a call of any other kind, or of which nothing is known."""
    if started.name == "Agent":
        return _of_one(started, entries)
    return _of_several(started, entries) if started.name == "delegate_agent" else None


def _of_one(started: CallStarted, entries: Sequence[Entry]) -> Outcome | None:
    """One that had ended has its answer; only the call had not been told."""
    from detent.tools.delegation.agent import goes_on
    from detent.tools.delegation.agent import outcome_of as outcome_of_record

    records = [one for one in fold(entries).values() if one.call_id == started.call_id]
    if not records or records[-1].background:
        return None
    record = records[-1]
    if record.state in ("completed", "failed"):
        return outcome_of_record(record)
    if record.stop_reason == NOT_BEGUN:
        return Cut(f"{CUT_OFF} It had not begun: give its task to a new one.")
    return Cut(f"{CUT_OFF} {goes_on(record.agent)}", record.answer)


def _of_several(started: CallStarted, entries: Sequence[Entry]) -> Outcome | None:
    from detent.ports import BadArguments
    from detent.tools.delegation.delegate_agent import DelegateAgent
    from detent.tools.delegation.graph import BadGraph
    from detent.tools.delegation.standing import how_to_go_on, standing
    from detent.tools.delegation.taking_up import begun_work, records_of

    calls = {entry.call_id: entry.arguments for entry in entries if isinstance(entry, CallStarted)}

    def began_with(call: str) -> tuple[str, str]:
        return (call, calls[call]) if call in calls else ("", "")

    parse = DelegateAgent(built_in("delegate_agent")).parse
    try:
        work = begun_work(started.call_id, began_with, parse)
    except (BadGraph, BadArguments):
        return None
    records: dict[int, AgentRecord] = dict(records_of(work, tuple(fold(entries).values())))
    return Cut(f"{CUT_OFF} {how_to_go_on(work)}", standing(work, records))
