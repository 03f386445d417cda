"""One subagent from the tools it is given to what came of it, and of its worktree."""

import asyncio
from typing import TYPE_CHECKING

from msgspec.structs import replace

from detent.app.agents.child import ChildEngine
from detent.app.agents.crew import Crew
from detent.app.agents.hiring import GO_ON, Hire, equip, started
from detent.app.agents.running import Work, at_work, ended_of, so_far
from detent.app.engine import Engine
from detent.ports.delegation import CannotDelegate
from detent.types.agents import AgentEnded, AgentRecord, AgentStarted
from detent.types.events import TurnEnded

if TYPE_CHECKING:
    from detent.app.agents.files.worktrees import Worktree


class Running:
    """A child that works now."""

    def __init__(self, work: Work, one: Hire, background: bool) -> None:
        self.work, self.background = work, background
        self.name, self.siblings = one.assignment.name, one.assignment.siblings
        self._hire = one
        self._task: asyncio.Task[TurnEnded] | None = None
        self.over = asyncio.Event()
        """It has ended, and the log says so."""
        self.waiting = 0
        """How many calls wait for its end: they tell of it themselves."""
        self.is_quiet = False
        """Whoever ends it knows that it ends."""
        self._is_cancelled = False
        self._since = work.above.grounds.clock.elapsed()

    @property
    def hears(self) -> bool:
        """What is said to it now, it reads."""
        return self._task is None or not self._task.done()

    def announced(self) -> AgentStarted:
        """For the log, before it begins."""
        work = self.work
        return started(
            self._hire.lineage,
            self._hire.assignment,
            model=work.engine.kit.model.name,
            background=self.background,
            goes_on=work.first > 0,
            worktree=work.worktree.top if work.worktree is not None else "",
        )

    def begin(self) -> "asyncio.Task[TurnEnded]":
        self._task = asyncio.create_task(at_work(self.work))
        if self._is_cancelled:
            self._task.cancel()
        return self._task

    def cancel(self) -> None:
        """Once: a second time it would be cut off while it writes down how it ended."""
        if not self._is_cancelled:
            self._is_cancelled = True
            if self._task is not None:
                self._task.cancel()

    async def close(self) -> None:
        """Nothing of it is left at work. What fails in that takes nothing from what it has done."""
        self.cancel()
        if self._task is not None:
            await asyncio.wait({self._task})
        try:
            await self.work.engine.aclose()
        except Exception as error:
            who = self.name or self.work.agent
            self.work.above.recorder.warn(f"{who} has ended, but not all was closed: {error!r}")

    def ended(self) -> AgentEnded:
        return ended_of(self.work, self._task, self._ms())

    async def merged(self, ended: AgentEnded, crew: Crew) -> AgentEnded:
        """With what became of its worktree, if it had one."""
        work, task = self.work, self._hire.assignment
        if work.worktree is None:
            return ended
        from detent.app.agents.files.isolation import come_to_end

        words = await come_to_end(work.worktree, work.above, crew.sharing, ended.state, task)
        return replace(ended, answer=f"{ended.answer}\n\n[{words}]".lstrip())

    def unmerged(self, ended: AgentEnded) -> AgentEnded:
        """Stopped before that was done: it goes on from there, and is merged then."""
        if self.work.worktree is None or ended.state != "completed":
            return ended
        words = f"It was stopped before all was merged: its worktree is {self.work.worktree.top}."
        answer = f"{ended.answer}\n\n[{words}]".lstrip()
        return replace(ended, state="stopped", reason="user_cancelled", answer=answer)

    def so_far(self, record: AgentRecord) -> AgentRecord:
        return replace(so_far(self.work, record, self._ms()), background=self.background)

    def _ms(self) -> int:
        return round((self.work.above.grounds.clock.elapsed() - self._since) * 1000)


async def work_for(crew: Crew, above: Engine, one: Hire) -> Work:
    """Raises CannotDelegate."""
    engine, worktree = await _equipped(crew, above, one)
    entries = engine.journal.log.entries
    first = entries[-1].seq if entries else 0
    return Work(engine, above, one.agent, one.assignment.prompt or GO_ON, first, worktree)


async def _equipped(crew: Crew, above: Engine, one: Hire) -> "tuple[ChildEngine, Worktree | None]":
    """With a worktree, where it is to have one."""
    if not (one.assignment.isolation or one.kind.isolation):
        return equip(crew, above, one), None
    from detent.app.agents.files.isolation import worktree_for
    from detent.app.agents.files.worktrees import discard

    worktree = await worktree_for(above, one.agent)
    try:
        return equip(crew, above, one, worktree), worktree
    except CannotDelegate:
        if not one.assignment.resume:
            await discard(worktree)
        raise
