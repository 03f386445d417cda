"""Calls after which later ones stand elsewhere: those are judged when it is done, not before."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from detent.app.desk import DeskMaker
from detent.gate.gate import Gatekeeper
from detent.gate.rules import parse_rule
from detent.gate.terms import RuleSet, Workspace
from detent.ports import Desk, Proposal
from detent.testing import call, reply
from detent.testing.bare_shop import BareShop
from detent.types.content import Call
from detent.types.effects import Effect, Reads, Runs, Writes
from detent.types.events import CallEnded, CallStarted
from detent.types.verdicts import Allow, Ask, Deny
from kitbench import BenchTool, bench


class Walking(BenchTool):
    """`go` moves the working folder, after a while; `look` reads what is relative to it."""

    def moves(self, args: Any) -> bool:
        return True


class Looking(BenchTool):
    def effects(self, args: Any, cwd: str) -> tuple[Effect, ...]:
        return (Reads(f"{cwd}/{args['name']}"),)


async def go(args: dict[str, Any], desk: Desk) -> str:
    await asyncio.sleep(0)
    return "there" if desk.shop.move(args["to"]) else "not there"


async def look(args: dict[str, Any], desk: Desk) -> str:
    return f"{desk.cwd}/{args['name']}"


@pytest.mark.parametrize("gone_to", ["/p/sub", "/elsewhere"])
def test_a_later_call_is_judged_where_it_will_run(gone_to: str) -> None:
    tools = [Walking("go", go), Looking("look", look)]
    b = bench(reply(call("go", to=gone_to), call("look", name="x")), "ok", tools=tools)
    b.run()
    stands = "/p/sub" if gone_to == "/p/sub" else "/p"
    _, looked = b.of(CallStarted)
    assert looked.effects == (Reads(f"{stands}/x"),)
    assert b.of(CallEnded)[1].outcome.content[0].text == f"{stands}/x"  # type: ignore[union-attr]


def test_the_log_knows_where_a_call_went_and_nothing_where_it_stayed() -> None:
    tools = [Walking("go", go), Looking("look", look)]
    b = bench(
        reply(call("go", to="/p/sub"), call("look", name="x"), call("go", to="/p/sub")),
        "ok",
        tools=tools,
    )
    b.run()
    assert [ended.cwd for ended in b.of(CallEnded)] == ["/p/sub", "", ""]


def test_a_call_that_moves_runs_alone() -> None:
    running: list[str] = []

    async def watched(args: dict[str, Any], desk: Desk) -> str:
        running.append(args["n"])
        most.append(len(running))
        for _ in range(5):
            await asyncio.sleep(0)
        running.remove(args["n"])
        return ""

    most: list[int] = []
    calls = [call("walk" if n == 2 else "stay", n=str(n)) for n in range(5)]
    tools = [Walking("walk", watched), BenchTool("stay", watched)]
    b = bench(reply(*calls), "ok", tools=tools)
    b.run()
    assert most[2] == 1 and max(most) == 2


def proposal(effect: Effect, cwd: str) -> Proposal:
    return Proposal(Call("c", "Bash", ""), "Bash", {}, (effect,), cwd)


def keeper(**rules: Any) -> Gatekeeper:
    parsed = {kind: tuple(parse_rule(text, str) for text in texts) for kind, texts in rules.items()}
    return Gatekeeper(Workspace("/p", ("/p",), "/home/u"), rules=RuleSet(**parsed))


def test_a_command_is_judged_from_the_folder_it_runs_in() -> None:
    gate = keeper()
    up = Runs("cat ../../etc/passwd")
    assert isinstance(gate.judge(proposal(Runs("cat ../x"), "/p/sub")), Allow)
    assert isinstance(gate.judge(proposal(Runs("cat ../x"), "")), Ask)
    assert isinstance(gate.judge(proposal(up, "/p/sub")), Ask)
    assert isinstance(gate.judge(proposal(Runs("rm -rf .."), "/p/sub")), Ask)
    assert not gate.harmless(proposal(up, "/p/sub"))


def test_rules_stay_anchored_where_the_session_began() -> None:
    gate = keeper(deny=["Read(/secret/**)"], allow=["Edit(/src/**)"])
    assert isinstance(gate.judge(proposal(Runs("cat ../secret/a"), "/p/sub")), Deny)
    assert not isinstance(gate.judge(proposal(Runs("cat secret/a"), "/p/sub")), Deny)
    write = Proposal(Call("c", "Edit", ""), "Edit", {}, (Writes("/p/src/a"),), "/p/sub")
    assert isinstance(gate.judge(write), Allow)


def test_deleting_the_workspace_is_critical_from_anywhere_in_it() -> None:
    gate = keeper(allow=["Bash(rm:*)"])
    assert isinstance(gate.judge(proposal(Runs("rm -rf ../../p"), "/p/sub")), Ask)
    assert isinstance(gate.judge(proposal(Runs("rm -rf ../other"), "/p/sub")), Allow)


def test_a_desk_stands_where_the_shop_does() -> None:
    shop = BareShop("/p")
    maker = DeskMaker(shop, "s", {})
    shop.move("/p/sub")
    assert maker.cwd == maker("c", lambda text: None).cwd == "/p/sub"
