"""Answers that break off: asked for again while nothing was done, kept as soon as something was."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from detent.gate.rules import parse_rule
from detent.gate.terms import RuleSet
from detent.loop.limits import MOST_BROKEN_OFF, Limits
from detent.loop.repeats import NOT_AGAIN
from detent.models.retry import RetryPolicy, persist
from detent.ports import Desk
from detent.testing import call, fault, reply, say, think
from detent.testing.script import RedactedThink
from detent.testing.scripted_model import ScriptedModel
from detent.types.content import Call, Redacted, Text, Thinking, plain_text
from detent.types.deltas import Begun, CallReady, Counted
from detent.types.effects import Effect
from detent.types.errors import ModelFailure
from detent.types.events import (
    CallEnded,
    CallStarted,
    Discarded,
    Event,
    Notice,
    Replied,
    Retrying,
    TextDelta,
    TurnEnded,
)
from detent.types.messages import Reply, Request
from detent.types.outcomes import Cut, Outcome, Refused
from detent.types.usage import Usage
from kitbench import READS, WRITES, Bench, BenchTool, check_calls, check_valid, results

CUT = fault(cut_after=21)
DOTS = say(*["."] * 40)
"""The text behind a call gives it time to run; then the connection is cut."""


class Persistent(ScriptedModel):
    """The script behind the real retry rules."""

    first_output = 0

    async def stream(self, request: Request, deltas: Any) -> Reply:
        policy = RetryPolicy(delays=(0.1,) * 2)
        return await persist(self, request, policy=policy, clock=clock_of[0], deltas=deltas)

    async def attempt(self, request: Any, max_output: int, deltas: Any) -> Reply:
        return await ScriptedModel.stream(self, request, deltas)

    async def refresh(self) -> bool:
        return False


clock_of: list[Any] = []


def lost(*replies: Any, tools: list[BenchTool], retries: bool = True, **options: Any) -> Bench:
    b = Bench((Persistent if retries else ScriptedModel)(*replies), *tools, **options)
    clock_of[:] = [b.clock]
    return b


def counting(effects: tuple[Effect, ...] = WRITES) -> tuple[list[Any], BenchTool]:
    ran: list[Any] = []

    async def count(args: dict[str, Any], desk: Desk) -> str:
        ran.append(args.get("n"))
        return f"ran {args.get('n')}"

    return ran, BenchTool("act", count, effects=effects)


def told(b: Bench) -> list[tuple[str, str, bool]]:
    """The results in the last request."""
    messages = b.model.requests[-1].messages  # type: ignore[attr-defined]
    check_valid(messages)
    return results(messages)


@pytest.mark.parametrize("retries", [True, False], ids=["retries left", "none"])
def test_an_answer_whose_call_has_run_is_kept_and_never_asked_for_again(retries: bool) -> None:
    ran, act = counting()
    first = reply("Now. ", call("act", {"n": 1, "why": "so"}, id="a"), DOTS, fault=CUT)
    b = lost(first, "done", tools=[act], retries=retries)
    assert b.run().reason == "end_turn"
    assert ran == [1]
    assert told(b) == [("a", "ran 1", False)]
    kept, _ = b.of(Replied)
    assert kept.stop == "broken_off"
    assert plain_text(kept.content) == "".join(e.text for e in b.of(TextDelta) if e.text != "done")
    assert not b.of(Discarded, Retrying)
    (notice,) = b.of(Notice)
    assert notice.level == "warning"
    assert "the scripted connection was cut" in notice.text
    check_calls(b.log.entries)


def test_whole_calls_of_a_kept_answer_run_although_they_had_to_wait() -> None:
    ran, act = counting()
    half = call("act", raw='{"n": 3')
    first = reply(call("act", n=1), call("act", n=2), DOTS, half, fault=CUT)
    b = lost(first, "done", tools=[act])
    assert b.run().reason == "end_turn"
    assert ran == [1, 2], "in their order; what never became whole never ran"
    assert [text for _, text, _ in told(b)] == ["ran 1", "ran 2"]


def test_a_call_that_was_refused_is_not_asked_about_again() -> None:
    _, act = counting()
    first = reply(call("act", n=1), DOTS, fault=CUT)
    b = lost(first, "done", tools=[act], rules=RuleSet(deny=(parse_rule("act", str),)))
    assert b.run().reason == "end_turn"
    (ended,) = b.of(CallEnded)
    assert isinstance(ended.outcome, Refused)
    assert [r.stop for r in b.of(Replied)] == ["broken_off", "end_turn"]


def test_an_answer_none_of_whose_calls_has_acted_is_asked_for_again() -> None:
    ran, act = counting()
    early = Limits(early_calls=False)
    first = reply("Now. ", call("act", n=1), DOTS, fault=CUT)
    b = lost(first, reply(call("act", n=2)), "done", tools=[act], limits=early)
    assert b.run().reason == "end_turn"
    assert ran == [2]
    assert len(b.of(Discarded)) == 1
    assert [r.stop for r in b.of(Replied)] == ["tool_use", "end_turn"]


def test_a_call_that_is_cut_down_with_its_answer_never_runs() -> None:
    """It waits for a person who is never asked twice for the same thing."""
    ran, act = counting()
    waiting = asyncio.Event()

    class Slow:
        async def ask(self, question: Any) -> Any:
            await waiting.wait()

    first = reply(call("act", n=1), DOTS, fault=CUT)
    b = lost(first, "never mind", tools=[act], mode="default", approver=Slow())
    assert b.run().reason == "end_turn"
    assert ran == []
    assert not b.of(CallStarted, CallEnded)


def test_a_server_that_always_breaks_off_ends_the_turn() -> None:
    ran, act = counting()
    script = [reply(call("act", n=n), DOTS, fault=CUT) for n in range(20)]
    b = lost(*script, tools=[act])
    ended = b.run()
    assert ended.reason == "retries_exhausted"
    assert "the scripted connection was cut" in ended.error
    assert ran == list(range(MOST_BROKEN_OFF))
    check_valid(b.conversation.messages())


def test_a_whole_answer_between_makes_up_for_those_that_broke_off() -> None:
    _, act = counting()
    broken = [reply(call("act", n=n), DOTS, fault=CUT) for n in range(MOST_BROKEN_OFF - 1)]
    b = lost(*broken, reply(call("act", n=0)), *broken, "done", tools=[act])
    assert b.run().reason == "end_turn"


def test_a_failure_of_another_kind_behind_a_call_is_met_again_by_the_next_request() -> None:
    ran, act = counting()

    class Refusing(ScriptedModel):
        async def stream(self, request: Request, deltas: Any) -> Reply:
            if not self.requests:
                self.requests.append(request)
                await deltas(CallReady(0, Call("a", "act", '{"n": 1}')))
                while not b.of(CallEnded):
                    await asyncio.sleep(0)
            raise ModelFailure("auth", "the key was revoked", status=401)

    b = Bench(Refusing(), act)
    ended = b.run()
    assert (ended.reason, ended.status) == ("api_error", 401)
    assert ran == [1]
    check_valid(b.conversation.messages())
    check_calls(b.log.entries)


def test_a_call_that_still_runs_is_waited_for() -> None:
    go = asyncio.Event()

    async def slow(args: dict[str, Any], desk: Desk) -> str:
        await go.wait()
        return "slow"

    first = reply(call("slow", n=1), DOTS, fault=CUT)
    b = lost(first, "done", tools=[BenchTool("slow", slow, effects=READS)])
    b.on_event = lambda event: go.set() if isinstance(event, Notice) else None
    assert b.run().reason == "end_turn"
    assert [text for _, text, _ in told(b)] == ["slow"]


def test_an_id_that_a_server_gives_again_is_another_call() -> None:
    """Some count from zero in every answer."""
    _, act = counting()
    first = reply(call("act", {"n": 1}, id="call_0"), DOTS, fault=CUT)
    b = lost(first, reply(call("act", {"n": 2}, id="call_0")), "ok", tools=[act])
    b.run()
    assert [text for _, text, _ in told(b)] == ["ran 1", "ran 2"]
    assert len({entry.call_id for entry in b.of(CallEnded)}) == 2


@pytest.mark.parametrize("again", ["call_0", "another"])
def test_a_call_that_the_next_answer_repeats_is_not_run_again(again: str) -> None:
    ran, act = counting()
    first = reply(call("act", {"n": 1}, id="call_0"), DOTS, fault=CUT)
    repeated = reply(call("act", {"n": 1}, id=again), call("act", {"n": 1}, id="third"))
    b = lost(first, repeated, "ok", tools=[act])
    b.run()
    one, two, three = (text for _, text, _ in told(b))
    assert one == "ran 1"
    assert two == f"ran 1\n\n{NOT_AGAIN}", "its outcome is attached"
    assert three == "ran 1", "once for each: this one is a call of its own"
    assert ran == [1, 1]


def test_what_was_cut_short_may_run_again() -> None:
    ran: list[str] = []

    async def body(args: dict[str, Any], desk: Desk) -> Outcome | str:
        ran.append("x")
        return Cut("timed out") if len(ran) == 1 else "done"

    slow = BenchTool("act", body, effects=READS)
    first = reply(call("act", {"n": 1}, id="call_0"), DOTS, fault=CUT)
    b = lost(first, reply(call("act", {"n": 1}, id="call_0")), "ok", tools=[slow])
    b.run()
    assert len(ran) == 2


def test_only_the_answer_right_behind_counts_as_repeating() -> None:
    ran, act = counting()
    first = reply(call("act", {"n": 1}, id="a"), DOTS, fault=CUT)
    b = lost(
        first,
        reply(call("act", {"n": 2}, id="b")),
        reply(call("act", {"n": 1}, id="c")),
        "ok",
        tools=[act],
    )
    b.run()
    assert ran == [1, 2, 1]


def test_a_cancelled_answer_does_not_hold_the_words_of_a_lost_one() -> None:
    b = lost(reply(say(*["lost "] * 40), fault=CUT), reply(say("new ", "words")), tools=[])

    async def main() -> None:
        turn = asyncio.create_task(b.turn())

        def watch(event: Event) -> None:
            if isinstance(event, TextDelta) and event.text == "new ":
                turn.cancel()

        b.on_event = watch
        await asyncio.wait([turn])

    asyncio.run(main())
    (kept,) = b.of(Replied)
    assert plain_text(kept.content) == "new "


# What only its author can read


@pytest.mark.parametrize("how", ["cancelled", "broken_off"])
def test_what_is_signed_goes_back_with_the_call_behind_it(how: str) -> None:
    _, act = counting()
    wrong = CUT if how == "broken_off" else None
    first = reply(
        think("hm", signature="sig"),
        RedactedThink("xyz"),
        call("act", n=1),
        DOTS,
        think("more", signature="s2"),
        fault=wrong,
    )
    b = lost(first, "done", tools=[act])

    async def main() -> None:
        turn = asyncio.create_task(b.turn())

        def watch(event: Event) -> None:
            if how == "cancelled" and isinstance(event, CallEnded):
                turn.cancel()

        b.on_event = watch
        await asyncio.wait([turn])

    asyncio.run(main())
    kept = b.of(Replied)[0]
    assert kept.stop == how
    assert [type(block) for block in kept.content[:3]] == [Thinking, Redacted, Call]
    assert kept.content[0] == Thinking("hm", "sig")
    assert Thinking("more", "s2") not in kept.content


class Telling(ScriptedModel):
    """Hands given deltas on, and then never answers, or fails."""

    def __init__(self, *deltas: Any, fails: bool = False) -> None:
        super().__init__()
        self._deltas = deltas
        self._fails = fails

    async def stream(self, request: Request, deltas: Any) -> Reply:
        for delta in self._deltas:
            await deltas(delta)
        if self._fails:
            raise ModelFailure("server", "no", exhausted=True)
        await asyncio.get_running_loop().create_future()
        raise AssertionError


def cancelled(b: Bench) -> TurnEnded:
    async def main() -> None:
        turn = asyncio.create_task(b.turn())
        for _ in range(50):
            await asyncio.sleep(0)
        turn.cancel()
        await asyncio.wait([turn])

    asyncio.run(main())
    ended = b.log.entries[-1]
    assert isinstance(ended, TurnEnded)
    return ended


def test_a_partial_answer_names_who_gave_it() -> None:
    b = Bench(Telling(Begun("first", "p1"), Begun("second", "p2"), TextDelta(0, "half")))
    cancelled(b)
    (kept,) = b.of(Replied)
    assert (kept.model, kept.provider, kept.content) == ("second", "p2", (Text("half"),))


def test_what_is_sealed_is_not_kept_alone() -> None:
    first = reply(think("hm", signature="sig"), say(" ", "x"), fault=None)
    b = lost(first, tools=[])

    async def main() -> None:
        turn = asyncio.create_task(b.turn())

        def watch(event: Event) -> None:
            if isinstance(event, TextDelta):
                turn.cancel()

        b.on_event = watch
        await asyncio.wait([turn])

    asyncio.run(main())
    assert b.of(Replied) == []


# What it has cost


def price(model: str, usage: Usage) -> float:
    return usage.input / 1000 * (2 if model == "dear" else 1)


ATTEMPTS = (
    Begun("dear"),
    Counted(Usage(input=1_000)),
    Discarded("lost"),
    Begun("cheap"),
    Counted(Usage(input=3_000, output=7)),
)


@pytest.mark.parametrize("fails", [True, False], ids=["failed", "cancelled"])
def test_attempts_that_came_to_nothing_are_paid_for_by_model(fails: bool) -> None:
    b = Bench(Telling(*ATTEMPTS, fails=fails), price=price)
    ended = b.run() if fails else cancelled(b)
    assert ended.lost == {"dear": Usage(input=1_000), "cheap": Usage(input=3_000, output=7)}
    assert ended.usage == Usage(input=4_000, output=7)
    assert ended.steps == ()


def test_an_answer_that_breaks_off_costs_what_it_had_come_to() -> None:
    _, act = counting()

    class Costly(Persistent):
        async def attempt(self, request: Any, max_output: int, deltas: Any) -> Reply:
            await deltas(Counted(Usage(input=1_000)))
            return await super().attempt(request, max_output, deltas)

    b = Bench(Costly(reply(call("act", n=1), DOTS, fault=CUT), "done"), act)
    clock_of[:] = [b.clock]
    ended = b.run()
    assert ended.steps[0].usage == Usage(input=1_000)
    assert ended.lost == {}
