"""A turn from prompt to rest: when it goes on, when it stops, what the model is sent."""

from __future__ import annotations

import asyncio
from typing import Any, get_args

import pytest

from detent.context.account import Account
from detent.context.shaping import Shaping
from detent.gate.hooks import HookAnswer, HookSet
from detent.gate.hooks.events import Stopping, Submitted
from detent.loop.limits import MOST_FORCED_CONTINUATIONS, Limits, blocked
from detent.loop.rest import CONTINUE
from detent.loop.stages import Stage
from detent.ports import Desk
from detent.sdk.summary import summarise
from detent.testing import call, fault, reply, say, think
from detent.testing.scripted_model import ScriptedModel
from detent.types.budget import Budget
from detent.types.content import Text, plain_text
from detent.types.deltas import Begun
from detent.types.errors import ModelFailure
from detent.types.events import (
    CallEnded,
    CallStarted,
    Compacted,
    Discarded,
    Event,
    Notice,
    Prompted,
    Reminded,
    Replied,
    Rewound,
    TextDelta,
    TurnEnded,
)
from detent.types.messages import Reply, Request, User
from detent.types.outcomes import INTERRUPTED, Cut
from detent.types.usage import Usage
from kitbench import WRITES, Bench, BenchTool, bench, check_valid, results


async def _echo(args: dict[str, Any], desk: Desk) -> str:
    return f"echo {args.get('n', '')}".strip()


ECHO = BenchTool("echo", _echo)
ASK = reply(call("echo"))


def requests(b: Bench) -> list[Request]:
    assert isinstance(b.model, ScriptedModel)
    return b.model.requests


# What a turn is made of


def test_a_turn_without_calls_is_one_request() -> None:
    b = bench("hello")
    ended = b.run("hi")
    assert ended.reason == "end_turn"
    assert ended.error == ""
    assert [type(e) for e in b.events if not isinstance(e, TextDelta)] == [
        Prompted,
        Replied,
        TurnEnded,
    ]
    (request,) = requests(b)
    assert request.system == ("Be brief.",)
    assert request.messages == [User((Text("hi"),))]


def test_the_stages_pass_in_order() -> None:
    b = bench(reply(call("echo", n=1), say(*["so "] * 9)), "done", tools=[ECHO])
    b.run()
    assert b.stages == [
        *("Input", "Message", "History", "System", "API"),
        # The call runs while its answer still streams.
        *("Permit", "Hooks", "Execute", "Result"),
        *("Tokens", "Tools?", "Compact"),
        *("History", "System", "API", "Tokens", "Tools?", "Compact"),
        "Return",
    ]
    assert set(b.stages) == set(get_args(Stage)), "all thirteen"
    assert len(get_args(Stage)) == 13


def test_without_early_calls_the_stages_are_those_of_the_seeds() -> None:
    early = Limits(early_calls=False)
    b = bench(reply(call("echo"), say(*["so "] * 9)), "done", tools=[ECHO], limits=early)
    b.run()
    assert b.stages[:12] == list(get_args(Stage))[:12]
    assert b.stages[-1] == "Return"


def test_without_early_calls_nothing_starts_before_the_answer_is_whole() -> None:
    b = bench(reply(call("echo"), say("x")), "done", tools=[ECHO], limits=Limits(early_calls=False))
    b.run()
    kinds = [type(e) for e in b.events if isinstance(e, Replied | CallStarted)]
    assert kinds == [Replied, CallStarted, Replied]


def test_a_spent_budget_may_allow_a_last_word_without_tools() -> None:
    b = bench(
        reply(call("echo"), input=90, output=20),
        "what I have",
        tools=[ECHO],
        limits=Limits(wrap_up=True),
        account=Account(Budget(tokens=100)),
    )
    ended = b.run()
    assert ended.reason == "budget_exceeded"
    assert summarise(b.events).text == "what I have"
    assert [len(r.tools) for r in requests(b)] == [1, 0]
    assert "of 100 tokens" in ended.error and not b.of(Notice), "the user is told once"


def test_there_is_no_limit_by_default() -> None:
    b = bench(*[reply(call("echo", n=i)) for i in range(120)], "done", tools=[ECHO])
    assert b.run().reason == "end_turn"
    assert len(requests(b)) == 121


@pytest.mark.parametrize(("used", "blocked_"), [(9_700, False), (9_900, True)])
def test_requests_are_blocked_at_ninety_eight_percent(used: int, blocked_: bool) -> None:
    assert (blocked(used, 10_000) is not None) is blocked_


