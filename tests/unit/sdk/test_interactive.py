"""What a person at a terminal wants of a session beside its turns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sdkbench import Settings, run

from detent.gate.hooks import HookAnswer, HookSet
from detent.ports import Answer
from detent.sdk.replay import verify
from detent.sdk.session import Session
from detent.testing import call, reply, script, serve
from detent.testing.scripted_model import ScriptedModel
from detent.types.content import Text
from detent.types.errors import BadInput
from detent.types.events import Prompted, Replied
from detent.types.running import Named


async def turn(session: Session, prompt: str, meets: Callable[[Any], bool], do: Any) -> list[Any]:
    """A turn; what is to be done when an event comes is done then."""
    events = []
    async for event in session.send(prompt):
        events.append(event)
        if meets(event):
            await do()
    return events


def test_what_nobody_has_heard_is_taken_back(settings: Settings) -> None:
    model = ScriptedModel("one", "two")

    async def body() -> None:
        async with Session(settings(model)) as session:
            session.steer("wait")
            session.steer([Text("stop")])
            assert session.waiting == ((Text("wait"),), (Text("stop"),))
            assert session.take_back() == ((Text("wait"),), (Text("stop"),))
            assert session.waiting == session.take_back() == ()
            await session.run_turn("go")
            said = [entry.content for entry in session.entries if isinstance(entry, Prompted)]
            assert said == [(Text("go"),)]

    run(body)


class TestEffort:
    def test_it_counts_from_the_next_turn_on(self, settings: Settings) -> None:
        (settings.home / "settings.json").write_text(
            '{"effortLevel": "low", "thinking": {"budgetTokens": 1024}}'
        )

        async def body() -> None:
            async with Session(settings(ScriptedModel(), effort="high")) as session:
                assert session.effort == "high"
                await session.set_effort("max")
                assert session.effort == "max"
                await session.set_effort("")
                assert session.effort == "low", "what the settings say"
                await session.set_effort("auto")
                assert session.effort == "", "the provider decides"
                with pytest.raises(BadInput, match="one of low"):
                    await session.set_effort("enormous")
                assert session.effort == ""
                await session.set_thinking(2_000)
                assert session.thinking_budget == 2_000
                await session.set_thinking(None)
                assert session.thinking_budget == session._engine.grounds.settings.thinking_budget

        run(body)

    def test_the_model_is_asked_for_it(self, settings: Settings) -> None:
        with serve(script("one", "two")) as server:
            keys = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url}
            environ = {**settings.environ, **keys}

            async def body() -> None:
                model: Any = "anthropic/claude-opus-4-6"
                async with Session(settings(model, environ=environ)) as session:
                    await session.run_turn("go")
                    await session.set_effort("low")
                    await session.run_turn("on")

            run(body)
            efforts = [one.json.get("output_config") for one in server.requests]
            assert efforts == [None, {"effort": "low"}]

    def test_not_while_a_turn_runs(self, settings: Settings) -> None:
        async def body() -> None:
            async with Session(settings(ScriptedModel("one"))) as session:

                async def change() -> None:
                    with pytest.raises(RuntimeError):
                        await session.set_effort("low")

                await turn(session, "go", lambda event: isinstance(event, Replied), change)

        run(body)


class Person:
    """Says yes, and is one whom hooks call."""

    async def ask(self, question: Any) -> Answer:
        return Answer(True)


class TestNotify:
    def told(self, settings: Settings, **more: Any) -> tuple[list[Any], Any]:
        heard: list[Any] = []

        async def hook(event: Any) -> HookAnswer:
            heard.append((event.kind, event.message, event.title))
            return HookAnswer()

        return heard, settings(more.pop("model"), hooks=HookSet(notified=(hook,)), **more)

    def test_hooks_hear_it(self, settings: Settings) -> None:
        heard, options = self.told(settings, model=ScriptedModel())

        async def body() -> None:
            async with Session(options) as session:
                await session.notify("idle_prompt", "waiting for you", "Detent")
            async with Session(settings(ScriptedModel())) as session:
                await session.notify("idle_prompt", "nobody listens")

        run(body)
        assert heard == [("idle_prompt", "waiting for you", "Detent")]

    def test_a_question_is_told_once(self, settings: Settings) -> None:
        model = ScriptedModel(reply(call("Bash", command="touch x")), "done")
        heard, options = self.told(settings, model=model, approver=Person())

        async def body() -> None:
            async with Session(options) as session:

                async def notify() -> None:
                    await session.notify("permission_prompt", "may Bash run?")

                asked = lambda event: type(event).__name__ == "Asked"  # noqa: E731
                await turn(session, "go", asked, notify)

        run(body)
        assert [kind for kind, _, _ in heard] == ["permission_prompt"]


class TestRename:
    def test_before_and_after_the_first_prompt(self, settings: Settings) -> None:
        async def body() -> str:
            async with Session(settings(ScriptedModel("one"), persist=True)) as session:
                assert session.name == ""
                await session.rename("  first   name ")
                assert session.name == "first name"
                assert list(session.entries) == [], "nothing is written before the first prompt"
                await session.run_turn("go")
                await session.rename("second")
                await session.rename("second")
                assert session.name == "second"
                await session.rename("")
                assert session.name == ""
                names = [entry.name for entry in session.entries if isinstance(entry, Named)]
                assert names == ["first name", "second", ""]
                return session.path

        assert verify(run(body)).turns == 1

    def test_names_that_cannot_be(self, settings: Settings) -> None:
        async def body() -> None:
            async with Session(settings(ScriptedModel("one"), persist=True, name="mine")) as first:
                await first.run_turn("go")
            async with Session(settings(ScriptedModel())) as session:
                for name in ("mine", "abc-123", "x" * 81, "a\u200bb"):
                    with pytest.raises(BadInput):
                        await session.rename(name)
                assert session.name == ""

        run(body)
