"""Tools from elsewhere that would fill the window are held back until they are searched for."""

from __future__ import annotations

from typing import Any

import pytest
from sdkbench import Settings, run

from detent.sdk.custom_tools import FunctionTool, tool
from detent.sdk.session import Session
from detent.testing import call, reply
from detent.testing.scripted_model import ScriptedModel
from detent.types.messages import ToolSpec
from detent.types.outcomes import text_of


def custom(name: str, about: str = "") -> FunctionTool:
    async def function() -> str:
        return f"{name} ran"

    function.__doc__ = about or "Does much. " * 100
    return tool(name=name, effects=())(function)


TOOLS = [custom("weather"), custom("tickets"), custom("letters")]


def turn(bench: Settings, model: ScriptedModel, prompt: str = "go", **options: Any) -> list[str]:
    """Runs one; the results of its calls."""
    given = {"tools": ["Read"], "custom_tools": TOOLS, "persist": True, **options}

    async def body() -> list[str]:
        async with Session(bench(model, **given)) as session:
            summary = await session.run_turn(prompt)
            return [text_of(result.outcome) for result in summary.tool_results]

    found: list[str] = run(body)
    return found


def offered(specs: Any) -> list[str]:
    return [spec.name for spec in specs]


@pytest.mark.parametrize(
    ("window", "setting", "held"),
    [
        (200_000, {}, False),
        (5_000, {}, True),
        (5_000, {"toolSearch": "never"}, False),
        (200_000, {"toolSearch": "always"}, True),
        (5_000, {"toolSearch": "auto"}, True),
    ],
)
def test_when_they_are_held_back(
    settings: Settings, window: int, setting: dict[str, str], held: bool
) -> None:
    model = ScriptedModel("ok", window=window)
    turn(settings, model, settings=setting)
    everything = ["Read", "weather", "tickets", "letters"]
    assert offered(model.requests[0].tools) == (["Read", "ToolSearch"] if held else everything)


def test_built_in_tools_never_are(settings: Settings) -> None:
    model = ScriptedModel("ok", window=5_000)
    mine = custom("Read", "Mine instead of yours. " * 500)
    turn(settings, model, settings={"toolSearch": "always"}, custom_tools=[mine])
    assert offered(model.requests[0].tools) == ["Read"]


def test_found_ones_are_there_from_the_next_request_on_and_after_a_resume(
    settings: Settings,
) -> None:
    model = ScriptedModel(
        reply(call("ToolSearch", query="select:tickets")),
        reply(call("tool_search", query="weather"), call("tickets", {})),
        "ok",
        window=5_000,
    )
    results = turn(settings, model, session_id="5b4cf9a2-7c1e-4b69-9a53-0b1f6a1f2a3c")
    assert "## tickets" in results[0] and results[2] == "tickets ran"
    tools = [offered(request.tools) for request in model.requests]
    base = ["Read", "ToolSearch"]
    assert tools == [base, [*base, "tickets"], [*base, "tickets", "weather"]]
    again = ScriptedModel("ok", window=5_000)
    turn(settings, again, "and", resume="5b4cf9a2-7c1e-4b69-9a53-0b1f6a1f2a3c")
    last: list[ToolSpec] = list(model.requests[-1].tools)
    assert list(again.requests[0].tools) == last, "a prefix of the request before, byte by byte"


def test_one_that_is_held_back_can_be_called_all_the_same(settings: Settings) -> None:
    model = ScriptedModel(reply(call("letters", {})), "ok", window=5_000)
    assert turn(settings, model) == ["letters ran"]


def test_a_form_is_never_held_back(settings: Settings) -> None:
    answer = {"type": "object", "properties": {"a": {"type": "string"}}}
    model = ScriptedModel(reply(call("StructuredOutput", a="b")), window=5_000)
    turn(settings, model, json_schema=answer)
    assert offered(model.requests[0].tools) == ["Read", "StructuredOutput", "ToolSearch"]
