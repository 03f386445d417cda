"""Commands in the background: each prints into a file, and the model hears of its end."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from msgspec import Struct

from detent.ports import Clock, Finished, Host, Job, Jobs, Outputs, Running
from detent.tools.shell.endings import ending
from detent.tools.shell.spill import sized
from detent.tools.terminal import plain

MOST_RUNNING = 32
MOST_BYTES = 1_000_000_000
"""Of output; a job that prints more is ended."""
LOOK = 0.5
"""Seconds between two looks at the size of its file."""
LAST_LINES = 5
LAST_BYTES = 2_000
SHORT = 80
NEWS = "[Background job"
"""How every news of a job's end begins."""
PATIENCE = 5.0
"""Seconds that a job has to end."""

Stay = Callable[..., Awaitable[Running]]
"""Starts a command that outlives us: `LocalHost.stay`."""


class _Work(Struct, eq=False):
    """A job and what the session holds of it."""

    id: str
    command: str
    path: str
    running: Running
    began: float
    over: asyncio.Event
    watch: "asyncio.Task[None] | None" = None
    seconds: float = 0.0
    exit_code: int | None = None
    note: str = ""
    waiting: int = 0
    """How many calls wait for its end: they tell of it themselves."""
    is_quiet: bool = False
    """Whoever ends it knows that it ends."""


class JobTable:
    """The jobs of one session; they go with it, unless there is a way for them to `stay`. Of those
    of `earlier` runs only the names and the files are left."""

    def __init__(
        self,
        host: Host,
        outputs: Outputs,
        clock: Clock,
        tell: Callable[[str], None],
        earlier: Sequence[Job] = (),
        stay: Stay | None = None,
    ) -> None:
        self._host, self._outputs, self._clock, self._tell = host, outputs, clock, tell
        self._stay = stay
        self._works: dict[str, _Work] = {}
        self._past = {job.id: job for job in earlier}
        self._count = max(map(number_of, self._past), default=0)
        self._starting = 0
        """Jobs that have a place, but do not run yet."""

    async def start(
        self, command: str, argv: Sequence[str], cwd: str, *, confined: bool = False, call: str = ""
    ) -> Job:
        """Raises OSError when it cannot be started."""
        if len(self._running()) + self._starting >= MOST_RUNNING:
            raise OSError(
                f"{MOST_RUNNING} jobs are running, more are not allowed. End one with TaskStop."
            )
        name = self._new_name()
        with self._outputs.create(name) as file:
            path = file.name
        self._starting += 1
        try:
            if self._stay is None:
                running = await self._host.start(argv, cwd=cwd, output=path, confined=confined)
            else:
                facts = {"job": name, "call": call, "command": command}
                running = await self._stay(
                    argv, cwd=cwd, output=path, confined=confined, facts=facts
                )
        except OSError:
            with suppress(OSError):
                os.unlink(path)
            raise
        finally:
            self._starting -= 1
        return self._follow(name, command, path, running, 0.0)

    def take_over(self, command: str, path: str, running: Running, seconds: float) -> Job:
        """It runs already, so there is always a place."""
        return self._follow(self._new_name(), command, path, running, seconds)

    def _new_name(self) -> str:
        self._count += 1
        return f"job_{self._count}"

    def adopt(self, job: Job, running: Running) -> None:
        """One that an earlier run has started, and that still runs."""
        self._past.pop(job.id, None)
        self._follow(job.id, job.command, job.path, running, job.seconds)

    def _follow(self, name: str, command: str, path: str, running: Running, ran: float) -> Job:
        """`ran`: for so many seconds before now."""
        began = self._clock.elapsed() - ran
        work = self._works[name] = _Work(name, command, path, running, began, asyncio.Event())
        work.watch = asyncio.create_task(self._watch(work))
        return self._job(work)

    def find(self, job: str) -> Job | None:
        work = self._works.get(job)
        return self._past.get(job) if work is None else self._job(work)

    def all(self) -> tuple[Job, ...]:
        return (*self._past.values(), *map(self._job, self._works.values()))

    async def wait(self, job: str, seconds: float) -> Job:
        if job in self._past:
            return self._past[job]
        work = self._works[job]
        work.waiting += 1
        try:
            async with asyncio.timeout(seconds):
                await work.over.wait()
        except TimeoutError:
            pass
        finally:
            work.waiting -= 1
        return self._job(work)

    async def stop(self, job: str) -> Job:
        if job in self._past:
            return self._past[job]
        work = self._works[job]
        if work.exit_code is None:
            work.is_quiet = True
            await work.running.end()
            with suppress(TimeoutError):
                async with asyncio.timeout(PATIENCE):
                    await work.over.wait()
        return self._job(work)

    async def aclose(self) -> None:
        """Ends all that do not stay; nobody is told."""
        left = [work for work in self._running() if not work.running.stays]
        for work in self._running():
            work.is_quiet = True
            if work.running.stays and work.watch is not None:
                work.watch.cancel()
        await asyncio.gather(*(work.running.end() for work in left), return_exceptions=True)
        watches = [work.watch for work in self._works.values() if work.watch is not None]
        await asyncio.gather(*watches, return_exceptions=True)

    def _running(self) -> list[_Work]:
        return [work for work in self._works.values() if work.exit_code is None]

    async def _watch(self, work: _Work) -> None:
        finished = await self._end_of(work)
        work.seconds = self._clock.elapsed() - work.began
        work.exit_code = finished.exit_code
        work.note = work.note or finished.note
        work.over.set()
        if not work.is_quiet and not work.waiting:
            self._tell(news(self._job(work)))

    async def _end_of(self, work: _Work) -> Finished:
        """When it has ended, by itself or because it printed too much."""
        end = asyncio.ensure_future(work.running.wait())
        while not (await asyncio.wait({end}, timeout=LOOK))[0]:
            if size_of(work.path) >= MOST_BYTES:
                work.note = f"Ended because it printed more than {sized(MOST_BYTES)}."
                await work.running.end()
        with suppress(OSError):
            if size_of(work.path) > MOST_BYTES:
                os.truncate(work.path, MOST_BYTES)
        try:
            return end.result()
        except OSError as error:
            return Finished(-signal.SIGKILL, note=f"It was lost: {error}.")

    def _job(self, work: _Work) -> Job:
        is_over, stays = work.exit_code is not None, work.running.stays
        return Job(
            id=work.id,
            command=work.command,
            path=work.path,
            seconds=work.seconds if is_over else self._clock.elapsed() - work.began,
            exit_code=work.exit_code,
            note=work.note,
            sandbox=work.running.sandbox,
            pid=work.running.pid if stays and not is_over else 0,
            kept=stays,
        )