def test_hooks_are_not_asked_about_arguments_that_do_not_fit() -> None:
    asked: list[object] = []
    hooks = HookSet(before_call=(asked.append,))
    b = bench(reply(call("echo", raw="{")), "sorry", tools=[ECHO], hooks=hooks)
    b.run()
    assert not asked
    assert not b.of(CallStarted)


def test_calls_decide_whatever_the_stop_reason_says() -> None:
    b = bench(reply(call("echo"), stop="end_turn"), "done", tools=[ECHO])
    assert b.run().reason == "end_turn"
    assert len(requests(b)) == 2
    assert results(requests(b)[1].messages) == [("call_1_0", "echo", False)]


def test_an_unknown_stop_reason_without_calls_is_an_end() -> None:
    b = bench(reply("so", stop="mysterious"))
    assert b.run().reason == "end_turn"


def test_the_record_of_a_turn_counts_steps_tokens_and_calls() -> None:
    b = bench(
        reply(call("echo", n=1), call("echo", n=2), input=10, output=5, cache_read=3),
        reply("done", input=20, output=1, cache_write=7),
        tools=[ECHO],
    )
    ended = b.run()
    assert [(s.step, s.calls, s.stop) for s in ended.steps] == [
        (1, 2, "tool_use"),
        (2, 0, "end_turn"),
    ]
    assert ended.usage == Usage(30, 6, 3, 7)


# Limits


def test_max_turns_stops_before_the_request_that_would_be_too_many() -> None:
    b = bench(ASK, ASK, ASK, tools=[ECHO], limits=Limits(steps=2))
    ended = b.run()
    assert ended.reason == "max_turns"
    assert "2" in ended.error
    assert len(requests(b)) == 2
    assert len(b.of(CallEnded)) == 2, "partial results are kept"


@pytest.mark.parametrize(
    ("budget", "words"),
    [
        (Budget(calls=2), "2 of 2 tool calls"),
        (Budget(tokens=30), "30 of 30 tokens"),
        (Budget(input=20), "20 of 20 input tokens"),
        (Budget(output=10), "10 of 10 output tokens"),
        (Budget(requests=2), "2 of 2 model calls"),
        (Budget(seconds=2.0), "2 of 2 seconds"),
        (Budget(dollars=0.5), "0.5 of 0.5 dollars"),
        (None, "2 of 2 seconds"),
    ],
    ids=[
        *("calls", "tokens", "input", "output", "requests", "seconds", "dollars"),
        "seconds of the turn",
    ],
)
def test_a_budget_stops_before_the_next_request(budget: Budget | None, words: str) -> None:
    async def slow(args: dict[str, Any], desk: Desk) -> str:
        await b.clock.sleep(1.0)
        return "later"

    b = bench(
        *[reply(call("slow"), input=10, output=5)] * 9,
        tools=[BenchTool("slow", slow)],
        limits=Limits() if budget else Limits(seconds=2.0),
        account=Account(budget or Budget()),
        price=lambda model, usage: 0.25,
    )
    ended = b.run()
    assert ended.reason == "budget_exceeded"
    assert words in ended.error
    assert len(requests(b)) == 2


def test_an_unknown_price_spends_nothing() -> None:
    b = bench(ASK, "done", tools=[ECHO], account=Account(Budget(dollars=0.01)))
    assert b.run().reason == "end_turn"


def test_beyond_98_percent_nothing_is_sent() -> None:
    b = bench("never", window=1_000)
    ended = b.run("word " * 1_000)
    assert ended.reason == "blocking_limit"
    assert "too long" in ended.error
    assert requests(b) == []


def test_up_to_98_percent_it_is_sent() -> None:
    b = bench("yes", window=1_000)
    assert b.run("word " * 850).reason == "end_turn"


def test_room_is_made_before_the_window_is_full() -> None:
    b = bench(
        reply(say("an old thought " * 300), call("echo"), input=100, output=5),
        reply(call("echo"), input=100, output=5),
        reply(call("echo"), input=870, output=5),
        "done",
        tools=[ECHO],
        window=1_000,
        shaping=Shaping(summariser="local"),
    )
    assert b.run("the wish").reason == "end_turn"
    (compacted,) = b.of(Compacted)
    assert compacted.before_tokens > 800
    last = requests(b)[-1].messages
    check_valid(last)
    assert len(last) < 7
    assert "the wish" in plain_text(last[0].content)


