"""Tools of a plugin's manifest: their arguments are checked before the program runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from detent.app.extensions.plugin_tools import PluginTool, plugin_summaries, plugin_tools
from detent.app.options import Options
from detent.app.wire import assemble
from detent.context.prompt.facts import Named
from detent.ports import BadArguments
from detent.testing.scripted_model import ScriptedModel
from detent.types.errors import BadInput

SCHEMA = {
    "type": "object",
    "properties": {"count": {"type": "integer", "minimum": 1}, "kind": {"enum": ["a", "b"]}},
    "required": ["count"],
    "additionalProperties": False,
}


def tool(folder: Path, schema: Any = SCHEMA) -> PluginTool:
    declared = {"name": "made", "command": "./run.sh", "inputSchema": schema}
    (folder / "plugin.json").write_text(json.dumps({"name": "p", "tools": [declared]}))
    (found,) = plugin_tools([str(folder)])
    return found


def test_what_fits_is_taken(tmp_path: Path) -> None:
    assert tool(tmp_path).parse('{"count": 2, "kind": "a"}') == {"count": 2, "kind": "a"}


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ("{}", "count"),
        ('{"count": 0}', "$.count"),
        ('{"count": "two"}', "$.count"),
        ('{"count": 1, "kind": "c"}', "$.kind"),
        ('{"count": 1, "more": 1}', "more"),
        ("[1]", "one JSON object"),
        ("{broken", "not valid JSON"),
    ],
)
def test_what_does_not_fit_is_told_by_its_place(tmp_path: Path, sent: str, told: str) -> None:
    with pytest.raises(BadArguments, match=r"^made: ") as raised:
        tool(tmp_path).parse(sent)
    assert told in str(raised.value)


def test_a_schema_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="schema"):
        tool(tmp_path, {"type": "no such type"}).parse("{}")


def test_the_prompt_tells_what_a_plugin_says_of_itself(tmp_path: Path) -> None:
    tool(tmp_path)
    assert plugin_summaries([str(tmp_path)]) == (Named("p", "tools: made"),)
    (tmp_path / "plugin.json").write_text(json.dumps({"name": "p", "description": "Counts."}))
    assert plugin_summaries([str(tmp_path)]) == (Named("p", "Counts."),)
    options = Options(
        model=ScriptedModel("hi"),
        cwd=str(tmp_path),
        environ={"HOME": str(tmp_path)},
        plugin_dirs=(str(tmp_path),),
        persist=False,
    )
    assert "# Plugins\n" in (stable := assemble(options).kit.system[0])
    assert "\n- p: Counts.\n" in stable
