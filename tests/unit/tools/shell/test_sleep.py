"""Sleep: its bounds. The waiting itself is asyncio's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from detent.ports import BadArguments

from ..conftest import Bench

Memory = Callable[..., Bench]


def test_it_waits_as_long_as_told(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    assert memory().text("Sleep", duration_ms=1500) == "Waited 1.5 s."
    assert memory().text("Sleep", duration_ms=300_000) == "Waited 300 s."
    assert slept == [1.5, 300.0]


@pytest.mark.parametrize("duration", [-1, 300_001, "soon"])
def test_its_bounds(memory: Memory, duration: object) -> None:
    with pytest.raises(BadArguments, match="duration_ms"):
        memory().call("Sleep", duration_ms=duration)


def test_its_own_timeout_never_cuts_it(memory: Memory) -> None:
    tool = memory().registry.find("Sleep")
    assert tool is not None and tool.timeout is not None
    assert tool.timeout > 300


def test_cancelling_ends_it(memory: Memory) -> None:
    async def main() -> None:
        task = asyncio.create_task(memory().acall("Sleep", duration_ms=300_000))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
