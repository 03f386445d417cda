"""The twelve scenarios of the seeds' mock parity harness, on both wires.

The modes of the seeds are ours under other names: read-only is `default`, workspace-write is
`acceptEdits`, danger-full-access is `bypassPermissions`.
"""

import json
from pathlib import Path

import pytest

from detent.testing import Request, call, reply, say, script

from .conftest import BOTH_WIRES, Ran, Runner

pytestmark = BOTH_WIRES


def quoting(prefix: str):
    """A final answer that quotes the results it was given, as the seeds' mock does."""

    def answer(request: Request) -> str:
        return f"{prefix}: " + " | ".join(result.text for result in request.tool_results)

    return answer


PARITY = script(
    scenarios={
        "streaming_text": [reply(say("Mock streaming ", "says hello from the parity harness."))],
        "read_file_roundtrip": [
            reply(call("read_file", path="fixture.txt")),
            quoting("read_file roundtrip complete"),
        ],
        "grep_chunk_assembly": [
            reply(
                call(
                    "grep_search",
                    pieces=(
                        '{"pattern":"par',
                        'ity","path":"fixture.txt"',
                        ',"output_mode":"count"}',
                    ),
                )
            ),
            quoting("grep_search matched"),
        ],
        "write_file_allowed": [
            reply(call("write_file", path="generated/output.txt", content="created by mock\n")),
            quoting("write_file succeeded"),
        ],
        "write_file_denied": [
            reply(call("write_file", path="generated/denied.txt", content="no\n")),
            quoting("write_file denied as expected"),
        ],
        "multi_tool_turn_roundtrip": [
            reply(
                call("read_file", path="fixture.txt"),
                call("grep_search", pattern="parity", path="fixture.txt", output_mode="count"),
            ),
            quoting("multi-tool roundtrip complete"),
        ],
        "bash_stdout_roundtrip": [
            reply(call("bash", command="printf 'alpha from bash'", timeout=1000)),
            quoting("bash completed"),
        ],
        # With `tee`, because a bare printf changes nothing and so needs no permission here.
        "bash_permission_prompt": [
            reply(call("bash", command="printf 'ran' | tee ran.txt", timeout=1000)),
            quoting("bash answered"),
        ],
        "plugin_tool_roundtrip": [
            reply(call("plugin_echo", message="hello from plugin parity")),
            quoting("plugin tool completed"),
        ],
        "auto_compact_triggered": [
            reply("auto compact parity complete.", input=50_000, output=200)
        ],
        "token_cost_reporting": [reply("token cost reporting parity.", input=1_000, output=500)],
    }
)


def play(runner: Runner, name: str, *args: str, stdin: str = "") -> Ran:
    runner.serve(PARITY)
    return runner.frames(f"PARITY_SCENARIO:{name}", *args, stdin=stdin)


def write_fixture(runner: Runner) -> Path:
    fixture = runner.work / "fixture.txt"
    fixture.write_text("alpha parity line\nbeta line\ngamma parity line\n")
    return fixture


def test_streaming_text(runner: Runner) -> None:
    ran = play(runner, "streaming_text")
    assert ran.code == 0, ran
    assert ran.result["result"] == "Mock streaming says hello from the parity harness."
    assert ran.result["num_turns"] == len(ran.result["iterations"]) == 1
    assert ran.tool_results == []
    assert len(runner.requests) == 1


def test_read_file_roundtrip(runner: Runner) -> None:
    fixture = write_fixture(runner)
    ran = play(runner, "read_file_roundtrip", "--tools", "Read")
    assert ran.code == 0, ran
    assert ran.result["num_turns"] == len(runner.requests) == 2
    (result,) = ran.tool_results
    assert result["is_error"] is False
    assert result["data"]["file"]["filePath"] == str(fixture)
    (seen,) = runner.requests[1].tool_results
    assert "alpha parity line" in seen.text
    assert "alpha parity line" in ran.result["result"]


def test_grep_chunk_assembly(runner: Runner) -> None:
    write_fixture(runner)
    ran = play(runner, "grep_chunk_assembly", "--tools", "Grep")
    assert ran.code == 0, ran
    (use,) = [b for f in ran.of("assistant") for b in f["message"]["content"] if "input" in b]
    assert use["input"] == {"pattern": "parity", "path": "fixture.txt", "output_mode": "count"}
    (result,) = ran.tool_results
    assert result["is_error"] is False
    assert result["data"]["numMatches"] == 2
    assert "2 occurrences" in runner.requests[1].tool_results[0].text
    assert "2 occurrences" in ran.result["result"]


def test_write_file_allowed(runner: Runner) -> None:
    ran = play(runner, "write_file_allowed", "--permission-mode", "acceptEdits")
    assert ran.code == 0, ran
    written = runner.work / "generated" / "output.txt"
    assert written.read_text() == "created by mock\n"
    assert ran.tool_results[0]["is_error"] is False
    assert ran.result["files_changed"] == [str(written)]
    assert str(written) in runner.requests[1].tool_results[0].text
    assert len(runner.requests) == 2


