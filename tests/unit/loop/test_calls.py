"""How calls are prepared, run together or alone, end, and are never lost."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from detent.gate.hooks import HookAnswer, HookSet
from detent.gate.hooks.events import AfterCall, BeforeCall
from detent.gate.rules import parse_rule
from detent.gate.terms import RuleSet
from detent.loop import calls
from detent.loop.limits import Limits
from detent.ports import Answer, BadArguments, Desk
from detent.testing import call, reply, say
from detent.testing.scripted_model import ScriptedModel
from detent.testing.static_tools import StaticTools
from detent.types.effects import Effect, Writes
from detent.types.events import (
    Answered,
    Asked,
    CallEnded,
    CallStarted,
    Progress,
    Replied,
)
from detent.types.outcomes import INTERRUPTED, Cut, Done, Failed, Refused, text_of
from detent.types.verdicts import Allow
from kitbench import READS, WRITES, Approving, Bench, BenchTool, bench, check_valid, results


async def _echo(args: dict[str, Any], desk: Desk) -> str:
    return f"echo {args.get('n', '')}".strip()


def echo(name: str = "echo", effects: tuple[Effect, ...] = ()) -> BenchTool:
    return BenchTool(name, _echo, effects=effects)


def outcome_of(b: Bench) -> Any:
    (ended,) = b.of(CallEnded)
    return ended.outcome


def told(b: Bench) -> list[tuple[str, str, bool]]:
    """The results in the last request."""
    assert isinstance(b.model, ScriptedModel)
    last = b.model.requests[-1]
    check_valid(last.messages)
    return results(last.messages)


# One call


def test_a_call_is_recorded_before_and_after_it_runs() -> None:
    async def look(args: dict[str, Any], desk: Desk) -> str:
        seen.append([type(e) for e in b.log.entries])
        return "done"

    seen: list[Any] = []
    b = bench(reply(call("look", n=1)), "ok", tools=[BenchTool("look", look, effects=READS)])
    b.run()
    assert seen[0][-1] is CallStarted
    (started,) = b.of(CallStarted)
    assert started.effects == READS
    assert started.verdict == Allow("mode bypassPermissions")
    assert started.arguments == '{"n": 1}'
    assert outcome_of(b) == Done(outcome_of(b).content)
    assert told(b) == [("call_1_0", "done", False)]


def test_an_unknown_tool_is_told_with_the_known_ones() -> None:
    b = bench(reply(call("magic")), "ok", tools=[echo("one"), echo("two")])
    b.run()
    ((_, text, is_error),) = told(b)
    assert is_error
    assert "'magic'" in text
    assert "one, two" in text
    assert b.of(CallStarted) == []


@pytest.mark.parametrize("raw", ["{broken", "[]", '"text"', "7"])
def test_arguments_that_do_not_fit_are_told(raw: str) -> None:
    b = bench(reply(call("echo", raw=raw)), "ok", tools=[echo()])
    b.run()
    ((_, text, is_error),) = told(b)
    assert is_error
    assert "send an object" in text
    assert b.of(CallStarted) == []


@pytest.mark.parametrize("raw", ["", "{}"])
def test_no_arguments_are_an_empty_object(raw: str) -> None:
    b = bench(reply(call("echo", raw=raw)), "ok", tools=[echo()])
    b.run()
    assert told(b) == [("call_1_0", "echo", False)]


def test_a_tool_that_raises_has_failed() -> None:
    async def breaks(args: dict[str, Any], desk: Desk) -> str:
        raise KeyError("nope")

    b = bench(reply(call("breaks")), "ok", tools=[BenchTool("breaks", breaks)])
    assert b.run().reason == "end_turn"
    assert isinstance(outcome_of(b), Failed)
    assert told(b) == [("call_1_0", "breaks failed: KeyError: 'nope'", True)]


def test_a_tool_that_takes_too_long_is_cut() -> None:
    async def hangs(args: dict[str, Any], desk: Desk) -> str:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            tidied.append(True)
        return ""

    tidied: list[bool] = []
    b = bench(reply(call("hangs")), "ok", tools=[BenchTool("hangs", hangs, timeout=0.01)])
    b.run()
    assert outcome_of(b) == Cut("timed out after 0.01 s")
    assert tidied == [True]
    assert told(b)[0][2]


@pytest.mark.parametrize("timeout", [None, 60.0])
def test_a_timeout_inside_a_tool_is_the_tools_own(timeout: float | None) -> None:
    async def asks(args: dict[str, Any], desk: Desk) -> str:
        raise TimeoutError("the database did not answer")

    b = bench(reply(call("asks")), "ok", tools=[BenchTool("asks", asks, timeout=timeout)])
    b.run()
    assert outcome_of(b) == Failed("asks failed: TimeoutError: the database did not answer")


@pytest.mark.parametrize(
    "error", [SystemExit(3), GeneratorExit(), BaseExceptionGroup("g", [SystemExit()])]
)
def test_a_tool_that_would_take_the_agent_down_has_failed(error: BaseException) -> None:
    async def leaves(args: dict[str, Any], desk: Desk) -> str:
        raise error

    b = bench(reply(call("leaves")), "ok", tools=[BenchTool("leaves", leaves)])
    assert b.run().reason == "end_turn"
    assert f"failed: {type(error).__name__}" in told(b)[0][1]


@pytest.mark.parametrize("given", [None, 7, {"a": 1}])
def test_a_tool_that_gives_no_outcome_has_failed(given: Any) -> None:
    async def odd(args: dict[str, Any], desk: Desk) -> Any:
        return given

    b = bench(reply(call("odd")), "ok", tools=[BenchTool("odd", odd)])
    assert b.run().reason == "end_turn"
    assert told(b) == [
        ("call_1_0", f"odd failed: it gave {type(given).__name__} and no outcome", True)
    ]


def test_a_tool_that_will_not_end_does_not_hold_the_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "PATIENCE", 0.05)
    running, over = asyncio.Event(), asyncio.Event()

    async def stubborn(args: dict[str, Any], desk: Desk) -> str:
        desk.cut_short(lambda: "half of it")
        running.set()
        while not over.is_set():
            with suppress(asyncio.CancelledError):
                await over.wait()
        return "at last"

    async def interrupted() -> None:
        turn = asyncio.create_task(b.turn())
        await running.wait()
        turn.cancel()
        await asyncio.wait([turn])
        assert outcome_of(b) == Cut(INTERRUPTED, "half of it"), "it is given up"
        over.set()
        for _ in range(5):
            await asyncio.sleep(0)

    b = bench(reply(call("stubborn")), tools=[BenchTool("stubborn", stubborn)])
    asyncio.run(interrupted())
    assert isinstance(outcome_of(b), Cut), "what comes later is not heard"


def test_a_mode_that_became_stricter_while_a_call_waited_holds() -> None:
    async def slow(args: dict[str, Any], desk: Desk) -> str:
        b.kit.gate.mode = "plan"  # type: ignore[attr-defined]
        return "slow"

    written: list[bool] = []

    async def write(args: dict[str, Any], desk: Desk) -> str:
        written.append(True)
        return "written"

    tools = [BenchTool("slow", slow, effects=READS), BenchTool("write", write, effects=WRITES)]
    b = bench(reply(call("slow"), call("write")), "ok", tools=tools, mode="acceptEdits")
    b.run()
    assert written == []
    assert "plan mode" in told(b)[1][1]


def test_a_tool_that_cancels_itself_ends_too() -> None:
    async def odd(args: dict[str, Any], desk: Desk) -> str:
        raise asyncio.CancelledError

    b = bench(reply(call("odd")), "ok", tools=[BenchTool("odd", odd)])
    assert b.run().reason == "end_turn"
    assert isinstance(outcome_of(b), Cut)


def test_effects_that_cannot_be_told_fail_the_call_not_the_turn() -> None:
    class Broken(BenchTool):
        def moves(self, args: Any) -> bool:
            return False

        def effects(self, args: Any, cwd: str) -> tuple[Effect, ...]:
            raise ValueError("no idea")

    b = bench(reply(call("broken")), "ok", tools=[Broken("broken", _echo)])
    assert b.run().reason == "end_turn"
    assert isinstance(outcome_of(b), Failed)
    assert "no idea" in told(b)[0][1]


def test_a_static_tool_takes_any_text() -> None:
    toolbox = StaticTools().register("upper", str.upper)
    b = bench(reply(call("upper", raw="not json")), "ok", toolbox=toolbox)
    assert b.run().reason == "end_turn"
    assert told(b) == [("call_1_0", "NOT JSON", False)]


def test_a_long_result_is_bounded() -> None:
    async def pours(args: dict[str, Any], desk: Desk) -> str:
        return "x" * 100_000

    b = bench(reply(call("pours")), "ok", tools=[BenchTool("pours", pours)])
    b.run()
    text = told(b)[0][1]
    assert len(text) < 31_000
    assert "left out" in text


def test_progress_is_shown_and_not_stored() -> None:
    async def chatty(args: dict[str, Any], desk: Desk) -> str:
        desk.progress("half way")
        return "done"

    b = bench(reply(call("chatty")), "ok", tools=[BenchTool("chatty", chatty)])
    b.run()
    assert b.of(Progress) == [Progress("call_1_0", "chatty", "half way")]
    assert not any(isinstance(entry, Progress) for entry in b.log.entries)


# Permission and hooks


def test_a_denied_call_does_not_run_and_is_told() -> None:
    b = bench(
        reply(call("echo")),
        "ok",
        tools=[echo()],
        rules=RuleSet(deny=(parse_rule("echo", str),)),
    )
    b.run()
    assert b.of(CallStarted) == []
    assert isinstance(outcome_of(b), Refused)
    ((_, text, is_error),) = told(b)
    assert is_error
    assert text.startswith("Not run.")


def test_a_question_passes_the_reader_and_its_answer_too() -> None:
    approver = Approving(Answer(True, by="me"))
    b = bench(
        reply(call("echo")), "ok", tools=[echo(effects=WRITES)], mode="default", approver=approver
    )
    b.run()
    assert len(approver.questions) == 1
    kinds = [type(e) for e in b.events if isinstance(e, Asked | Answered | CallStarted)]
    assert kinds == [Asked, Answered, CallStarted]
    assert b.of(CallStarted)[0].verdict == Allow("me")


def test_an_answer_that_interrupts_ends_the_turn() -> None:
    approver = Approving(Answer(False, "stop it", interrupt=True))
    b = bench(
        reply(call("echo")),
        "never",
        tools=[echo(effects=WRITES)],
        mode="default",
        approver=approver,
    )
    ended = b.run()
    assert (ended.reason, ended.error) == ("hook_stopped", "stop it")
    assert isinstance(outcome_of(b), Refused)


def test_what_a_hook_changed_is_what_runs_and_is_recorded() -> None:
    def hook(event: BeforeCall) -> HookAnswer:
        return HookAnswer(arguments={"n": 2}, context="mind the gap")

    b = bench(reply(call("echo", n=1)), "ok", tools=[echo()], hooks=HookSet(before_call=(hook,)))
    b.run()
    assert b.of(CallStarted)[0].arguments == '{"n":2}'
    assert told(b) == [("call_1_0", "echo 2\n\nmind the gap", False)]


def test_a_hook_that_spoils_the_arguments_fails_the_call() -> None:
    class Strict(BenchTool):
        def parse(self, arguments: str) -> Any:
            args = super().parse(arguments)
            if "bad" in args:
                raise BadArguments("bad is bad")
            return args

    def hook(event: BeforeCall) -> HookAnswer:
        return HookAnswer(arguments={"bad": 1})

    tools = [Strict("echo", _echo)]
    b = bench(reply(call("echo")), "ok", tools=tools, hooks=HookSet(before_call=(hook,)))
    b.run()
    assert "no longer fit" in told(b)[0][1]
    assert b.of(CallStarted) == []


def test_a_hook_behind_a_call_may_end_the_turn() -> None:
    def hook(event: AfterCall) -> HookAnswer:
        return HookAnswer(stop="enough")

    b = bench(reply(call("echo")), "never", tools=[echo()], hooks=HookSet(after_call=(hook,)))
    ended = b.run()
    assert (ended.reason, ended.error) == ("hook_stopped", "enough")
    assert text_of(outcome_of(b)) == "echo"


# Several calls


class Floor:
    """Tools that say when they are in, and stay until they are let out."""

    def __init__(self) -> None:
        self.inside: list[int] = []
        self.most = 0
        self.order: list[int] = []
        self._gates: dict[int, asyncio.Event] = {}

    def gate(self, number: int) -> asyncio.Event:
        return self._gates.setdefault(number, asyncio.Event())

    async def enter(self, args: dict[str, Any], desk: Desk) -> str:
        number = args["n"]
        self.order.append(number)
        self.inside.append(number)
        self.most = max(self.most, len(self.inside))
        await self.gate(number).wait()
        self.inside.remove(number)
        return f"result {number}"


async def settle() -> None:
    for _ in range(50):
        await asyncio.sleep(0)


def test_harmless_calls_run_together_and_answer_in_call_order() -> None:
    floor = Floor()
    tool = BenchTool("look", floor.enter, effects=READS)
    b = bench(reply(*(call("look", n=n) for n in (1, 2, 3))), "ok", tools=[tool])

    async def main() -> None:
        turn = asyncio.create_task(b.turn())
        await settle()
        assert floor.inside == [1, 2, 3], "all at once"
        for number in (3, 1, 2):
            floor.gate(number).set()
            await settle()
        await turn

    asyncio.run(main())
    assert [e.call_id for e in b.of(CallEnded)] == ["call_1_2", "call_1_0", "call_1_1"]
    assert [text for _, text, _ in told(b)] == ["result 1", "result 2", "result 3"]


def test_a_call_that_changes_something_runs_alone_and_in_its_place() -> None:
    floor = Floor()
    look = BenchTool("look", floor.enter, effects=READS)
    change = BenchTool("change", floor.enter, effects=WRITES)
    calls = [call("look", n=1), call("look", n=2), call("change", n=3), call("change", n=4)]
    calls += [call("look", n=5), call("look", n=6)]
    b = bench(reply(*calls), "ok", tools=[look, change])

    async def main() -> None:
        turn = asyncio.create_task(b.turn())
        for inside in ([1, 2], [3], [4], [5, 6]):
            await settle()
            assert sorted(floor.inside) == inside
            for number in reversed(inside):
                floor.gate(number).set()
        await turn

    asyncio.run(main())
    assert floor.order == [1, 2, 3, 4, 5, 6]
    assert [text for _, text, _ in told(b)] == [f"result {n}" for n in range(1, 7)]


def test_no_more_run_together_than_there_is_room() -> None:
    floor = Floor()
    tool = BenchTool("look", floor.enter, effects=READS)
    calls = [call("look", n=n) for n in range(5)]
    b = bench(reply(*calls), "ok", tools=[tool], limits=Limits(concurrency=2))

    async def main() -> None:
        turn = asyncio.create_task(b.turn())
        for number in range(5):
            await settle()
            assert len(floor.inside) <= 2
            floor.gate(number).set()
        await turn

    asyncio.run(main())
    assert floor.most == 2
    assert floor.order == [0, 1, 2, 3, 4]


def test_a_concurrency_of_one_is_a_sequence() -> None:
    floor = Floor()
    tool = BenchTool("look", floor.enter, effects=READS)
    for number in range(4):
        floor.gate(number).set()
    b = bench(
        reply(*(call("look", n=n) for n in range(4))),
        "ok",
        tools=[tool],
        limits=Limits(concurrency=1),
    )
    b.run()
    assert floor.most == 1
    kinds = [type(e) for e in b.log.entries if isinstance(e, CallStarted | CallEnded)]
    assert kinds == [CallStarted, CallEnded] * 4


def test_calls_are_prepared_in_order_even_if_an_early_question_is_slow() -> None:
    asked: list[int] = []

    class Slow:
        async def ask(self, question: Any) -> Answer:
            number = question.proposal.arguments["n"]
            asked.append(number)
            for _ in range(10 if number == 1 else 0):
                await asyncio.sleep(0)
            return Answer(True)

    tool = echo(effects=(Writes("/p/x"),))
    b = bench(
        reply(call("echo", n=1), call("echo", n=2)),
        "ok",
        tools=[tool],
        mode="default",
        approver=Slow(),
    )
    b.run()
    assert asked == [1, 2]
    kinds = [type(e) for e in b.events if isinstance(e, Asked | Answered)]
    assert kinds == [Asked, Answered, Asked, Answered], "one question at a time"


def test_a_call_starts_while_the_answer_still_streams() -> None:
    b = bench(reply(call("echo", n=1), say(*["."] * 20)), "ok", tools=[echo()])
    b.run()
    kinds = [type(e) for e in b.log.entries]
    assert kinds.index(CallEnded) < kinds.index(Replied)
    assert told(b) == [("call_1_0", "echo 1", False)]


# Ids


def test_an_id_that_comes_twice_is_run_once_when_the_call_is_the_same() -> None:
    runs: list[str] = []

    async def count(args: dict[str, Any], desk: Desk) -> str:
        runs.append(desk.call_id)
        return "ran"

    same = call("count", {"n": 1}, id="a")
    b = bench(reply(same, same), "ok", tools=[BenchTool("count", count)])
    b.run()
    assert runs == ["a"]
    (first, second) = told(b)
    assert first == ("a", "ran", False)
    assert second[0] != "a"
    assert second[2]


def test_an_id_that_comes_twice_for_different_calls_runs_both() -> None:
    b = bench(
        reply(call("echo", {"n": 1}, id="a"), call("echo", {"n": 2}, id="a")), "ok", tools=[echo()]
    )
    b.run()
    assert [text for _, text, _ in told(b)] == ["echo 1", "echo 2"]


def test_a_server_that_counts_from_zero_in_every_answer() -> None:
    b = bench(*[reply(call("echo", {"n": n}, id="call_0")) for n in range(3)], "ok", tools=[echo()])
    b.run()
    assert [text for _, text, _ in told(b)] == ["echo 0", "echo 1", "echo 2"]


def test_a_repeated_id_in_a_later_answer_is_run_once_as_well() -> None:
    runs: list[int] = []

    async def count(args: dict[str, Any], desk: Desk) -> str:
        runs.append(args["n"])
        return "ran"

    again = call("count", {"n": 2}, id="a")
    b = bench(
        reply(call("count", {"n": 1}, id="a")),
        reply(again, again),
        "ok",
        tools=[BenchTool("count", count)],
    )
    b.run()
    assert runs == [1, 2]


def test_calls_without_an_id_get_one() -> None:
    b = bench(
        reply(call("echo", {"n": 1}, id=""), call("echo", {"n": 1}, id="")), "ok", tools=[echo()]
    )
    b.run()
    ids = [call_id for call_id, _, _ in told(b)]
    assert all(ids)
    assert len(set(ids)) == 2
    assert [text for _, text, _ in told(b)] == ["echo 1", "echo 1"], "both ran"


def test_the_time_of_a_call_is_its_own() -> None:
    async def slow(args: dict[str, Any], desk: Desk) -> str:
        await b.clock.sleep(args["n"])
        return "ran"

    b = bench(
        reply(call("act", n=2), call("act", n=3)),
        "done",
        tools=[BenchTool("act", slow, effects=WRITES)],
    )
    b.run()
    assert [e.ms for e in b.of(CallEnded)] == [2_000, 3_000], "without waiting for the other"


def test_what_a_hook_changed_is_looked_at_once_and_so_it_runs() -> None:
    """A name may lead elsewhere when it is asked for again: what was judged must run."""
    looked: list[Any] = []

    class Looking(BenchTool):
        def effects(self, args: Any, cwd: str) -> tuple[Effect, ...]:
            looked.append(args["n"])
            return READS

    def changes(event: BeforeCall) -> HookAnswer:
        return HookAnswer(arguments={"n": 2})

    b = bench(
        reply(call("echo", n=1)),
        "ok",
        tools=[Looking("echo", _echo)],
        hooks=HookSet(before_call=(changes,)),
    )
    b.run()
    assert text_of(outcome_of(b)) == "echo 2" and looked == [1, 2]
