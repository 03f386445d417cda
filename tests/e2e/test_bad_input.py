"""Everything that can be wrong is said in one sentence, before anything is written or sent."""

import json
import os
from pathlib import Path

import pytest

from detent.testing import Call, call, reply

from .conftest import BOTH_WIRES, Ran, Runner

NOT_UTF8 = b"caf\xe9 au lait"


def snapshot(folder: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def refused(runner: Runner, *args: str, code: int = 2, **more: object) -> str:
    """Runs, and makes sure that nothing came of it but one sentence, which is returned."""
    if runner._server is None:
        runner.serve("never said")
    before = snapshot(runner.folder)
    ran = runner.run(*args, **more)  # type: ignore[arg-type]
    assert ran.code == code, ran
    assert ran.stdout == ""
    assert ran.stderr.startswith("detent: ")
    assert ran.stderr.count("\n") == 1, ran.stderr
    assert "Traceback" not in ran.stderr
    assert snapshot(runner.folder) == before
    assert runner.requests == []
    return ran.stderr


# The command line


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--modle", "x"], "unknown flag --modle; did you mean --model?"),
        (["--zzz"], "unknown flag --zzz"),
        (["--verb"], "unknown flag --verb"),
        (["--model"], "--model needs a value"),
        (["--output-format", "xml"], "--output-format takes text, json, stream-json; not 'xml'"),
        (["--input-format", "xml"], "--input-format takes text, stream-json"),
        (["--input-format", "stream-json"], "needs --output-format stream-json"),
        (["--on-ask", "maybe"], "--on-ask takes deny, fail, stdio"),
        (["--max-turns", "many"], "--max-turns takes a number, not 'many'"),
        (["--max-turns", "1.5"], "--max-turns takes a whole number"),
        (["--max-turns", "-1"], "--max-turns must not be negative"),
        (["--max-turns", "inf"], "--max-turns"),
        (["--max-tokens", "1e999"], "--max-tokens"),
        (["--max-time", "soon"], "--max-time takes a number"),
        (["--max-budget-usd", "nan"], "--max-budget-usd"),
        (["--permission-mode", "yolo"], "unknown permission mode 'yolo'"),
        (["--allowedTools", "Bash(ls"], "not a permission rule: 'Bash(ls'"),
        (["--allowedTools", "(x)"], "not a permission rule"),
        (["--disallowedTools", "9lives"], "not a permission rule"),
        (["--tools", "Telepathy"], "Telepathy"),
        (["--setting-sources", "user,moon"], "takes user, project, local; not 'moon'"),
        (["--session-id", "../../etc/passwd"], "--session-id takes a UUID"),
        (["--session-id", "not-a-uuid"], "--session-id takes a UUID"),
        (["-r", "../../etc/passwd"], "no session '../../etc/passwd' was found"),
        (["-r", "0b4cf9a2-7c1e-4b69-9a53-0b1f6a1f2a3c"], "no session '0b4cf9a2"),
        (["-c"], "there is no earlier session in this folder"),
        (["--fork-session", "-c"], "there is no earlier session in this folder"),
        (["--cwd", "/no/such/folder"], "/no/such/folder"),
        (["--system-prompt-file", "absent.md"], "absent.md"),
        (["--append-system-prompt-file", "absent.md"], "absent.md"),
        (["--settings", "absent.json"], "absent.json"),
        (["--settings", '{"model": }'], "--settings: line 1"),
        (["--settings", '{"permissions": []}'], "permissions must be an object"),
        (["--settings", '{"permissions": {"allow": "Bash"}}'], "permissions.allow must be a list"),
        (["--settings", '{"idleTimeout": "soon"}'], "idleTimeout must be a number"),
        (["--plugin-dir", "absent"], "absent"),
        (["--json-schema", '{"type": "objekt"}'], "the JSON schema is not valid at $.type"),
        (["--json-schema", '{"type": }'], "--json-schema: line 1"),
        (["--json-schema", "absent.json"], "--json-schema: cannot read absent.json"),
        (["--json-schema", '{"$ref": "http://127.0.0.1:9/x"}'], "cannot fetch"),
        (["--effort", "heroic"], "--effort takes low, medium, high, xhigh, max; not 'heroic'"),
        (["--thinking", "hard"], "--thinking takes adaptive, enabled, disabled; not 'hard'"),
        (["--max-thinking-tokens", "many"], "--max-thinking-tokens takes a number"),
        (["--server-tool", "web_search"], "--server-tool"),
        (["--model", "scripted:absent.json"], "absent.json"),
    ],
    ids=lambda value: "_".join(value)[:50] if isinstance(value, list) else "",
)
def test_a_bad_command_line(runner: Runner, args: list[str], says: str) -> None:
    assert says in refused(runner, "-p", "x", *args)


