"""The log and whatever may befall it, from outside: a clear word, nothing lost, no crash."""

from __future__ import annotations

import json
import shutil
import stat
from pathlib import Path
from zlib import crc32

import pytest

from detent.testing import call, reply

from .conftest import Ran, Runner

GOLDEN = Path(__file__).parent.parent / "golden"
LONG_PROMPT = "Write it down. " * 800
"""Too long for the file that `ulimit -f 8` allows, and not long enough for a blob."""


def writes(runner: Runner) -> Path:
    """What the model does: it writes a file, and says so."""
    target = runner.work / "new.txt"
    runner.serve(reply(call("Write", {"file_path": str(target), "content": "new\n"})), "done")
    return target


def later_record(rest: bytes = b'"v":3,"type":"prompted","seq":99}') -> bytes:
    return b'{"crc":"%08x",%b\n' % (crc32(b"{" + rest), rest)


# A disk that is full


def full(runner: Runner, *flags: str) -> Ran:
    """The disk takes a part of the prompt's record, and nothing more of the log."""
    return runner.prompt(
        LONG_PROMPT, "--permission-mode", "acceptEdits", *flags, shell="ulimit -f 8"
    )


def test_on_a_full_disk_it_says_so_and_does_nothing_that_is_not_recorded(runner: Runner) -> None:
    target = writes(runner)
    ran = full(runner)
    assert ran.code == 3, ran
    assert ran.result["result"] == "done", "it goes on"
    assert ran.stderr.count("This session is not being saved") == 1, ran
    assert "only part of a record" in ran.stderr
    assert not target.exists()
    (told,) = runner.requests[1].tool_results
    assert "session cannot be saved" in told.text
    assert "--allow-unsaved" in told.text
    (denied,) = ran.result["permission_denials"]
    assert denied["tool_name"] == "Write"


@pytest.mark.parametrize("agreed", ["--allow-unsaved", "--no-session"])
def test_who_agrees_may_act_without_a_record(runner: Runner, agreed: str) -> None:
    target = writes(runner)
    ran = full(runner, agreed)
    assert ran.code == 0, ran
    assert target.read_text() == "new\n"
    assert ran.stderr.count("not being saved") == (agreed == "--allow-unsaved")


def test_what_the_disk_took_is_read_again(runner: Runner) -> None:
    writes(runner)
    full(runner)
    (log,) = runner.logs
    before = log.read_bytes()
    assert len(before) == 8 * 1024
    runner.serve("and now?")
    ran = runner.prompt("more", "-c")
    assert ran.code == 0, ran
    assert "one line of" in ran.stderr and "passed over" in ran.stderr
    assert log.read_bytes().startswith(before + b"\n"), "never rewritten"
    added = log.read_bytes()[len(before) :].strip().splitlines()
    assert json.loads(added[0])["seq"] == 2, "it goes on from what was whole"


def test_a_file_that_is_removed_meanwhile(runner: Runner) -> None:
    target = runner.work / "new.txt"
    runner.serve("hello", reply(call("Write", {"file_path": str(target), "content": "x"})), "done")
    live = runner.converse("--permission-mode", "acceptEdits")
    live.say("hi")
    live.next("result")
    (log,) = runner.logs
    log.unlink()
    live.say("write")
    live.next("result")
    ran = live.finish()
    assert ran.code == 0, ran
    assert "somebody has removed its file" in ran.stderr + ran.stdout
    assert not target.exists()
    assert runner.logs == []


# Damage


def a_session(runner: Runner) -> Path:
    (runner.work / "a.txt").write_text("alpha\n")
    look = call("Read", {"file_path": str(runner.work / "a.txt")})
    runner.serve(reply("I look.", look), "It says alpha.")
    assert runner.prompt("what is in a.txt?").code == 0
    (log,) = runner.logs
    return log


def test_a_damaged_line_at_each_position(runner: Runner) -> None:
    log = a_session(runner)
    whole = log.read_bytes()
    lines = whole.splitlines(keepends=True)
    assert len(lines) > 5
    for position, line in enumerate(lines):
        middle = len(line) // 2
        harmed = line[:middle] + bytes([line[middle] ^ 1]) + line[middle + 1 :]
        content = b"".join((*lines[:position], harmed, *lines[position + 1 :]))
        log.write_bytes(content)
        runner.serve("yes")
        ran = runner.prompt("more", "-c")
        assert ran.code == 0, (position, ran)
        assert "one line of" in ran.stderr, (position, ran)
        assert log.read_bytes().startswith(content), "never rewritten"
        (request,) = runner.requests
        said = request.body.decode()
        assert ("what is in a.txt?" in said) == (b'"type":"prompted"' not in line)
        assert ("It says alpha." in said) == (b"It says alpha." not in line)


