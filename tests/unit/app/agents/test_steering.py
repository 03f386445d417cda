"""Agents in the background: their news, messages to them, and that a turn waits for them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from detent.app.agents.child import ChildEngine
from detent.app.agents.messages import LONGEST, news_of
from detent.app.options import Options
from detent.sdk.session import Session
from detent.testing.script import Call, Reply, Say
from detent.testing.scripted_model import ScriptedModel
from detent.tools.delegation.telling import told
from detent.types.agents import AgentEnded, AgentRecord
from detent.types.content import Text, plain_text
from detent.types.errors import BadInput
from detent.types.events import (
    CallEnded,
    Entry,
    Event,
    Nested,
    Prompted,
    Reminded,
    Replied,
    TurnEnded,
)
from detent.types.messages import Request, User
from detent.types.outcomes import text_of

PATIENCE = 10.0

Answer = Callable[[str], Awaitable[Any]]


class Talk(ScriptedModel):
    """Each conversation is answered by what its last message says; the session's by its script."""

    def __init__(self, *session: Any, **children: Any) -> None:
        super().__init__(*session)
        self._children = children
        self.heard: dict[str, list[str]] = {}
        self.told: list[str] = []
        """All that the session read."""
        self.before: Callable[[Request], Awaitable[None]] | None = None
        """Waited for before the second answer to the session."""

    async def stream(self, request: Request, deltas: Any) -> Any:
        said = [plain_text(one.content) for one in request.messages if isinstance(one, User)]
        name = re.search(r"TASK (\w+)", "\n".join(said))
        if name is None:
            self.told.append("\n".join(map(str, request.messages)))
            if len(self.told) == 2 and self.before is not None:
                await self.before(request)
            return await super().stream(request, deltas)
        self.heard.setdefault(name[1], []).append(str(request.messages[-1]))
        step = len(self.heard[name[1]])
        reply = self._children[name[1]]
        answer = reply(step) if callable(reply) else reply
        if asyncio.iscoroutine(answer):
            answer = await answer
        return await ScriptedModel(answer).stream(request, deltas)


def agent(name: str, **more: Any) -> Call:
    given = {"description": f"about {name}", "prompt": f"TASK {name}", "name": name}
    return Call("Agent", {**given, **more}, id=f"call_{name}")


def behind(name: str, **more: Any) -> Call:
    return agent(name, run_in_background=True, **more)


def then(*calls: Call) -> Reply:
    return Reply(calls)


@pytest.fixture
def options(tmp_path: Path) -> Callable[..., Options]:
    (tmp_path / "work").mkdir()

    def make(model: ScriptedModel, **more: Any) -> Options:
        environ = {"HOME": str(tmp_path), "DETENT_HOME": str(tmp_path / "state")}
        given = {"environ": environ, "cwd": str(tmp_path / "work"), "waits_for_agents": True}
        return Options(model=model, **{**given, **more})

    return make


def run(body: Callable[[], Awaitable[Any]]) -> Any:
    async def watched() -> Any:
        async with asyncio.timeout(PATIENCE):
            result = await body()
        assert asyncio.all_tasks() == {asyncio.current_task()}, "a task is left"
        return result

    return asyncio.run(watched())


def of(session: Session, kind: type[Entry]) -> list[Any]:
    return [entry for entry in session.entries if isinstance(entry, kind)]


async def seen(condition: Callable[[], Any]) -> None:
    while not condition():
        await asyncio.sleep(0.005)


def test_a_turn_waits_for_those_in_the_background_and_reads_what_they_came_to(options: Any) -> None:
    rested = asyncio.Event()

    async def slow(step: int) -> str:
        await rested.wait()
        return "forty-two"

    def resting(request: Request) -> str:
        asyncio.get_running_loop().call_soon(rested.set)
        return "I wait."

    model = Talk(then(behind("a")), resting, "it says forty-two", a=slow)

    async def body() -> None:
        async with Session(options(model)) as session:
            summary = await session.run_turn("go")
            assert summary.text == "it says forty-two" and summary.reason == "end_turn"
            assert summary.iterations == 3
            (news,) = [one for one in of(session, Reminded) if one.source == "background"]
            (started,) = session.subagents
            assert news.text == (
                f"[The background agent {started.agent} (general-purpose: a) has ended: completed; "
                f"{told(started)}]\nforty-two"
            )
            assert "forty-two" in model.told[-1] and "forty-two" not in model.told[-2]

    run(body)