def test_a_folder_that_is_a_file(runner: Runner) -> None:
    (runner.work / "file").write_text("x")
    assert "file: Not a directory" in refused(runner, "-p", "x", "--cwd", "file")


def test_a_folder_that_may_not_be_entered(runner: Runner) -> None:
    """Root may enter every folder, so a name too long for the kernel stands in for it."""
    assert "cannot work in" in refused(runner, "-p", "x", "--cwd", "n" * 5000)


def test_a_working_folder_that_is_gone(runner: Runner) -> None:
    gone = runner.folder / "gone"
    gone.mkdir()
    runner.serve("never said")
    ran = runner.run("-p", "x", cwd=gone, shell='rmdir "$PWD"')
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr.startswith("detent: cannot work in this folder")
    assert ran.stderr.count("\n") == 1
    assert runner.requests == []
    assert not runner.state.exists()


def test_a_file_for_the_system_prompt_that_is_not_text(runner: Runner) -> None:
    (runner.work / "prompt.md").write_bytes(NOT_UTF8)
    says = refused(runner, "-p", "x", "--system-prompt-file", "prompt.md")
    assert "prompt.md is not UTF-8 text" in says


# Prompts


@pytest.mark.parametrize("args", [["-p"], ["-p", ""], ["-p", "  \n "]])
def test_an_empty_prompt(runner: Runner, args: list[str]) -> None:
    assert "the prompt is empty" in refused(runner, *args)


def test_stdin_that_is_not_text(runner: Runner) -> None:
    assert "stdin is not UTF-8 text (byte 3)" in refused(runner, "-p", "x", stdin=NOT_UTF8)


@pytest.mark.parametrize("before", [[], ["--append-system-prompt"], ["--model"]])
def test_an_argument_that_is_not_text(runner: Runner, before: list[str]) -> None:
    assert "not UTF-8 text" in refused(runner, "-p", "x", *before, os.fsdecode(NOT_UTF8))


def test_stdin_that_is_too_long(runner: Runner) -> None:
    assert "more than 10 MB" in refused(runner, "-p", "x", stdin=b"x" * (10 * 1024 * 1024 + 1))


# Models


NO_MODEL = {
    "ANTHROPIC_API_KEY": None,
    "ANTHROPIC_BASE_URL": None,
    "OPENAI_API_KEY": None,
    "OPENAI_BASE_URL": None,
}


@pytest.mark.parametrize("args", [[], ["--model", "anthropic/claude-sonnet-5-5"]])
def test_without_a_key_three_ways_are_named(runner: Runner, args: list[str]) -> None:
    runner.serve("never said")
    before = snapshot(runner.folder)
    ran = runner.run("-p", "x", *args, env=NO_MODEL)
    assert (ran.code, ran.stdout) == (7, "")
    for way in ("ANTHROPIC_API_KEY", "OPENAI_BASE_URL", "detent demo"):
        assert way in ran.stderr
    assert "Traceback" not in ran.stderr
    assert snapshot(runner.folder) == before
    assert runner.requests == []


@pytest.mark.parametrize("output", ["json", "stream-json"])
def test_without_a_key_programs_get_a_result(runner: Runner, output: str) -> None:
    runner.serve("never said")
    ran = runner.prompt("x", output=output, env=NO_MODEL)
    assert ran.code == 7
    result = ran.result
    assert result["is_error"] is True
    assert result["terminal_reason"] == "turn_setup_failed"
    assert "no model" in result["result"]
    assert not runner.state.exists()


@pytest.mark.parametrize("form", [["--output-format", "json"], ["--output-format=stream-json"]])
@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (["-r", "0b4cf9a2-7c1e-4b69-9a53-0b1f6a1f2a3c"], "no session '0b4cf9a2"),
        (["--modle", "x"], "did you mean --model?"),
        (["--max-turns", "many"], "--max-turns takes a number"),
        (["--mcp-config", "{}"], "--mcp-config"),
    ],
    ids=["session", "flag", "value", "later"],
)
def test_a_start_that_fails_gives_programs_a_result(
    runner: Runner, form: list[str], wrong: list[str], says: str
) -> None:
    runner.serve("never said")
    ran = runner.run("-p", "x", *form, *wrong)
    assert ran.code == 2
    assert len(ran.frames) == 1
    assert says in ran.result["result"]
    assert ran.result["is_error"] is True
    assert says in ran.stderr
    assert not runner.state.exists()


