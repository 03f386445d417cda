"""The answer as data, for a program that uses the library; and answers in pieces, joined."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import detent
from detent.sdk.summary import final_text
from detent.testing import call, reply
from detent.testing.scripted_model import ScriptedModel
from detent.testing.static_tools import StaticTools
from detent.types.content import Text
from detent.types.errors import BadInput
from detent.types.events import Replied
from detent.types.usage import Usage

SCHEMA = {"type": "array", "items": {"type": "integer"}}
ANSWER = reply(call("StructuredOutput", {"value": [1, 2]}))


def options(model: Any, folder: Path, **more: Any) -> detent.Options:
    environ = {"HOME": str(folder)}
    return detent.Options(model=model, cwd=str(folder), environ=environ, persist=False, **more)


def test_the_summary_holds_the_value(tmp_path: Path) -> None:
    given = options(ScriptedModel(ANSWER), tmp_path, json_schema=SCHEMA)
    summary = asyncio.run(detent.run("x", given))
    assert (summary.ok, summary.output) == (True, [1, 2])


def test_without_a_schema_there_is_none(tmp_path: Path) -> None:
    model = ScriptedModel("hi")
    assert asyncio.run(detent.run("x", options(model, tmp_path))).output is None
    assert "StructuredOutput" not in repr(model.requests[0])


def test_a_toolbox_of_the_callers_own_gets_the_one_tool_more(tmp_path: Path) -> None:
    model = ScriptedModel(ANSWER)
    given = options(model, tmp_path, json_schema=SCHEMA, toolbox=StaticTools())
    assert asyncio.run(detent.run("x", given)).output == [1, 2]
    assert [spec.name for spec in model.requests[0].tools] == ["StructuredOutput"]
    assert "StructuredOutput" in model.requests[0].system[-1]


def test_a_bad_schema_is_found_before_anything_is_written(tmp_path: Path) -> None:
    given = detent.Options(
        model=ScriptedModel(),
        cwd=str(tmp_path),
        environ={"HOME": str(tmp_path)},
        json_schema={"type": 5},
    )
    with pytest.raises(BadInput, match="JSON schema"):
        detent.Session(given)
    assert list(tmp_path.iterdir()) == []


def test_a_model_of_the_callers_own_survives_a_change_of_thinking(tmp_path: Path) -> None:
    model = ScriptedModel("one", "two")

    async def main() -> None:
        async with detent.Session(options(model, tmp_path)) as session:
            await session.run_turn("a")
            await session.set_thinking(0)
            assert not model.closed
            assert (await session.run_turn("b")).text == "two"

    asyncio.run(main())


def test_pieces_of_one_answer_are_joined_whatever_cut_them() -> None:
    def said(text: str, stop: str) -> Replied:
        return Replied(turn=1, step=1, model="m", content=(Text(text),), stop=stop, usage=Usage())

    pieces = [
        said("before ", "tool_use"),
        said("one ", "max_tokens"),
        said("two ", "model_context_window_exceeded"),
        said("three", "end_turn"),
    ]
    assert final_text(pieces) == "one two three"