def test_an_agent_whose_file_says_so_always_works_in_the_background(options: Any) -> None:
    kinds = {
        "watcher": {"description": "Watches.", "prompt": "You watch.", "background": True},
        "helper": {"description": "Helps.", "prompt": "You help."},
    }
    model = Talk(
        then(agent("a", subagent_type="watcher"), agent("b", subagent_type="helper")),
        "Begun.",
        "Both.",
        a="seen",
        b="helped",
    )

    async def body() -> None:
        async with Session(options(model, agents=kinds)) as session:
            await session.run_turn("go")
            assert {one.name: one.background for one in session.subagents} == {
                "a": True,
                "b": False,
            }
            texts = {e.call_id: text_of(e.outcome) for e in of(session, CallEnded)}
            assert "works in the background" in texts["call_a"]
            assert "helped" in texts["call_b"]

    run(body)


def test_the_library_does_not_wait_and_tells_in_the_next_turn(options: Any) -> None:
    rested = asyncio.Event()

    async def slow(step: int) -> str:
        await rested.wait()
        return "forty-two"

    model = Talk(then(behind("a")), "not waiting", "now I know", a=slow)

    async def body() -> None:
        async with Session(options(model, waits_for_agents=False)) as session:
            assert (await session.run_turn("go")).text == "not waiting"
            assert [one.state for one in session.subagents] == ["running"]
            rested.set()
            await seen(lambda: session.subagents[0].state == "completed")
            assert (await session.run_turn("and?")).text == "now I know"
            assert "forty-two" in model.told[-1]

    run(body)


def test_one_that_fails_or_is_stopped_by_a_person_is_news_too(options: Any) -> None:
    async def never(step: int) -> str:
        await asyncio.Event().wait()
        return ""

    def breaks(step: int) -> Any:
        raise RuntimeError("broken model")

    model = Talk(then(behind("a"), behind("b")), *["waiting"] * 2, "done", a=never, b=breaks)

    async def body() -> None:
        async with Session(options(model)) as session:
            turn = asyncio.create_task(session.run_turn("go"))
            await seen(lambda: len(of(session, AgentEnded)) == 1)
            await session.stop_agent("a")
            await turn
            news = [one.text for one in of(session, Reminded) if one.source == "background"]
            assert ["failed" in text for text in news] == [True, False]
            assert "broken model" in news[0]
            assert "has ended: stopped" in news[1]

    run(body)


def test_what_a_call_has_told_is_not_told_again(options: Any) -> None:
    """One ends while a call waits for it, one is ended by a call."""
    sessions: list[Session] = []

    def is_waited_for() -> bool:
        staff = sessions[0]._engine.staff
        return staff is not None and any(one.waiting for one in staff.crew.at_work.values())

    async def slow(step: int) -> str:
        await seen(is_waited_for)
        return "forty-two"

    async def never(step: int) -> str:
        await asyncio.Event().wait()
        return ""

    model = Talk(
        then(behind("a"), behind("b")),
        then(Call("TaskOutput", {"task_id": "a"})),
        then(Call("TaskStop", {"task_id": "b"})),
        "done",
        a=slow,
        b=never,
    )

    async def body() -> None:
        async with Session(options(model)) as session:
            sessions.append(session)
            summary = await session.run_turn("go")
            assert summary.iterations == 4 and summary.text == "done"
            looked, stopped = [plain_text(r.outcome.content) for r in summary.tool_results[2:]]
            assert looked.endswith("forty-two") and ": completed; 1 step" in looked
            assert stopped.startswith("Stopped: ") and ": stopped;" in stopped
            assert [one for one in of(session, Reminded) if one.source == "background"] == []

    run(body)


