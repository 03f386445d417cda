"""What hooks are told of a turn beside calls, prompts and its end."""

from __future__ import annotations

import asyncio
from typing import Any

from detent.context.shaping import Shaping
from detent.gate.hooks import HookAnswer, HookSet
from detent.gate.hooks.events import (
    AfterCalls,
    AfterCompact,
    BeforeCompact,
    ContextCompacting,
    IterationCompleted,
    LoopStarted,
    SessionStarted,
    StopFailed,
    Submitted,
)
from detent.ports import Desk
from detent.testing import call, reply
from detent.testing.scripted_model import ScriptedModel
from detent.types.content import plain_text
from detent.types.errors import ModelFailure
from detent.types.events import Compacted, HooksRan, Notice, Prompted, Reminded
from detent.types.messages import Reply, Request
from detent.types.outcomes import done
from detent.types.usage import Usage
from kitbench import WRITES, Bench, BenchTool, bench


async def _echo(args: dict[str, Any], desk: Desk) -> str:
    return f"echo {args.get('n', '')}".strip()


ECHO = BenchTool("echo", _echo)


async def _long_echo(args: dict[str, Any], desk: object) -> str:
    return "x" * 4_000


LONG_ECHO = BenchTool("echo", _long_echo)


def sent(b: Bench) -> list[str]:
    """The texts of the user in each request."""
    assert isinstance(b.model, ScriptedModel)
    return [
        "\n".join(plain_text(m.content) for m in request.messages)  # type: ignore[arg-type]
        for request in b.model.requests
    ]


# The callbacks of a library's user


def test_the_lifecycle_in_order() -> None:
    seen: list[Any] = []
    hooks = HookSet(
        on_loop_start=(seen.append,),  # type: ignore[arg-type]
        on_iteration_complete=(seen.append,),  # type: ignore[arg-type]
    )
    b = bench(reply(call("echo", n=1), input=7), "done", tools=[ECHO], hooks=hooks)
    b.run("hello")
    first, *steps = seen
    assert first == LoopStarted(1, "hello")
    assert steps == [
        IterationCompleted(1, 1, "tool_use", 1, Usage(input=7, output=5)),
        IterationCompleted(1, 2, "end_turn", 0, Usage(input=10, output=5)),
    ]


def test_the_lifecycle_only_looks_on() -> None:
    def meddles(event: Any) -> HookAnswer:
        return HookAnswer("deny", "no", stop="stop", context="more")

    hooks = HookSet(on_loop_start=(meddles,), on_iteration_complete=(meddles,))
    b = bench("done", hooks=hooks)
    assert b.run().reason == "end_turn"
    assert "more" not in sent(b)[0]


def crowded(**options: Any) -> Bench:
    steps = [reply(call("echo", n=i), input=4_000 * i, output=1) for i in range(1, 10)]
    shaping = Shaping(summariser="local", order=("auto",))
    model = ScriptedModel(*steps, "done", window=40_000)
    return Bench(model, LONG_ECHO, shaping=shaping, **options)


def test_compaction_is_told_before_within_and_after() -> None:
    seen: list[Any] = []
    note = (seen.append,)
    hooks = HookSet(before_compact=note, on_context_compact=note, after_compact=note)  # type: ignore[arg-type]
    b = crowded(hooks=hooks)
    b.run()
    (compacted, *_) = b.of(Compacted)
    assert seen[:3] == [
        BeforeCompact("auto"),
        ContextCompacting("auto", compacted.before_tokens),
        AfterCompact("auto", compacted.summary),
    ]
    receipts = b.of(HooksRan)[:2]
    assert [(one.event, one.hooks, one.said) for one in receipts] == [
        ("PreCompact", ("append",), ""),
        ("PostCompact", ("append",), ""),
    ]
    order = [type(e) for e in b.log.entries if isinstance(e, HooksRan | Compacted)][:3]
    assert order == [HooksRan, Compacted, HooksRan]


def test_a_blocked_compaction_leaves_the_conversation_and_tells_people() -> None:
    seen: list[Any] = []
    hooks = HookSet(
        before_compact=(lambda event: HookAnswer("deny", "keep it all"),),
        on_context_compact=(seen.append,),  # type: ignore[arg-type]
        after_compact=(seen.append,),  # type: ignore[arg-type]
    )
    b = crowded(hooks=hooks)
    b.run()
    assert b.of(Compacted) == [] and seen == []
    assert any("keep it all" in notice.text for notice in b.of(Notice))
    receipt = b.of(HooksRan)[0]
    assert (receipt.event, receipt.said) == ("PreCompact", "keep it all")