def test_a_prompt_the_provider_finds_too_long_is_made_shorter_once() -> None:
    def too_long(request: Request) -> Any:
        raise ModelFailure("prompt_too_long", "prompt is too long: 9 > 8", status=400)

    long = reply("old " * 3_000, call("echo", n=0))
    b = bench(long, ASK, ASK, too_long, "done", tools=[ECHO])
    assert b.run().reason == "end_turn"
    assert [c.trigger for c in b.of(Compacted)] == ["reactive"]
    assert len(requests(b)[4].messages) < len(requests(b)[3].messages)

    b = bench(long, ASK, ASK, too_long, too_long, tools=[ECHO])
    ended = b.run()
    assert ended.reason == "prompt_too_long"
    assert ended.status == 400
    assert len(b.of(Compacted)) == 1


# Answers that were cut


def test_a_cut_answer_is_asked_for_again_with_more_room() -> None:
    cut = reply("half an", stop="max_tokens")
    b = bench(cut, cut, "whole", max_output=100_000)
    ended = b.run()
    assert [r.max_output for r in requests(b)] == [32_000, 64_000, 100_000]
    assert len({r.messages[-1] for r in requests(b)}) == 1, "the same question"
    assert [plain_text(e.content) for e in b.of(Replied)] == ["whole"]
    assert len(b.of(Discarded)) == 2, "what was shown is taken back"
    assert ended.reason == "end_turn"


def test_a_limit_that_is_hardly_larger_is_not_worth_the_same_question_again() -> None:
    b = bench(reply("one, ", stop="max_tokens"), "two", max_output=32_768)
    assert b.run().reason == "end_turn"
    assert [r.max_output for r in requests(b)] == [32_000, 32_000]
    assert [e.text for e in b.of(Reminded)] == [CONTINUE]


class Fallback(ScriptedModel):
    """Sends what it can, whatever it was asked for."""

    sends = 64_000

    async def stream(self, request: Request, deltas: Any) -> Reply:
        reply = await super().stream(request, deltas)
        await deltas(Begun("fallback", "", self.sends))
        return reply


@pytest.mark.parametrize(
    ("sends", "limits"), [(64_000, [0, 0]), (0, [0, 0]), (16_000, [0, 32_000])]
)
def test_more_room_is_more_than_what_was_really_sent(sends: int, limits: list[int]) -> None:
    model = Fallback(reply("one, ", stop="max_tokens"), "two", max_output=0)
    model.sends = sends
    b = Bench(model)
    b.on_event = lambda event: setattr(model, "max_output", 64_000)
    assert b.run().reason == "end_turn"
    assert [r.max_output for r in requests(b)] == limits
    assert len(b.of(Reminded)) == (1 if limits[-1] == 0 else 0)


def test_cuts_are_counted_anew_after_an_answer_that_was_none() -> None:
    steps = [(reply(f"{n}", stop="max_tokens"), reply("rest", call("echo", n=n))) for n in range(6)]
    b = bench(*[one for pair in steps for one in pair], "done", tools=[ECHO], max_output=8_000)
    assert b.run().reason == "end_turn"
    assert not b.of(Compacted)


def test_the_tokens_of_a_cut_answer_are_counted() -> None:
    b = bench(
        reply("half", stop="max_tokens", input=70, output=30), reply("all", input=1, output=1)
    )
    assert b.run().usage == Usage(71, 31)


def test_at_most_three_times_in_all() -> None:
    cut = reply("cut", stop="max_tokens")
    old, long = "old " * 3_000, 10_000_000
    b = bench(old, *[cut] * 9, max_output=long, limits=Limits(output=1_000))
    b.run()
    b.events.clear()
    ended = b.run()
    # The fifth: perhaps the window was full, so room is made once and the answer goes on.
    assert [r.max_output for r in requests(b)[1:]] == [1_000, 2_000, 4_000, 8_000, 8_000]
    assert [c.trigger for c in b.of(Compacted)] == ["reactive"]
    assert ended.reason == "max_tokens"
    assert summarise(b.events).text == "cutcut", "what there is, is given"


def test_at_the_models_own_limit_the_answer_goes_on_and_is_joined() -> None:
    b = bench(
        reply("one, ", stop="max_tokens"),
        reply("two, ", stop="max_tokens"),
        "three",
        max_output=8_000,
    )
    ended = b.run()
    assert ended.reason == "end_turn"
    assert [r.max_output for r in requests(b)] == [8_000] * 3
    assert [e.text for e in b.of(Reminded)] == [CONTINUE] * 2
    assert plain_text(requests(b)[2].messages[1].content) == "one, "
    assert summarise(b.events).text == "one, two, three"
    for request in requests(b):
        check_valid(request.messages)


