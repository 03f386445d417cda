"""Questions beside the work, of which nothing stays but their cost."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Any

import pytest
from sdkbench import Settings, run

from detent.sdk.replay import verify
from detent.sdk.session import Session
from detent.testing import Fault, call, reply
from detent.testing.scripted_model import ScriptedModel
from detent.types.errors import BadInput, ModelFailure
from detent.types.events import CallStarted, Lost

BYPASS: dict[str, Any] = {"permission_mode": "bypassPermissions", "persist": True}


async def turn(session: Session, prompt: str, meets: Callable[[Any], bool], do: Any) -> list[Any]:
    """A turn; what is to be done when an event comes is done then."""
    events = []
    async for event in session.send(prompt):
        events.append(event)
        if meets(event):
            await do()
    return events


def is_progress(event: Any) -> bool:
    return type(event).__name__ == "Progress" and bool(event.text)


class TestAside:
    def test_it_knows_the_conversation_and_leaves_it_as_it_is(self, settings: Settings) -> None:
        requests: list[Any] = []

        def answer(request: Any) -> Any:
            requests.append(request)
            return reply("a word ", "beside", input=100, output=7)

        def later(request: Any) -> Any:
            requests.append(request)
            return "and so on"

        async def body() -> str:
            heard: list[str] = []
            model = ScriptedModel("one", answer, later)
            async with Session(settings(model, persist=True)) as session:
                await session.run_turn("remember the colour blue")
                before = session.spent
                assert await session.aside("which colour?", heard.append) == "a word beside"
                assert "".join(heard) == "a word beside"
                asked = requests[0]
                assert "blue" in str(asked.messages)
                assert asked.messages[-1].content[-1].text.endswith("\n\nwhich colour?")
                assert asked.tools and asked.system == session._engine.kit.system
                assert isinstance(session.entries[-1], Lost)
                assert session.entries[-1].what == "aside"
                spent = session.spent - before
                assert (spent.requests, spent.usage.output, spent.turns) == (1, 7, 0)
                assert session.spending()["aside"].usage.output == 7
                await session.run_turn("go on")
                assert "which colour" not in str(requests[1].messages)
                assert sum(session.spending().values(), type(before)()).usage == session.usage
                return session.path

        assert verify(run(body)).turns == 2

    def test_before_the_first_prompt(self, settings: Settings) -> None:
        async def body() -> str:
            async with Session(settings(ScriptedModel("hello"), persist=True)) as session:
                assert await session.aside("hi?") == "hello"
                return session.path

        assert verify(run(body)).turns == 0

    def test_while_a_turn_runs(self, settings: Settings) -> None:
        os.mkfifo(settings.cwd / "go")
        model = ScriptedModel(
            reply(call("Bash", command="echo begun; cat go")),
            reply("it is at it", output=5),
            "done",
        )

        async def body() -> str:
            async with Session(settings(model, **BYPASS)) as session:

                async def ask() -> None:
                    assert await session.aside("how far are you?") == "it is at it"
                    await asyncio.to_thread((settings.cwd / "go").write_text, "")

                asking: list[asyncio.Task[None]] = []

                async def begin() -> None:
                    if not asking:
                        asking.append(asyncio.create_task(ask()))

                events = await turn(session, "go", is_progress, begin)
                await asking[0]
                assert [e.what for e in events if isinstance(e, Lost)] == ["aside"]
                assert events[-1].reason == "end_turn"
                assert session.spending()["aside"].usage.output == 5
                return session.path

        assert verify(run(body)).turns == 1

    def test_calls_in_it_are_not_run(self, settings: Settings) -> None:
        model = ScriptedModel("one", reply("no: ", call("Bash", command="touch made")))

        async def body() -> None:
            async with Session(settings(model, **BYPASS)) as session:
                await session.run_turn("go")
                assert await session.aside("make it") == "no: "
                assert not any(isinstance(entry, CallStarted) for entry in session.entries)

        run(body)
        assert not (settings.cwd / "made").exists()

    def test_what_cannot_be_asked(self, settings: Settings) -> None:
        async def body() -> None:
            async with Session(settings(ScriptedModel(Fault(status=400)))) as session:
                with pytest.raises(BadInput):
                    await session.aside("  ")
                with pytest.raises(ModelFailure):
                    await session.aside("really?")
            async with Session(settings(ScriptedModel("x", window=1_000))) as session:
                with pytest.raises(BadInput, match="no room"):
                    await session.aside("really?")

        run(body)

    def test_a_spent_budget_pays_for_none(self, settings: Settings) -> None:
        async def body() -> None:
            async with Session(settings(ScriptedModel("one", "two"), max_tokens=1)) as session:
                await session.run_turn("go")
                with pytest.raises(ModelFailure, match="Budget spent"):
                    await session.aside("really?")

        run(body)
