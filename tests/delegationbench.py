"""Agents on a bench: they begin when they are told to, and end when a test says so."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from detent.ports import Desk
from detent.ports.delegation import Assignment, TooLate
from detent.testing.bare_shop import BareShop
from detent.testing.memory_host import MemoryHost
from detent.tools.delegation.delegate_agent import DelegateAgent
from detent.tools.registry import built_in
from detent.types import codec
from detent.types.agents import NOT_STARTED, AgentRecord, GroupEnded, State
from detent.types.budget import Spent
from detent.types.outcomes import Outcome
from detent.types.usage import Usage

TURNS = 6
"""Of the event loop: more than anything takes that does not wait for an agent."""
SPENT = Spent(usage=Usage(input=90, output=10), dollars=0.01)


class BenchAgents:
    """The `Agents` port. Each child is at work until the test ends it, by its name."""

    def __init__(self, calls: Mapping[str, str] = {}, earlier: Sequence[AgentRecord] = ()) -> None:
        """`calls` are those of earlier runs with their arguments, `earlier` what came of them."""
        self.turn = 0
        """Which one of the event loop this is."""
        self.begun: dict[str, int] = {}
        """By name: in which turn."""
        self.ended: dict[str, int] = {}
        self.given: dict[str, Assignment] = {}
        self.skipped: dict[str, str] = {}
        self.cancelled: list[str] = []
        self.groups: dict[str, GroupEnded] = {}
        self.unfit: dict[str, Exception] = {}
        """Those that cannot be had, by name; and what is raised instead."""
        self.places = asyncio.Semaphore(1_000)
        self._calls = dict(calls)
        self._records = {record.agent: record for record in earlier}
        self._at_work: dict[str, tuple[AgentRecord, asyncio.Future[AgentRecord]]] = {}

    @property
    def running(self) -> list[str]:
        return sorted(self._at_work)

    def end(self, name: str, state: State = "completed", **facts: Any) -> None:
        record, future = self._at_work.pop(name)
        facts = {"answer": f"answer of {name}", "turns": 2, "tool_calls": 3, "ms": 1500} | facts
        ended = replace(record, state=state, spent=SPENT, **facts)
        self._records[record.agent] = ended
        self.ended[name] = self.turn
        future.set_result(ended)

    def fail(self, name: str, error: str = "it broke") -> None:
        self.end(name, "failed", answer="", error=error)

    def burst(self, name: str, error: BaseException) -> None:
        self.ended[name] = self.turn
        self._at_work.pop(name)[1].set_exception(error)

    async def run(
        self,
        assignment: Assignment,
        call_id: str,
        progress: Callable[[str], None],
        too_late: Callable[[], str] = str,
    ) -> AgentRecord:
        name = assignment.name
        self.given[name] = assignment
        if name in self.unfit:
            raise self.unfit[name]
        async with self.places:
            if reason := too_late():
                raise TooLate(reason)
            return await self._work(assignment, call_id, progress)

    async def _work(
        self, assignment: Assignment, call_id: str, progress: Callable[[str], None]
    ) -> AgentRecord:
        name = assignment.name
        assert name not in self.begun, f"{name} begins twice"
        self.begun[name] = self.turn
        progress("at work")
        record = self._started(assignment, call_id)
        future: asyncio.Future[AgentRecord] = asyncio.get_running_loop().create_future()
        self._at_work[name] = record, future
        try:
            return await future
        except asyncio.CancelledError:
            if future.cancelled():
                self.cancelled.append(name)
                self._records[record.agent] = replace(record, state="stopped")
            raise

    def skip(self, assignment: Assignment, call_id: str, reason: str) -> AgentRecord:
        assert assignment.name not in self.begun
        self.skipped[assignment.name] = reason
        record = self._started(assignment, call_id)
        self._records[record.agent] = replace(record, state="skipped", stop_reason=reason)
        return self._records[record.agent]

    def give_up(self, assignment: Assignment, call_id: str, error: str) -> AgentRecord:
        assert assignment.name not in self.begun
        record = self._started(assignment, call_id)
        self._records[record.agent] = replace(
            record, state="failed", stop_reason=NOT_STARTED, error=error
        )
        return self._records[record.agent]

    def end_group(self, ended: GroupEnded) -> None:
        assert ended.group not in self.groups, "it ends once"
        self.groups[ended.group] = ended

    def began_with(self, group: str) -> tuple[str, str]:
        return (group, self._calls[group]) if group in self._calls else ("", "")

    def all(self) -> tuple[AgentRecord, ...]:
        return tuple(self._records.values())

    def _started(self, assignment: Assignment, call_id: str) -> AgentRecord:
        agent = assignment.resume or f"agent_{len(self._records) + 1}"
        record = AgentRecord(
            agent=agent,
            kind=assignment.kind or "general-purpose",
            name=assignment.name,
            call_id=call_id,
            group_id=assignment.group,
            child_index=assignment.index,
        )
        self._records[agent] = record
        return record


class NoFiles:
    noted: Mapping[str, str] = {}

    def remember(self, path: str, digest: str) -> None: ...
    def recall(self, path: str) -> str | None: ...
    async def told_of(self, path: str, known: str, digest: str, now: bytes) -> str:
        return ""


class Delegation:
    """One call of delegate_agent that is under way."""

    def __init__(self, agents: BenchAgents, arguments: Any, call: str = "call_1") -> None:
        self.agents = agents
        self.progress: list[str] = []
        self.so_far: Callable[[], str] = lambda: ""
        self.shop = BareShop()
        self.shop.agents = agents  # type: ignore[attr-defined]
        tool = DelegateAgent(built_in("delegate_agent"))
        self.args = tool.parse(json.dumps(arguments))
        self.effects = tool.effects(self.args, "/p")
        desk = Desk(
            call,
            "/p",
            MemoryHost(),
            NoFiles(),
            self.progress.append,
            self.shop,
            cut_short=self._cut_short,
        )
        self.task = asyncio.ensure_future(tool.run(self.args, desk))

    def _cut_short(self, so_far: Callable[[], str]) -> None:
        self.so_far = so_far

    async def settle(self) -> list[str]:
        """Until nothing moves without an agent's end. Who is at work then."""
        for _ in range(TURNS):
            await asyncio.sleep(0)
            self.agents.turn += 1
        return self.agents.running

    async def outcome(self) -> Outcome:
        outcome = await asyncio.wait_for(self.task, 30)
        codec.encode(outcome)  # every outcome must fit the log
        return outcome
