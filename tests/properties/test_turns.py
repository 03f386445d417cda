"""Whatever the model, the tools and the user do, the session stays one that can go on."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from detent.context.project import project
from detent.gate.rules import parse_rule
from detent.gate.terms import RuleSet
from detent.loop.limits import Limits
from detent.models.retry import RetryPolicy, persist
from detent.ports import Desk
from detent.testing.script import Call, Fault, RedactedThink, Reply, Say, Think
from detent.testing.scripted_model import ScriptedModel
from detent.types import messages
from detent.types.content import Text
from detent.types.events import Entry, Event, Replied, TurnEnded
from kitbench import READS, WRITES, Bench, BenchTool, FakeClock, check_calls, check_valid


async def _ok(args: dict[str, Any], desk: Desk) -> str:
    return f"ok {args.get('n', '')}"


async def _blank(args: dict[str, Any], desk: Desk) -> str:
    return " "


async def _raises(args: dict[str, Any], desk: Desk) -> str:
    raise OSError("no such luck")


async def _slow(args: dict[str, Any], desk: Desk) -> str:
    for _ in range(20):  # many chances to be cancelled, no time
        desk.progress(".")
        await asyncio.sleep(0)
    return "slow"


async def _hangs(args: dict[str, Any], desk: Desk) -> str:
    await asyncio.get_running_loop().create_future()
    raise AssertionError("nothing wakes it")


def tools() -> list[BenchTool]:
    return [
        BenchTool("ok", _ok, effects=READS),
        BenchTool("blank", _blank),
        BenchTool("raises", _raises, effects=WRITES),
        BenchTool("slow", _slow, effects=READS),
        BenchTool("slow_alone", _slow, effects=WRITES),
        BenchTool("late", _hangs, effects=READS, timeout=0),
        BenchTool("forbidden", _ok),
    ]


NAMES = [tool.spec.name for tool in tools()]


class RetryingModel:
    """A scripted model behind the real retry rules, as an HTTP model is."""

    name, window, max_output = "scripted", 200_000, 32_000

    def __init__(self, *replies: Reply, clock: FakeClock) -> None:
        self._clock = clock
        self.inner = ScriptedModel(*replies)
        self.requests = self.inner.requests

    async def stream(self, request: messages.Request, deltas: Any) -> messages.Reply:
        policy = RetryPolicy(delays=(0.2, 0.4))
        return await persist(self, request, policy=policy, clock=self._clock, deltas=deltas)

    first_output = 0

    async def attempt(
        self, request: messages.Request, max_output: int, deltas: Any
    ) -> messages.Reply:
        return await self.inner.stream(request, deltas)

    async def refresh(self) -> bool:
        return False

    async def aclose(self) -> None:
        pass


texts = st.sampled_from(["", " ", "hello", "a longer text"])
calls = st.builds(
    Call,
    st.sampled_from([*NAMES, "unknown"]),
    id=st.sampled_from([None, None, "same", "other", ""]),
    raw=st.sampled_from(["{}", '{"n":1}', '{"n":2}', "{broken", "[]", ""]),
)
blocks = st.one_of(
    st.builds(Say, texts), st.builds(Think, texts), st.just(RedactedThink("xx")), calls, calls
)
faults = st.one_of(
    st.none(),
    st.none(),
    st.builds(Fault, status=st.sampled_from([400, 401, 429, 500, 529])),
    st.builds(Fault, cut_after=st.integers(0, 5)),
)
spoken = st.builds(
    Reply,
    st.lists(blocks, max_size=4).map(tuple),
    stop=st.sampled_from([None, None, None, "max_tokens", "refusal", "end_turn", "stop"]),
    fault=faults,
)
scripts = st.lists(spoken, min_size=1, max_size=6)


@given(
    script=scripts,
    concurrency=st.sampled_from([1, 2, 10]),
    cancel_at=st.none() | st.integers(0, 40),
    steer_at=st.none() | st.integers(0, 10),
)
@settings(max_examples=400)
def test_a_turn_ends_well_and_can_be_followed_by_another(
    script: list[Reply], concurrency: int, cancel_at: int | None, steer_at: int | None
) -> None:
    log = asyncio.run(one_turn(script, concurrency, cancel_at, steer_at))
    check_calls(log)
    check_valid(project(log))
    asyncio.run(resumed(log))


def noting(tool: BenchTool, model: RetryingModel, ran: dict[str, set[int]]) -> BenchTool:
    """Where in the conversation a call runs, and in which attempt to answer there."""
    body = tool._body

    async def noted(args: dict[str, Any], desk: Desk) -> Any:
        place = repr(model.requests[-1].messages)
        ran.setdefault(place, set()).add(len(model.requests))
        return await body(args, desk)

    tool._body = noted
    return tool


async def one_turn(
    script: list[Reply], concurrency: int, cancel_at: int | None, steer_at: int | None
) -> list[Entry]:
    clock = FakeClock()
    model = RetryingModel(*script, clock=clock)
    ran: dict[str, set[int]] = {}
    bench = Bench(
        model,
        *(noting(tool, model, ran) for tool in tools()),
        rules=RuleSet(deny=(parse_rule("forbidden", str),)),
        limits=Limits(steps=12, concurrency=concurrency),
    )
    turn = asyncio.create_task(bench.turn())

    def watch(event: Event) -> None:
        if len(bench.events) - 1 == cancel_at:
            turn.cancel()
        if len(bench.events) - 1 == steer_at:
            bench.inbox.put((Text("and this"),))

    bench.on_event = watch
    # A tool that hangs would hang the test: none is called but with a timeout.
    await asyncio.wait([turn], timeout=20)
    assert turn.done(), "the turn hangs"
    twice = [place for place, attempts in ran.items() if len(attempts) > 1]
    assert not twice, "two answers to the same question have both acted"
    assert turn.cancelled() or turn.exception() is None
    left = asyncio.all_tasks() - {asyncio.current_task()}
    assert not left, "something outlived the turn"
    ends = [entry for entry in bench.log.entries if isinstance(entry, TurnEnded)]
    assert len(ends) == 1
    assert bench.log.entries[-1] is ends[0]
    if turn.cancelled() and cancel_at is not None and bench.events[cancel_at] != ends[0]:
        assert ends[0].reason == "user_cancelled"
    for request in model.requests:
        check_valid(request.messages)
        assert isinstance(request.messages[-1], messages.User)
    seen = [entry for entry in bench.events if isinstance(entry, Replied | TurnEnded)]
    logged = [e for e in bench.log.entries if isinstance(e, Replied | TurnEnded)]
    assert seen == logged, "what is stored is shown"
    return list(bench.log.entries)


async def resumed(log: list[Entry]) -> None:
    model = ScriptedModel("fine")
    bench = Bench(model, *tools(), entries=log)
    ended = await bench.turn("and now?", 2)
    assert ended.reason == "end_turn"
    (request,) = model.requests
    check_valid(request.messages)
    last = request.messages[-1]
    assert isinstance(last, messages.User)
    assert Text("and now?") in last.content
    check_calls(bench.log.entries)
