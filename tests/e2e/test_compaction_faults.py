"""What may befall a compaction: killed, interrupted, no room on the disk, a model that answers with
rubbish or not at all. Nothing is lost, and the session goes on."""

from __future__ import annotations

import json
import os
import signal
import threading
from typing import Any

import pytest

from detent.testing import call, fault, reply

from .conftest import BOTH_WIRES, Live, Ran, Runner, assert_valid
from .test_compaction import SUMMARY, _bare, steps, texts

WISH = "Count the lines. Never use `wc_old`."
BYPASS = ("--permission-mode", "bypassPermissions")
AUTO = {"compaction": {"order": ["auto"], "tokens": 20_000}}
FILLS = (1_000, 2_000, 3_000, 30_000)


def args(**more: Any) -> tuple[str, ...]:
    return ("--settings", json.dumps({**AUTO, **more}), *BYPASS)


def started(runner: Runner, *said: Any) -> Live:
    """At the moment at which the summary is asked for."""
    runner.serve(*steps(*FILLS), *said)
    live = runner.start("-p", WISH, "--output-format", "stream-json", *args())
    live.follow()
    runner.server.wait_for(len(FILLS) + 1)
    return live


def kinds(runner: Runner) -> list[str]:
    (log,) = runner.logs
    return [json.loads(line)["type"] for line in log.read_text().splitlines()]


def goes_on(runner: Runner) -> Ran:
    """With a threshold that is not reached, so that what is sent is what was kept."""
    again = runner.prompt("and on", "-c", "--settings", '{"autoCompactEnabled": false}', *BYPASS)
    assert again.code == 0, again
    assert_valid(runner.requests[-1])
    return again


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
@BOTH_WIRES
def test_a_run_that_ends_while_it_asks_for_a_summary(runner: Runner, number: int) -> None:
    live = started(runner, reply(json.dumps(SUMMARY), hold=threading.Event(), hold_after=0), "ok")
    before = runner.requests[len(FILLS) - 1].json["messages"]
    os.kill(live.pid, number)
    ran = live.finish()
    assert ran.code == -number if number == signal.SIGKILL else ran.code == 130, ran
    assert "Traceback" not in ran.stderr and "compacted" not in kinds(runner)
    goes_on(runner)
    after = runner.requests[-1].json["messages"]
    assert _bare(after[: len(before)]) == _bare(before), "nothing was left out"
    assert "about to be shortened" not in texts(runner.requests[-1])


def test_a_run_that_ends_at_any_other_moment_of_it(runner: Runner) -> None:
    """Each entry is one write, so a killed run leaves a log that ends behind one, or within it."""
    (runner.work / "CLAUDE.md").write_text("Count from zero.\n")
    runner.serve(*steps(*FILLS), json.dumps(SUMMARY), reply("done", input=50), *["ok"] * 30)
    ran = runner.frames(WISH, *args())
    assert ran.code == 0 and ran.of("system", "compact_boundary"), ran
    (log,) = runner.logs
    lines = log.read_bytes().splitlines(keepends=True)
    at = next(n for n, line in enumerate(lines) if b'"type":"compacted"' in line)
    for length in range(at - 2, len(lines)):
        for torn in (b"", lines[length][: len(lines[length]) // 2]):
            log.write_bytes(b"".join(lines[:length]) + torn)
            goes_on(runner)
            sent = texts(runner.requests[-1])
            assert sent.count(WISH) == 1, (length, torn)
            assert sent.count("Count from zero.") == 1, (length, torn)
            assert ("half of them are counted" in sent) == (length > at)


@pytest.mark.parametrize(
    "said",
    [
        reply(call("Bash", command="touch ran")),
        reply(json.dumps(SUMMARY), call("Bash", command="touch ran")),
        reply("x" * 200_000),
        reply('{"goal": ' * 3_000),
        reply(json.dumps({key: {"a": [1, None, {"b": True}]} for key in SUMMARY})),
        reply(json.dumps({"goal": 7, "constraints": "one\ntwo", "decisions": None})),
        reply(json.dumps({**SUMMARY, "current_state": "y" * 200_000})),
        reply(json.dumps(SUMMARY)[:-40], stop="max_tokens"),
        reply("\x00\ud7ff\x1b[2J{}"),
        fault(400, body='{"error": {"message": "no"}}'),
    ],
    ids=["a call", "and a call", "rubbish", "braces", "other types", "odd types", "endless", "cut",
         "signs", "refused"],
)  # fmt: skip
def test_whatever_the_model_answers_the_turn_goes_on(runner: Runner, said: Any) -> None:
    def answers(request: Any) -> Any:
        if "about to be shortened" in texts(request):
            return said
        return reply("done", input=50)

    runner.serve(*steps(*FILLS), *[answers] * 6)
    ran = runner.frames(WISH, *args())
    assert (ran.code, ran.result["result"]) == (0, "done"), ran
    assert "compacted" in kinds(runner) and not (runner.work / "ran").exists()
    assert len(runner.requests) <= len(FILLS) + 4
    assert_valid(runner.requests[-1])
    assert WISH in texts(runner.requests[-1])
    assert len(texts(runner.requests[-1])) < len(texts(runner.requests[len(FILLS) - 1]))


def test_a_model_that_falls_silent_holds_nobody_up(runner: Runner) -> None:
    silent = reply("{", fault=fault(stall_after=0))
    runner.serve(*steps(*FILLS), silent, reply("done", input=50))
    ran = runner.frames(WISH, *args(idleTimeout=0.4, retryDelays=[]))
    assert (ran.code, ran.result["result"]) == (0, "done"), ran
    (entry,) = [e for e in runner.entries(ran.result["session_id"]) if e["type"] == "compacted"]
    assert "Tools used: Bash" in entry["summary"]


def test_a_disk_that_is_full_when_it_is_to_be_recorded(runner: Runner) -> None:
    """The work goes on, unsaved, and that is said; the log is as good as before."""
    big = json.dumps({**SUMMARY, "decisions": [f"{n}: " + "so it is, " * 40 for n in range(10)]})
    runner.serve(*steps(*FILLS), big, reply("done", input=50))
    assert runner.frames(WISH, *args()).code == 0
    (log,) = runner.logs
    length = log.read_bytes().index(b'"type":"compacted"')
    log.unlink()
    runner.serve(*steps(*FILLS), big, reply("done", input=50), "ok")
    before = f"ulimit -f {length // 1024 + 2}"
    ran = runner.run("-p", WISH, "--output-format", "json", *args(), shell=before)
    assert (ran.code, ran.result["result"]) == (0, "done"), ran
    assert "is not being saved" in ran.stderr and "Traceback" not in ran.stderr, ran
    assert_valid(runner.requests[-1])
    assert "compacted" not in kinds_that_can_be_read(runner)
    goes_on(runner)
    assert "Tools used" not in texts(runner.requests[-1]) and WISH in texts(runner.requests[-1])


def kinds_that_can_be_read(runner: Runner) -> list[str]:
    (log,) = runner.logs
    found = []
    for line in log.read_text().splitlines():
        try:
            found.append(json.loads(line)["type"])
        except ValueError:  # the one that was torn
            continue
    return found
