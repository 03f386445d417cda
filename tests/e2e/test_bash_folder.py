"""The working folder of the installed command: a `cd` lasts, also over a resume."""

from __future__ import annotations

from detent.testing import call, reply

from .conftest import Runner

FREELY = ("--permission-mode", "bypassPermissions")


def bash(command: str) -> object:
    return reply(call("Bash", command=command))


def test_cd_lasts_within_the_workspace(runner: Runner) -> None:
    (runner.work / "sub").mkdir()
    (runner.work / "sub" / "a.txt").write_text("the one in sub\n")
    runner.serve(
        bash("cd sub"),
        reply(call("Bash", command="pwd"), call("Read", file_path="a.txt")),
        bash("cd / && pwd"),
        bash("pwd"),
        "done",
    )
    ran = runner.frames("go", *FREELY)
    assert ran.code == 0, ran
    moved, pwd, read, out, still = (str(result["content"]) for result in ran.tool_results)
    sub = str(runner.work / "sub")
    assert f"[Working folder: {sub}]" in moved
    assert sub in pwd
    assert "the one in sub" in read, "other tools stand there too"
    assert f"[The working folder is {sub} again: / is outside the workspace.]" in out
    assert sub in still


def test_calls_behind_a_cd_in_the_same_answer_stand_there(runner: Runner) -> None:
    (runner.work / "sub").mkdir()
    commands = ("cd sub", "pwd", "cd ..", "pwd")
    runner.serve(reply(*(call("Bash", command=command) for command in commands)), "done")
    ran = runner.frames("go", *FREELY)
    assert ran.code == 0, ran
    _, first, _, second = (str(result["content"]) for result in ran.tool_results)
    assert (str(runner.work / "sub") in first, str(runner.work / "sub") in second) == (True, False)


def test_a_resumed_session_stands_where_it_stood(runner: Runner) -> None:
    (runner.work / "sub").mkdir()
    runner.serve(bash("cd sub"), "gone there", bash("pwd"), "still there", bash("pwd"), "back")
    assert runner.prompt("go", *FREELY).code == 0
    again = runner.frames("where?", "-c", *FREELY)
    assert again.code == 0, again
    assert str(runner.work / "sub") in str(again.tool_results[0]["content"])
    (runner.work / "sub").rmdir()
    last = runner.frames("where?", "-c", *FREELY)
    assert last.code == 0, last
    assert str(last.tool_results[0]["content"]).strip().endswith(str(runner.work)), (
        "a folder that is gone is left"
    )
