"""TaskOutput: what a background job has printed since the last look, or an agent has come to."""

import asyncio
import os
from collections.abc import Callable
from typing import Annotated, Any

from msgspec import Meta, Struct

from detent.ports import Desk, Job
from detent.tools.base import UNADVERTISED, TypedTool
from detent.tools.shell.jobs import is_running, size_of, standing
from detent.tools.shell.output import output_limit
from detent.tools.shell.spill import sized
from detent.tools.shell.truncate import WIDEST, Kept, left_out, torn_end
from detent.types.effects import Effect
from detent.types.messages import ToolSpec
from detent.types.outcomes import Failed, Outcome, done

DEFAULT_MS = 30_000
MAXIMUM_MS = 600_000
CHUNK = 1 << 16
MOST_FILTERED = 2_000_000
FILTER_SECONDS = 20.0


class TaskOutputArgs(Struct, frozen=True):
    task_id: Annotated[str, Meta(description="The job, as Bash named it; or an agent.")]
    block: Annotated[bool, Meta(description="Wait until it has ended; true unless given.")] = True
    timeout: Annotated[
        int, Meta(description="Longest wait in milliseconds: 30000 unless given.", ge=0)
    ] = DEFAULT_MS
    filter: Annotated[str, UNADVERTISED] = ""


class TaskOutput(TypedTool[TaskOutputArgs]):
    name = "TaskOutput"
    aliases = ("BashOutput",)
    renames = (("bash_id", "task_id"), ("shell_id", "task_id"))
    timeout = None  # the call has its own
    args = TaskOutputArgs

    def __init__(self, spec: ToolSpec) -> None:
        super().__init__(spec)
        self._shown: dict[str, int] = {}
        """How much of each output file was shown."""

    def adapt(self, given: dict[str, Any]) -> dict[str, Any]:
        """Under its old names it never waited."""
        adapted = super().adapt(given)
        return adapted if "task_id" in given else {"block": False, **adapted}

    def effects(self, args: TaskOutputArgs, cwd: str) -> tuple[Effect, ...]:
        return ()

    async def act(self, args: TaskOutputArgs, desk: Desk) -> Outcome:
        job = desk.shop.jobs.find(args.task_id)
        if job is None:
            return await self._of_agent(args, desk)
        if args.block:
            seconds = min(args.timeout, MAXIMUM_MS) / 1000
            job = await desk.shop.jobs.wait(args.task_id, seconds)
        try:
            start, end = await asyncio.to_thread(_unseen, job, self._shown.get(job.path, 0))
        except OSError as error:
            return Failed(f"TaskOutput: {standing(job)} {_unreadable(job, error)}")
        kept = Kept(output_limit(desk))
        if not args.filter:
            await asyncio.to_thread(_read, job.path, start, end, kept.feed)
        elif fault := await _filter(args.filter, job.path, start, end, kept, desk):
            return Failed(f"TaskOutput: {fault}")
        self._shown[job.path] = end
        return _told(job, kept, desk)

    async def _of_agent(self, args: TaskOutputArgs, desk: Desk) -> Outcome:
        from detent.tools.delegation.agent_tasks import agent_output, unknown_task

        agent = desk.shop.agents.find(args.task_id)
        if agent is None:
            return Failed(f"TaskOutput: {unknown_task(args.task_id, desk)}")
        if args.block:
            agent = await desk.shop.agents.wait(agent.agent, min(args.timeout, MAXIMUM_MS) / 1000)
        return agent_output(agent)


TOOL = TaskOutput


def _unseen(job: Job, shown: int) -> tuple[int, int]:
    """Where the new part begins and ends: never inside a character that is being written."""
    with open(job.path, "rb") as file:
        end = os.fstat(file.fileno()).st_size
        start = shown if shown <= end else 0  # the program may have emptied the file
        if is_running(job):
            file.seek(max(start, end - WIDEST))
            end -= torn_end(file.read(end - file.tell()))
    return start, end


def _unreadable(job: Job, error: OSError) -> str:
    if not job.path or isinstance(error, FileNotFoundError):
        return "What it printed is no longer there."
    return f"What it printed cannot be read: {error.strerror} ({job.path})."


def _read(path: str, start: int, end: int, take: Callable[[bytes], None]) -> None:
    with open(path, "rb") as file:
        file.seek(start)
        while start < end and (chunk := file.read(min(CHUNK, end - start))):
            take(chunk)
            start += len(chunk)


async def _filter(pattern: str, path: str, start: int, end: int, kept: Kept, desk: Desk) -> str:
    """The lines that match, found by `rg`: its patterns cannot run away. What was wrong, or ""."""
    program = desk.host.which("rg")
    if program is None:
        return "a filter needs the program rg, which is not there. Leave `filter` out."
    if end - start > MOST_FILTERED:
        return f"more than {MOST_FILTERED:,} bytes are new: use Grep on {path}."
    new, errors = bytearray(), Kept()
    await asyncio.to_thread(_read, path, start, end, new.extend)
    finished = await desk.host.run(
        [program, "--no-config", "--text", "--color=never", "-e", pattern, "-"],
        cwd=desk.cwd,
        timeout=FILTER_SECONDS,
        output=kept.feed,
        errors=errors.feed,
        stdin=bytes(new),
    )
    return errors.text().strip() if finished.exit_code not in (0, 1) else ""


def _told(job: Job, kept: Kept, desk: Desk) -> Outcome:
    head = standing(job)
    most = output_limit(desk) - len(head) - 2
    size = sized(size_of(job.path))
    where = f"all that it printed ({size}) is in {job.path}: use Read or Grep on it"
    printed = kept.text(most, left_out(where)).rstrip("\n")
    data = {
        "message": head,
        "task_id": job.id,
        "task_type": "local_bash",
        "status": status(job),
        "exitCode": job.exit_code,
        "output": printed,
    }
    return done(f"{head}\n\n{printed or '(nothing new was printed)'}", data)


def status(job: Job) -> str:
    if job.exit_code is None:
        return "ended" if job.past else "running"
    if job.exit_code < 0:
        return "killed"
    return "failed" if job.exit_code else "completed"
