"""Background jobs as the outside sees them: frames for hosts, and what goes with the run."""

from collections.abc import Callable
from typing import Any

from detent.sdk.session import Job, Session
from detent.surfaces.lines.telling import tell
from detent.types.events import CallEnded, Event, Reminded, TurnEnded

LONGEST = 80


def tell_jobs(session: Session) -> None:
    """A line for each job or agent that the end of the run will end, or that goes on."""
    for job in _running(session):
        title = f"{job.id} ({_short(job.command)})"
        if job.kept:
            tell(f"{title} goes on; its output: {job.path}; to end it: kill {job.pid}")
        else:
            tell(f"{title} was ended with the run")
    for agent in session.at_work:
        about = agent.name or agent.description or agent.kind
        tell(f"the agent {agent.agent} ({_short(about)}) was ended with the run")


def jobs_ended(session: Session) -> dict[str, Any]:
    """The same for the result object."""
    ended, kept = list[dict[str, Any]](), list[dict[str, Any]]()
    for job in _running(session):
        told = {"task_id": job.id, "command": job.command, "output_file": job.path}
        if job.kept:
            kept.append({**told, "pid": job.pid})
        else:
            ended.append(told)
    agents = [
        {"task_id": one.agent, "description": one.description, "output_file": one.session_path}
        for one in session.at_work
    ]
    found = {
        "background_jobs_ended": ended,
        "background_jobs_kept": kept,
        "background_agents_ended": agents,
    }
    return {name: jobs for name, jobs in found.items() if jobs}


def _running(session: Session) -> list[Job]:
    return [job for job in session.jobs if job.exit_code is None]


class JobFrames:
    """Start and end of each job; an end between turns is told in the next."""

    def __init__(self, jobs: Callable[[], tuple[Job, ...]]) -> None:
        self._jobs = jobs
        self._calls: dict[str, str] = {}
        """Jobs that run as far as the host knows, and the calls that started them."""

    def of(self, event: Event) -> list[dict[str, Any]]:
        if not isinstance(event, CallEnded | Reminded | TurnEnded):
            return []
        return [*self._started(event), *self._ended()]

    def _started(self, event: Event) -> list[dict[str, Any]]:
        data = getattr(getattr(event, "outcome", None), "data", None) or {}
        frames = []
        for job in self._jobs() if "backgroundTaskId" in data else ():
            if job.id == data["backgroundTaskId"]:
                self._calls[job.id] = getattr(event, "call_id", "")
                frames.append({**self._frame("task_started", job), "is_backgrounded": True})
        return frames

    def _ended(self) -> list[dict[str, Any]]:
        frames = []
        for job in self._jobs() if self._calls else ():
            if job.id in self._calls and job.exit_code is not None:
                told = {
                    "status": _status(job.exit_code),
                    "output_file": job.path,
                    "summary": f"{_short(job.command)}: {_ending(job.exit_code)}",
                }
                frames.append({**self._frame("task_notification", job), **told})
                del self._calls[job.id]
        return frames

    def _frame(self, subtype: str, job: Job) -> dict[str, Any]:
        return {
            "type": "system",
            "subtype": subtype,
            "task_id": job.id,
            "task_type": "local_bash",
            "description": _short(job.command),
            "tool_use_id": self._calls[job.id],
        }


def _status(exit_code: int) -> str:
    if exit_code < 0:
        return "stopped"
    return "failed" if exit_code else "completed"


def _ending(exit_code: int) -> str:
    return f"ended by signal {-exit_code}" if exit_code < 0 else f"exit code {exit_code}"


def _short(command: str) -> str:
    """One line of it, and that not too long."""
    line, _, rest = command.strip().partition("\n")
    return f"{line[: LONGEST - 1]}…" if rest or len(line) > LONGEST else line
