"""A call that runs is sent to the background: its command, or its agent, goes on there."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Any

from sdkbench import Settings, run

from detent.sdk.replay import verify
from detent.sdk.session import Session
from detent.testing import call, reply
from detent.testing.scripted_model import ScriptedModel
from detent.types.events import CallEnded, Reminded, Replied
from detent.types.outcomes import Done, text_of

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


class TestToBackground:
    def test_the_running_command_goes_on_and_its_end_is_told(self, settings: Settings) -> None:
        os.mkfifo(settings.cwd / "go")
        asked: list[Any] = []

        def last(request: Any) -> Any:
            asked.append(request)
            return "all done"

        model = ScriptedModel(
            reply(call("Bash", command="echo begun; cat go; exit 4")),
            reply(call("TaskOutput", task_id="job_1", timeout=20_000)),
            last,
        )

        async def body() -> str:
            async with Session(settings(model, **BYPASS)) as session:
                assert not session.to_background()

                async def leave() -> None:
                    assert not session.to_background("call of nobody")
                    assert session.to_background()
                    assert [job.id for job in session.jobs] == ["job_1"]
                    writing = asyncio.to_thread((settings.cwd / "go").write_text, "on\n")
                    self.writing = asyncio.create_task(writing)

                events = await turn(session, "go", is_progress, leave)
                await self.writing
                bash, looked = (e.outcome for e in events if isinstance(e, CallEnded))
                assert isinstance(bash, Done) and bash.data is not None
                assert bash.data["backgroundTaskId"] == "job_1"
                assert text_of(looked).endswith("begun\non")
                assert "Exit code 4" in text_of(looked)
                assert not session.to_background()
                return session.path

        path = run(body)
        assert verify(path).turns == 1

    def test_a_subagent_works_on_and_its_end_is_told(self, settings: Settings) -> None:
        os.mkfifo(settings.cwd / "go")
        model = ScriptedModel(
            reply(call("Agent", description="look", prompt="look around")),
            reply(call("Bash", command="echo begun; cat go")),
            "I do something else",
            "what the agent found",
            "the agent is done, and so am I",
        )
        writing: list[asyncio.Task[int]] = []

        async def body() -> str:
            async with Session(settings(model, **BYPASS, waits_for_agents=True)) as session:

                def is_begun(event: Any) -> bool:
                    return type(event).__name__ == "Nested" and is_progress(event.event)

                async def leave() -> None:
                    assert session.to_background()

                def has_answered(event: Any) -> bool:
                    return isinstance(event, Replied) and "something else" in str(event.content)

                async def go_on() -> None:
                    write = asyncio.to_thread((settings.cwd / "go").write_text, "on\n")
                    writing.append(asyncio.create_task(write))

                async def do() -> None:
                    await (go_on() if has_answered(last[-1]) else leave())

                last: list[Any] = []

                def meets(event: Any) -> bool:
                    last.append(event)
                    return is_begun(event) or has_answered(event)

                events = await turn(session, "go", meets, do)
                await writing[0]
                (ended,) = (e.outcome for e in events if isinstance(e, CallEnded))
                assert "to the background, where it works on" in text_of(ended)
                (news,) = (e for e in events if isinstance(e, Reminded) and e.source != "memory")
                assert "what the agent found" in news.text
                (agent,) = session.subagents
                assert (agent.state, agent.background) == ("completed", True)
                return session.path

        verify(run(body))

    def test_a_subagent_that_ends_with_the_session_is_told_of_later(
        self, settings: Settings
    ) -> None:
        os.mkfifo(settings.cwd / "go")
        model = ScriptedModel(
            reply(call("Agent", description="look", prompt="look around")),
            reply(call("Bash", command="echo begun; cat go")),
            "I do something else",
        )

        async def body() -> str:
            async with Session(settings(model, **BYPASS)) as session:

                async def leave() -> None:
                    assert session.to_background()

                def is_begun(event: Any) -> bool:
                    return type(event).__name__ == "Nested" and is_progress(event.event)

                await turn(session, "go", is_begun, leave)
                assert [one.state for one in session.at_work] == ["running"]
                first = session.id
            options = settings(ScriptedModel("I see"), **BYPASS, resume=first)
            async with Session(options) as session:
                await session.run_turn("what came of it?")
                news = [entry.text for entry in session.entries if isinstance(entry, Reminded)]
                (agent,) = session.subagents
                assert agent.state == "stopped" and any(agent.agent in text for text in news)
                return session.path

        verify(run(body))
