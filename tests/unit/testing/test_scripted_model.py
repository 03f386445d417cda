"""The scripted model in process: conversations that run at the same time keep apart."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest

from detent.testing import ScriptedModel, call, reply
from detent.types.content import Call, Text, plain_text
from detent.types.deltas import CallReady, Delta
from detent.types.errors import ModelFailure
from detent.types.messages import Assistant, Request, User


def asked(*said: str) -> Request:
    """The first is the user's, then they take turns."""
    texts = [(Text(one),) for one in said]
    return Request((), [Assistant(t) if n % 2 else User(t) for n, t in enumerate(texts)])


async def nowhere(delta: Delta) -> None:
    await asyncio.sleep(0)


def answers(model: ScriptedModel, *requests: Request) -> list[str]:
    async def all_at_once() -> list[str]:
        replies = await asyncio.gather(*(model.stream(one, nowhere) for one in requests))
        return [plain_text(one.content) for one in replies]

    return asyncio.run(all_at_once())


def test_each_conversation_follows_its_own_list() -> None:
    lists: dict[str, list[Any]] = {
        "a": ["a1", "a2"],
        "b": [reply("b1", delay=0.001), lambda request: "b2"],
    }
    model = ScriptedModel("other", scenarios=lists, by_turn=True)
    first = answers(model, asked("SCENARIO:b x"), asked("SCENARIO:a x"), asked("hello"))
    assert first == ["b1", "a1", "other"]
    again = asked("SCENARIO:b x", "b1", "go on")
    assert answers(model, again, again, asked("SCENARIO:a", "a1", "on")) == ["b2", "b2", "a2"]
    with pytest.raises(ModelFailure, match="no scenario 'c'"):
        answers(model, asked("SCENARIO:c"))
    with pytest.raises(ModelFailure, match="no reply 2"):
        answers(model, asked("x", "y", "z"))


def test_ids_of_calls_are_the_same_in_the_stream_and_in_the_answer() -> None:
    """Also when others have asked meanwhile."""
    told: list[list[str]] = [[], []]

    async def run() -> list[list[str]]:
        model = ScriptedModel(reply("x", call("T")), repeat_last=True)

        async def listen(number: int, delta: Delta) -> None:
            await asyncio.sleep(0)
            if isinstance(delta, CallReady):
                told[number].append(delta.call.id)

        replies = await asyncio.gather(
            *(model.stream(asked("x"), lambda d, n=n: listen(n, d)) for n in (0, 1))  # type: ignore[misc]
        )
        return [[b.id for b in one.content if isinstance(b, Call)] for one in replies]

    assert asyncio.run(run()) == told
    assert told[0] != told[1]


def test_an_answer_is_held_until_it_may_come() -> None:
    async def run() -> str:
        hold = threading.Event()
        model = ScriptedModel(reply("x", hold=hold))
        asking = asyncio.create_task(model.stream(asked("x"), nowhere))
        for _ in range(5):
            await asyncio.sleep(0.001)
        assert not asking.done()
        hold.set()
        return plain_text((await asking).content)

    assert asyncio.run(run()) == "x"


def test_scenarios_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text(json.dumps({"scenarios": {"a": ["one", "two"]}, "pick": "by_turn"}))
    model = ScriptedModel.from_file(str(path))
    assert answers(model, asked("SCENARIO:a"), asked("SCENARIO:a", "one", "on")) == ["one", "two"]
