"""TodoWrite: the list lives in the log, so a resumed session knows what it was."""

from detent.testing import call, reply

from .conftest import Runner


def test_the_list_survives_a_resume(runner: Runner) -> None:
    one = {"content": "one", "status": "in_progress", "activeForm": "Doing one"}
    done = {**one, "status": "completed"}
    runner.serve(
        reply(call("TodoWrite", todos=[one])), "ok", reply(call("todo_write", todos=[done])), "ok"
    )
    first = runner.frames("go")
    assert first.tool_results[0]["data"] == {"oldTodos": [], "newTodos": [one]}
    assert first.tool_results[0]["content"] == "Noted: 0 of 1 done; now: one."
    second = runner.frames("go on", "--resume", first.result["session_id"])
    assert second.tool_results[0]["data"] == {"oldTodos": [one], "newTodos": [done]}
