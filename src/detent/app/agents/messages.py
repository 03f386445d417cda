"""What agents of a session are told of each other: who has ended, and what one says to another."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from detent.ports.delegation import CannotDelegate
from detent.tools.delegation.telling import came_to, told
from detent.types.agents import AgentRecord, Lineage
from detent.types.content import Text

if TYPE_CHECKING:
    from detent.app.agents.crew import Crew
    from detent.app.agents.employed import Running

LONGEST = 16_000
"""Characters of an answer that comes as news; TaskOutput gives all of it."""


def title_of(record: AgentRecord) -> str:
    """`agent_1 (explore: find the tests)`"""
    called = record.name or record.description
    return f"{record.agent} ({': '.join(filter(None, (record.kind, called)))})"


def news_of(record: AgentRecord) -> str:
    """That one in the background has ended."""
    answer = came_to(record)
    if len(answer) > LONGEST:
        left_out = len(answer) - LONGEST
        rest = f"[… {left_out:,} characters more; TaskOutput with {record.agent} shows all …]"
        answer = f"{answer[:LONGEST]}\n{rest}"
    return (
        f"[The background agent {title_of(record)} has ended: {record.state}; {told(record)}]\n"
        f"{answer}"
    )


def letter(sender: str, text: str) -> str:
    """From somebody who is not the one the reader works for: no order of a person."""
    return f"[Message of {sender}, not of the user:]\n{text}"


def deliver(
    crew: "Crew", sender: Lineage | None, known: Iterable[AgentRecord], wanted: str, text: str
) -> AgentRecord:
    """To one that does not work for the sender: heard before its next request. Raises
    CannotDelegate where nobody of that name is at work."""
    own = None if sender is None else crew.at_work.get(sender.agent)
    above = None if sender is None else crew.at_work.get(sender.parent)
    said = letter(_signature(sender, own), text)
    if sender is not None and (wanted == "main" or (wanted == "parent" and above is None)):
        crew.root.inbox.tell(said)
        return AgentRecord(agent=crew.root.journal.session, kind="session", name="main")
    named = (one for one in crew.at_work.values() if one.name == wanted)
    one = above if wanted == "parent" else crew.at_work.get(wanted) or next(named, None)
    if one is None or not one.hears:
        raise CannotDelegate(unknown(wanted, known))
    if one is own:
        raise CannotDelegate(f"{wanted} is yourself.")
    one.work.engine.inbox.put((Text(said),))
    return AgentRecord(agent=one.work.agent, kind="", name=one.name)


def _signature(sender: Lineage | None, own: "Running | None") -> str:
    if sender is None:
        return "the main session"
    name = own.name if own is not None else ""
    return f"the agent {name} ({sender.agent})" if name else f"the agent {sender.agent}"


def unknown(wanted: str, known: Iterable[AgentRecord]) -> str:
    names = [f"{one.agent} ({one.name})" if one.name else one.agent for one in known]
    if not names:
        return f"there is no agent {wanted!r}; none was started."
    return f"there is no agent {wanted!r}. Known agents: {', '.join(names)}."