@pytest.mark.parametrize(
    "tail", [b"\0" * 4096, b"\0" * 100 + b"\n" + b"\0" * 100, b"\xff" * 50, b'{"crc":"', b"\n\n\n"]
)
def test_a_tail_of_rubbish(runner: Runner, tail: bytes) -> None:
    log = a_session(runner)
    whole = log.read_bytes()
    log.write_bytes(whole + tail)
    for prompt in ("more", "and more"):
        runner.serve("yes")
        ran = runner.prompt(prompt, "-c")
        assert ran.code == 0, ran
        assert ("passed over" in ran.stderr) == bool(tail.strip())
    assert log.read_bytes().startswith(whole + tail)
    (request,) = runner.requests
    assert "It says alpha." in request.body.decode()
    assert '"more"' in request.body.decode(), "what was written behind it counts"


# Versions


def test_a_session_of_a_later_version(runner: Runner) -> None:
    log = a_session(runner)
    whole = log.read_bytes()
    log.write_bytes(whole + later_record())
    for flags in (["-c"], ["--resume", log.stem]):
        ran = runner.prompt("more", *flags)
        assert ran.code == 2, ran
        assert "holds format 3, which a later version has written" in ran.stderr
        assert "--fork-session" in ran.stderr
    assert log.read_bytes() == whole + later_record()
    runner.serve("yes")
    ran = runner.prompt("more", "-c", "--fork-session")
    assert ran.code == 0, ran
    assert "from before format 3" in ran.stderr
    assert "It says alpha." in runner.requests[0].body.decode()
    assert log.read_bytes() == whole + later_record()


def test_a_session_of_the_first_version_goes_on(runner: Runner) -> None:
    log = a_session(runner)
    old = (GOLDEN / "log-v1.jsonl").read_bytes()
    log.write_bytes(old)
    runner.serve("yes")
    ran = runner.prompt("more", "-c")
    assert ran.code == 0, ran
    content = log.read_bytes()
    assert content.startswith(old)
    added = content[len(old) :].splitlines()
    assert added
    assert all(json.loads(line)["v"] == 2 for line in added)


# Two writers


def test_a_second_writer_is_told_and_may_look_or_copy(runner: Runner) -> None:
    runner.serve("one", "two")
    live = runner.converse()
    live.say("hi")
    session = live.next("result")["session_id"]
    ran = runner.prompt("me too", "-c")
    assert ran.code == 2, ran
    assert f"session {session} is in use by another process" in ran.stderr
    assert "--fork-session" in ran.stderr
    look = runner.run("context", session)
    assert look.code == 0, look
    copy = runner.prompt("me too", "-c", "--fork-session")
    assert copy.code == 0, copy
    assert copy.result["session_id"] != session
    live.finish()
    assert [entry["seq"] for entry in runner.entries(session)] == list(
        range(1, len(runner.entries(session)) + 1)
    )


# Blobs


def test_what_is_long_lies_in_the_blob_store(runner: Runner) -> None:
    runner.serve("much", "still much")
    piped = "a long line of a log file\n" * 4_000
    assert runner.prompt("what is this?", stdin=piped).code == 0
    (log,) = runner.logs
    assert log.stat().st_size < 50_000
    blobs = [file for file in runner.state.glob("blobs/*/*") if file.is_file()]
    assert any(piped.strip() in file.read_text() for file in blobs)
    for file in (log, *blobs):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    for folder in {
        parent for file in (log, *blobs) for parent in (file.parent, file.parent.parent)
    }:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert runner.prompt("and now?", "-c").code == 0
    first, second = runner.requests
    assert piped.strip() in json.dumps(first.messages).replace("\\n", "\n")
    assert second.messages[0]["content"][0]["text"] == first.messages[0]["content"][0]["text"]


def test_a_blob_that_is_gone_is_one_line_that_cannot_be_read(runner: Runner) -> None:
    runner.serve("much", "what?")
    assert runner.prompt("what is this?", stdin="x" * 100_000).code == 0
    shutil.rmtree(runner.state / "blobs")
    ran = runner.prompt("and now?", "-c")
    assert ran.code == 0, ran
    assert "one line of" in ran.stderr


# Durability


def test_power_is_a_setting_and_a_wrong_one_is_named(runner: Runner) -> None:
    target = writes(runner)
    settings = json.dumps({"durability": "power"})
    ran = runner.prompt("go", "--permission-mode", "acceptEdits", "--settings", settings)
    assert ran.code == 0, ran
    assert target.exists()
    wrong = runner.prompt("go", "--settings", json.dumps({"durability": "forever"}))
    assert wrong.code == 2
    assert "durability is one of process, power, not 'forever'" in wrong.stderr