# The session


def test_the_session_begins_once_and_before_the_first_prompt() -> None:
    seen: list[Any] = []

    def greets(event: SessionStarted) -> HookAnswer:
        seen.append(event)
        return HookAnswer(context="it is Monday")

    b = bench("one", "two", hooks=HookSet(session_started=(greets,)))

    async def turns() -> None:
        await b.turn("first")
        await b.turn("second", 2)

    asyncio.run(turns())
    assert seen == [SessionStarted("startup", "scripted")]
    kinds = [type(e) for e in b.log.entries if isinstance(e, Prompted | Reminded)]
    assert kinds == [Reminded, Prompted, Prompted]
    assert "it is Monday" in sent(b)[0] and "first" in sent(b)[0]


def test_what_is_said_of_the_session_outlives_a_blocked_prompt() -> None:
    hooks = HookSet(
        session_started=(lambda event: HookAnswer(context="it is Monday"),),
        submitted=(lambda e: HookAnswer("deny", "no") if e.text == "bad" else None,),
    )
    b = bench("one", hooks=hooks)

    async def turns() -> None:
        assert (await b.turn("bad")).reason == "hook_stopped"
        await b.turn("good", 2)

    asyncio.run(turns())
    assert "it is Monday" in sent(b)[0] and "good" in sent(b)[0] and "bad" not in sent(b)[0]


def test_a_hook_may_end_it_before_it_begins() -> None:
    b = bench("never", hooks=HookSet(session_started=(lambda e: HookAnswer(stop="not here"),)))
    ended = b.run("first")
    assert (ended.reason, ended.error) == ("hook_stopped", "not here")
    assert sent(b) == []


# Prompts while a turn runs


def test_hooks_look_at_steering_too() -> None:
    seen: list[str] = []

    def looks(event: Submitted) -> HookAnswer | None:
        seen.append(event.text)
        if "secret" in event.text:
            return HookAnswer("deny", "no secrets")
        return HookAnswer(context=f"about {event.text}")

    async def steers(args: dict[str, Any], desk: Desk) -> str:
        b.inbox.put(bench_text("the secret"))
        b.inbox.put(bench_text("be quick"))
        return "ok"

    b = bench(
        reply(call("steer")),
        "done",
        tools=[BenchTool("steer", steers)],
        hooks=HookSet(submitted=(looks,)),
    )
    assert b.run("go").reason == "end_turn"
    assert seen == ["go", "the secret", "be quick"]
    last = sent(b)[-1]
    assert "be quick" in last and "about be quick" in last and "secret" not in last
    assert any("no secrets" in notice.text for notice in b.of(Notice))


def bench_text(text: str) -> Any:
    from detent.types.content import Text

    return (Text(text),)


# Calls together, and failure


def test_a_batch_is_told_as_it_ran() -> None:
    seen: list[AfterCalls] = []
    tools = [ECHO, BenchTool("write", _echo, effects=WRITES)]
    hooks = HookSet(
        before_call=(
            lambda e: HookAnswer(arguments={"n": 9}) if e.arguments.get("n") == 2 else None,
        ),
        after_calls=(seen.append,),  # type: ignore[arg-type]
    )
    first = reply(call("echo", n=1), call("write", n=2), call("nothing"))
    b = bench(first, reply(call("echo", n=3)), "done", tools=tools, hooks=hooks)
    b.run()
    told = [[(c.tool, c.arguments) for c in event.calls] for event in seen]
    assert told == [
        [("echo", {"n": 1}), ("write", {"n": 9}), ("nothing", {})],
        [("echo", {"n": 3})],
    ]
    assert seen[0].calls[0].outcome == done("echo 1")


class Down(ScriptedModel):
    async def stream(self, request: Request, deltas: object) -> Reply:  # type: ignore[override]
        if self.requests:
            raise ModelFailure("server", "it is down", status=500)
        return await super().stream(request, deltas)  # type: ignore[arg-type]


def test_a_failed_request_is_told_and_a_good_end_is_not() -> None:
    seen: list[Any] = []
    hooks = HookSet(stop_failed=(seen.append,))  # type: ignore[arg-type]
    b = Bench(Down(reply("half", call("echo"))), ECHO, hooks=hooks)
    assert b.run().reason == "api_error"
    assert seen == [StopFailed("api_error", "it is down", "half")]
    bench("done", hooks=hooks).run()
    assert len(seen) == 1
