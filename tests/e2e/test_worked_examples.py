"""The worked examples of the seeds: F061 and both parts of F062, on both wires."""

from detent.testing import call, reply

from .conftest import BOTH_WIRES, Runner

pytestmark = BOTH_WIRES

EDITS = ("--permission-mode", "acceptEdits")


def config_lines() -> list[str]:
    lines = [f"setting_{number} = {number}" for number in range(1, 201)]
    lines[41] = "timeout = 3O"  # the letter, not the digit
    return lines


def test_f061_a_config_file_is_read_and_its_bug_at_line_42_mended(runner: Runner) -> None:
    config = runner.work / "app.conf"
    config.write_text("\n".join(config_lines()) + "\n")
    check = r"""grep -vcE '^\w+ = [0-9]+$' app.conf | sed 's/$/ errors/'"""
    runner.serve(
        reply(call("read_file", path="app.conf")),
        reply(
            "Line 42 has the letter O instead of a zero.",
            call("edit_file", path="app.conf", old_text="timeout = 3O", new_text="timeout = 30"),
        ),
        reply(call("bash", command=check)),
        "Fixed the bug at line 42.",
    )
    prompt = "read app.conf and fix the bug at line 42"
    ran = runner.frames(prompt, *EDITS, "--allowedTools", "Bash")
    assert ran.code == 0, ran
    assert ran.result["result"] == "Fixed the bug at line 42."
    assert len(runner.requests) == 4
    assert ran.result["num_turns"] == 4
    assert [step["tool_calls"] for step in ran.result["iterations"]] == [1, 1, 1, 0]
    read, edit, checked = (request.tool_results[0].text for request in runner.requests[1:])
    assert "42\ttimeout = 3O" in read.replace("→", "\t")
    assert "200" in read
    assert "timeout = 30" in edit
    assert checked == "0 errors"
    expected = config_lines()
    expected[41] = "timeout = 30"
    assert config.read_text() == "\n".join(expected) + "\n"
    assert ran.result["files_changed"] == [str(config)]
    assert ran.result["commands"] == [{"command": check, "exit_code": 0}]
    assert [result["is_error"] for result in ran.tool_results] == [False] * 3


def test_f062_a_question_about_one_file_takes_one_tool_and_two_requests(runner: Runner) -> None:
    (runner.work / "package.json").write_text('{"name": "shop", "version": "1.2.3"}\n')
    runner.serve(
        reply(call("FileReadTool", file_path="package.json")),
        lambda request: "Version 1.2.3" if "1.2.3" in request.tool_results[0].text else "unknown",
    )
    ran = runner.prompt("which version is this?")
    assert ran.code == 0, ran
    assert ran.result["result"] == "Version 1.2.3"
    assert len(runner.requests) == ran.result["num_turns"] == 2
    assert ran.result["budget"]["used"]["tool_calls"] == 1


def test_f062_a_bug_analysis_reads_greps_edits_tests_and_sums_up(runner: Runner) -> None:
    (runner.work / "shop.py").write_text("def total(prices):\n    return max(prices)\n")
    (runner.work / "test_shop.py").write_text(
        "from shop import total\n\nassert total([1, 2]) == 3\nprint('1 passed')\n"
    )
    test = "python3 test_shop.py"
    runner.serve(
        reply(call("FileReadTool", file_path="shop.py")),
        reply(call("GrepTool", pattern="total", output_mode="files_with_matches")),
        reply(
            call("FileEditTool", file_path="shop.py", old_string="max(", new_string="sum("),
        ),
        reply(call("BashTool", command=test)),
        "total() took the largest price; it sums them now, and the test passes.",
    )
    ran = runner.frames("the test fails, why?", *EDITS, "--allowedTools", f"Bash({test})")
    assert ran.code == 0, ran
    assert len(runner.requests) == ran.result["num_turns"] == 5
    steps = ran.result["iterations"]
    assert [step["tool_calls"] for step in steps] == [1, 1, 1, 1, 0]
    read, found, edited, tested = (request.tool_results[0].text for request in runner.requests[1:])
    assert "return max(prices)" in read
    assert {"shop.py", "test_shop.py"} <= set(found.split())
    assert "return sum(prices)" in edited
    assert tested == "1 passed"
    assert ran.result["result"].startswith("total() took")
    assert ran.result["files_changed"] == [str(runner.work / "shop.py")]
    assert ran.result["commands"] == [{"command": test, "exit_code": 0}]
