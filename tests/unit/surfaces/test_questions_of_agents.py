"""Several subagents ask at once: each question is answered by what was said to it."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest

from detent.ports import Answer, Proposal, Question
from detent.surfaces.headless.host_answers import HostApprover
from detent.surfaces.headless.link import Link
from detent.surfaces.lines import asking
from detent.surfaces.lines.asking import LineApprover
from detent.surfaces.lines.reading import Lines
from detent.types.content import Call
from detent.types.effects import Runs


def question(name: str) -> Question:
    command = f"touch {name}"
    call = Call(f"c-{name}", "Bash", "{}")
    proposal = Proposal(call, "Bash", {"command": command}, (Runs(command),), "/p")
    return Question(proposal, "It needs permission.", (), f"Explore ({name})", f"agent_{name}")


class Screen:
    """What is shown, and what is typed."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.shown: list[str] = []
        patch.setattr(asking, "tell", self.shown.append)
        patch.setattr(os, "isatty", lambda descriptor: True)
        patch.setattr(Lines, "_read", lambda lines: None)
        self.approver = LineApprover()
        self.lines = self.approver._lines = Lines()

    def type(self, line: str) -> None:
        self.lines._queue.put_nowait(line.encode())

    def ask(self, name: str) -> asyncio.Task[Answer]:
        return asyncio.create_task(self.approver.ask(question(name)))

    def asked(self) -> list[str]:
        return [text.split(")")[0] for text in self.shown if "wants to run this" in text]


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def test_one_question_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    async def play() -> None:
        screen = Screen(monkeypatch)
        first, second = screen.ask("a"), screen.ask("b")
        await settle()
        assert screen.asked() == ["The subagent Explore (a"]
        assert "  Bash: touch a" in screen.shown[0]
        screen.type("y")
        assert (await first).allowed
        await settle()
        assert screen.asked() == ["The subagent Explore (a", "The subagent Explore (b"]
        screen.type("not that")
        assert (await second).reason == "not that"

    asyncio.run(play())


def test_what_was_typed_for_a_question_that_is_gone_answers_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def play() -> None:
        screen = Screen(monkeypatch)
        first, waiting, third = screen.ask("a"), screen.ask("b"), screen.ask("c")
        await settle()
        waiting.cancel()
        first.cancel()
        screen.type("y")
        await settle()
        assert first.cancelled() and waiting.cancelled()
        assert screen.shown[1] == "The subagent Explore (a) no longer asks."
        assert screen.asked() == ["The subagent Explore (a", "The subagent Explore (c"]
        assert not third.done()
        screen.type("y")
        assert (await third).allowed

    asyncio.run(play())


def test_the_end_of_input_is_not_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    async def play() -> None:
        screen = Screen(monkeypatch)
        first, second = screen.ask("a"), screen.ask("b")
        await settle()
        first.cancel()
        screen.type("y")
        screen.lines._queue.put_nowait(None)
        assert (await second).by == "nobody to ask"

    asyncio.run(play())


def test_a_host_answers_each_and_is_waited_for_until_the_last() -> None:
    async def play() -> None:
        frames: list[dict[str, Any]] = []
        states: list[str] = []

        async def write(frame: dict[str, Any]) -> None:
            frames.append(frame)

        async def state(word: str) -> None:
            states.append(word)

        link = Link(write)
        approver = HostApprover(link, state)
        first, second, third = (
            asyncio.create_task(approver.ask(question(name))) for name in ("a", "b", "c")
        )
        await settle()
        assert states == ["requires_action"]
        ids = {frame["request"]["agent_id"]: frame["request_id"] for frame in frames}
        assert ids.keys() == {"agent_a", "agent_b", "agent_c"}
        assert frames[0]["request"]["agent_name"] == "Explore (a)"
        second.cancel()
        await settle()
        assert frames[-1] == {"type": "control_cancel_request", "request_id": ids["agent_b"]}
        for name in ("agent_c", "agent_a"):
            assert states == ["requires_action"]
            said = {"behavior": "allow"}
            link.answered({"request_id": ids[name], "subtype": "success", "response": said})
            await settle()
        assert states == ["requires_action", "running"]
        assert (await first).allowed and (await third).allowed

    asyncio.run(play())


def test_a_question_of_the_session_itself_names_nobody() -> None:
    plain = question("a")
    own = Question(plain.proposal, plain.reason)
    assert "subagent" not in asking.asked(own)
