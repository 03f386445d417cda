"""Subagents of random sessions: somebody is set to work, spends, and ends or is ended."""

from __future__ import annotations

import asyncio
from random import Random
from typing import TYPE_CHECKING, Any

from detent.ports import Desk
from detent.session.agent_records import fold
from detent.types.agents import AgentEnded, AgentStarted, GroupEnded, Task, TaskChanged
from detent.types.budget import Spent
from detent.types.effects import Spawns
from detent.types.outcomes import Failed, Outcome
from detent.types.usage import Usage
from kitbench import Bench, BenchTool

if TYPE_CHECKING:
    from detent.context.account import Account

SPAWNS = (Spawns("general-purpose"),)


class Crew:
    """Whoever works for the session, as the log and the account see them."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self.bench: Bench | None = None
        self._beside: set[asyncio.Task[str]] = set()
        self._spent: dict[str, Spent] = {}
        """By each, as far as it came; whatever the log says."""

    def tools(self) -> list[BenchTool]:
        return [
            BenchTool("spawn", self._run, effects=SPAWNS),
            BenchTool("spawn_beside", self._start, effects=SPAWNS),
        ]

    async def _run(self, args: dict[str, Any], desk: Desk) -> Outcome | str:
        if not self._hired():
            return Failed("there is no more of that")
        return await self._work(self._begun(desk.call_id, background=False))

    async def _start(self, args: dict[str, Any], desk: Desk) -> Outcome | str:
        if not self._hired():
            return Failed("there is no more of that")
        agent = self._begun(desk.call_id, background=True)
        task = asyncio.ensure_future(self._work(agent, is_beside=True))
        self._beside.add(task)
        task.add_done_callback(self._beside.discard)
        return f"{agent} is at work"

    @property
    def _account(self) -> Account:
        assert self.bench is not None
        return self.bench.kit.account

    def _record(self, entry: Any) -> None:
        assert self.bench is not None
        self.bench.recorder.record(entry)

    def _hired(self) -> bool:
        return self._account.take(Spent(delegations=1)) is None

    def _begun(self, call: str, *, background: bool) -> str:
        agent = f"agent_{self._chance.getrandbits(40):x}"
        self._record(
            AgentStarted(agent=agent, kind="general-purpose", call_id=call, background=background)
        )
        return agent

    async def _work(self, agent: str, *, is_beside: bool = False) -> str:
        chance, account = self._chance, self._account.child(within=True)
        state: Any = "stopped"
        try:
            for _ in range(chance.choice([0, 1, 3])):
                for _ in range(chance.choice([0, 1, 7])):
                    await asyncio.sleep(0)
                usage = Usage(input=chance.randrange(400), output=chance.randrange(90))
                account.spend(Spent(usage=usage, unpriced=usage.total, requests=1, calls=1))
                self._spent[agent] = account.spent
                if chance.random() < 0.2:
                    task = Task(id=str(chance.randrange(5)), subject="one of many")
                    self._record(TaskChanged(task=task, by=agent))
            state = chance.choice(["completed", "completed", "failed"])
            return "what it found"
        finally:
            self._record(AgentEnded(agent=agent, state=state, answer="x", spent=account.spent))
            if chance.random() < 0.2:
                self._record(GroupEnded(group="g", call_id="c", completed=1))
            if is_beside and self.bench is not None:
                self.bench.inbox.tell(f"{agent} has ended")

    async def close(self) -> None:
        """With the session."""
        for task in tuple(self._beside):
            task.cancel()
        if self._beside:
            await asyncio.wait(self._beside)

    async def mend(self, bench: Bench) -> None:
        """Of a session that was killed."""
        self.bench = bench
        for record in fold(bench.log.entries).values():
            if record.state == "running":
                spent = self._spent.get(record.agent, Spent())
                bench.kit.account.child(within=True).spend(spent)
                await bench.recorder.emit(
                    AgentEnded(agent=record.agent, state="interrupted", spent=spent)
                )