def test_how_far_one_is_that_still_works(options: Any) -> None:
    looked = asyncio.Event()

    async def two_steps(step: int) -> Any:
        if step == 1:
            return Reply((Say("I look left."), Call("Glob", {"pattern": "*.nothing"})))
        await looked.wait()
        return "all seen"

    async def look(request: Request) -> None:
        await seen(lambda: len(model.heard.get("a", ())) == 2)

    calls = [{"block": False}, {"timeout": 1}]
    model = Talk(
        then(behind("a")),
        then(*(Call("TaskOutput", {"task_id": "a", **one}) for one in calls)),
        lambda request: looked.set() or "waiting",
        "done",
        a=two_steps,
    )
    model.before = look

    async def body() -> None:
        async with Session(options(model)) as session:
            summary = await session.run_turn("go")
            for result in summary.tool_results[1:]:
                text = plain_text(result.outcome.content)
                assert ": running; 1 step, 1 tool call, 15 tokens" in text
                assert text.endswith("It wrote so far:\nI look left.")
                assert result.outcome.data["status"] == "running"
                assert result.outcome.data["task_type"] == "local_agent"

    run(body)


def test_a_message_is_heard_before_the_next_request(options: Any) -> None:
    sent = asyncio.Event()

    async def two_steps(step: int) -> Any:
        if step == 1:
            await sent.wait()
            return then(Call("Glob", {"pattern": "*.nothing"}))
        return "heard"

    def sending(request: Request) -> str:
        asyncio.get_running_loop().call_soon(sent.set)
        return "sent"

    model = Talk(
        then(behind("a")),
        then(Call("SendMessage", {"recipient": "a", "message": "look left", "summary": "x"})),
        sending,
        "done",
        a=two_steps,
    )

    async def body() -> None:
        async with Session(options(model)) as session:
            summary = await session.run_turn("go")
            said = plain_text(summary.tool_results[1].outcome.content)
            assert said == "a reads it before its next step."
            assert "look left" in model.heard["a"][1]

    run(body)


def test_one_that_has_ended_goes_on_with_a_message(options: Any) -> None:
    async def answers(step: int) -> str:
        if step == 2:
            await seen(lambda: len(model.told) == 3)
        return f"answer {step}"

    model = Talk(
        then(agent("a")),
        then(Call("SendMessage", {"to": "a", "message": "and the right one?"})),
        "waiting",
        "done",
        a=answers,
    )

    async def body() -> None:
        async with Session(options(model)) as session:
            summary = await session.run_turn("go")
            assert summary.text == "done"
            assert "goes on with this in the background" in str(summary.tool_results[1].outcome)
            assert len(model.heard["a"]) == 2 and "and the right one?" in model.heard["a"][1]
            (record,) = session.subagents
            assert (record.answer, record.turns, record.background) == ("answer 2", 2, True)
            assert "answer 2" in model.told[-1]

    run(body)


