"""`/tasks`: commands and agents in the background, and the tasks that agents share; `/tasks stop
ID` ends one, `/tasks output ID` shows what it has printed last."""

from collections.abc import Iterator

from detent.sdk.background import Job, jobs_of, shared_tasks, tail_of
from detent.sdk.session import Session
from detent.surfaces.commands import Hear
from detent.surfaces.tables.widths import one_line
from detent.surfaces.wording.shown import shown
from detent.types.agents import AgentRecord, Task
from detent.types.errors import BadInput

USAGE = "/tasks takes nothing, `stop ID` or `output ID`"
LAST_LINES = 40
LONGEST = 70


async def run(session: Session, rest: str, hear: Hear) -> str:
    match rest.split():
        case []:
            lines = list(_listed(session))
            return "\n".join(lines or ["Nothing runs in the background, and there are no tasks."])
        case ["stop", wanted]:
            return await _stop(session, wanted)
        case ["output", wanted]:
            return await _output(session, wanted)
        case _:
            raise BadInput(f"{USAGE}; not {rest!r}")


def _listed(session: Session) -> Iterator[str]:
    if jobs := jobs_of(session):
        yield "Commands:"
        yield from (f"  {job.id}  {standing(job)}  {_short(job.command)}" for job in jobs)
    if agents := session.subagents:
        yield "Agents:"
        yield from (f"  {one.agent}  {one.state}  {_short(_about(one))}" for one in agents)
    if tasks := shared_tasks(session):
        yield "Tasks that agents share:"
        yield from map(_task, tasks)


async def _stop(session: Session, wanted: str) -> str:
    job, agent = _found(session, wanted)
    if job is not None and not is_running(job):
        return f"{job.id} has ended already: {standing(job)}."
    if agent is not None and agent.state != "running":
        return f"{agent.agent} has ended already: {agent.state}."
    if job is None and agent is None:
        raise BadInput(_unknown(session, wanted))
    await session.stop_task(wanted)
    job, _ = _found(session, wanted)
    return f"{wanted} is stopped" + (f": {standing(job)}." if job is not None else ".")


async def _output(session: Session, wanted: str) -> str:
    job, agent = _found(session, wanted)
    if job is not None:
        return await _printed(job)
    if agent is None:
        raise BadInput(_unknown(session, wanted))
    said = agent.answer or agent.error
    if said:
        return f"{agent.agent} ({agent.state}):\n{_last(shown(said))}"
    where = f"; its log: {agent.session_path}" if agent.session_path else ""
    return one_line(f"{agent.agent} is {agent.state} and has said nothing yet{where}")


async def _printed(job: Job) -> str:
    head = f"{job.id}  {standing(job)}  {one_line(job.path)}"
    try:
        tail = await tail_of(job)
    except OSError as error:
        return f"{head}\nIts output cannot be read: {error.strerror}."
    if not tail.text.strip():
        return f"{head}\nIt has printed nothing."
    return f"{head}\n{_last(shown(tail.text), is_cut=tail.is_cut)}"


def _last(text: str, *, is_cut: bool = False) -> str:
    lines = text.rstrip().split("\n")
    kept = lines[-LAST_LINES:]
    return "\n".join((["…"] if is_cut or len(kept) < len(lines) else []) + kept)


def _found(session: Session, wanted: str) -> tuple[Job | None, AgentRecord | None]:
    job = next((one for one in jobs_of(session) if one.id == wanted), None)
    agents = (one for one in session.subagents if wanted in (one.agent, one.name))
    return job, None if job is not None else next(agents, None)


def _unknown(session: Session, wanted: str) -> str:
    known = [job.id for job in jobs_of(session)] + [one.agent for one in session.subagents]
    there = f"there is {', '.join(known)}" if known else "nothing was begun there"
    return f"nothing in the background is called {wanted}; {there}"


def is_running(job: Job) -> bool:
    return job.exit_code is None and not job.past


def standing(job: Job) -> str:
    if job.past:
        return one_line(job.past)
    if job.exit_code is None:
        return f"running for {job.seconds:.0f} s"
    note = f", {one_line(job.note)}" if job.note else ""
    return f"ended after {job.seconds:.0f} s, exit code {job.exit_code}{note}"


def _task(task: Task) -> str:
    who = f"  {task.owner}" if task.owner else ""
    waits = f"  waits for {', '.join(task.blocked_by)}" if task.blocked_by else ""
    return one_line(f"  {task.id}  {task.status}  {_short(task.subject)}{who}{waits}")


def _about(one: AgentRecord) -> str:
    return " ".join(filter(None, (one.kind, one.name or one.description)))


def _short(text: str) -> str:
    line = one_line(" ".join(text.split()))
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
