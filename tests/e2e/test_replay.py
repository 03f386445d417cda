"""`detent replay`: what black-box runs have written comes out again, without model, tools and
network."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from detent.session.log import frame
from detent.session.reading import read_log
from detent.testing import Fault, call, reply
from detent.types.events import Replied

from .conftest import BOTH_WIRES, PATIENCE, Runner

HOOKS = {
    "hooks": {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "echo x >> hooked.txt"}]}
        ],
        "UserPromptSubmit": [{"hooks": [{"type": "command", "command": "echo mind the gap"}]}],
    }
}
WORK = (
    reply(call("Read", file_path="a.txt"), call("Bash", command="echo one >> effects.txt")),
    reply(call("Edit", file_path="a.txt", old_string="hello", new_string="bye")),
    "done",
)
LONG = "for i in $(seq 400); do echo some line of output $i; done"
FREE = ("--permission-mode", "bypassPermissions")


def wait_for_call(log: Path) -> None:
    until = time.monotonic() + PATIENCE
    while b'"callstarted"' not in log.read_bytes():
        assert time.monotonic() < until, "no call has started"
        time.sleep(0.01)


@pytest.fixture
def worked(runner: Runner) -> Runner:
    """After two runs of one session, with tools, hooks, a retry and a resume."""
    (runner.work / "a.txt").write_text("hello\n")
    runner.serve(*WORK, Fault(status=529), "more")
    settings = json.dumps(HOOKS)
    assert runner.prompt("go", *FREE, "--settings", settings).code == 0
    assert runner.prompt("and on", "-c", *FREE, "--settings", settings).code == 0
    return runner


def test_a_session_of_two_runs_with_tools_and_hooks_comes_out_again(worked: Runner) -> None:
    effects = {path.name: path.read_bytes() for path in worked.work.iterdir() if path.is_file()}
    requests = len(worked.requests)
    done = worked.run("replay", "--verify")
    assert done.code == 0, done
    assert "Nothing differs." in done.stdout
    assert len(worked.requests) == requests
    now = {path.name: path.read_bytes() for path in worked.work.iterdir() if path.is_file()}
    assert now == effects


def test_a_session_is_named_by_its_id_or_its_file(worked: Runner) -> None:
    (log,) = worked.logs
    for name in (log.stem, log.stem[:8], str(log)):
        told = json.loads(worked.run("replay", name, "--json").stdout)
        assert told["session"] == log.stem and told["turns"] == 2
        assert "difference" not in told
    missing = worked.run("replay", "no-such-session-anywhere")
    assert missing.code == 2 and "no session" in missing.stderr


def test_a_difference_is_shown_and_is_an_exit_code(worked: Runner) -> None:
    (log,) = worked.logs
    entries = list(read_log(str(log)).entries)
    place = next(i for i, entry in enumerate(entries) if isinstance(entry, Replied))
    first = entries[place]
    assert isinstance(first, Replied)
    entries[place] = replace(first, usage=replace(first.usage, input=first.usage.input + 1))
    other = Path(worked.work / "other.jsonl")
    other.write_bytes(b"".join(frame(entry) for entry in entries))
    done = worked.run("replay", str(other), "--verify")
    assert done.code == 1
    assert "It differs at entry" in done.stdout and "usage" in done.stdout
    assert worked.run("replay", str(other)).code == 0


def test_what_could_not_be_checked_is_told_apart(worked: Runner) -> None:
    (log,) = worked.logs
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join([*lines[:-2], b"rubbish\n", lines[-1]]))
    done = worked.run("replay", "--verify")
    assert done.code == 5
    assert "could not be checked: 1 damaged line" in done.stdout


def test_a_session_that_was_interrupted_comes_out_again(runner: Runner) -> None:
    runner.serve(reply("thinking aloud", call("Bash", command="sleep 30")), "never")
    live = runner.start("-p", "go", "--output-format", "stream-json", "--verbose", *FREE)
    live.next("assistant")
    (log,) = runner.logs
    wait_for_call(log)
    live.process.send_signal(signal.SIGINT)
    assert live.finish().code == 130
    done = runner.run("replay", "--verify")
    assert done.code == 0, done


def test_a_killed_session_comes_out_again(runner: Runner) -> None:
    runner.serve(reply(call("Bash", command="sleep 30")), "went on")
    live = runner.start("-p", "go", "--output-format", "stream-json", "--verbose", *FREE)
    live.next("assistant")
    (log,) = runner.logs
    wait_for_call(log)
    live.process.kill()
    live.finish()
    assert runner.run("replay", "--verify").code == 0
    assert runner.prompt("and now", "-c", *FREE).code == 0
    done = runner.run("replay", "--verify")
    assert done.code == 0, done


@BOTH_WIRES
def test_a_compaction_comes_out_again(runner: Runner) -> None:
    """Two answers that are no summary, and one that is."""
    bad = reply("I would rather not.", input=10, output=2)
    summary = reply(json.dumps({"goal": "to count", "next_step": "say so"}), input=900, output=80)
    again = [
        reply(call("Bash", command=f"{LONG} # {n}"), input=n, output=1)
        for n in (1_000, 2_000, 3_000, 30_000)
    ]
    runner.serve(*again, bad, bad, summary, reply("done", input=50, output=5))
    settings = json.dumps({"compaction": {"order": ["auto"], "tokens": 20_000}})
    ran = runner.prompt("Count.", *FREE, "--settings", settings)
    assert ran.code == 0, ran
    (entry,) = [e for e in runner.entries(runner.logs[0].stem) if e["type"] == "compacted"]
    assert (entry["by"], entry["failures"]) == ("model", 2)
    done = runner.run("replay", "--verify")
    assert done.code == 0, done


def test_it_can_be_played(worked: Runner) -> None:
    played = worked.run("replay", "--speed", "max")
    assert played.code == 0
    assert played.stdout == "done\nmore\n"
    assert "> go" in played.stderr and "Edit a.txt" in played.stderr
    assert worked.run("replay", "--speed", "1000").stdout == "done\nmore\n"
    wrong = worked.run("replay", "--speed", "fast")
    assert wrong.code == 2 and "--speed takes a number" in wrong.stderr