def test_a_message_to_one_that_is_just_ending_waits_until_it_has(
    options: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ending, go_on, aclose = asyncio.Event(), asyncio.Event(), ChildEngine.aclose

    async def slowly(engine: ChildEngine) -> None:
        ending.set()
        await go_on.wait()
        await aclose(engine)

    monkeypatch.setattr(ChildEngine, "aclose", slowly)
    model = Talk(then(behind("a")), *["on"] * 3, a=lambda step: f"answer {step}")

    async def body() -> None:
        async with Session(options(model)) as session:
            turn = asyncio.create_task(session.run_turn("go"))
            await ending.wait()
            sent = asyncio.create_task(session.message_agent("a", "one thing more"))
            await asyncio.sleep(0)
            go_on.set()
            assert (await sent).state == "running"
            await turn
            assert "one thing more" in model.heard["a"][1]
            assert [one.answer for one in session.subagents] == ["answer 2"]

    run(body)


def test_what_comes_when_its_turn_has_just_ended_is_answered_all_the_same(options: Any) -> None:
    """The message is put in while the last entry of its turn passes."""
    model = Talk(then(agent("a")), "done", a=lambda step: f"answer {step}")
    sessions: list[Session] = []

    def look(event: Event) -> None:
        match event:
            case Nested(event=TurnEnded(turn=1)):
                staff = sessions[0]._engine.staff
                assert staff is not None
                (running,) = staff.crew.at_work.values()
                assert running.hears
                running.work.engine.inbox.put((Text("one thing more"),))

    async def body() -> None:
        async with Session(options(model, observers=(look,))) as session:
            sessions.append(session)
            await session.run_turn("go")
            assert "one thing more" in model.heard["a"][1]
            assert [(one.state, one.answer) for one in session.subagents] == [
                ("completed", "answer 2")
            ]

    run(body)


def test_agents_write_to_each_other_and_to_the_session(options: Any) -> None:
    b_began, a_wrote = asyncio.Event(), asyncio.Event()

    async def writes(step: int) -> Any:
        if step == 1:
            await b_began.wait()
            to = ("b", "main", "parent", "nobody")
            return then(*(Call("SendMessage", {"to": t, "message": f"to {t}"}) for t in to))
        a_wrote.set()
        return "wrote"

    async def reads(step: int) -> Any:
        if step == 1:
            b_began.set()
            await a_wrote.wait()
            return then(Call("Glob", {"pattern": "*.nothing"}))
        return "read"

    model = Talk(then(agent("a"), agent("b")), "done", a=writes, b=reads)

    async def body() -> None:
        async with Session(options(model)) as session:
            summary = await session.run_turn("go")
            a, _ = session.subagents
            letter = f"[Message of the agent a ({a.agent}), not of the user:]"
            assert f"{letter}\\nto b" in model.heard["b"][1]
            assert f"{letter}\\nto main" in model.told[-1]
            assert f"{letter}\\nto parent" in model.told[-1]
            assert "there is no agent 'nobody'" in model.heard["a"][1]
            assert not any(one.steered for one in of(session, Prompted)), "no person said it"
            assert summary.text == "done"

    run(body)


def test_unknown_ids_name_those_that_there_are(options: Any) -> None:
    calls = [
        Call("TaskOutput", {"task_id": "x"}),
        Call("TaskStop", {"task_id": "x"}),
        Call("SendMessage", {"to": "x", "message": "m"}),
    ]
    model = Talk(then(agent("a")), then(*calls), "done", a="ok")

    async def body() -> None:
        async with Session(options(model)) as session:
            summary = await session.run_turn("go")
            (record,) = session.subagents
            for result in summary.tool_results[1:]:
                assert f"{record.agent} (a)" in str(result.outcome), result.outcome
            with pytest.raises(BadInput, match=f"'y'.*{record.agent}"):
                await session.stop_agent("y")
            with pytest.raises(BadInput, match=f"'y'.*{record.agent}"):
                await session.message_agent("y", "m")

    run(body)


def test_a_child_waits_for_its_own_and_ends_them_when_it_is_stopped(options: Any) -> None:
    inner, ended = asyncio.Event(), asyncio.Event()

    async def never(step: int) -> str:
        inner.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return ""

    def parent(step: int) -> Any:
        return then(behind("b")) if step == 1 else "I wait for b"

    model = Talk(then(agent("a")), "done", a=parent, b=never)

    async def body() -> None:
        async with Session(options(model)) as session:
            turn = asyncio.create_task(session.run_turn("go"))
            await inner.wait()
            await seen(lambda: len(model.heard["a"]) == 2)
            await asyncio.sleep(0)
            (record,) = session.subagents
            assert record.state == "running" and record.answer == "I wait for b"
            session.interrupt()
            await turn
            assert ended.is_set()
            assert [one.state for one in session.subagents] == ["stopped"]

    run(body)


def test_an_interrupt_leaves_those_in_the_background_at_work(options: Any) -> None:
    go_on = asyncio.Event()

    async def slow(step: int) -> str:
        await go_on.wait()
        return "forty-two"

    model = Talk(then(behind("a")), "waiting", "now I know", a=slow)

    async def body() -> None:
        async with Session(options(model)) as session:
            turn = asyncio.create_task(session.run_turn("go"))
            await seen(lambda: len(model.told) == 2)
            session.interrupt()
            assert (await turn).reason == "user_cancelled"
            assert [one.state for one in session.subagents] == ["running"]
            go_on.set()
            await seen(lambda: session.subagents[0].state == "completed")
            assert (await session.run_turn("and?")).text == "now I know"

    run(body)


def test_the_end_of_the_session_ends_them(options: Any) -> None:
    async def never(step: int) -> str:
        await asyncio.Event().wait()
        return ""

    model = Talk(then(behind("a")), "not waiting", a=never)

    async def body() -> None:
        async with Session(options(model, waits_for_agents=False)) as session:
            await session.run_turn("go")
        (ended,) = of(session, AgentEnded)
        assert ended.state == "stopped"

    run(body)


def test_the_time_of_a_turn_is_up_also_while_it_waits(options: Any) -> None:
    async def never(step: int) -> str:
        await asyncio.Event().wait()
        return ""

    model = Talk(then(behind("a")), "waiting", a=never)

    async def body() -> None:
        async with Session(options(model, max_seconds=0.3)) as session:
            summary = await session.run_turn("go")
            assert (summary.reason, summary.iterations) == ("budget_exceeded", 2)

    run(body)


def test_who_wants_the_next_turn_need_not_wait(options: Any) -> None:
    go_on = asyncio.Event()

    async def slow(step: int) -> str:
        await go_on.wait()
        return "forty-two"

    model = Talk(then(behind("a")), "waiting", "second", "done", a=slow)

    async def body() -> None:
        async with Session(options(model)) as session:
            turn = asyncio.create_task(session.run_turn("go"))
            await seen(lambda: len(model.told) == 2)
            session.wait_no_longer()
            assert (await turn).text == "waiting"
            turn = asyncio.create_task(session.run_turn("next"))
            await seen(lambda: len(model.told) == 3)
            await asyncio.sleep(0.02)
            assert not turn.done(), "the next one waits again"
            go_on.set()
            assert (await turn).text == "done"

    run(body)


def test_an_end_that_is_no_news_ends_the_wait_as_well(options: Any) -> None:
    async def never(step: int) -> str:
        await asyncio.Event().wait()
        return ""

    model = Talk(then(behind("a")), "waiting", a=never)

    async def body() -> None:
        async with Session(options(model)) as session:
            turn = asyncio.create_task(session.run_turn("go"))
            await seen(lambda: len(of(session, Replied)) == 2)
            staff = session._engine.staff
            assert staff is not None
            await staff.stop(session.subagents[0].agent)
            assert (await turn).text == "waiting"

    run(body)


def test_what_is_said_while_it_waits_is_taken_at_once(options: Any) -> None:
    go_on = asyncio.Event()

    async def slow(step: int) -> str:
        await go_on.wait()
        return "forty-two"

    def steered(request: Request) -> str:
        asyncio.get_running_loop().call_soon(go_on.set)
        return "I heard you"

    model = Talk(then(behind("a")), "waiting", steered, "done", a=slow)

    async def body() -> None:
        async with Session(options(model)) as session:
            turn = asyncio.create_task(session.run_turn("go"))
            await seen(lambda: len(model.told) == 2)
            session.steer("how far is it?")
            assert (await turn).text == "done"
            assert "how far is it?" in model.told[2] and "forty-two" not in model.told[2]

    run(body)


def test_long_answers_say_where_the_rest_is() -> None:
    record = AgentRecord(agent="agent_1", kind="explore", state="completed", answer="x" * 20_000)
    news = news_of(record)
    assert len(news) < LONGEST + 400
    assert "[… 4,000 characters more; TaskOutput with agent_1 shows all …]" in news
    assert news_of(replace(record, answer="x" * LONGEST)).endswith("xxx")
