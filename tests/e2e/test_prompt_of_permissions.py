"""The system prompt tells the model what it may do, as the session begins (F072, F074, F075)."""

from __future__ import annotations

import json

from .conftest import BOTH_WIRES, Runner


def prompt_of(runner: Runner, *flags: str) -> str:
    runner.serve("done")
    ran = runner.prompt("hello", *flags)
    assert ran.code == 0, ran
    return runner.requests[0].system


@BOTH_WIRES
def test_rules_of_flags_and_files_are_told(runner: Runner) -> None:
    own = runner.work / ".detent"
    own.mkdir()
    rules = {"deny": ["Read(private/**)"], "ask": ["Bash(make:*)"], "allow": ["Bash(ls)"]}
    (own / "settings.json").write_text(json.dumps({"permissions": rules}))
    told = prompt_of(runner, "--disallowedTools", "Bash(git push:*)")
    assert "Refused by rule, also by another way: Bash(git push:*), Read(private/**)." in told
    assert "The user is asked first: Bash(make:*)." in told
    assert "has not trusted this folder" in told
    assert "has not trusted" not in prompt_of(runner, "--trust")


@BOTH_WIRES
def test_without_a_shell_or_without_writing_the_way_out_is_told(runner: Runner) -> None:
    assert "a rule such as Bash(make test)" in prompt_of(runner, "--disallowedTools", "Bash")
    assert "as a patch" in prompt_of(runner, "--tools", "Read,Bash")
    usual = prompt_of(runner)
    assert "as a patch" not in usual and "Commands cannot be run" not in usual


@BOTH_WIRES
def test_the_mode_and_hooks_are_told(runner: Runner) -> None:
    assert "Plan mode" in prompt_of(runner, "--permission-mode", "plan")
    assert "Nobody can be asked" in prompt_of(runner, "--permission-mode", "dontAsk")
    hook = {"hooks": [{"type": "command", "command": "true"}]}
    hooks = json.dumps({"hooks": {"PreToolUse": [hook], "Stop": [hook]}})
    assert "Hooks of the user listen" in (told := prompt_of(runner, "--settings", hooks))
    assert "\n- PreToolUse\n- Stop\n" in told
