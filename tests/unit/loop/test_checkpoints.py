"""Where the loop asks what a call changes: around those that may, and before their end is told."""

from __future__ import annotations

import asyncio

from detent.loop.calls import CallRunner
from detent.ports import Proposal
from detent.testing import call, reply
from detent.types.content import Call
from detent.types.events import CallEnded, CallStarted
from detent.types.files import Change, FileState
from detent.types.outcomes import done
from kitbench import READS, WRITES, BenchTool, bench

CHANGE = Change("/p/a.txt", FileState(), FileState("file", 0o644, 1, "d"))


class Noting:
    def __init__(self) -> None:
        self.asked: list[str] = []
        self.looking = asyncio.Event()
        self.may_end = asyncio.Event()
        self.may_end.set()

    async def before(self, proposal: Proposal) -> dict[str, FileState]:
        self.asked.append(f"before {proposal.call.id}")
        return {"/p/a.txt": FileState()}

    async def after(self, call_id: str) -> tuple[Change, ...]:
        self.asked.append(f"after {call_id}")
        self.looking.set()
        await self.may_end.wait()
        return (CHANGE,)


def tool(name: str, effects: object) -> BenchTool:
    async def body(args: object, desk: object) -> str:
        return "done"

    return BenchTool(name, body, effects=effects)  # type: ignore[arg-type]


TOOLS = [tool("look", READS), tool("act", WRITES)]


def test_harmless_calls_are_not_asked_about() -> None:
    noting = Noting()
    run = bench(reply(call("look"), call("act")), "ok", tools=TOOLS, checkpoints=noting)
    run.run()
    _, act = [started.call_id for started in run.of(CallStarted)]
    assert noting.asked == [f"before {act}", f"after {act}"]
    assert [bool(started.kept) for started in run.of(CallStarted)] == [False, True]
    assert [ended.changed for ended in run.of(CallEnded)] == [(), (CHANGE,)]


def test_a_call_has_its_end_though_it_is_cancelled_while_files_are_looked_at() -> None:
    noting = Noting()
    run = bench(reply(call("act")), "never", tools=TOOLS, checkpoints=noting)

    async def go() -> None:
        noting.may_end.clear()
        turn = asyncio.ensure_future(run.turn())
        await noting.looking.wait()
        turn.cancel()
        asyncio.get_running_loop().call_soon(noting.may_end.set)
        await asyncio.wait([turn])
        assert turn.cancelled()

    asyncio.run(go())
    (ended,) = run.of(CallEnded)
    assert ended.changed == (CHANGE,)
    assert noting.asked.count(f"after {ended.call_id}") == 1


def test_a_look_that_does_not_end_holds_nobody_up() -> None:
    noting = Noting()
    run = bench(reply(call("act")), "never", tools=TOOLS, checkpoints=noting)

    async def go() -> None:
        noting.may_end.clear()
        turn = asyncio.ensure_future(run.turn())
        await noting.looking.wait()
        turn.cancel()
        await asyncio.wait([turn], timeout=20)
        assert turn.cancelled()

    asyncio.run(go())
    (ended,) = run.of(CallEnded)
    assert ended.changed == ()


def test_a_call_has_its_end_though_it_is_cancelled_twice_while_files_are_looked_at() -> None:
    """An interrupt cancels calls at once, and the end of the step once more."""
    noting = Noting()
    run = bench("never", tools=TOOLS, checkpoints=noting)

    async def go() -> None:
        noting.may_end.clear()
        async with CallRunner(run.kit) as runner:
            runner.begin(0, Call("c", "act", "{}"))
            await noting.looking.wait()
            runner.cancel()
            await asyncio.sleep(0)
            asyncio.get_running_loop().call_later(0.01, noting.may_end.set)

    asyncio.run(go())
    (ended,) = run.of(CallEnded)
    assert (ended.outcome, ended.changed) == (done("done"), (CHANGE,))


def test_a_call_that_is_cancelled_before_it_begins_costs_nothing() -> None:
    noting = Noting()
    run = bench("never", tools=TOOLS, checkpoints=noting)

    async def wait(proposal: Proposal) -> dict[str, FileState]:
        noting.looking.set()
        await asyncio.Event().wait()
        return {}

    noting.before = wait  # type: ignore[method-assign]

    async def go() -> None:
        async with CallRunner(run.kit) as runner:
            runner.begin(0, Call("c", "act", "{}"))
            await noting.looking.wait()
            assert run.kit.account.spent.calls == 1

    asyncio.run(go())
    assert run.of(CallStarted) == []
    assert run.kit.account.spent.calls == 0
