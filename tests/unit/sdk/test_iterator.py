"""The public iterator (F011, F012): live, at the reader's pace, clean when closed, composable."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

import pytest
from sdkbench import Settings, run

from detent.ports import Desk
from detent.sdk.channel import AHEAD, Channel
from detent.sdk.custom_tools import tool
from detent.sdk.query import query
from detent.sdk.query import run as run_once
from detent.sdk.session import LimitReached, Session
from detent.testing import call, fault, reply, say, think
from detent.testing.scripted_model import ScriptedModel
from detent.testing.static_tools import StaticTools
from detent.types.content import Call, Result, Text, plain_text
from detent.types.durable import Durable
from detent.types.errors import BadInput
from detent.types.events import (
    CallEnded,
    CallStarted,
    Event,
    Opened,
    Progress,
    Prompted,
    Replied,
    StepRecord,
    TextDelta,
    TurnEnded,
)
from detent.types.messages import Assistant, Reply, Request, User
from detent.types.outcomes import Cut, Done, text_of
from detent.types.running import Equipped
from detent.types.usage import Usage


class Gated:
    """A model that speaks only when told: each `say` lets one delta out."""

    name, window, max_output = "gated", 200_000, 32_000

    def __init__(self) -> None:
        self.words: asyncio.Queue[str | None] = asyncio.Queue()
        self.requests: list[Request] = []
        self.aborted = False

    async def stream(self, request: Request, deltas: Any) -> Reply:
        self.requests.append(request)
        said = ""
        try:
            while (word := await self.words.get()) is not None:
                said += word
                await deltas(TextDelta(0, word))
        except asyncio.CancelledError:
            self.aborted = True
            raise
        return Reply((Text(said),), "end_turn", Usage(1, 1), self.name)

    async def aclose(self) -> None:
        pass


class Holding:
    """A tool that runs until it is let go, and says what became of it."""

    def __init__(self) -> None:
        self.running = asyncio.Event()
        self.release = asyncio.Event()
        self.history: list[str] = []
        self.tool = tool(name="hold", effects=())(self._hold)

    async def _hold(self, desk: Desk) -> str:
        self.history.append("started")
        self.running.set()
        desk.progress("holding")
        try:
            await self.release.wait()
            return "held"
        finally:
            await asyncio.sleep(0)  # a clean-up that takes its time must still be waited for
            self.history.append("cleaned up")


async def until(events: AsyncGenerator[Event, None], kind: type) -> list[Event]:
    seen = []
    async for event in events:
        seen.append(event)
        if isinstance(event, kind):
            break
    return seen


async def settle() -> None:
    """Everything that could go on without the reader has gone on after this."""
    for _ in range(50):
        await asyncio.sleep(0)


# (a) live


def test_an_event_arrives_before_the_next_is_produced(settings: Settings) -> None:
    async def body() -> None:
        model = Gated()
        async with Session(settings(model)) as session, aclosing(session.send("hi")) as events:
            for word in ("one", "two", "three"):
                model.words.put_nowait(word)
                event = (await until(events, TextDelta))[-1]
                assert event == TextDelta(0, word)
            model.words.put_nowait(None)
            assert isinstance((await until(events, TurnEnded))[-1], TurnEnded)

    run(body)


def test_the_events_of_a_turn_in_order(settings: Settings) -> None:
    async def body() -> None:
        model = ScriptedModel(reply("let me see", call("add", raw="1,2")), "3")
        async with Session(settings(model, toolbox=adder())) as session:
            kinds = [type(e) async for e in session.send("add") if isinstance(e, Durable)]
        assert kinds[:3] == [Opened, Equipped, Prompted]
        assert sorted(k.__name__ for k in kinds[3:6]) == ["CallEnded", "CallStarted", "Replied"]
        assert kinds.index(CallStarted) < kinds.index(CallEnded)
        assert kinds[6:] == [Replied, TurnEnded]

    run(body)


# (b) backpressure


def test_a_reader_who_stops_at_the_prompt_causes_no_request(settings: Settings) -> None:
    async def body() -> None:
        model = ScriptedModel("hi")
        async with Session(settings(model)) as session, aclosing(session.send("hi")) as events:
            await until(events, Prompted)
            await settle()
            assert model.requests == []
            await until(events, Replied)
            assert len(model.requests) == 1

    run(body)


def test_a_reader_who_stops_after_a_step_causes_no_second_request(settings: Settings) -> None:
    async def body() -> None:
        model = ScriptedModel(reply(call("add", raw="1,2")), "3")
        tools = adder()
        async with (
            Session(settings(model, toolbox=tools)) as session,
            aclosing(session.send("add")) as events,
        ):
            await until(events, CallEnded)
            await settle()
            assert len(model.requests) == 1
            await until(events, TurnEnded)
            assert len(model.requests) == 2

    run(body)


def test_no_call_runs_that_the_reader_has_not_seen_start(settings: Settings) -> None:
    async def body() -> None:
        ran: list[str] = []
        tools = StaticTools().register("note", lambda text: ran.append(text) or "noted")
        model = ScriptedModel(reply(call("note", raw="x")), "done")
        async with (
            Session(settings(model, toolbox=tools)) as session,
            aclosing(session.send("go")) as events,
        ):
            await until(events, CallStarted)
            await settle()
            assert ran == []
            await until(events, CallEnded)
            assert ran == ["x"]

    run(body)


def test_signals_run_ahead_by_a_bound_and_none_is_lost(settings: Settings) -> None:
    async def body() -> None:
        produced = 0
        words = [f"{number} " for number in range(5 * AHEAD)]

        class Counting(Gated):
            async def stream(self, request: Request, deltas: Any) -> Reply:
                nonlocal produced
                for word in words:
                    await deltas(TextDelta(0, word))
                    produced += 1
                return Reply((Text("".join(words)),), "end_turn", Usage(), "counting")

        async with Session(settings(Counting())) as session, aclosing(session.send("x")) as events:
            await until(events, TextDelta)
            await settle()
            assert 0 < produced <= AHEAD + 1
            rest = [event async for event in events]
        deltas = [event.text for event in rest if isinstance(event, TextDelta)]
        assert [words[0], *deltas] == words

    run(body)


# (c) closing

LEAVINGS: dict[str, Callable[[Session], Any]] = {}


def leaving(function: Any) -> Any:
    LEAVINGS[function.__name__] = function
    return function


@leaving
async def by_aclose(session: Session, kind: type) -> None:
    events = session.send("go")
    await until(events, kind)
    await events.aclose()


@leaving
async def by_break(session: Session, kind: type) -> None:
    async with aclosing(session.send("go")) as events:
        async for event in events:
            if isinstance(event, kind):
                break


@leaving
async def by_an_exception(session: Session, kind: type) -> None:
    with pytest.raises(ZeroDivisionError):
        async with aclosing(session.send("go")) as events:
            await until(events, kind)
            raise ZeroDivisionError


@leaving
async def by_cancelling_the_reader(session: Session, kind: type) -> None:
    reached = asyncio.Event()

    async def read() -> None:
        async with aclosing(session.send("go")) as events:
            await until(events, kind)
            reached.set()
            async for _ in events:
                pass

    reader = asyncio.create_task(read())
    await reached.wait()
    await settle()
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader


@pytest.mark.parametrize("leave", LEAVINGS.values(), ids=LEAVINGS.keys())
def test_leaving_while_a_tool_runs_ends_it_first(settings: Settings, leave: Any) -> None:
    async def body() -> None:
        held = Holding()
        model = ScriptedModel(reply("wait", call("hold", {})), "back again")
        async with Session(settings(model, tools=[], custom_tools=[held.tool])) as session:
            await leave(session, Progress)
            assert held.history == ["started", "cleaned up"]
            assert not session.is_running
            ended = session.entries[-1]
            assert isinstance(ended, TurnEnded) and ended.reason == "user_cancelled"
            calls = [e for e in session.entries if isinstance(e, CallStarted | CallEnded)]
            assert [type(e) for e in calls] == [CallStarted, CallEnded]
            assert isinstance(calls[1], CallEnded) and isinstance(calls[1].outcome, Cut)
            assert_next_turn_is_whole(await session.run_turn("and now?"), model)

    run(body)


def test_a_running_tool_is_cancelled_before_aclose_returns(settings: Settings) -> None:
    async def body() -> None:
        held = Holding()
        model = ScriptedModel(reply(call("hold", {})), "unused")
        async with Session(settings(model, tools=[], custom_tools=[held.tool])) as session:
            events = session.send("go")
            reader = asyncio.create_task(until(events, TurnEnded))
            await held.running.wait()
            reader.cancel()
            await asyncio.wait([reader])
            await events.aclose()
            assert held.history == ["started", "cleaned up"]
            assert len(model.requests) == 1

    run(body)


@pytest.mark.parametrize("leave", LEAVINGS.values(), ids=LEAVINGS.keys())
def test_leaving_while_the_model_speaks_aborts_the_stream(settings: Settings, leave: Any) -> None:
    async def body() -> None:
        model = Gated()
        model.words.put_nowait("half a ")
        async with Session(settings(model)) as session:
            await leave(session, TextDelta)
            assert model.aborted
            replied = [e for e in session.entries if isinstance(e, Replied)]
            assert [plain_text(e.content) for e in replied] == ["half a "]
            assert replied[0].stop == "cancelled"
            model.words.put_nowait("whole")
            model.words.put_nowait(None)
            assert (await session.run_turn("again")).text == "whole"
        said = [plain_text(m.content) for m in model.requests[-1].messages]
        assert said[:2] == ["go", "half a "]

    run(body)


def test_leaving_the_session_ends_the_turn(settings: Settings) -> None:
    async def body() -> None:
        held = Holding()
        model = ScriptedModel(reply(call("hold", {})), "unused")
        options = settings(model, tools=[], custom_tools=[held.tool])
        async with Session(options) as session:
            reader = asyncio.create_task(until(session.send("go"), TurnEnded))
            await held.running.wait()
        assert held.history == ["started", "cleaned up"]
        assert model.closed
        await asyncio.wait([reader])
        reader.exception() if not reader.cancelled() else None

    run(body)


def test_a_query_that_is_left_closes_everything(settings: Settings) -> None:
    async def body() -> None:
        held = Holding()
        model = ScriptedModel(reply(call("hold", {})), "unused")
        options = settings(model, tools=[], custom_tools=[held.tool])
        async with aclosing(query("go", options)) as events:
            reader = asyncio.create_task(until(events, TurnEnded))
            await held.running.wait()
            reader.cancel()
            await asyncio.wait([reader])
        assert held.history == ["started", "cleaned up"]
        assert model.closed

    run(body)


def assert_next_turn_is_whole(summary: Any, model: ScriptedModel) -> None:
    assert summary.ok and summary.text == "back again"
    messages = model.requests[-1].messages
    calls = {b.id for m in messages if isinstance(m, Assistant) for b in m.content
             if isinstance(b, Call)}  # fmt: skip
    answers = {b.call_id for m in messages if isinstance(m, User) for b in m.content
               if isinstance(b, Result)}  # fmt: skip
    assert calls == answers


# (d) composable


def test_a_query_inside_another_generator(settings: Settings) -> None:
    async def texts(prompt: str, model: ScriptedModel) -> AsyncGenerator[str, None]:
        async with aclosing(query(prompt, settings(model))) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    yield event.text

    async def both() -> AsyncGenerator[str, None]:
        async for text in texts("a", ScriptedModel(reply(say("one ", "two")))):
            yield text
        async for text in texts("b", ScriptedModel("three")):
            yield text

    async def body() -> None:
        assert [text async for text in both()] == ["one ", "two", "three"]
        model = ScriptedModel(reply(say("one", "two")))
        async with aclosing(texts("a", model)) as some:
            assert await anext(some) == "one"
        assert model.closed

    run(body)


def test_two_sessions_at_once_do_not_mix(settings: Settings) -> None:
    async def body() -> None:
        one, two = await asyncio.gather(
            run_once("a", settings(ScriptedModel("1"))), run_once("b", settings(ScriptedModel("2")))
        )
        assert (one.text, two.text) == ("1", "2")

    run(body)


# interrupt, steer


def test_an_interrupt_ends_the_turn_and_its_reader_sees_the_end(settings: Settings) -> None:
    async def body() -> None:
        held = Holding()
        model = ScriptedModel(reply(call("hold", {})), "back again")
        async with Session(settings(model, tools=[], custom_tools=[held.tool])) as session:
            assert session.interrupt() is False
            reader = asyncio.create_task(until(session.send("go"), TurnEnded))
            await held.running.wait()
            assert session.interrupt() is True
            events = await reader
            assert [type(e) for e in events[-2:]] == [CallEnded, TurnEnded]
            assert events[-1].reason == "user_cancelled"  # type: ignore[union-attr]
            assert held.history == ["started", "cleaned up"]
            assert_next_turn_is_whole(await session.run_turn("and now?"), model)

    run(body)


def test_steering_is_heard_before_the_next_request(settings: Settings) -> None:
    async def body() -> None:
        model = ScriptedModel(reply(call("add", raw="1,2")), "ok")
        async with Session(settings(model, toolbox=adder())) as session:
            prompts: list[Prompted] = []
            async for event in session.send("add"):
                if isinstance(event, CallEnded):
                    session.steer("and be brief")
                if isinstance(event, Prompted):
                    prompts.append(event)
        assert [(plain_text(p.content), p.steered) for p in prompts] == [
            ("add", False),
            ("and be brief", True),
        ]
        last = model.requests[1].messages[-1]
        assert "and be brief" in plain_text(last.content)

    run(body)


def test_one_turn_at_a_time(settings: Settings) -> None:
    async def body() -> None:
        model = Gated()
        async with Session(settings(model)) as session, aclosing(session.send("a")) as events:
            await anext(events)
            with pytest.raises(RuntimeError, match="a turn is running"):
                await anext(session.send("b"))
            with pytest.raises(RuntimeError, match="a turn is running"):
                await session.switch_model("x")

    run(body)


def test_a_fault_of_the_model_ends_the_turn_not_the_reader(settings: Settings) -> None:
    async def body() -> None:
        model = ScriptedModel(fault(401), "fine")
        async with Session(settings(model)) as session:
            summary = await session.run_turn("a")
            assert (summary.reason, summary.ok) == ("api_error", False)
            assert summary.error
            assert (await session.run_turn("b")).text == "fine"

    run(body)


def test_a_bug_in_the_model_surfaces_at_the_reader(settings: Settings) -> None:
    def broken(request: Any) -> Any:
        raise ZeroDivisionError

    async def body() -> None:
        async with Session(settings(ScriptedModel(broken))) as session:
            with pytest.raises(ZeroDivisionError):
                await session.run_turn("a")

    run(body)


@pytest.mark.parametrize("prompt", ["", " \n", (), (Text(" "),)])
def test_an_empty_prompt_is_refused_before_anything_is_written(
    settings: Settings, prompt: Any
) -> None:
    async def body() -> None:
        async with Session(settings(ScriptedModel("x"))) as session:
            with pytest.raises(BadInput, match="empty"):
                await session.run_turn(prompt)
            assert not session.entries

    run(body)


# the summary (F008, F009, D27, D28)


def adder() -> StaticTools:
    return StaticTools().register("add", lambda text: str(sum(map(int, text.split(",")))))


def test_the_summary_of_a_turn(settings: Settings) -> None:
    async def body() -> None:
        model = ScriptedModel(
            reply(
                think("hm"), "adding", call("add", raw="1,2"), call("nope", {}), input=10, output=5
            ),
            reply("it is 3", input=20, output=7, cache_read=3),
        )
        return await run_once("add", settings(model, toolbox=adder()))

    summary = run(body)
    assert summary.ok and summary.reason == "end_turn"
    assert summary.text == "it is 3"
    assert [plain_text(m.content) for m in summary.assistant_messages] == ["adding", "it is 3"]
    assert text_of(summary.tool_results[0].outcome) == "3"
    assert isinstance(summary.tool_results[0].outcome, Done)
    assert not isinstance(summary.tool_results[1].outcome, Done)
    assert summary.iterations == 2
    assert summary.usage == Usage(30, 12, 3)
    assert summary.auto_compaction is None
    assert [(s.step, s.stop, s.calls) for s in summary.steps] == [
        (1, "tool_use", 2),
        (2, "end_turn", 0),
    ]
    assert all(isinstance(step, StepRecord) and step.model == "scripted" for step in summary.steps)
    assert sum((step.usage for step in summary.steps), Usage()) == summary.usage


def test_a_limit_gives_a_summary_or_raises_as_wished(settings: Settings) -> None:
    def looping() -> ScriptedModel:
        return ScriptedModel(*[reply("again", call("add", raw="1,1"))] * 5)

    async def body() -> None:
        summary = await run_once("x", settings(looping(), toolbox=adder(), max_turns=2))
        assert (summary.reason, summary.iterations) == ("max_turns", 2)
        assert summary.text == "again" and "2" in summary.error
        with pytest.raises(LimitReached) as caught:
            await run_once(
                "x", settings(looping(), toolbox=adder(), max_turns=2, raise_on_limit=True)
            )
        assert caught.value.summary.iterations == 2
        with pytest.raises(LimitReached):
            await run_once(
                "x", settings(looping(), toolbox=adder(), max_tool_calls=1, raise_on_limit=True)
            )

    run(body)


def test_the_summary_is_the_fold_of_the_events(settings: Settings) -> None:
    from detent.sdk.summary import summarise

    async def body() -> None:
        async with Session(settings(ScriptedModel("a", "a"))) as session:
            events = [event async for event in session.send("x")]
            folded = summarise(events)
            assert folded.text == "a" and folded.iterations == 1
        with pytest.raises(ValueError, match="no end of a turn"):
            summarise(events[:-1])

    run(body)


def test_a_reader_who_leaves_at_the_end_without_closing_hurts_nobody(settings: Settings) -> None:
    """`break` at TurnEnded is what people write; the stale iterator must not end a later turn."""

    async def body() -> None:
        model = Gated()
        async with Session(settings(model)) as session:
            model.words.put_nowait("said")
            model.words.put_nowait(None)
            stale = session.send("one")
            async for event in stale:
                if isinstance(event, TurnEnded):
                    break
            later = asyncio.create_task(session.run_turn("two"))
            await settle()
            await stale.aclose()
            model.words.put_nowait("fine")
            model.words.put_nowait(None)
            assert (await later).text == "fine"

    run(body)


# the channel alone


def test_a_closed_channel_holds_nobody() -> None:
    async def body() -> None:
        channel = Channel()
        writers = [asyncio.create_task(channel.put(Prompted(turn=1, content=()))) for _ in range(3)]
        await settle()
        assert not any(writer.done() for writer in writers)
        channel.close()
        await asyncio.wait_for(asyncio.gather(*writers), 5)
        await channel.put(TextDelta(0, "x"))
        assert await channel.get() is None

    run(body)


def test_offers_are_dropped_when_the_reader_is_behind() -> None:
    async def body() -> None:
        channel = Channel()
        for number in range(AHEAD * 2):
            channel.offer(TextDelta(0, str(number)))
        channel.end()
        got = []
        while (event := await channel.get()) is not None:
            got.append(event)
        assert [event.text for event in got] == [str(number) for number in range(AHEAD)]

    run(body)