def test_a_cut_answer_that_called_is_not_asked_for_again() -> None:
    b = bench(reply(call("echo", raw='{"n":'), stop="max_tokens"), "sorry", tools=[ECHO])
    assert b.run().reason == "end_turn"
    ((_, text, is_error),) = results(requests(b)[1].messages)
    assert is_error
    assert "send an object" in text


def test_a_refusal_ends_the_turn() -> None:
    b = bench(reply("I will not", stop="refusal"))
    ended = b.run()
    assert ended.reason == "refusal"
    assert ended.error


def test_a_pause_is_followed_by_the_same_conversation() -> None:
    b = bench(reply("thinking on", stop="pause_turn"), "there")
    assert b.run().reason == "end_turn"
    assert plain_text(requests(b)[1].messages[-1].content) == "thinking on"


# Failures


@pytest.mark.parametrize(
    ("kind", "exhausted", "reason"),
    [
        ("server", True, "retries_exhausted"),
        ("auth", False, "api_error"),
        ("invalid_request", False, "api_error"),
        ("not_found", False, "api_error"),
        ("invalid_response", False, "invalid_response"),
        ("prompt_too_long", False, "prompt_too_long"),
    ],
)
def test_a_failure_ends_the_turn_with_its_reason(kind: Any, exhausted: bool, reason: str) -> None:
    def fails(request: Request) -> Any:
        raise ModelFailure(kind, "it says why", status=418, exhausted=exhausted)

    b = bench(fails, fails)
    ended = b.run()
    assert (ended.reason, ended.error, ended.status) == (reason, "it says why", 418)
    assert isinstance(b.events[-1], TurnEnded)


def test_a_failed_turn_can_be_followed_by_another() -> None:
    b = bench(fault(400), "better")
    b.run("first")
    asyncio.run(b.turn("second", 2))
    assert plain_text(requests(b)[1].messages[0].content) == "firstsecond"


# Hooks


def test_a_stop_hook_makes_the_turn_go_on_and_knows_that_it_did() -> None:
    seen: list[Stopping] = []

    def hook(event: Stopping) -> HookAnswer | None:
        seen.append(event)
        return HookAnswer("deny", "run the tests") if not event.again else None

    b = bench("done?", "done!", hooks=HookSet(stopping=(hook,)))
    assert b.run().reason == "end_turn"
    assert seen == [Stopping("done?", False), Stopping("done!", True)]
    assert plain_text(requests(b)[1].messages[-1].content) == "run the tests"


def test_a_stubborn_stop_hook_is_obeyed_five_times() -> None:
    def hook(event: Stopping) -> HookAnswer:
        return HookAnswer("deny", "again")

    b = bench(*["no"] * 20, hooks=HookSet(stopping=(hook,)))
    assert b.run().reason == "end_turn"
    assert MOST_FORCED_CONTINUATIONS == 5
    assert len(requests(b)) == 6
    assert "more than 5 times" in b.of(Notice)[-1].text


def test_a_blocked_prompt_leaves_no_trace_in_the_conversation() -> None:
    def hook(event: Submitted) -> HookAnswer | None:
        return HookAnswer("deny", "not this") if "secret" in event.text else None

    b = bench("first", "second", hooks=HookSet(submitted=(hook,)))
    b.run("hello")
    before = b.conversation.messages()
    ended = asyncio.run(b.turn("the secret", 2))
    assert (ended.reason, ended.error) == ("hook_stopped", "not this")
    assert b.conversation.messages() == before
    assert len(requests(b)) == 1
    assert any(isinstance(e, Prompted) and e.turn == 2 for e in b.log.entries), "typed is kept"
    assert len(b.of(Rewound)) == 1
    asyncio.run(b.turn("hello again", 3))
    assert "secret" not in repr(requests(b)[1].messages)


def test_a_prompt_hook_may_add_context() -> None:
    b = bench("ok", hooks=HookSet(submitted=(lambda event: HookAnswer(context="it is late"),)))
    b.run("hi")
    assert requests(b)[0].messages == [User((Text("hi"), Text("it is late")))]


# Steering


def test_what_is_said_meanwhile_is_heard_before_the_next_request() -> None:
    async def busy(args: dict[str, Any], desk: Desk) -> str:
        b.inbox.put((Text("rather blue"),))
        return "painted"

    b = bench(reply(call("busy")), "blue then", tools=[BenchTool("busy", busy)])
    assert b.run("paint it").reason == "end_turn"
    last = requests(b)[1].messages[-1]
    assert plain_text(last.content) == "rather blue"
    assert results(requests(b)[1].messages) == [("call_1_0", "painted", False)]
    assert [e.steered for e in b.of(Prompted)] == [False, True]


