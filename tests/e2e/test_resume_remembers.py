"""A resumed session knows what it has read, and notices what changed meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

from detent.testing import call, reply

EDIT = call("Edit", file_path="a.txt", old_string="one", new_string="two")


def replies() -> tuple[Any, ...]:
    return (reply(call("Read", file_path="a.txt")), "read it", reply(EDIT), "changed it")


@pytest.mark.parametrize("how", ["-c", "--fork-session"])
def test_a_file_read_before_may_be_edited_after(runner: Any, how: str) -> None:
    (runner.work / "a.txt").write_text("one\n")
    runner.serve(*replies())
    assert runner.prompt("read").code == 0
    again = runner.prompt("edit", "-c", how, "--permission-mode", "acceptEdits")
    assert again.code == 0, again
    assert (runner.work / "a.txt").read_text() == "two\n"


def test_a_file_that_changed_meanwhile_must_be_read_again(runner: Any) -> None:
    (runner.work / "a.txt").write_text("one\n")
    runner.serve(*replies())
    runner.prompt("read")
    (runner.work / "a.txt").write_text("one and more\n")
    runner.prompt("edit", "-c", "--permission-mode", "acceptEdits")
    assert (runner.work / "a.txt").read_text() == "one and more\n"
    assert runner.requests[-1].tool_results[0].is_error
