"""Agents under the tools for background tasks: how far they are, and that they were ended."""

from detent.ports import Desk
from detent.tools.delegation.telling import came_to, data_of, told
from detent.tools.shell.jobs import unknown
from detent.types.agents import AgentRecord
from detent.types.outcomes import Outcome, done


def agent_output(record: AgentRecord) -> Outcome:
    is_running = record.state == "running"
    head = _head(record)
    if is_running:
        said = f"It wrote so far:\n{record.answer}" if record.answer else "It has written nothing."
    else:
        said = came_to(record)
    data = {**data_of(record), "task_id": record.agent, "task_type": "local_agent"}
    return done(f"{head}\n\n{said}", {**data, "message": head, "output": record.answer})


def agent_stopped(before: AgentRecord, record: AgentRecord) -> Outcome:
    was = "Stopped: " if before.state == "running" else "It had ended already: "
    text = f"{was}{_head(record)}"
    said = f"{text}\n\nIt wrote last:\n{record.answer}" if record.answer else text
    return done(said, {"message": text, "task_id": record.agent, "task_type": "local_agent"})


def unknown_task(wanted: str, desk: Desk) -> str:
    """Names those that there are."""
    jobs, agents = desk.shop.jobs, desk.shop.agents.all()
    if not agents:
        return unknown(wanted, jobs)
    names = [job.id for job in jobs.all()]
    names += [f"{one.agent} ({one.name})" if one.name else one.agent for one in agents]
    return f"there is no task {wanted!r}. Known tasks: {', '.join(names)}."


def _head(record: AgentRecord) -> str:
    called = record.name or record.description
    about = f"{record.kind}: {called}" if called else record.kind
    return f"{record.agent} ({about}): {record.state}; {told(record)}."
