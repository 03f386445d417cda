"""Stopped turns and voided answers: what has not started never will."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from detent.context.account import Account
from detent.gate.hooks import HookAnswer, HookSet
from detent.gate.hooks.events import BeforeCall
from detent.gate.rules import parse_rule
from detent.gate.terms import RuleSet
from detent.loop.limits import Limits
from detent.ports import Answer, Desk
from detent.session.log import FileLog
from detent.session.reading import read_log
from detent.testing.script import call, reply
from detent.testing.scripted_model import ScriptedModel
from detent.types.budget import Budget
from detent.types.content import Text
from detent.types.events import CallEnded
from detent.types.messages import Reply, Request
from detent.types.outcomes import Done, Failed
from kitbench import WRITES, Approving, Bench, BenchTool, bench, results


def recorder(ran: list[str]) -> BenchTool:
    async def body(args: dict[str, Any], desk: Desk) -> str:
        ran.append(args["n"])
        return "ran"

    return BenchTool("act", body, effects=WRITES)


def test_after_a_stop_no_further_call_runs_and_nobody_is_asked_again() -> None:
    ran: list[str] = []
    approver = Approving(Answer(False, "stop it", interrupt=True))
    rules = RuleSet(allow=(parse_rule("safe", str),))
    safe = BenchTool("safe", recorder(ran)._body, effects=WRITES)
    b = Bench(
        ScriptedModel(
            reply(call("act", n="1"), call("safe", n="2"), call("act", n="3"), call("safe", n="4"))
        ),
        recorder(ran),
        safe,
        mode="default",
        rules=rules,
        approver=approver,
    )
    assert b.run().reason == "hook_stopped"
    assert ran == []
    assert len(approver.questions) == 1
    assert len(b.of(CallEnded)) == 4, "every call has its end"


def test_a_hook_before_a_call_can_end_the_turn() -> None:
    ran: list[str] = []

    def stop(event: BeforeCall) -> HookAnswer:
        return HookAnswer(stop="enough")

    b = bench(
        reply(call("act", n="1")),
        "never",
        tools=[recorder(ran)],
        hooks=HookSet(before_call=(stop,)),
    )
    ended = b.run()
    assert (ended.reason, ended.error, ran) == ("hook_stopped", "enough", [])


def test_a_hook_at_a_prompt_can_end_the_turn() -> None:
    b = bench("never", hooks=HookSet(submitted=(lambda e: HookAnswer(stop="not today"),)))
    ended = b.run()
    assert (ended.reason, ended.error) == ("hook_stopped", "not today")
    assert not b.model.requests  # type: ignore[attr-defined]


def test_a_hook_at_the_end_that_says_stop_beats_one_that_says_go_on() -> None:
    hooks = HookSet(
        stopping=(lambda e: HookAnswer("deny", "go on"), lambda e: HookAnswer(stop="no")),
    )
    assert bench("done", hooks=hooks).run().reason == "end_turn"


def test_a_result_that_cannot_be_recorded_is_a_failed_call() -> None:
    async def broken(args: dict[str, Any], desk: Desk) -> Any:
        return Done((Text("\ud800"),)) if args["n"] == 1 else Done((Text("x"),), {"a": object()})

    b = bench(reply(call("act", n=1), call("act", n=2)), "ok", tools=[BenchTool("act", broken)])
    assert b.run().reason == "end_turn"
    assert all(isinstance(e.outcome, Failed) for e in b.of(CallEnded))
    assert all(error for _, _, error in results(b.model.requests[1].messages))  # type: ignore[attr-defined]


def test_an_error_that_cannot_be_written_is_still_an_end(tmp_path: Path) -> None:
    async def broken(args: dict[str, Any], desk: Desk) -> str:
        raise ValueError("cannot read \udcff")

    b = bench(reply(call("act")), "ok", tools=[BenchTool("act", broken)])
    log = FileLog(str(tmp_path / "s" / "log.jsonl"), b.clock.now)
    b.recorder._log = log
    b.run()
    assert len(b.of(CallEnded)) == 1
    assert any(isinstance(entry, CallEnded) for entry in read_log(log.path).entries)
    log.close()


def test_the_last_word_runs_no_tools() -> None:
    ran: list[str] = []
    b = bench(
        reply(call("act", n="1")),
        reply(call("act", n="2")),
        "unheard",
        tools=[recorder(ran)],
        limits=Limits(wrap_up=True),
        account=Account(Budget(calls=1)),
    )
    assert b.run().reason == "budget_exceeded"
    assert ran == ["1"]
    assert len(b.of(CallEnded)) == 2


def test_what_an_interrupted_turn_did_not_hear_is_heard_first_in_the_next() -> None:
    b = bench("answer", "more")
    b.inbox.put((Text("also this"),))
    assert b.run().reason == "end_turn"
    (request, *_) = b.model.requests  # type: ignore[attr-defined]
    assert "also this" in str(request.messages)
    assert len(b.model.requests) == 1  # type: ignore[attr-defined]


def test_a_timeout_of_the_models_own_is_not_our_limit() -> None:
    class Slow(ScriptedModel):
        async def stream(self, request: Request, deltas: Any) -> Reply:
            raise TimeoutError("mine")

    with pytest.raises(TimeoutError, match="mine"):
        Bench(Slow("x")).run()