def test_a_broken_script(runner: Runner) -> None:
    (runner.work / "script.json").write_text('{"replies": [{"blocks": [{"sing": "la"}]}]}')
    says = refused(runner, "-p", "x", "--model", "scripted:script.json")
    assert "script.json" in says
    assert "replies[0].blocks[0]" in says


def test_a_script_that_is_not_json(runner: Runner) -> None:
    (runner.work / "script.json").write_text("la la")
    assert "not JSON" in refused(runner, "-p", "x", "--model", "scripted:script.json")


@pytest.mark.parametrize("name", ["DETENT_IDLE_TIMEOUT", "DETENT_REQUEST_TIMEOUT"])
def test_a_timer_that_is_no_number(runner: Runner, name: str) -> None:
    assert name in refused(runner, "-p", "x", env={name: "soon"})


# Settings


@pytest.mark.parametrize("place", [".detent/settings.json", ".claude/settings.local.json"])
def test_settings_that_are_not_json_are_named_with_file_and_line(
    runner: Runner, place: str
) -> None:
    path = runner.work / place
    path.parent.mkdir()
    path.write_text('{\n  "model": "x",\n  "permissions": oops\n}\n')
    says = refused(runner, "-p", "x")
    assert f"{path}: line 3" in says


def test_settings_that_are_cut_short(runner: Runner) -> None:
    runner.state.mkdir()
    (runner.state / "settings.json").write_text('{\n  "model": "x"')
    assert f"{runner.state}/settings.json: line 2" in refused(runner, "-p", "x")


def test_settings_that_are_not_text(runner: Runner) -> None:
    runner.state.mkdir()
    (runner.state / "settings.json").write_bytes(b'{"model": "' + NOT_UTF8 + b'"}')
    assert f"{runner.state}/settings.json: line 1" in refused(runner, "-p", "x")


def test_a_bad_rule_in_settings(runner: Runner) -> None:
    runner.state.mkdir()
    rules = {"permissions": {"deny": ["Bash(rm"]}}
    (runner.state / "settings.json").write_text(json.dumps(rules))
    assert "not a permission rule: 'Bash(rm'" in refused(runner, "-p", "x")


def test_a_manifest_that_is_not_json(runner: Runner) -> None:
    plugin = runner.work / "plugin"
    (plugin / ".claude-plugin").mkdir(parents=True)
    (plugin / ".claude-plugin" / "plugin.json").write_text('{"name": "x",\n')
    says = refused(runner, "-p", "x", "--plugin-dir", "plugin")
    assert "plugin.json: line 2" in says


# What the model sends


WRONG_CALLS = [
    (call("Read", file_path=["not", "a", "path"]), "`file_path`"),
    (call("Read"), "`file_path` is missing"),
    (call("Read", file_path="a.txt", limit="many"), "`limit`"),
    (Call("Bash", raw='{"command": "echo '), "not valid JSON"),
    (Call("Bash", raw='["echo hi"]'), "one JSON object"),
    (Call("Bash", raw='"echo hi"'), "one JSON object"),
    (call("Bash", command=5), "`command`"),
    (call("Teleport", where="home"), "no tool named 'Teleport'"),
    (Call("Teleport", raw="{{{"), "no tool named 'Teleport'"),
    (call("", x=1), "no tool named ''"),
]


@BOTH_WIRES
@pytest.mark.parametrize(("wrong", "says"), WRONG_CALLS, ids=range(len(WRONG_CALLS)))
def test_a_call_that_does_not_fit_is_told_to_the_model(
    runner: Runner, wrong: Call, says: str
) -> None:
    runner.serve(reply(wrong), reply(call("Bash", command="echo right")), "done")
    ran = runner.frames("x")
    assert ran.code == 0, ran
    assert ran.result["result"] == "done"
    assert [result["is_error"] for result in ran.tool_results] == [True, False]
    assert says in runner.requests[1].tool_results[0].text
    assert runner.requests[2].tool_results[0].text == "right"


@BOTH_WIRES
def test_two_calls_with_one_id_are_two_calls(runner: Runner) -> None:
    runner.serve(
        reply(
            call("Bash", command="echo one", id="same"),
            call("Bash", command="echo two", id="same"),
        ),
        "done",
    )
    ran = runner.frames("x")
    assert ran.code == 0, ran
    assert [result.text for result in runner.requests[1].tool_results] == ["one", "two"]


@BOTH_WIRES
def test_the_same_call_twice_in_one_answer_is_run_once(runner: Runner) -> None:
    again = call("Bash", command="echo x >> log", id="same")
    runner.serve(reply(again, again), "done")
    ran = runner.frames("x", "--dangerously-skip-permissions")
    assert ran.code == 0, ran
    assert (runner.work / "log").read_text() == "x\n"


