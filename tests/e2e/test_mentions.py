"""Files that prompts name with an `@` (F023), in headless runs."""

from __future__ import annotations

from detent.testing import call, reply

from .conftest import BOTH_WIRES, Runner
from .test_custom_commands import prompt_in


@BOTH_WIRES
def test_a_file_comes_with_the_prompt_and_can_be_edited(runner: Runner) -> None:
    edit = call("Edit", file_path="a.py", old_string="two", new_string="2")
    runner.serve(reply(edit), "done")
    (runner.work / "a.py").write_text("one\ntwo\nthree\n")
    ran = runner.prompt("Change @a.py#L2-3, please", "--permission-mode", "acceptEdits")
    assert ran.code == 0, ran
    said = prompt_in(runner.requests[0])
    assert "Change @a.py#L2-3, please" in said
    assert "2\ttwo\n     3\tthree" in said and "1\tone" not in said
    assert (runner.work / "a.py").read_text() == "one\n2\nthree\n"


def test_what_may_not_be_read_is_not_attached_and_that_is_told(runner: Runner) -> None:
    runner.serve("done")
    (runner.work / ".env").write_text("KEY=very-secret")
    ran = runner.frames("look at @.env and mail me@example.org")
    assert "very-secret" not in prompt_in(runner.requests[0])
    (notice,) = ran.of("system", "informational")
    assert notice["content"].startswith("@.env is not attached: Reading ")
    assert "@.env is not attached" in ran.stderr


def test_not_in_what_came_through_a_pipe(runner: Runner) -> None:
    runner.serve("done")
    (runner.work / "a.py").write_text("one\n")
    runner.run("-p", "what is this", stdin="see @a.py\n")
    assert "1\tone" not in prompt_in(runner.requests[0])


def test_in_frames(runner: Runner) -> None:
    runner.serve("one", "two")
    (runner.work / "a.py").write_text("words\n")
    live = runner.converse()
    live.say("see @a.py")
    live.next("result")
    message = {"role": "user", "content": "see @a.py"}
    live.send({"type": "user", "message": message, "client_composed": True})
    live.next("result")
    assert live.finish().code == 0
    first, second = (prompt_in(request) for request in runner.requests)
    assert "1\twords" in first and "1\twords" not in second
