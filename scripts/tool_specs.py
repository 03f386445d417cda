"""Writes src/detent/tools/specs.json: what a model sees of every built-in tool.

    python scripts/tool_specs.py            write it
    python scripts/tool_specs.py --check    exit 1 when it is stale

The schema comes from a tool's argument struct, the description from the .md beside its module.
One generated file means that a start reads one file and imports no tool.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

ROOT = Path(__file__).resolve().parents[1]
TOOLS = ROOT / "src" / "detent" / "tools"
SPECS = TOOLS / "specs.json"

ORDER = (
    "shell/bash",
    "shell/task_output",
    "shell/task_stop",
    "files/read",
    "files/edit",
    "files/multi_edit",
    "files/write",
    "files/notebook_edit",
    "search/glob",
    "search/grep",
    "language/lsp",
    "web/web_fetch",
    "web/web_search",
    "delegation/agent",
    "delegation/delegate_agent",
    "delegation/send_message",
    "delegation/task_create",
    "delegation/task_get",
    "delegation/task_update",
    "delegation/task_list",
    "person/todo_write",
    "person/ask_user_question",
    "person/enter_plan_mode",
    "person/exit_plan_mode",
    "shell/sleep",
    "tool_search",
)
"""As the model sees them; changing it costs every user a cold prompt cache once."""


def entry(module: str) -> dict[str, Any]:
    full = f"detent.tools.{module.replace('/', '.')}"
    tool = import_module(full).TOOL
    return {
        "name": tool.name,
        "module": full,
        "aliases": list(tool.aliases),
        "description": (TOOLS / f"{module}.md").read_text("utf-8").strip(),
        "schema": flat_schema(tool.args),
    }


def flat_schema(args: type[msgspec.Struct]) -> dict[str, Any]:
    """Without references, titles and defaults, which some providers refuse and none needs. Choices
    get the type that msgspec leaves out and some providers demand.
    """
    (top,), shapes = msgspec.json.schema_components([args], ref_template="{name}")
    return _flat(top, shapes)


def _flat(field: dict[str, Any], shapes: dict[str, Any]) -> dict[str, Any]:
    """One field, what it refers to put in its place."""
    said = {key: value for key, value in field.items() if key not in ("$ref", "default", "title")}
    if "$ref" in field:
        return _object(shapes[field["$ref"]], shapes) | said
    if "items" in said:
        said["items"] = _flat(said["items"], shapes)
    return said if "anyOf" in said else {"type": "string"} | said


def _object(shape: dict[str, Any], shapes: dict[str, Any]) -> dict[str, Any]:
    fields = {
        name: _flat(field, shapes)
        for name, field in shape["properties"].items()
        if not field.get("unadvertised")
    }
    return {"type": "object", "properties": fields, "required": shape["required"]}


def rendered() -> str:
    """A field a line. Schemas stay compact: their bytes travel to the model as they are here."""
    entries = []
    for module in ORDER:
        fields = (f"{json.dumps(name)}: {_compact(value)}" for name, value in entry(module).items())
        entries.append("{\n" + ",\n".join(fields) + "\n}")
    return "[\n" + ",\n".join(entries) + "\n]\n"


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def main(argv: list[str]) -> int:
    text = rendered()
    if argv == ["--check"]:
        fresh = SPECS.exists() and SPECS.read_text("utf-8") == text
        print("specs.json is fresh" if fresh else "specs.json is stale: run scripts/tool_specs.py")
        return 0 if fresh else 1
    SPECS.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "src"))
    raise SystemExit(main(sys.argv[1:]))