@BOTH_WIRES
def test_an_id_from_an_earlier_answer_may_come_again(runner: Runner) -> None:
    runner.serve(
        reply(call("Bash", command="echo one", id="call_0")),
        reply(call("Bash", command="echo two", id="call_0")),
        reply(call("Bash", command="echo one", id="call_0")),
        "done",
    )
    ran = runner.frames("x")
    assert ran.code == 0, ran
    told = [request.tool_results[0].text for request in runner.requests[1:]]
    assert told == ["one", "two", "one"]


@BOTH_WIRES
def test_calls_without_ids_are_told_apart(runner: Runner) -> None:
    runner.serve(
        reply(
            call("Bash", command="echo one", id=""),
            call("Bash", command="echo two", id=""),
            quirks=["missing_id", "no_index"] if runner.wire == "chat" else [],
        ),
        "done",
    )
    ran = runner.frames("x")
    assert ran.code == 0, ran
    assert [result.text for result in runner.requests[1].tool_results] == ["one", "two"]


@BOTH_WIRES
def test_an_empty_answer_after_results_is_not_asked_for_again_as_it_was(runner: Runner) -> None:
    runner.serve(reply(call("Bash", command="echo hi")), reply(), "done")
    ran = runner.prompt("x")
    assert (ran.code, ran.result["result"]) == (0, "done")
    asked, again = (request.json["messages"] for request in runner.requests[1:])
    assert "Your answer was empty" not in str(asked)
    assert "Your answer was empty" in str(again[-1])


@BOTH_WIRES
def test_two_empty_answers_end_the_turn(runner: Runner) -> None:
    runner.serve(reply(), after="repeat_last")
    ran = runner.prompt("x")
    assert (ran.code, ran.result["reason"]) == (1, "invalid_response")
    assert len(runner.requests) == 2


# A state folder that cannot be written


def broken_home(runner: Runner, kind: str) -> dict[str, str | None]:
    """An environment whose state folder fails, in a way that holds for root as well."""
    if kind == "a file in its place":
        (runner.folder / "file").write_text("")
        return {"DETENT_HOME": str(runner.folder / "file" / "state")}
    if kind == "a read-only file system":
        return {"DETENT_HOME": "/proc/detent"}
    raise AssertionError(kind)


def try_all(runner: Runner, env: dict[str, str | None], prompt: str = "x", shell: str = "") -> Ran:
    runner.serve(
        reply(call("Bash", command="echo harmless")),
        reply(call("Write", file_path="by-mode.txt", content="x")),
        reply(call("Write", file_path="by-rule.txt", content="x")),
        "done",
    )
    rules = ("--permission-mode", "acceptEdits", "--allowedTools", "Edit(/by-rule.txt)")
    return runner.frames(prompt, *rules, env=env, shell=shell)


def assert_cautious(runner: Runner, ran: Ran) -> None:
    harmless, by_mode, by_rule = ran.tool_results
    assert harmless["content"] == "harmless"
    assert by_mode["is_error"] is True
    assert "cannot be saved" in by_mode["content"]
    assert not (runner.work / "by-mode.txt").exists()
    assert by_rule["is_error"] is True, "a rule says nothing of calls without a record"
    assert "cannot be saved" in by_rule["content"]
    assert not (runner.work / "by-rule.txt").exists()
    assert ran.code == 3
    assert ran.result["result"] == "done"
    (notice,) = ran.of("system", "informational")
    assert "not being saved" in notice["content"]
    assert "Traceback" not in ran.stderr


@BOTH_WIRES
@pytest.mark.parametrize("kind", ["a file in its place", "a read-only file system"])
def test_a_state_folder_that_cannot_be_made(runner: Runner, kind: str) -> None:
    ran = try_all(runner, broken_home(runner, kind))
    assert_cautious(runner, ran)


def test_a_disk_that_takes_only_part_of_a_record(runner: Runner) -> None:
    """A limit of one block on every file: the prompt is too long for what is left of it."""
    long_prompt = "x" * 2000
    ran = try_all(runner, {}, prompt=long_prompt, shell="ulimit -f 1")
    assert_cautious(runner, ran)
    (log,) = runner.logs
    assert log.stat().st_size == 1024

    runner.serve("go on")
    again = runner.prompt("y", "-c")
    assert again.code == 0, again
    assert again.result["session_id"] == log.stem
    assert "could not be read" in again.stderr


def test_people_are_told_that_nothing_is_saved(runner: Runner) -> None:
    runner.serve("done")
    ran = runner.run("-p", "x", env=broken_home(runner, "a file in its place"))
    assert (ran.code, ran.stdout) == (0, "done\n")
    assert ran.stderr.count("This session is not being saved") == 1
