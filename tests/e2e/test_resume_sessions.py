"""Going on with a session: what is found, what is kept, and what each flag overrides alone."""

from __future__ import annotations

import json
import os
import signal
import threading

import pytest

from detent.testing import call, reply, say

from .conftest import Live, Runner
from .test_crash_repair import only_session, soon

WRITE = call("Write", file_path="new.txt", content="x\n")


def kill(live: Live) -> None:
    os.kill(live.pid, signal.SIGKILL)
    live.wait()


def types(runner: Runner) -> list[str]:
    if not runner.logs:
        return []
    lines = runner.logs[0].read_text().splitlines()
    return [json.loads(line)["type"] for line in lines if line.endswith("}")]


def test_killed_before_the_first_answer_it_is_found_with_its_prompt(runner: Runner) -> None:
    runner.serve(reply("x", hold=threading.Event(), hold_after=0), "I see")
    live = runner.start("-p", "the first prompt")
    assert soon(lambda: len(runner.requests) == 1)
    kill(live)
    again = runner.prompt("and now", "-c")
    assert again.code == 0, again
    assert again.result["session_id"] == only_session(runner)
    said = str(runner.requests[-1].messages)
    assert said.index("the first prompt") < said.index("and now")


def test_killed_when_nothing_but_the_prompt_was_written(runner: Runner) -> None:
    """A hook holds the turn right behind it."""
    gate = runner.work / "gate"
    os.mkfifo(gate)
    hook = {"type": "command", "command": f"cat {gate}"}
    settings = json.dumps({"hooks": {"UserPromptSubmit": [{"hooks": [hook]}]}})
    runner.serve("I see")
    live = runner.start("-p", "the first prompt", "--settings", settings)
    assert soon(lambda: "prompted" in types(runner))
    kill(live)
    assert "replied" not in types(runner) and not runner.requests
    assert runner.prompt("and now", "-c").code == 0
    assert "the first prompt" in str(runner.requests[-1].messages)


@pytest.mark.parametrize("number", range(1, 5))
def test_what_was_printed_is_in_the_log(runner: Runner, number: int) -> None:
    """Killed after the n-th frame: the log knows all that the frames have said."""
    runner.serve(
        reply(say("one"), call("Bash", command="echo two")),
        reply(say("three"), call("Bash", command="echo four")),
        "five",
    )
    live = runner.start(
        "-p", "go", "--output-format", "stream-json", "--permission-mode", "bypassPermissions"
    )
    frames = [live.next(kind) for kind in (["assistant", "user"] * 2)[:number]]
    kill(live)
    (log,) = runner.logs
    kept = log.read_text()
    for frame in frames:
        for block in frame["message"]["content"]:
            word = block.get("text") or block.get("content") or block.get("id")
            words = word if isinstance(word, str) else word[0]["text"]
            assert words.strip() in kept, (words, kept)


def test_text_that_was_cut_off_with_the_agent_is_gone_and_asked_for_again(runner: Runner) -> None:
    """Deltas are not written one by one: what is no whole answer yet was never kept."""
    never = threading.Event()
    runner.serve(reply(say("half an ", "answer"), hold=never, hold_after=1), "a whole answer")
    live = runner.start("-p", "go", "--output-format", "stream-json", "--include-partial-messages")
    live.next("stream_event", where=lambda frame: "half an" in str(frame))
    kill(live)
    assert runner.prompt("go on", "-c").code == 0
    assert "half an" not in runner.logs[0].read_text()
    assert [message["role"] for message in runner.requests[-1].messages] == ["user"]


def test_the_model_of_the_session_is_kept(runner: Runner) -> None:
    runner.serve("one", "two", "three", "four")
    assert runner.prompt("go", "--model", "anthropic/claude-opus-5").code == 0
    assert runner.prompt("on", "-c").code == 0
    assert runner.prompt("on", "-c", "--model", "anthropic/claude-haiku-5").code == 0
    assert runner.prompt("on", "-c").code == 0
    models = [request.json["model"] for request in runner.requests]
    assert models == ["claude-opus-5", "claude-opus-5", "claude-haiku-5", "claude-haiku-5"]


