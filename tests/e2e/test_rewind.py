"""Going back to a prompt: `/rewind`, and what programs of the ecosystem ask for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from detent.testing import call, reply

from .conftest import Runner

BYPASS = ("--permission-mode", "bypassPermissions")
FIRST = "11111111-1111-4111-8111-111111111111"
SECOND = "22222222-2222-4222-8222-222222222222"


def user(text: str, uuid: str = "") -> dict[str, Any]:
    frame = {"type": "user", "message": {"role": "user", "content": text}}
    return {**frame, "uuid": uuid} if uuid else frame


def texts(runner: Runner, request: int) -> str:
    return json.dumps(runner.requests[request].json["messages"])


@pytest.fixture
def worked(runner: Runner) -> Runner:
    """Two prompts; each writes a file with a command."""
    runner.serve(
        reply(call("Bash", command="printf 1 > one")),
        reply("first done"),
        reply(call("Bash", command="printf 2 > two; printf changed > one")),
        reply("second done"),
        reply("third done"),
    )
    return runner


def converse(runner: Runner) -> Any:
    live = runner.converse(*BYPASS)
    live.send(user("make one", FIRST))
    live.next("result")
    live.send(user("make two", SECOND))
    live.next("result")
    return live


def files(runner: Runner) -> dict[str, str]:
    return {path.name: path.read_text() for path in runner.work.iterdir() if path.is_file()}


def test_the_list_the_preview_and_both(worked: Runner) -> None:
    live = converse(worked)
    live.say("/rewind")
    listed = live.next("result")["result"]
    assert "1  make one  (2 files changed since)" in listed and "2  make two" in listed
    live.say("/rewind 2")
    seen = live.next("result")["result"]
    assert "would go back to before prompt 2" in seen and "D two" in seen
    assert files(worked) == {"one": "changed", "two": "2"}
    live.say("/rewind 2 both")
    live.next("result")
    assert files(worked) == {"one": "1"}
    live.say("make three")
    live.next("result")
    assert "make two" not in texts(worked, -1) and "make one" in texts(worked, -1)
    live.end_input()
    live.finish()


def test_the_chat_alone_and_back_again(worked: Runner) -> None:
    live = converse(worked)
    live.say("/rewind 2 chat")
    live.next("result")
    assert files(worked) == {"one": "changed", "two": "2"}
    live.say("/redo")
    assert "came back" in live.next("result")["result"]
    live.say("go on")
    live.next("result")
    assert "make two" in texts(worked, -1) and "second done" in texts(worked, -1)
    live.end_input()
    live.finish()


def test_a_model_that_lost_a_prompt_hears_of_files_that_stay(worked: Runner) -> None:
    converse(worked).finish()
    assert worked.run("-p", "-c", "/rewind 2 chat").code == 0
    worked.prompt("go on", "-c", *BYPASS)
    assert "make two" not in texts(worked, -1)
    assert "these files stay as you changed them later: " in texts(worked, -1)


def test_words_that_make_no_sense(worked: Runner) -> None:
    converse(worked).finish()
    for words in ("/rewind 9", "/rewind x", "/rewind 1 all", "/rewind 1 both now"):
        assert worked.run("-p", "-c", words).code == 2, words


def test_files_go_back_for_a_program(worked: Runner) -> None:
    live = converse(worked)
    seen = live.control("rewind_files", user_message_id=SECOND, dry_run=True)["response"]
    assert seen["canRewind"] and len(seen["filesChanged"]) == 2
    assert files(worked) == {"one": "changed", "two": "2"}
    done = live.control("rewind_files", user_message_id=SECOND)["response"]
    assert done["canRewind"] and files(worked) == {"one": "1"}
    live.send(user("go on"))
    live.next("result")
    assert "make two" in texts(worked, -1), "the conversation stays"
    assert "put back files that you had changed: one, two" in texts(worked, -1)
    unknown = live.control("rewind_files", user_message_id="nobody", dry_run=True)
    assert unknown["response"]["canRewind"] is False and unknown["response"]["error"]
    assert live.control("rewind_files", user_message_id="nobody")["subtype"] == "error"
    live.end_input()
    live.finish()


def test_a_resumed_session_knows_what_a_program_called_its_prompts(worked: Runner) -> None:
    converse(worked).finish()
    live = worked.converse("-c", *BYPASS)
    assert live.control("rewind_files", user_message_id=FIRST)["response"]["canRewind"]
    assert files(worked) == {}
    live.end_input()
    live.finish()


def test_a_replayed_message_keeps_its_name(worked: Runner) -> None:
    live = worked.converse(*BYPASS, "--replay-user-messages")
    for text, uuid in (("make one", FIRST), ("make two", SECOND)):
        live.send(user(text, uuid))
        replayed = live.next("user", where=lambda frame: bool(frame.get("isReplay")))
        assert replayed["uuid"] == uuid
        live.next("result")
    live.send(user("nameless"))
    given = live.next("user", where=lambda frame: bool(frame.get("isReplay")))["uuid"]
    live.next("result")
    assert live.control("rewind_files", user_message_id=given)["response"]["canRewind"]
    live.end_input()
    live.finish()


def first_answer(worked: Runner) -> tuple[str, str]:
    """The session, and what the last message of its first turn is called."""
    live = converse(worked)
    live.end_input()
    ran = live.finish()
    said = [f for f in ran.of("assistant") if "first done" in json.dumps(f)]
    return ran.frames[-1]["session_id"], said[0]["uuid"]


@pytest.mark.parametrize("fork", [(), ("--fork-session",)])
def test_going_on_from_an_earlier_message(worked: Runner, fork: tuple[str, ...]) -> None:
    session, uuid = first_answer(worked)
    flags = (f"--resume={session}", f"--resume-session-at={uuid}", f"--resume-drops-turn={SECOND}")
    ran = worked.prompt("go on", *flags, *fork, *BYPASS)
    assert ran.code == 0, ran
    assert (ran.result["session_id"] == session) == (not fork)
    assert "first done" in texts(worked, -1) and "make two" not in texts(worked, -1)


def test_a_resume_that_would_lose_more_is_refused(worked: Runner) -> None:
    session, uuid = first_answer(worked)
    logs = worked.logs
    flags = (f"--resume={session}", f"--resume-session-at={uuid}", f"--resume-drops-turn={FIRST}")
    ran = worked.prompt("go on", *flags, "--fork-session", *BYPASS)
    assert ran.code == 2 and "Resume rejected by --resume-drops-turn:" in ran.stdout, ran
    assert worked.logs == logs, "nothing was written for it"
    unknown = worked.prompt("go on", f"--resume={session}", "--resume-session-at=nobody")
    assert unknown.code == 2 and "there is no message" in unknown.stderr
    assert worked.run("-p", "x", "--resume-session-at", uuid).code == 2
