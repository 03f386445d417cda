"""A long call shows that it lives; a limit of the user's replaces the tool's own."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from detent.loop import pulse
from detent.loop.limits import Limits
from detent.ports import Desk
from detent.testing import call, reply
from detent.types.events import CallEnded, Progress
from detent.types.outcomes import Cut
from kitbench import BenchTool, bench


def test_a_long_call_beats_until_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulse, "FIRST", 0.02)
    monkeypatch.setattr(pulse, "INTERVAL", 0.01)

    async def lasts(args: dict[str, Any], desk: Desk) -> str:
        while len(beats()) < 3:
            await asyncio.sleep(0.001)
        return ""

    def beats() -> list[Progress]:
        return [e for e in b.events if isinstance(e, Progress)]

    b = bench(reply(call("lasts")), "ok", tools=[BenchTool("lasts", lasts)])
    b.run()
    assert len(beats()) == 3, "none after the end"
    assert [beat.seconds for beat in beats()] == sorted(beat.seconds for beat in beats())
    assert all(beat.call_id == "call_1_0" and not beat.text for beat in beats())


def test_a_beat_comes_at_least_once_a_second_from_ten_seconds_on() -> None:
    assert pulse.FIRST <= 10 and pulse.INTERVAL < 1


def test_a_quick_call_does_not_beat() -> None:
    async def quick(args: dict[str, Any], desk: Desk) -> str:
        return ""

    b = bench(reply(call("quick")), "ok", tools=[BenchTool("quick", quick)])
    b.run()
    assert not any(isinstance(event, Progress) for event in b.events)


@pytest.mark.parametrize(("own", "cut"), [(None, True), (60.0, True), (0.001, False)])
def test_a_set_time_limit_replaces_the_tools_own(own: float | None, cut: bool) -> None:
    async def waits(args: dict[str, Any], desk: Desk) -> str:
        if cut:
            await asyncio.get_running_loop().create_future()
        await asyncio.sleep(0.02)
        return "whole"

    seconds = 0.01 if cut else 30.0
    b = bench(
        reply(call("waits")),
        "ok",
        tools=[BenchTool("waits", waits, timeout=own)],
        limits=Limits(tool_seconds={"waits": seconds}),
    )
    b.run()
    (ended,) = b.of(CallEnded)
    assert (ended.outcome == Cut("timed out after 0.01 s")) is cut
