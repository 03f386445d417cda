"""The subagents of a session that runs: who they are, and what a person may do with them."""

import asyncio

from detent.app.agents.employed import Running
from detent.app.agents.messages import unknown
from detent.app.agents.staff import Staff
from detent.app.agents.tree import AgentNode, below
from detent.app.engine import Engine
from detent.ports.delegation import CannotDelegate
from detent.types.agents import AgentRecord, GroupEnded
from detent.types.content import Text
from detent.types.errors import BadInput

__all__ = ["AgentNode", "records", "send", "stop", "tree"]


def records(engine: Engine) -> tuple[AgentRecord, ...]:
    """Those who work for the session itself, or did."""
    return _staff(engine).all()


async def tree(engine: Engine) -> tuple[tuple[AgentNode, ...], tuple[GroupEnded, ...]]:
    """With all below them, as the logs tell; of a session that is not saved, as far as they are
    still at work."""
    staff, price = _staff(engine), engine.kit.price
    if not staff.crew.folder:
        return _living(staff), ()
    entries, folder = tuple(engine.journal.log.entries), staff.crew.folder
    return await asyncio.to_thread(below, entries, folder, price, is_running=staff.is_busy)


async def stop(engine: Engine, wanted: str) -> AgentRecord:
    """Whoever it works for: that one is told of it. Raises BadInput."""
    staff = _staff(engine)
    if (known := staff.find(wanted)) is not None:
        return await staff.end(known.agent)
    running = _at_work(staff, wanted)
    running.cancel()
    await running.over.wait()
    return AgentRecord(agent=running.work.agent, kind="", name=running.name, state="stopped")


async def send(engine: Engine, wanted: str, text: str) -> AgentRecord:
    """Heard before its next request; one of the session's own that has ended goes on with it in
    the background. Raises BadInput."""
    staff = _staff(engine)
    if staff.find(wanted) is not None:
        try:
            return await staff.send(wanted, text)
        except CannotDelegate as error:
            raise BadInput(str(error)) from None
    running = _at_work(staff, wanted)
    running.work.engine.inbox.put((Text(text),))
    return AgentRecord(agent=running.work.agent, kind="", name=running.name)


def _staff(engine: Engine) -> Staff:
    return engine.shop.employ()


def _at_work(staff: Staff, wanted: str) -> Running:
    """One that works for another agent."""
    for running in staff.crew.at_work.values():
        if wanted in (running.work.agent, running.name) and running.hears:
            return running
    raise BadInput(unknown(wanted, staff.all()))


def _living(staff: Staff) -> tuple[AgentNode, ...]:
    nodes = []
    for record in staff.all():
        running = staff.crew.at_work.get(record.agent)
        own = running.work.engine.staff if running is not None else None
        nodes.append(AgentNode(record, _living(own) if own is not None else ()))
    return tuple(nodes)
