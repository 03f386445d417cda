"""Background jobs that outlive the session which started them: how they stand when it goes on."""

import os
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from detent.app.earlier_jobs import UNHEARD_OF
from detent.host.notes import Line
from detent.host.staying import Staying, keeper_of, read_state, state_path
from detent.ports import Job
from detent.tools.shell.jobs import JobTable, is_running

LOST = "is over; how it ended is not known: its keeper was killed, or the machine went down"


def with_kept(jobs: Sequence[Job], folder: str, now: float) -> tuple[Job, ...]:
    """The jobs as they stand now, with those in the session's folder that its log does not know:
    the agent was killed before it could say that they had started."""
    known = {job.path for job in jobs}
    told = [_as_it_stands(job, now) if job.past == UNHEARD_OF else job for job in jobs]
    return (*told, *(_as_it_stands(job, now) for job in _unlogged(folder, known)))


def take_up(table: JobTable, jobs: Sequence[Job]) -> None:
    """In a running loop: each is watched, and the model hears of its end."""
    for job in jobs:
        if job.kept and is_running(job):
            table.adopt(job, Staying(state_path(job.path)))


def running_in(folder: str) -> list[int]:
    """The keepers of those that still run there."""
    pids = (keeper_of(state_path(path)) for path, _ in _states(folder))
    return [pid for pid in pids if pid]


def job_of_call(folder: str, call: str) -> Job | None:
    """The one that this call has started to stay, whatever the log knows."""
    for path, state in _states(folder):
        if state.call == call:
            return _job(state, path)
    return None


def _as_it_stands(job: Job, now: float) -> Job:
    path = state_path(job.path)
    if not os.path.exists(path):
        return job
    pid, state = keeper_of(path), read_state(path)
    if pid:
        return replace(job, past="", kept=True, pid=pid, seconds=max(0.0, now - state.began))
    if not state.ended:
        return replace(job, past=LOST if state.began else job.past)
    return replace(
        job,
        past="",
        kept=True,
        seconds=max(0.0, state.at - state.began),
        exit_code=state.code,
        note=state.note,
        sandbox=state.sandbox,
    )


def _unlogged(folder: str, known: set[str]) -> Iterator[Job]:
    for path, state in _states(folder):
        if path not in known and state.began:
            yield _job(state, path)


def _job(state: Line, path: str) -> Job:
    return Job(state.job, state.command, path, 0.0, past=UNHEARD_OF, kept=True)


def _states(folder: str) -> Iterator[tuple[str, Line]]:
    """The output's path, and what is known."""
    try:
        names = sorted(os.listdir(folder)) if folder else []
    except OSError:
        return
    for name in names:
        if name.endswith(".state"):
            path = os.path.join(folder, name)
            yield f"{path.removesuffix('.state')}.txt", read_state(path)
