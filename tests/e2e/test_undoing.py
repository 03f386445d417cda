"""`detent uncompact`, and what becomes of a window that was learned: as a user sees it."""

from __future__ import annotations

import json
import os
import signal
from typing import Any

from detent.testing import fault, reply

from .conftest import Runner
from .test_compaction import steps, texts
from .test_compaction_faults import BYPASS, FILLS, WISH, kinds_that_can_be_read
from .test_making_room import KEY, end, house, printing

LOCAL = {"compaction": {"order": ["auto"], "tokens": 20_000, "summariser": "local"}}
NEVER = ("--settings", '{"autoCompactEnabled": false}')


def compacted(runner: Runner, *more: Any) -> str:
    runner.serve(*steps(*FILLS), reply("done", input=50), *more)
    ran = runner.frames(WISH, "--settings", json.dumps(LOCAL), *BYPASS)
    assert ran.of("system", "compact_boundary"), ran
    session: str = ran.result["session_id"]
    return session


def test_a_window_that_was_learned_outlives_the_run_though_trims_were_enough(
    runner: Runner,
) -> None:
    told = "prompt is too long: 15000 tokens > 12000 maximum"
    body = {"type": "error", "error": {"type": "invalid_request_error", "message": told}}
    runner.serve(*printing(8, 400), fault(400, body=body), end())
    ran = runner.prompt("look", *house(runner), env=KEY)
    session = ran.result["session_id"]
    kinds = [entry["type"] for entry in runner.entries(session)]
    assert kinds.count("learned") == 1 and "trimmed" in kinds and "compacted" not in kinds, ran
    flags = house(runner)[:4]
    seen = json.loads(runner.run("context", session, "--json", *flags, env=KEY).stdout)
    assert seen["window"] == 12_000
    summary = runner.run("context", "--summary", *flags[2:], env=KEY).stdout
    assert "nothing is summed up" in summary and "Shortened by " in summary
    done = runner.run("uncompact", session, *flags[2:], env=KEY)
    assert "whole again" in done.stdout and "messages came back" not in done.stdout, done
    assert "than the window of m (12,000)" in done.stdout, done


def test_what_came_back_is_counted_and_whether_it_fits(runner: Runner) -> None:
    session = compacted(runner)
    narrow = ("--settings", '{"autoCompactWindow": 3000}')
    found = json.loads(runner.run("uncompact", "--json", *narrow).stdout)
    assert found["session"] == session and len(found["undone"]) == 1
    assert (found["window"], found["fits"]) == (3_000, False)
    assert found["came_back"] > 0 and found["whole_again"] == 0
    again = runner.run("uncompact")
    assert again.code == 0 and "nothing to undo" in again.stdout


def test_memory_and_git_are_read_once_after_it(runner: Runner) -> None:
    (runner.work / "CLAUDE.md").write_text("Count from zero.\n")
    compacted(runner, "so", "and", "more")
    before = runner.requests[len(FILLS) - 1].json["messages"]
    runner.prompt("what now?", "-c", *NEVER, *BYPASS)
    assert texts(runner.requests[-1]).count("Count from zero.") == 1
    assert runner.run("uncompact").code == 0
    for wish in ("and now?", "and then?"):
        runner.prompt(wish, "-c", *NEVER, *BYPASS)
        sent = runner.requests[-1].json["messages"]
        assert texts(runner.requests[-1]).count("Count from zero.") == 1
        assert str(sent[0]) == str(before[0]), "it begins as it did"


def test_one_that_is_open_elsewhere_is_left_alone(runner: Runner) -> None:
    session = compacted(runner, "so")
    live = runner.converse("--resume", session)
    live.say("hello")
    live.next("result")
    ran = runner.run("uncompact")
    assert ran.code == 2 and "in use by another process: end that first" in ran.stderr
    assert "--fork-session" not in ran.stderr
    live.end_input()
    live.finish()


def test_killed_while_it_undoes(runner: Runner) -> None:
    """It is one write: done, or not done, or torn, and then passed over."""
    session = compacted(runner, *["ok"] * 8)
    (log,) = runner.logs
    whole = log.read_bytes()
    live = runner.start("uncompact")
    os.kill(live.pid, signal.SIGKILL)
    live.finish()
    assert log.read_bytes().startswith(whole)
    log.write_bytes(whole)
    assert runner.run("uncompact").code == 0
    record = log.read_bytes()[len(whole) :]
    assert record.count(b"\n") == 1 and b'"type":"restored"' in record
    for length in (1, len(record) // 2, len(record) - 1):
        log.write_bytes(whole + record[:length])
        ran = runner.run("uncompact", session)
        is_whole = length == len(record) - 1  # only the end of the line is missing
        expected = "nothing to undo" if is_whole else "1 shortening undone"
        assert ran.code == 0 and expected in ran.stdout, (length, ran)
        assert runner.prompt("on", "-c", *NEVER, *BYPASS).code == 0
        assert "some line of output 400" in texts(runner.requests[-1])


def test_a_log_that_cannot_be_written(runner: Runner) -> None:
    compacted(runner, "so", *steps(*FILLS), "ok")
    (log,) = runner.logs
    whole = log.read_bytes()
    ran = runner.run("uncompact", shell="ulimit -f 0")
    assert ran.code == 2 and "nothing was undone: " in ran.stderr, ran
    assert "Traceback" not in ran.stderr and log.read_bytes() == whole
    runner.serve(*steps(1, 2, 3, 4), "so")
    assert runner.prompt("more", "-c", *NEVER, *BYPASS).code == 0
    whole = log.read_bytes()
    local = ("--settings", json.dumps(LOCAL))
    ran = runner.prompt("/compact", "-c", *local, output="text", shell="ulimit -f 0")
    assert "is not being saved" in ran.stderr and "Traceback" not in ran.stderr, ran
    assert log.read_bytes() == whole and "compacted" in kinds_that_can_be_read(runner)


def test_the_summary_and_the_prompt_can_be_read(runner: Runner) -> None:
    session = compacted(runner)
    told = runner.run("context", session, "--summary")
    assert told.code == 0 and "summed up without a model (auto)" in told.stdout, told
    assert "The earlier part of this conversation is left out" in told.stdout
    found = json.loads(runner.run("context", "--summary", "--json").stdout)
    assert found["compacted"]["summary"].strip() in told.stdout
    prompt = runner.run("context", "--prompt", *BYPASS)
    assert prompt.code == 0, prompt
    system = [block["text"] for block in runner.requests[-1].json["system"]]
    stable, _, own = prompt.stdout.partition("\n\n__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__\n\n")
    assert stable in system and own.rstrip("\n") in system
    both = runner.run("context", "--summary", "--prompt")
    assert both.code == 2 and "choose one" in both.stderr


def test_a_host_is_told_when_a_summary_asked_for_by_hand_is_made(runner: Runner) -> None:
    runner.serve(*steps(*FILLS), "done", json.dumps({"goal": "count", "next_step": "count on"}))
    session = runner.prompt(WISH, *NEVER, *BYPASS).result["session_id"]
    ran = runner.frames("/compact", "--resume", session, *BYPASS)
    states = [frame["status"] for frame in ran.of("system", "status")]
    assert states[:2] == ["compacting", None] and ran.of("system", "compact_boundary"), ran