def standing(job: Job) -> str:
    """`job_1 (make test) ended after 3.2 s. Exit code 2.`"""
    title = f"{job.id} ({short(job.command)})"
    if job.past:
        return f"{title} {job.past}."
    if job.exit_code is None:
        return f"{title} has been running for {job.seconds:.1f} s."
    note = f" {job.note}" if job.note else ""
    return f"{title} ended after {job.seconds:.1f} s. {ending(job.exit_code).rstrip('.')}.{note}"


def unknown(task_id: str, jobs: Jobs) -> str:
    """There is no such job, but these."""
    known = " ".join(map(standing, jobs.all())) or "none was started in this session."
    return f"there is no job {task_id!r}. Jobs: {known}"


def is_running(job: Job) -> bool:
    return job.exit_code is None and not job.past


def number_of(job: str) -> int:
    """Of `job_7`, 7."""
    number = job.removeprefix("job_")
    return int(number) if number.isdecimal() else 0


def short(command: str) -> str:
    """The first line, and that not too long."""
    text = plain(command).strip()
    line = text.partition("\n")[0]
    return line if line == text and len(line) <= SHORT else f"{line[: SHORT - 1]}…"


def news(job: Job) -> str:
    """What it printed is quoted: it is the program that says it, and not the user."""
    lines = _last_lines(job.path)
    said = f"{NEWS} {standing(job)} Output: {job.path}"
    return f"{said}; its last lines:]\n" + "\n".join(lines) if lines else f"{said}, empty.]"


def _last_lines(path: str) -> list[str]:
    try:
        with open(path, "rb") as file:
            file.seek(max(0, size_of(path) - LAST_BYTES))
            text = plain(file.read(LAST_BYTES).decode("utf-8", "replace"))
    except OSError:
        return []
    return [f"> {line}" for line in text.rstrip().split("\n")[-LAST_LINES:] if line]


def size_of(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
