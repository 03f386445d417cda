"""What must hold between writers, turns and a host that has gone."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest

from detent.surfaces.headless.frames import Frames
from detent.surfaces.headless.link import HostError, Link
from detent.surfaces.headless.stdout import Stdout
from detent.types.content import Call
from detent.types.events import CallEnded, Replied, TurnEnded
from detent.types.outcomes import done
from detent.types.usage import Usage


def test_writes_of_several_tasks_do_not_mix() -> None:
    reading, writing = os.pipe()

    async def main() -> bytes:
        out = Stdout(writing)
        lines = [bytes([letter]) * 200_000 + b"\n" for letter in b"abc"]
        writers = asyncio.gather(*(out.write(line) for line in lines))
        got = b""
        while len(got) < sum(map(len, lines)):
            got += await asyncio.to_thread(os.read, reading, 65536)
        await writers
        return got

    got = asyncio.run(main())
    os.close(reading)
    os.close(writing)
    assert [set(line) for line in got.split(b"\n")[:3]] == [{97}, {98}, {99}]


def test_a_host_that_has_gone_is_not_asked() -> None:
    async def main() -> None:
        sent: list[Any] = []

        async def write(frame: dict[str, Any]) -> None:
            sent.append(frame)

        link = Link(write)
        link.hung_up()
        with pytest.raises(HostError):
            await asyncio.wait_for(link.request("can_use_tool"), 5)
        assert not sent

    asyncio.run(main())


def reply(*ids: str) -> Replied:
    calls = tuple(Call(each, "Bash", "{}") for each in ids)
    return Replied(turn=1, step=1, model="m", content=calls, stop="tool_use", usage=Usage())


def ended(call_id: str) -> CallEnded:
    return CallEnded(call_id=call_id, name="Bash", outcome=done("ok"))


def results(frames: list[dict[str, Any]]) -> list[str]:
    return [
        frame["message"]["content"][0]["tool_use_id"] for frame in frames if frame["type"] == "user"
    ]


def test_a_call_that_never_ran_does_not_hold_back_later_results() -> None:
    frames = Frames("s", lambda: "id")
    frames.of(reply("a", "b"))
    assert results(frames.of(ended("a"))) == ["a"]
    assert results(frames.of(TurnEnded(turn=1, reason="user_cancelled"))) == ["b"]
    frames.of(reply("c"))
    assert results(frames.of(ended("c"))) == ["c"]
