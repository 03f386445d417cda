"""`/agents`: who works for the session and what came of it; `/agents stop ID` ends one,
`/agents send ID TEXT` says something to one."""

from collections.abc import Iterable, Iterator, Sequence

from detent.sdk.keyless import is_keyless
from detent.sdk.session import Session
from detent.sdk.subagents import AgentNode
from detent.surfaces.commands import Hear
from detent.surfaces.commands.context_table import usual_width
from detent.surfaces.tables.agent_tree import agent_lines
from detent.surfaces.tables.widths import one_line
from detent.types.agents import AgentRecord
from detent.types.errors import BadInput

ENDED = ("completed", "failed", "stopped", "interrupted")
"""States of those that have worked and do so no more."""
USAGE = "/agents takes nothing, `stop ID`, or `send ID TEXT`"


async def run(session: Session, rest: str, hear: Hear) -> str:
    match rest.split(maxsplit=2):
        case []:
            return await _tree(session)
        case ["stop", agent]:
            was = {one.agent: one.state for one in session.subagents}
            record = await session.stop_agent(agent)
            if was.get(record.agent, "running") != "running":
                return f"{_called(record)} had ended already: {record.state}."
            return f"{_called(record)} is stopped."
        case ["send", agent, text]:
            if is_keyless(session.options):
                raise BadInput("/agents send works in a session that runs: nobody is at work here")
            was = {one.agent: one.state for one in session.subagents}
            record = await session.message_agent(agent, text)
            if was.get(record.agent, "running") != "running":
                return f"{_called(record)} goes on with it in the background."
            return f"{_called(record)} reads it before its next step."
        case _:
            raise BadInput(f"{USAGE}; not {rest!r}")


async def _tree(session: Session) -> str:
    nodes, groups = await session.agent_tree()
    if not nodes and not groups:
        return "No agents have worked for this session."
    lines = list(agent_lines(nodes, groups, usual_width()))
    lines += _listed("At work:", _at_work(nodes))
    if not is_keyless(session.options):  # who may be told something still
        lines += _listed("Ended:", (one for one in session.subagents if one.state in ENDED))
    return "\n".join(lines)


def _listed(title: str, records: Iterable[AgentRecord]) -> list[str]:
    """The tree has no room for ids."""
    lines = [f"  {one.agent}  {_about(one)}" for one in records]
    return ["", title, *lines] if lines else []


def _at_work(nodes: Sequence[AgentNode]) -> Iterator[AgentRecord]:
    for node in nodes:
        if node.record.state == "running":
            yield node.record
        yield from _at_work(node.agents)


def _about(record: AgentRecord) -> str:
    return one_line(" ".join(filter(None, (record.kind, record.name or record.description))))


def _called(record: AgentRecord) -> str:
    return one_line(f"{record.name} ({record.agent})" if record.name else record.agent)
