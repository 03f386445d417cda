"""A session that runs as an agent: what of it counts, and what options say instead."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from detent.app.grounds import Grounds, grounds_of
from detent.app.options import Options
from detent.app.wire import assemble
from detent.testing.scripted_model import ScriptedModel
from detent.types.errors import BadInput

READER = {
    "description": "Reads.",
    "prompt": "You read.",
    "tools": ["Read", "Grep", "Task", "NoSuchTool"],
    "disallowedTools": ["Grep", "Bash(git push:*)"],
    "model": "claude-opus-4-8",
    "effort": "high",
    "permissionMode": "acceptEdits",
    "maxTurns": 5,
    "initialPrompt": "Begin.",
}


def options(folder: Path, **more: Any) -> Options:
    environ = {
        "HOME": str(folder),
        "DETENT_HOME": str(folder / "state"),
        "ANTHROPIC_API_KEY": "test",
        **more.pop("environ", {}),
    }
    (folder / "work").mkdir(exist_ok=True)
    given: dict[str, Any] = {"cwd": str(folder / "work"), "environ": environ, "persist": False}
    return Options(**{**given, "managed_folders": (), **more})


def grounds(folder: Path, **more: Any) -> Grounds:
    return grounds_of(options(folder, agents={"reader": READER}, agent="reader", **more))


def test_what_counts(tmp_path: Path) -> None:
    found = grounds(tmp_path)
    assert found.options.system_prompt == "You read."
    assert found.options.model == "claude-opus-4-8"
    assert found.options.effort == "high"
    assert found.options.max_turns == 5
    assert found.settings.mode == "acceptEdits"
    assert found.first_words == "Begin."
    assert [rule.text for rule in found.settings.deny] == ["Grep", "Bash(git push:*)"]
    assert "--agents: there is no tool NoSuchTool here" in found.settings.notices


def test_it_reaches_the_loop(tmp_path: Path) -> None:
    wanted = options(tmp_path, agents={"reader": READER}, agent="reader", model=ScriptedModel("hi"))
    engine = assemble(wanted)
    assert engine.kit.system[0].startswith("You read.")
    assert {spec.name for spec in engine.kit.toolbox.specs()} <= {"Read", "Agent"}
    assert engine.gate.mode == "acceptEdits"
    assert engine.kit.limits.steps == 5


def test_options_count_more(tmp_path: Path) -> None:
    found = grounds(
        tmp_path, system_prompt="Mine.", model="claude-haiku-4-5", effort="low", tools=("Bash",),
        max_turns=9, permission_mode="plan",
    ).options  # fmt: skip
    assert (found.system_prompt, found.model, found.effort) == ("Mine.", "claude-haiku-4-5", "low")
    assert (tuple(found.tools or ()), found.max_turns) == (("Bash",), 9)
    assert found.permission_mode == "plan"


def test_the_settings_bound_of_steps_stays_one(tmp_path: Path) -> None:
    assert grounds(tmp_path, settings={"maxTurns": 3}).options.max_turns == 3
    assert grounds(tmp_path, settings={"maxTurns": 50}).options.max_turns == 5


def test_which_agents_it_may_start(tmp_path: Path) -> None:
    agent = {"description": "x", "prompt": "y", "tools": "Read, Agent(explore, a)"}
    found = grounds_of(options(tmp_path, agents={"a": agent}, agent="a"))
    denied = [rule.text for rule in found.settings.deny]
    assert denied == ["Agent(general-purpose)", "Agent(Plan)", "Agent(Verify)"]


def test_a_model_that_cannot_be_had(tmp_path: Path) -> None:
    agent = {"description": "x", "prompt": "y", "model": "gemini/m"}
    found = grounds_of(options(tmp_path, agents={"a": agent}, agent="a"))
    assert found.options.model == ""
    (notice,) = found.settings.notices
    assert notice.startswith("--agents: its model gemini/m cannot be had (gemini needs a key")


def test_a_name_that_is_no_providers_is_sent_as_it_is(tmp_path: Path) -> None:
    agent = {"description": "x", "prompt": "y", "model": "nowhere/m"}
    found = grounds_of(options(tmp_path, agents={"a": agent}, agent="a"))
    assert (found.options.model, found.settings.notices) == ("nowhere/m", ())


@pytest.mark.parametrize("name", ["general-purpose", "general"])
def test_the_general_one_changes_nothing(tmp_path: Path, name: str) -> None:
    plain, found = (grounds_of(options(tmp_path, agent=agent)) for agent in ("", name))
    assert found.options.system_prompt is found.options.tools is None
    assert found.settings == plain.settings


def test_there_is_no_such_agent(tmp_path: Path) -> None:
    names = "general-purpose, Explore, Plan, Verify"
    with pytest.raises(BadInput, match=f"--agent: there is no agent 'x'; there are {names}"):
        grounds_of(options(tmp_path, agent="x"))
    with pytest.raises(BadInput, match="the setting agent: there is no agent 'x'"):
        grounds_of(options(tmp_path, settings={"agent": "x"}))
    with pytest.raises(BadInput, match="agent must be a string"):
        grounds_of(options(tmp_path, settings={"agent": 3}))


def test_by_a_setting(tmp_path: Path) -> None:
    found = grounds_of(options(tmp_path, settings={"agent": "Explore"}))
    assert (found.options.system_prompt or "").startswith("You search")
    assert found.settings.mode == "plan"
    again = grounds_of(options(tmp_path, settings={"agent": "Explore"}, agent="verify"))
    assert (again.options.system_prompt or "").startswith("You find out whether")


def test_a_project_chooses_the_agent_only_where_it_is_trusted(tmp_path: Path) -> None:
    folder = tmp_path / "work/.detent"
    folder.mkdir(parents=True)
    (folder / "settings.json").write_text(json.dumps({"agent": "Verify"}))
    assert grounds_of(options(tmp_path)).options.system_prompt is None
    assert grounds_of(options(tmp_path, trust=True)).options.system_prompt is not None


@pytest.mark.parametrize(
    ("mode", "counts"),
    [("plan", True), ("dontAsk", True), ("acceptEdits", False), ("bypassPermissions", False)],
)
def test_a_projects_agent_does_not_widen_the_mode(tmp_path: Path, mode: str, counts: bool) -> None:
    folder = tmp_path / "work/.claude/agents"
    folder.mkdir(parents=True)
    (folder / "a.md").write_text(f"---\ndescription: d\npermissionMode: {mode}\n---\nHi.\n")
    found = grounds_of(options(tmp_path, agent="a", trust=True))
    assert found.options.system_prompt == "Hi."
    assert found.settings.mode == (mode if counts else "")


def test_its_hooks_are_the_sessions(tmp_path: Path) -> None:
    command = {"type": "command", "command": "./check.sh"}
    agent = {"description": "x", "prompt": "y", "hooks": {"PreToolUse": [{"hooks": [command]}]}}
    given: dict[str, Any] = {"agents": {"a": agent}, "agent": "a"}
    (hook,) = grounds_of(options(tmp_path, **given)).settings.hooks
    assert (hook.event, hook.command) == ("PreToolUse", "./check.sh")
    off = {"disableAllHooks": True}
    assert grounds_of(options(tmp_path, settings=off, **given)).settings.hooks == ()


def test_a_rule_that_cannot_be_read_ends_the_start(tmp_path: Path) -> None:
    agent = {"description": "x", "prompt": "y", "disallowedTools": ["Bash(never"]}
    with pytest.raises(BadInput, match="--agents: a: disallowedTools cannot be kept to: "):
        grounds_of(options(tmp_path, agents={"a": agent}, agent="a"))


def test_tools_from_elsewhere_are_the_agents_only_where_it_names_them(tmp_path: Path) -> None:
    plugin = tmp_path / "plug"
    plugin.mkdir()
    tools = [{"name": name, "command": "true"} for name in ("one", "two")]
    (plugin / "plugin.json").write_text(json.dumps({"name": "kit", "tools": tools}))
    agent = {"description": "x", "prompt": "y", "tools": "Read, one"}
    engine = assemble(
        options(
            tmp_path, agents={"a": agent}, agent="a", plugin_dirs=(str(plugin),),
            model=ScriptedModel("hi"),
        )
    )  # fmt: skip
    assert [spec.name for spec in engine.kit.toolbox.specs()] == ["Read", "one"]
    assert engine.notices == []
