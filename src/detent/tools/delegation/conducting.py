"""Runs a plan: children begin when the schedule says so, and none can harm another."""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial

from msgspec import Struct

from detent.ports import Desk
from detent.ports.delegation import Assignment, AtWork, CannotDelegate, TooLate
from detent.tools.delegation.assigning import assignment_of
from detent.tools.delegation.graph import Plan
from detent.tools.delegation.scheduling import Schedule
from detent.types.agents import AgentRecord, GroupEnded


class Work(Struct, frozen=True):
    """A plan, and how far it has come in an earlier run."""

    plan: Plan
    call: str
    """The one that began it."""
    with_context: bool = False
    settled: Mapping[int, AgentRecord] = {}
    """Children that are not run again."""
    cut_off: Mapping[int, AgentRecord] = {}
    """Children that go on from where they were."""

    def group_id(self, number: int) -> str:
        return f"{self.call}/{self.plan.groups[number].name}"


class Conductor:
    def __init__(self, work: Work, desk: Desk) -> None:
        self._work, self._plan = work, work.plan
        self._desk, self._agents = desk, desk.shop.agents
        self._schedule = Schedule(work.plan)
        self._begun: dict[int, float] = {}
        """When each group did."""
        self._tasks = asyncio.TaskGroup()
        self.records: dict[int, AgentRecord] = {}
        self.groups: dict[int, GroupEnded] = {}

    async def run(self) -> None:
        for index, record in self._work.settled.items():
            self.records[index] = record
            self._schedule.ended(index, record.state == "completed")
        try:
            async with self._tasks:
                self._go_on()
        finally:  # of a call that is cancelled, too, the log tells how far it came
            for number in range(len(self._plan.groups)):
                self._end_group(number)

    def _go_on(self) -> None:
        """Whatever can begin now does, in this very turn of the event loop."""
        due = self._schedule.due()
        for index, reason in due.skip:
            assignment, call = self._assignment(index), self._desk.call_id
            self.records[index] = self._agents.skip(assignment, call, reason)
        now = asyncio.get_running_loop().time()
        for index in due.begin:
            self._begun.setdefault(self._plan.children[index].group, now)
            self._tasks.create_task(self._see_through(index))
        for number in due.over:
            self._end_group(number)

    async def _see_through(self, index: int) -> None:
        record = await self._whatever_comes(index)
        self.records[index] = record
        if record.state != "skipped":
            self._schedule.ended(index, record.state == "completed")
        far = f"{len(self.records)} of {len(self._plan.children)} ended"
        self._desk.progress(f"{far}; {self._plan.children[index].name}: {record.state}")
        if not _is_cancelled():
            self._go_on()

    async def _whatever_comes(self, index: int) -> AgentRecord:
        """A child that cannot be had, or breaks, has failed; only a cancelled call goes further."""
        name = self._plan.children[index].name
        try:
            return await self._run(index, lambda text: self._desk.progress(f"{name}: {text}"))
        except AtWork as error:
            return self._failed(index, str(error))
        except TooLate as error:
            return self._agents.skip(self._assignment(index), self._desk.call_id, str(error))
        except CannotDelegate as error:  # the log tells of all, also of who never began
            return self._agents.give_up(self._assignment(index), self._desk.call_id, str(error))
        except asyncio.CancelledError:
            if _is_cancelled():
                raise
            return self._failed(index, "it was cancelled")
        except Exception as error:
            return self._failed(index, f"{type(error).__name__}: {error}")

    async def _run(self, index: int, progress: Callable[[str], None]) -> AgentRecord:
        call, too_late = self._desk.call_id, partial(self._schedule.begin, index)
        if index in self._work.cut_off:
            going_on = self._assignment(index, self._work.cut_off[index])
            try:
                return await self._agents.run(going_on, call, progress, too_late)
            except (AtWork, TooLate):  # for somebody else, who has taken the group up as well
                raise
            except CannotDelegate:  # what it had come to is gone: it begins again
                pass
        return await self._agents.run(self._assignment(index), call, progress, too_late)

    def _assignment(self, index: int, past: AgentRecord | None = None) -> Assignment:
        child, work = self._plan.children[index], self._work
        group_id = work.group_id(child.group)
        return assignment_of(self._plan, child, group_id, self.records, work.with_context, past)

    def _failed(self, index: int, error: str) -> AgentRecord:
        child = self._plan.children[index]
        return AgentRecord(
            agent="",
            kind=child.wish.subagent_type,
            state="failed",
            name=child.name,
            description=child.wish.description,
            call_id=self._desk.call_id,
            group_id=self._work.group_id(child.group),
            child_index=index,
            error=error,
        )

    def _end_group(self, number: int) -> None:
        """Once."""
        if number in self.groups:
            return
        group, tally = self._plan.groups[number], self._schedule.tallies[number]
        now = asyncio.get_running_loop().time()
        ended = GroupEnded(
            group=self._work.group_id(number),
            call_id=self._desk.call_id,
            strategy=group.strategy,
            completed=tally.completed,
            failed=len(tally.failed),
            batches=tally.batches,
            largest_batch=tally.largest_batch,
            skipped=len(tally.skipped),
            ms=round((now - self._begun.get(number, now)) * 1000),
        )
        self.groups[number] = ended
        if not all(index in self._work.settled for index in group.children):
            self._agents.end_group(ended)


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