def test_what_is_said_during_the_last_answer_makes_another() -> None:
    b = bench("done", "that too")

    def say_more(event: Event) -> None:
        if isinstance(event, TextDelta) and event.text == "done":
            b.inbox.put((Text("one more"),))

    b.on_event = say_more
    assert b.run().reason == "end_turn"
    assert plain_text(requests(b)[1].messages[-1].content) == "one more"


# Cancelling


def cancelled(b: Bench, when: Any) -> TurnEnded:
    async def run() -> None:
        task = asyncio.create_task(b.turn())

        def watch(event: Event) -> None:
            if when(event):
                task.cancel()

        b.on_event = watch
        with pytest.raises(asyncio.CancelledError):
            await task
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(run())
    ended = b.log.entries[-1]
    assert isinstance(ended, TurnEnded)
    return ended


def test_a_cancelled_answer_is_kept_as_far_as_it_was_shown() -> None:
    b = bench(reply(think("hm"), say("one ", "two ", "three")))
    ended = cancelled(b, lambda e: isinstance(e, TextDelta) and e.text == "two ")
    assert ended.reason == "user_cancelled"
    (kept,) = b.of(Replied)
    assert plain_text(kept.content) == "one two "
    assert kept.stop == "cancelled"


def test_a_cancelled_call_ends_as_cut() -> None:
    async def for_ever(args: dict[str, Any], desk: Desk) -> str:
        await asyncio.get_running_loop().create_future()
        return ""

    b = bench(reply(call("wait")), tools=[BenchTool("wait", for_ever)])
    cancelled(b, lambda e: isinstance(e, Replied))
    (ended,) = b.of(CallEnded)
    assert ended.outcome.reason == INTERRUPTED
    check_valid(b.conversation.messages())


def test_a_call_that_waits_for_another_never_runs_once_cancelled() -> None:
    ran: list[str] = []

    async def for_ever(args: dict[str, Any], desk: Desk) -> str:
        ran.append(desk.call_id)
        await asyncio.get_running_loop().create_future()
        return ""

    tool = BenchTool("wait", for_ever, effects=WRITES)
    b = bench(reply(call("wait", n=1), call("wait", n=2)), tools=[tool])
    cancelled(b, lambda e: isinstance(e, Replied))
    assert ran == ["call_1_0"]
    assert [e.call_id for e in b.of(CallStarted)] == ["call_1_0"]
    told = results(b.conversation.messages())
    assert [text for _, text, _ in told] == [
        f"[{INTERRUPTED}]",
        "[interrupted before it ran]",
    ]


def test_what_a_cancelled_call_had_come_to_is_kept() -> None:
    async def speaks(args: dict[str, Any], desk: Desk) -> str:
        running.append(True)
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            desk.cut_short(lambda: "half of it")
        return ""

    async def interrupted() -> None:
        turn = asyncio.create_task(b.turn())
        while not running:
            await asyncio.sleep(0)
        turn.cancel()
        await asyncio.wait([turn])

    running: list[bool] = []
    b = bench(reply(call("wait")), tools=[BenchTool("wait", speaks)])
    asyncio.run(interrupted())
    (ended,) = b.of(CallEnded)
    assert ended.outcome == Cut(INTERRUPTED, "half of it")
    b = bench(reply(call("wait")), "ok", tools=[BenchTool("wait", speaks, timeout=0.01)])
    b.run()
    (ended,) = b.of(CallEnded)
    assert ended.outcome == Cut("timed out after 0.01 s", "half of it")


def test_cancelling_twice_ends_the_turn_once() -> None:
    async def stubborn(args: dict[str, Any], desk: Desk) -> str:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            for _ in range(5):
                await asyncio.sleep(0)
        return ""

    b = bench(reply(call("wait")), tools=[BenchTool("wait", stubborn)])

    async def run() -> None:
        task = asyncio.create_task(b.turn())
        while not b.of(Replied):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(run())
    assert len([e for e in b.log.entries if isinstance(e, TurnEnded)]) == 1
    assert len([e for e in b.log.entries if isinstance(e, CallEnded)]) == 1
    assert isinstance(b.log.entries[-1], TurnEnded)


def test_a_model_that_never_answers_can_be_cancelled() -> None:
    class Mute(ScriptedModel):
        async def stream(self, request: Request, deltas: Any) -> Reply:
            await asyncio.get_running_loop().create_future()
            raise AssertionError

    b = Bench(Mute())

    async def run() -> None:
        task = asyncio.create_task(b.turn())
        while not b.stages or b.stages[-1] != "API":
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert b.of(Replied) == [], "nothing was said, nothing is kept"
    assert b.log.entries[-1] == b.events[-1]