def test_a_model_that_the_environment_names_counts_before_it(runner: Runner) -> None:
    runner.serve("one", "two")
    assert runner.prompt("go", "--model", "anthropic/claude-opus-5").code == 0
    named = {"DETENT_MODEL": "anthropic/claude-haiku-5"}
    assert runner.prompt("on", "-c", env=named).code == 0
    assert runner.requests[-1].json["model"] == "claude-haiku-5"


def test_a_model_that_cannot_be_had_any_more_is_told(runner: Runner) -> None:
    runner.serve("one", "two")
    assert runner.prompt("go").code == 0
    _rewrite(runner, '"provider":"anthropic at', '"provider":"nowhere at')
    again = runner.prompt("on", "-c")
    assert again.code == 0, again
    assert "the session's model nowhere/" in again.stderr and "cannot be had" in again.stderr


@pytest.mark.parametrize("mode", ["plan", "dontAsk"])
def test_a_mode_that_holds_back_lasts(runner: Runner, mode: str) -> None:
    runner.serve("one", reply(WRITE), "two", reply(WRITE), "three", reply(WRITE), "four")
    assert runner.prompt("go", "--permission-mode", mode).code == 0
    again = runner.frames(
        "on", "-c", "--settings", '{"permissions": {"defaultMode": "acceptEdits"}}'
    )
    assert again.of("system", "init")[0]["permissionMode"] == mode
    assert not (runner.work / "new.txt").exists()
    left = runner.frames("on", "-c", "--permission-mode", "acceptEdits")
    assert left.code == 0 and (runner.work / "new.txt").exists(), left
    (runner.work / "new.txt").unlink()
    after = runner.frames("on", "-c")  # who has left it has left it for good
    assert after.of("system", "init")[0]["permissionMode"] == "default"


@pytest.mark.parametrize("mode", ["acceptEdits", "bypassPermissions"])
def test_a_wider_mode_does_not_come_back(runner: Runner, mode: str) -> None:
    runner.serve(reply(WRITE), "one", reply(call("Write", file_path="b.txt", content="x")), "two")
    assert runner.prompt("go", "--permission-mode", mode).code == 0
    assert (runner.work / "new.txt").exists()
    again = runner.frames("on", "-c")
    assert again.of("system", "init")[0]["permissionMode"] == "default"
    assert not (runner.work / "b.txt").exists()


def test_a_budget_is_overridden_alone(runner: Runner) -> None:
    """Of two limits one is raised; the other stays, and so does the model."""
    runner.serve("one", "two")
    limits = ("--max-tokens", "100000", "--max-tool-calls", "7")
    assert runner.prompt("go", "--model", "anthropic/claude-opus-5", *limits).code == 0
    assert runner.prompt("on", "-c", "--max-tokens", "200000").code == 0
    kept = [e["budget"] for e in runner.entries(only_session(runner)) if e["type"] == "budgeted"]
    assert kept[-1] == {"tokens": 200000, "calls": 7}
    assert runner.requests[-1].json["model"] == "claude-opus-5"


def test_an_id_of_ones_own_and_none_at_all(runner: Runner) -> None:
    runner.serve("one", "two", "three")
    own = "11111111-2222-4333-8444-555555555555"
    assert runner.prompt("go", "--session-id", own).result["session_id"] == own
    taken = runner.prompt("go", "--session-id", own)
    assert taken.code == 2 and "--resume goes on with it" in taken.stderr
    assert runner.prompt("go", "-r", own, "--no-session").code == 0
    before = runner.logs[0].read_bytes()
    assert [log.stem for log in runner.logs] == [own]
    fork = "22222222-2222-4333-8444-555555555555"
    forked = runner.prompt("go", "-r", own, "--fork-session", "--session-id", fork)
    assert forked.result["session_id"] == fork
    assert runner.logs[0].read_bytes() == before


def _rewrite(runner: Runner, old: str, new: str) -> None:
    """A log as another machine may have written it."""
    from detent.session.log import frame
    from detent.session.reading import read_log
    from detent.types.codec import decode_entry, encode

    (log,) = runner.logs
    texts = [encode(entry).decode() for entry in read_log(str(log)).entries]
    assert any(old in text for text in texts)
    changed = [decode_entry(text.replace(old, new).encode()) for text in texts]
    log.write_bytes(b"".join(frame(entry) for entry in changed))
