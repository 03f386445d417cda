"""Agents from the outside: `detent agents`, `--agents`, `--agent`, and what hosts are told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from detent.testing import call, reply

from .conftest import BOTH_WIRES, Runner

READER = {"description": "Reads.", "prompt": "You read for others.", "tools": ["Read"]}
BUILT_IN = ["general-purpose", "Explore", "Plan", "Verify"]


def plant(path: Path, body: str = "Body.", /, **fields: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    head = [f"{key}: {json.dumps(value)}" for key, value in fields.items()]
    path.write_text("\n".join(["---", *head, "---", body]))
    return path


def listed(runner: Runner, *args: str) -> dict[str, Any]:
    ran = runner.run("agents", "--json", *args)
    assert ran.code == 0, ran
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


# The list


def test_the_list(runner: Runner) -> None:
    plant(runner.work / ".claude/agents/review.md", description="Reviews.", tools="Read, Grep")
    plant(runner.home / ".claude/agents/review.md", description="Mine.", model="opus")
    bad = plant(runner.state / "agents/odd.md", description="Odd.", maxTurns="many")
    ran = runner.run("agents", "--trust")
    assert ran.code == 0, ran
    lines = ran.stdout.splitlines()
    assert lines[0].split() == ["name", "source", "model", "tools"]
    assert [line.split()[0] for line in lines[1:13:2]] == [*BUILT_IN, "odd", "review"]
    assert lines[11].split(None, 3) == ["review", "project", "inherit", "Read, Grep"]
    assert lines[12] == "  Reviews."
    assert lines[13].split() == ["review", "user", "opus", "all"]
    assert lines[14].startswith("  not used, there is another of this name: ")
    assert lines[15:] == [f"Note: {bad}: maxTurns must be a whole number from 1 on"]
    assert runner.run("agents", "list", "--trust").stdout == ran.stdout


def test_what_is_no_terminal_cuts_nothing_and_need_not_know_every_character(
    runner: Runner,
) -> None:
    long = "Reviews " + "very " * 40 + "carefully: café"
    given = json.dumps({"r": READER | {"description": long}})
    assert f"  {long}\n" in runner.run("agents", "--agents", given).stdout
    poor = {"PYTHONIOENCODING": "ascii"}
    for words in ((), ("show", "r")):
        ran = runner.run("agents", *words, "--agents", given, env=poor)
        assert ran.code == 0 and "carefully: caf?" in ran.stdout, ran


def test_the_list_for_programs(runner: Runner) -> None:
    path = plant(runner.work / ".detent/agents/a.md", "Do.", description="d", background=True)
    found = listed(runner, "--agents", json.dumps({"reader": READER}))
    assert [kind["name"] for kind in found["kinds"]] == [*BUILT_IN, "a", "reader"]
    a, reader = found["kinds"][-2:]
    assert (a["source"], a["path"], a["prompt"]) == ("project", str(path), "Do.")
    assert (a["tools"], a["background"]) == (None, True)
    assert (reader["source"], reader["tools"]) == ("flag", ["Read"])
    assert found["shadowed"] == found["notices"] == []


def test_one_in_full(runner: Runner) -> None:
    ran = runner.run("agents", "show", "explore")
    assert ran.code == 0, ran
    assert ran.stdout.startswith("name          Explore\n")
    assert "mode          plan" in ran.stdout
    assert "You search a code base" in ran.stdout
    as_json = json.loads(runner.run("agents", "show", "general", "--json").stdout)
    assert (as_json["name"], as_json["prompt"]) == ("general-purpose", "")


def test_what_a_file_says_does_not_steer_the_terminal(runner: Runner) -> None:
    plant(runner.work / ".claude/agents/a.md", "\x1b[2J", description="\x1b[31mred\u202e")
    for words in (["agents"], ["agents", "show", "a"]):
        ran = runner.run(*words)
        assert ran.code == 0, ran
        assert not {"\x1b", "\u202e"} & {*ran.stdout}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["show", "nobody"],
            "there is no agent 'nobody'; there are general-purpose, Explore, Plan",
        ),
        (["show"], "detent agents show takes one NAME"),
        (["show", "a", "b"], "detent agents show takes one NAME"),
        (["remove"], "detent agents takes list, show NAME or tree [SESSION]; not 'remove'"),
        (["list", "x"], "detent agents takes list, show NAME or tree [SESSION]; not 'list x'"),
        (["--model", "x"], "detent agents does not take --model"),
        (["--agents", "{"], "--agents: line 1"),
        (["--agents", "[]"], "--agents: expected a JSON object"),
        (["--agents", ""], "--agents was given an empty value"),
        (["--agents", "no-such-file.json"], "--agents: cannot read no-such-file.json"),
        (["--agents", '{"a": 1}'], "--agents: a must be an object"),
        (["--agents", '{"a": {"prompt": "p"}}'], "--agents: a: description must say"),
    ],
)
def test_bad_words(runner: Runner, words: list[str], message: str) -> None:
    ran = runner.run("agents", *words)
    assert (ran.code, ran.stdout) == (2, ""), ran
    assert ran.stderr.startswith(f"detent: {message}"), ran


def test_agents_in_a_file(runner: Runner) -> None:
    (runner.work / "team.json").write_text(json.dumps({"reader": READER}))
    assert listed(runner, "--agents", "team.json")["kinds"][-1]["name"] == "reader"


def test_nothing_is_asked_and_nothing_written(runner: Runner) -> None:
    """Without a model or a key, and in a folder that cannot be written."""
    assert runner.run("agents").code == 0
    assert not runner.state.exists()


# A session as an agent


@BOTH_WIRES
def test_a_run_as_an_agent(runner: Runner) -> None:
    (runner.work / "f").write_text("hello")
    runner.serve(reply(call("Read", file_path="f"), call("Bash", command="ls")), "read it")
    agents = {"reader": {**READER, "initialPrompt": "First of all."}}
    ran = runner.frames("go", "--agents", json.dumps(agents), "--agent", "reader")
    assert ran.code == 0, ran
    first, second = runner.requests
    assert first.system.startswith("You read for others.")
    assert first.user_texts[-1].split("\n") in (
        ["First of all.", "go"],
        ["First of all.", "", "go"],
    )
    read, ls = second.tool_results
    assert "hello" in read.text
    assert "no tool" in ls.text.lower()
    (init,) = ran.of("system", "init")
    assert init["agents"] == [*BUILT_IN, "reader"]
    assert init["tools"] == ["Read"]


def test_the_first_words_are_said_once(runner: Runner) -> None:
    runner.serve("one", "two")
    plant(runner.home / ".claude/agents/a.md", description="d", initialPrompt="First of all.")
    first = runner.prompt("go", "--agent", "a")
    again = runner.prompt("on", "--agent", "a", "-r", first.result["session_id"])
    assert (first.code, again.code) == (0, 0), again
    assert runner.requests[1].user_texts == ["First of all.\ngo", "on"]


def test_the_models_and_the_mode_of_an_agent(runner: Runner) -> None:
    runner.serve(reply(call("Write", file_path="f", content="x")), "done", "done")
    plant(
        runner.home / ".claude/agents/a.md", description="d", model="claude-opus-4-8",
        permissionMode="acceptEdits",
    )  # fmt: skip
    ran = runner.prompt("go", "--agent", "a")
    assert ran.code == 0, ran
    assert (runner.work / "f").read_text() == "x"
    assert runner.requests[0].model == "claude-opus-4-8"
    runner.prompt("go", "--agent", "a", "--model", "claude-haiku-4-5")
    assert runner.requests[2].model == "claude-haiku-4-5"


def test_a_projects_agent_widens_nothing(runner: Runner) -> None:
    runner.serve(reply(call("Write", file_path="f", content="x")), "done")
    plant(runner.work / ".claude/agents/a.md", description="d", permissionMode="acceptEdits")
    ran = runner.prompt("go", "--agent", "a", "--trust")
    assert ran.code == 3, ran
    assert not (runner.work / "f").exists()


def test_the_hooks_of_an_agent(runner: Runner) -> None:
    runner.serve(reply(call("Read", file_path="f")), "done", "done")
    (runner.work / "f").write_text("secret")
    command = {"type": "command", "command": "echo not this one >&2; exit 2"}
    hooks = {"PreToolUse": [{"matcher": "Read", "hooks": [command]}]}
    plant(runner.home / ".claude/agents/a.md", description="d", hooks=hooks)
    runner.prompt("go", "--agent", "a")
    (result,) = runner.requests[1].tool_results
    assert "not this one" in result.text
    assert "secret" not in result.text


@pytest.mark.parametrize(
    "permits", [(), ("--allowedTools", "Bash"), ("--allowedTools", "Bash(touch:*)")]
)
def test_explore_writes_nothing(runner: Runner, permits: tuple[str, ...]) -> None:
    runner.serve(
        reply(
            call("Bash", command="touch made"),
            call("Bash", command="echo x > made"),
            call("Bash", command="ls"),
            call("Write", file_path="made", content="x"),
        ),
        "done",
    )
    ran = runner.prompt("look", "--agent", "explore", *permits)
    assert ran.code == 3, ran
    assert [*runner.work.iterdir()] == []


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--agent", "nobody"], "--agent: there is no agent 'nobody'; there are general-purpose"),
        (["--agent", ""], "--agent was given an empty value"),
        (["--agents", '{"a": []}'], "--agents: a must be an object with a description"),
        (["--agents", "{]"], "--agents: line 1, column 2"),
        (["--agents", '{"a": {"description": "d", "prompt": "p", "model": []}}'], "--agents: a: m"),
        (["--settings", '{"agent": "nobody"}'], "the setting agent: there is no agent 'nobody'"),
        (["--settings", '{"agents": []}'], "--settings: agents must be an object"),
        (["--settings", '{"agents": {"a": 3}}'], "--settings: agents: a must be an object"),
    ],
)  # fmt: skip
def test_bad_input_ends_the_run_before_it_begins(
    runner: Runner, args: list[str], message: str
) -> None:
    runner.serve("never said")
    ran = runner.prompt("go", *args)
    assert ran.code == 2, ran
    assert ran.stderr.startswith(f"detent: {message}"), ran
    assert ran.result["is_error"]
    assert runner.requests == []


# As subagents


@BOTH_WIRES
@pytest.mark.parametrize("kind", ["Explore", "plan"])
def test_a_read_only_agent_writes_nothing_whatever_is_permitted(runner: Runner, kind: str) -> None:
    """By mode, by rules, by the call that starts it."""
    runner.serve(
        reply(call("Agent", description="d", prompt="look", subagent_type=kind, mode="default")),
        reply(
            call("Bash", command="touch made"),
            call("Bash", command="echo x > made"),
            call("Bash", command="cat f"),
            call("Write", file_path="made", content="x"),
        ),
        "nothing to see",
        "done",
    )
    (runner.work / "f").write_text("hello")
    ran = runner.prompt(
        "go", "--permission-mode", "bypassPermissions", "--allowedTools", "Bash(touch:*)"
    )
    assert ran.result["result"] == "done", ran
    touched, echoed, read, wrote = (one.text for one in runner.requests[2].tool_results)
    assert all("You only look" in text for text in (touched, echoed))
    assert read == "hello"
    assert "no tool named 'Write'" in wrote
    assert not (runner.work / "made").exists()


def test_an_agent_of_a_file_as_a_subagent(runner: Runner) -> None:
    runner.serve(
        reply(call("Agent", description="d", prompt="read f", subagent_type="Reader")),
        "it says hello",
        "done",
    )
    plant(
        runner.home / ".claude/agents/reader.md", "You read for others.", description="Reads.",
        tools="Read, Grep", model="claude-opus-4-8",
    )  # fmt: skip
    ran = runner.frames("go")
    assert ran.code == 0, ran
    first, child, last = runner.requests
    assert "- reader: Reads." in first.system
    assert child.system.startswith("You read for others.")
    assert [tool["name"] for tool in child.json["tools"]] == ["Read", "Grep"]
    assert [one.model for one in runner.requests] == [runner.model, "claude-opus-4-8", runner.model]
    assert "it says hello" in last.tool_results[0].text


@pytest.mark.parametrize("as_session", [False, True])
def test_an_agent_has_of_a_tool_what_its_file_says(runner: Runner, as_session: bool) -> None:
    plant(
        runner.home / ".claude/agents/historian.md", "You look at the past.", description="Looks.",
        tools="Read, Bash(git init:*)",
    )  # fmt: skip
    work = [reply(call("Bash", command="touch made"), call("Bash", command="git init -q")), "done"]
    start = reply(call("Agent", description="d", prompt="p", subagent_type="historian"))
    runner.serve(*(work if as_session else [start, *work, "end"]))
    args = ("--agent", "historian") if as_session else ()
    ran = runner.prompt("go", "--permission-mode", "bypassPermissions", *args)
    assert ran.code == 3, ran
    refused, done = runner.requests[1 if as_session else 2].tool_results
    assert "Of Bash you have only Bash(git init:*)." in refused.text
    assert not done.is_error
    assert [path.name for path in runner.work.iterdir()] == [".git"]
    assert "Read, Bash(git init:*)" in runner.run("agents").stdout


@pytest.mark.parametrize("kind", ["Explore", "explore", "EXPLORE ", "general", ""])
def test_a_rule_holds_however_the_name_is_written(runner: Runner, kind: str) -> None:
    runner.serve(reply(call("Agent", description="d", prompt="p", subagent_type=kind)), "done")
    rules = ("--disallowedTools", "Agent(Explore)", "--disallowedTools", "Agent(general-purpose)")
    runner.prompt("go", *rules)
    assert "denies it" in runner.requests[1].tool_results[0].text


# Hosts


def test_agents_of_a_host(runner: Runner) -> None:
    runner.serve("hi")
    live = runner.converse()
    answer = live.control("initialize", agents={"reader": {**READER, "model": "haiku"}})
    assert answer["subtype"] == "success"
    told = answer["response"]["agents"]
    assert [one["name"] for one in told] == [*BUILT_IN, "reader"]
    assert told[-1] == {"name": "reader", "description": "Reads.", "model": "haiku"}
    assert all(one["description"] for one in told)
    live.say("hello")
    assert live.next("system", "init")["agents"] == [*BUILT_IN, "reader"]
    assert live.next("result")["result"] == "hi"
    assert live.finish().code == 0


@pytest.mark.parametrize(
    ("agents", "message"),
    [
        ([READER], "agents must be an object"),
        ({"a": 1}, "--agents: a must be an object"),
        ({"a": {"description": "d"}}, "--agents: a: prompt must say"),
    ],
)
def test_a_host_is_told_what_is_wrong_with_its_agents(
    runner: Runner, agents: Any, message: str
) -> None:
    runner.serve("hi")
    live = runner.converse()
    answer = live.control("initialize", agents=agents)
    assert answer["subtype"] == "error"
    assert answer["error"].startswith(message)
    live.say("hello")
    assert live.next("system", "init")["agents"] == BUILT_IN
    live.next("result")
    assert live.finish().code == 0


# Trust


def test_trust_shows_what_agents_would_run(runner: Runner) -> None:
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": "./evil.sh"}]}]}
    path = plant(
        runner.work / ".claude/agents/a.md", description="d", hooks=hooks, mcpServers=["m"]
    )
    (before,) = listed(runner)["notices"]
    assert before.startswith(f"{path}: hooks, mcpServers ignored until you trust it")
    ran = runner.run("trust", "--yes")
    assert ran.code == 0, ran
    assert f"{path}\n  runs when an event comes: Stop: ./evil.sh\n" in ran.stdout
    assert "  starts as an MCP server: m: m\n" in ran.stdout
    found = listed(runner)
    assert found["notices"] == []
    assert found["kinds"][-1]["hooks"] == hooks
