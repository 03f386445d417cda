"""Those who work for one parent: the `Agents` port."""

import asyncio
from collections.abc import Callable
from functools import cached_property
from typing import Any

from msgspec.structs import replace

from detent.app.agents.child import ChildEngine
from detent.app.agents.crew import Crew
from detent.app.agents.employed import Running, work_for
from detent.app.agents.hiring import Hire, hire, started
from detent.app.agents.kinds.record import GENERAL
from detent.app.agents.unbroken import unbroken
from detent.app.engine import Engine
from detent.ports.delegation import Assignment, AtWork, TooLate
from detent.session.agent_records import Records
from detent.types.agents import NOT_STARTED, AgentEnded, AgentRecord, GroupEnded, Lineage
from detent.types.budget import Spent
from detent.types.content import Text
from detent.types.events import CallStarted


class Staff:
    def __init__(self, engine: Engine, crew: Crew, lineage: Lineage | None = None) -> None:
        self._engine = engine
        self.crew = crew
        self._lineage = lineage
        """Whom the parent itself works for; None is the session."""
        self._running: dict[str, Running] = {}
        self._coming: dict[str, asyncio.Future[bool]] = {}
        """Those who have not begun yet; told whether they did."""
        self._places = asyncio.Semaphore(crew.at_once)
        self._tasks: set[asyncio.Task[AgentRecord]] = set()
        """Those in the background."""
        self._attended: dict[str, _Attended] = {}
        """By call: those that it waits for. Of several, the last."""
        if lineage is not None or engine.grounds.options.waits_for_agents:
            engine.inbox.expects = lambda: bool(self._tasks)

    @cached_property
    def _records(self) -> Records:
        return Records(self.crew.folder)

    @property
    def is_busy(self) -> bool:
        return bool(self._running or self._tasks)

    async def run(
        self,
        assignment: Assignment,
        call_id: str,
        progress: Callable[[str], None],
        too_late: Callable[[], str] = str,
    ) -> AgentRecord:
        one = self._hired(assignment, call_id)
        task = asyncio.create_task(self._employed(one, is_background=False, too_late=too_late))
        return await self._attend(one.agent, call_id, task)

    async def _attend(
        self, agent: str, call_id: str, task: "asyncio.Task[AgentRecord]"
    ) -> AgentRecord:
        """Until it has ended, or works on without the call."""
        left: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._attended[call_id] = agent, task, left
        ends: tuple[asyncio.Future[Any], ...] = task, left
        try:
            await asyncio.sleep(0)  # what has not begun cannot be cancelled in order
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            if not left.done():  # else the call had come to its end before
                await _cancelled(task)
                raise
        finally:
            self._attended.pop(call_id, None)
        return replace(self._known(agent), background=True) if left.done() else task.result()

    def leave(self, call_id: str) -> bool:
        agent, task, left = self._attended.get(call_id, ("", None, None))
        running = self._running.get(agent)
        if running is None or task is None or left is None or left.done():
            return False
        running.background = True
        self._tasks.add(task)
        task.add_done_callback(self._came_back)
        left.set_result(None)
        return True

    async def start(
        self, assignment: Assignment, call_id: str, *, is_judged: bool = True
    ) -> AgentRecord:
        one = self._hired(assignment, call_id, is_judged=is_judged)
        coming = self._coming[one.agent]
        task = asyncio.create_task(self._employed(one, is_background=True))
        self._tasks.add(task)
        task.add_done_callback(self._came_back)
        try:
            has_begun = await asyncio.shield(coming)
        finally:
            if not coming.done():
                task.cancel()  # nobody would know of it
        return self._known(one.agent) if has_begun else await task  # or why it could not begin

    def goes_aside(self, kind: str) -> bool:
        found = self.crew.kinds.find(kind)
        return found is not None and found.background

    def find(self, agent: str) -> AgentRecord | None:
        record = self._read().named(agent)
        return None if record is None else self._live(record)

    def all(self) -> tuple[AgentRecord, ...]:
        return tuple(map(self._live, self._read().agents.values()))

    async def wait(self, agent: str, seconds: float) -> AgentRecord:
        if (running := self._running.get(agent)) is not None:
            running.waiting += 1
            try:
                async with asyncio.timeout(seconds):
                    await running.over.wait()
            except TimeoutError:
                pass
            except asyncio.CancelledError:
                if running.over.is_set() and running.background:  # it was left to this call
                    self._tell_end(agent)
                raise
            finally:
                running.waiting -= 1
        return self._known(agent)

    async def stop(self, agent: str) -> AgentRecord:
        if (running := self._running.get(agent)) is not None:
            running.is_quiet = True
        return await self.end(agent)

    async def end(self, agent: str) -> AgentRecord:
        """As `stop`, by somebody else than the parent: that is told of it."""
        if (running := self._running.get(agent)) is not None:
            running.cancel()
            await running.over.wait()
        return self._known(agent)

    async def send(self, agent: str, text: str) -> AgentRecord:
        record = self.find(agent)
        if record is None:
            from detent.app.agents.messages import deliver

            return deliver(self.crew, self._lineage, self.all(), agent, text)
        agent = record.agent
        if (coming := self._coming.get(agent)) is not None:
            await asyncio.shield(coming)
        if (running := self._running.get(agent)) is not None:
            if running.hears:
                running.work.engine.inbox.put((Text(text),))
                return self._known(agent)
            await running.over.wait()
        goes_on = Assignment(
            prompt=text, kind=record.kind, description=record.description, name=record.name,
            resume=agent,
        )  # fmt: skip
        return await self.start(goes_on, record.call_id, is_judged=False)

    def skip(self, assignment: Assignment, call_id: str, reason: str) -> AgentRecord:
        return self._never_begun(assignment, call_id, state="skipped", reason=reason)

    def give_up(self, assignment: Assignment, call_id: str, error: str) -> AgentRecord:
        ended = {"state": "failed", "reason": NOT_STARTED, "error": error}
        return self._never_begun(assignment, call_id, **ended)

    def _never_begun(self, assignment: Assignment, call_id: str, **ended: Any) -> AgentRecord:
        lineage = self._below(assignment, call_id)
        self._engine.recorder.record(started(lineage, assignment))
        self._engine.recorder.record(AgentEnded(agent=lineage.agent, **ended))
        return self._known(lineage.agent)

    def end_group(self, ended: GroupEnded) -> None:
        self._engine.recorder.record(ended)

    def began_with(self, group: str) -> tuple[str, str]:
        calls = {one.call_id for one in self._read().agents.values() if one.group_id == group}
        for entry in self._engine.journal.log.entries:
            if not isinstance(entry, CallStarted) or entry.name != "delegate_agent":
                continue  # nobody was asked about agents in whatever else was called
            if entry.call_id in (*calls, group):
                return entry.call_id, entry.arguments
        return "", ""

    async def aclose(self) -> None:
        """Whoever still works is ended: also those whose call nobody had the patience to wait for
        when it was cancelled."""
        left = tuple(self._running.values())
        for running in left:
            running.cancel()
        for task in self._tasks:
            if not task.cancelling():
                task.cancel()
        for running in left:
            await running.over.wait()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _hired(self, assignment: Assignment, call_id: str, *, is_judged: bool = True) -> Hire:
        known = self.find(assignment.resume) if assignment.resume else None
        if known is not None and (known.agent in self._running or known.agent in self._coming):
            raise AtWork(f"{assignment.resume} is at work; SendMessage reaches it.")
        lineage = self._below(assignment, call_id, known.agent if known is not None else "")
        one = hire(self.crew, self._engine, lineage, assignment, known, is_judged=is_judged)
        self.crew.names[one.agent] = one.assignment.name
        self._coming[one.agent] = asyncio.get_running_loop().create_future()
        return one

    def _below(self, assignment: Assignment, call_id: str, agent: str = "") -> Lineage:
        """Where somebody stands who works for this parent."""
        own = self._lineage
        return Lineage(
            agent=agent or self._engine.grounds.clock.new_id("agent"),
            kind=assignment.kind or GENERAL,
            root=self.crew.root.journal.session,
            parent=own.agent if own is not None else "",
            call=call_id,
            group=assignment.group,
            index=assignment.index,
            depth=own.depth + 1 if own is not None else 1,
        )

    async def _employed(
        self, one: Hire, *, is_background: bool, too_late: Callable[[], str] = str
    ) -> AgentRecord:
        """From its place to its record, whatever happens to it meanwhile."""
        running: Running | None = None
        try:
            async with self._places:
                if reason := too_late():
                    raise TooLate(reason)
                work = await work_for(self.crew, self._engine, one)
                work.engine.shop.employ = lambda: _staff_of(work.engine, self.crew, one.lineage)
                running = Running(work, one, is_background)
                await self._see_through(running)
        finally:
            if running is None:  # it never began, and costs nothing
                self._engine.kit.account.spend(Spent(delegations=-1))
            self._has_come(one.agent, has_begun=False)
            del self.crew.names[one.agent]
        return self._known(one.agent)

    async def _see_through(self, running: Running) -> None:
        """The log says so before it begins; cancelled meanwhile, it needs its end all the same."""
        agent = running.work.agent
        self._running[agent] = self.crew.at_work[agent] = running
        try:
            self._share()
            await unbroken(self._engine.recorder.emit(running.announced()))
            task = running.begin()
            self._has_come(agent, has_begun=True)
            await asyncio.wait({task})
        finally:
            await self._ended(running)

    def _share(self) -> None:
        """Whoever comes takes its part of the budget from those at work, where it is shared so."""
        at_work = self._running.values()
        most = max(len(at_work), *(one.siblings for one in at_work))
        self._engine.kit.account.share((one.work.engine.kit.account for one in at_work), most)

    def _has_come(self, agent: str, *, has_begun: bool) -> None:
        if (coming := self._coming.pop(agent, None)) is not None:
            coming.set_result(has_begun)

    async def _ended(self, running: Running) -> None:
        """Also when whoever waited for it was cancelled: then it is ended first."""
        try:
            await unbroken(running.close())
        finally:
            ended = running.ended()
            try:
                ended = await running.merged(ended, self.crew)
            except asyncio.CancelledError:
                ended = running.unmerged(ended)
                raise
            finally:
                self._leaves(running, ended)

    def _leaves(self, running: Running, ended: AgentEnded) -> None:
        """Whatever happens in telling it: whoever waits for its end does not wait for ever."""
        agent = running.work.agent
        try:
            self._engine.recorder.record(ended)
        finally:
            del self._running[agent], self.crew.at_work[agent]
            running.over.set()
        if running.background and not running.is_quiet and not running.waiting:
            self._tell_end(agent)

    def _tell_end(self, agent: str) -> None:
        from detent.app.agents.messages import news_of

        self._engine.inbox.tell(news_of(self._known(agent)))

    def _came_back(self, task: "asyncio.Task[AgentRecord]") -> None:
        """One in the background is no longer waited for."""
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # whoever started it has had it
        self._engine.inbox.stir()

    def _read(self) -> Records:
        return self._records.read(self._engine.journal.log.entries)

    def _known(self, agent: str) -> AgentRecord:
        return self._live(self._read().agents[agent])

    def _live(self, record: AgentRecord) -> AgentRecord:
        """Of one at work, with what it has come to so far."""
        running = self._running.get(record.agent)
        return record if running is None else running.so_far(record)


_Attended = tuple[str, "asyncio.Task[AgentRecord]", "asyncio.Future[None]"]
"""The agent, its work, and what is done when the call goes on without it."""


async def _cancelled(task: "asyncio.Task[AgentRecord]") -> None:
    """To its end: whoever waits is cancelled with it, however often."""
    task.cancel()
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            task.cancel()
    if not task.cancelled():
        task.exception()  # nobody wants to know any more


def _staff_of(engine: ChildEngine, crew: Crew, lineage: Lineage) -> Staff:
    if engine.staff is None:
        engine.staff = Staff(engine, crew, lineage)
    return engine.staff
