"""What the model is told of where it works: the prompt, and git as it is at each prompt."""

from __future__ import annotations

import subprocess

from .conftest import ALL_WIRES, BOTH_WIRES, Runner

BOUNDARY = "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__"


def git(runner: Runner, *arguments: str) -> None:
    own = ["-c", "user.name=A", "-c", "user.email=a@b.example", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *own, *arguments], cwd=runner.work, env=runner.env(), check=True)


def repository(runner: Runner) -> None:
    git(runner, "init", "-q")
    (runner.work / "a.txt").write_text("a\n")
    git(runner, "add", "-A")
    git(runner, "commit", "-qm", "Begin")


def last_words(runner: Runner) -> str:
    return runner.requests[-1].talk[-1].text


@ALL_WIRES
def test_git_is_told_before_the_prompt_and_again_when_it_has_changed(runner: Runner) -> None:
    repository(runner)
    runner.serve("one", "two", "three")
    first = runner.prompt("look here").result
    said = last_words(runner)
    assert "on branch main" in said and " Begin\n" in said and "git status: clean" in said
    assert said.index("clean") < said.index("look here")
    again = ("--resume", first["session_id"])
    assert runner.prompt("same as before", *again).code == 0
    assert last_words(runner) == "same as before"
    (runner.work / "new.txt").write_text("")
    assert runner.prompt("and now", *again).code == 0
    said = last_words(runner)
    assert "?? new.txt" in said and "on branch" not in said
    systems = {request.system for request in runner.requests}
    assert len(systems) == 1, "resumed, it sends the same prompt"
    assert BOUNDARY not in systems.pop()


@BOTH_WIRES
def test_it_can_be_switched_off(runner: Runner) -> None:
    repository(runner)
    runner.serve("one", "two")
    off = {"CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS": "1"}
    assert runner.prompt("hi", env=off).code == 0
    assert last_words(runner) == "hi"
    assert runner.prompt("hi", "--settings", '{"includeGitInstructions": false}').code == 0
    assert last_words(runner) == "hi"


@BOTH_WIRES
def test_a_folder_without_a_repository_and_sessions_alike(runner: Runner) -> None:
    """The stable part is the same in every session with the same tools, whatever its rules."""
    runner.serve("one", "two")
    assert runner.prompt("hi").code == 0
    assert last_words(runner) == "hi"
    assert runner.prompt("hi", "--disallowedTools", "Bash(rm:*)").code == 0
    one, other = (request.system for request in runner.requests)
    assert one != other
    assert one.split("# Permissions")[0] == other.split("# Permissions")[0]
    assert "# Surroundings" in one.split("# Permissions")[1]
