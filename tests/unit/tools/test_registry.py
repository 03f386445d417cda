"""The registry: names, aliases, laziness, and what the model sees of every tool."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from detent.ports import Desk
from detent.tools.registry import Registry, canonical_name, catalogue
from detent.types.effects import Effect
from detent.types.messages import ToolSpec
from detent.types.outcomes import Outcome, done

ROOT = Path(__file__).resolve().parents[3]
NAMES = list(catalogue())
FIRST = ["Bash", "Read", "Edit", "Write", "Glob", "Grep"]


class Custom:
    """A tool from elsewhere."""

    timeout = None

    def __init__(self, name: str) -> None:
        import msgspec

        self.spec = ToolSpec(name, "Mine.", msgspec.Raw(b"{}"))

    def parse(self, arguments: str) -> Any:
        return arguments

    def moves(self, args: Any) -> bool:
        return False

    def effects(self, args: Any, cwd: str) -> tuple[Effect, ...]:
        return ()

    async def run(self, args: Any, desk: Desk) -> Outcome:
        return done("mine")


def names(registry: Registry) -> list[str]:
    return [spec.name for spec in registry.specs()]


def test_all_built_in_tools() -> None:
    assert names(Registry()) == NAMES
    assert [name for name in NAMES if name in FIRST] == FIRST
    for name in NAMES:
        tool = Registry().find(name)
        assert tool is not None
        assert tool.spec.name == name


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("read_file", "Read"),
        ("FileReadTool", "Read"),
        ("write_file", "Write"),
        ("FileWriteTool", "Write"),
        ("edit_file", "Edit"),
        ("FileEditTool", "Edit"),
        ("bash", "Bash"),
        ("BashTool", "Bash"),
        ("grep_search", "Grep"),
        ("GrepTool", "Grep"),
        ("glob_search", "Glob"),
        ("GlobTool", "Glob"),
    ],
)
def test_aliases(alias: str, name: str) -> None:
    registry = Registry()
    assert registry.find(alias) is registry.find(name) is not None
    assert canonical_name(alias) == registry.canonical(alias) == name


def test_unknown_names() -> None:
    assert Registry().find("READ_FILE") is None
    assert Registry().find("Nothing") is None
    assert canonical_name("mcp__x__y") == "mcp__x__y"


def test_a_limited_set() -> None:
    registry = Registry(["grep_search", "Read"])
    assert names(registry) == ["Read", "Grep"]
    assert registry.find("Bash") is registry.find("bash") is None
    assert names(Registry([])) == []
    with pytest.raises(ValueError, match=r"no tool `Reed`. Known tools: Bash, TaskOutput"):
        Registry(["Reed"])


def test_extra_tools() -> None:
    mine, other = Custom("Read"), Custom("Frob")
    registry = Registry(None, [mine, other])
    assert names(registry) == [*(name for name in NAMES if name != "Read"), "Read", "Frob"]
    assert registry.find("read_file") is mine
    assert registry.find("Frob") is other
    assert names(Registry(["Bash", "Frob"], [other])) == ["Bash", "Frob"]
    assert names(Registry(["Bash"], [other])) == ["Bash", "Frob"]


def test_an_extra_tool_may_have_the_name_of_an_alias() -> None:
    mine = Custom("bash")
    registry = Registry(extra=[mine])
    assert registry.find("bash") is mine
    assert registry.find("Bash") is not mine
    assert registry.canonical("bash") == "bash"


def imported_by(code: str) -> set[str]:
    program = f"import sys\nsys.path.insert(0, 'src')\n{code}\nprint(*sys.modules)"
    argv = [sys.executable, "-S", "-c", f"import site; site.main()\n{program}"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


HEAVY = {"dataclasses", "pathlib", "shlex", "difflib", "tempfile", "shutil", "fnmatch"}


def test_a_registry_imports_no_tool_and_finding_one_imports_only_that() -> None:
    modules = {entry.module for entry in catalogue().values()}
    make = "from detent.tools.registry import Registry\nregistry = Registry()\nregistry.specs()"
    assert not imported_by(make) & modules
    loaded = imported_by(f"{make}\nregistry.find('bash')")
    assert loaded & modules == {"detent.tools.shell.bash"}
    assert imported_by(f"{make}\nregistry.find('Read')") & modules == {"detent.tools.files.read"}


def test_start_up_stays_light() -> None:
    bare = imported_by("import asyncio, msgspec, subprocess")
    code = "from detent.tools.registry import Registry\nRegistry().find('Bash')\n"
    added = imported_by(f"{code}import detent.host.local") - bare
    assert not added & HEAVY
    assert {name for name in added if not name.startswith("detent")} == set()


def test_the_snapshot_is_fresh() -> None:
    """specs.json is what the model sees, word for word; a change of it must be looked at."""
    argv = [sys.executable, "scripts/tool_specs.py", "--check"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def check_object(schema: dict[str, Any]) -> None:
    assert set(schema) <= {"type", "properties", "required", "description"}
    assert set(schema["required"]) <= set(schema["properties"])
    for field in schema["properties"].values():
        check_field(field)


def check_field(field: dict[str, Any]) -> None:
    """Every provider takes these, whatever they nest; not all take references or defaults."""
    assert not {"$ref", "$defs", "default", "title", "unadvertised"} & set(field)
    match field["type"]:
        case "object":
            check_object(field)
        case "array":
            check_field(field["items"])
        case kind:
            assert kind in ("string", "integer", "boolean", "number")


def test_what_the_model_sees_suits_every_provider() -> None:
    for entry in catalogue().values():
        schema = json.loads(bytes(entry.schema))
        assert set(schema) == {"type", "properties", "required"}
        check_object(schema)
        assert all(field["description"] for field in schema["properties"].values())
        assert len(entry.description) < 1_000
        assert b"\n" not in bytes(entry.schema)