def test_write_file_denied(runner: Runner) -> None:
    ran = play(runner, "write_file_denied")
    assert ran.code == 3, ran
    assert not (runner.work / "generated").exists()
    (result,) = ran.tool_results
    assert result["is_error"] is True
    assert "needs permission" in result["content"]
    assert runner.requests[1].tool_results[0].text == result["content"]
    assert ran.result["num_turns"] == len(runner.requests) == 2
    (denial,) = ran.result["permission_denials"]
    assert denial["tool_use_id"] == result["tool_use_id"]
    assert ran.result["files_changed"] == []


def test_multi_tool_turn_roundtrip(runner: Runner) -> None:
    write_fixture(runner)
    ran = play(runner, "multi_tool_turn_roundtrip", "--tools", "Read,Grep")
    assert ran.code == 0, ran
    assert ran.result["num_turns"] == len(runner.requests) == 2
    assert ran.result["iterations"][0]["tool_calls"] == 2
    seen = runner.requests[1].tool_results
    assert [result.id for result in seen] == [r["tool_use_id"] for r in ran.tool_results]
    assert "alpha parity line" in seen[0].text
    assert "2 occurrences" in seen[1].text


def test_bash_stdout_roundtrip(runner: Runner) -> None:
    mode = ("--permission-mode", "bypassPermissions")
    ran = play(runner, "bash_stdout_roundtrip", *mode)
    assert ran.code == 0, ran
    assert ran.tool_results[0]["data"]["stdout"] == "alpha from bash"
    assert runner.requests[1].tool_results[0].text == "alpha from bash"
    assert ran.result["result"] == "bash completed: alpha from bash"
    assert ran.result["commands"] == [{"command": "printf 'alpha from bash'", "exit_code": 0}]


@pytest.mark.parametrize("said", ["y", "n"])
def test_bash_permission_prompt(runner: Runner, said: str) -> None:
    asking = ("--permission-mode", "acceptEdits", "--on-ask", "stdio")
    ran = play(runner, "bash_permission_prompt", *asking, stdin=f"{said}\n")
    assert "Run it?" in ran.stderr
    assert "tee ran.txt" in ran.stderr
    assert ran.result["num_turns"] == len(runner.requests) == 2
    (result,) = ran.tool_results
    told = runner.requests[1].tool_results[0].text
    if said == "y":
        assert (ran.code, result["is_error"], told) == (0, False, "ran")
        assert (runner.work / "ran.txt").read_text() == "ran"
    else:
        assert (ran.code, result["is_error"]) == (3, True)
        assert "user denied" in told
        assert not (runner.work / "ran.txt").exists()


PLUGIN_PROGRAM = """\
#!/bin/sh
printf '{"plugin":"%s","tool":"%s","input":' "$CLAWD_PLUGIN_ID" "$CLAWD_TOOL_NAME"
cat
printf '}'
"""


def test_plugin_tool_roundtrip(runner: Runner) -> None:
    plugin = runner.folder / "parity-plugin"
    (plugin / ".claude-plugin").mkdir(parents=True)
    (plugin / "echo.sh").write_text(PLUGIN_PROGRAM)
    (plugin / "echo.sh").chmod(0o755)
    message = {"type": "object", "properties": {"message": {"type": "string"}}}
    tool = {
        "name": "plugin_echo",
        "description": "Echoes a message",
        "inputSchema": {**message, "required": ["message"]},
        "command": "./echo.sh",
        "requiredPermission": "workspace-write",
    }
    manifest = {"name": "parity-plugin", "version": "1.0.0", "tools": [tool]}
    (plugin / ".claude-plugin" / "plugin.json").write_text(json.dumps(manifest))
    allowed = ("--permission-mode", "acceptEdits", "--allowedTools", "plugin_echo")
    ran = play(runner, "plugin_tool_roundtrip", "--plugin-dir", str(plugin), *allowed)
    assert ran.code == 0, ran
    offered = json.dumps(runner.requests[0].json["tools"])
    assert "Echoes a message" in offered
    (seen,) = runner.requests[1].tool_results
    assert json.loads(seen.text) == {
        "plugin": "parity-plugin",
        "tool": "plugin_echo",
        "input": {"message": "hello from plugin parity"},
    }
    assert "hello from plugin parity" in ran.result["result"]


def test_auto_compact_key_present(runner: Runner) -> None:
    ran = play(runner, "auto_compact_triggered")
    assert ran.code == 0, ran
    assert "auto_compaction" in ran.result
    usage = ran.result["usage"]
    assert (usage["input_tokens"], usage["output_tokens"]) == (50_000, 200)
    assert len(runner.requests) == 1


def test_token_cost_reporting(runner: Runner) -> None:
    ran = play(runner, "token_cost_reporting")
    assert ran.code == 0, ran
    usage = ran.result["usage"]
    assert (usage["input_tokens"], usage["output_tokens"]) == (1_000, 500)
    assert ran.result["total_cost_usd"] > 0
    assert "cost_unknown" not in ran.result
    by_model = ran.result["modelUsage"][runner.model]
    assert by_model["costUSD"] == ran.result["total_cost_usd"]
