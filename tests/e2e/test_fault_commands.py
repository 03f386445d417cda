"""Faults as the user of the installed command meets them: exit codes, frames, memory."""

from __future__ import annotations

import subprocess
import sys
from itertools import cycle

import pytest

from detent.testing import fault, reply, say

from .conftest import ALL_WIRES, DETENT, PATIENCE, Ran, Runner
from .fault_cases import ALL, CASES, Answers, Case, Ends, Recovers, Settles

QUICK = '{"retryDelays": [0, 0, 0, 0], "retryLongestWait": 0, "idleTimeout": 0.6}'
SKIP = "--dangerously-skip-permissions"

NAMES = (
    "crlf",
    "byte by byte",
    "gzip",
    "several data lines",
    "early hints first",
    "10,000 tiny deltas",
    "the same delta twice is content",
    "cut in the middle",
    "no end of the message",
    "an error in the middle",
    "a truncated event",
    "a reset after some bytes",
    "closed right after the request",
    "a chunk without a size",
    "half of a gzip",
    "a web page",
    "an empty stream",
    "silence in the middle",
    "a drip in the middle",
    "529 once",
    "retry-after: a date that has passed",
    "400",
    "401",
    "404",
    "500 for ever",
    "413",
    "cut at the length limit for ever",
    "a refusal",
    "cut for ever",
    "garbage for ever",
    "arguments that end early",
    "a call cut at the length limit",
    "two calls under one id",
    "an unknown tool",
)


def chosen() -> list[tuple[Case, str]]:
    """Each named case on one wire, the wires in turn."""
    known = {case.name: case for case in CASES if case.wires == ALL}
    return [(known[name], wire) for name, wire in zip(NAMES, cycle(ALL), strict=False)]


@pytest.mark.parametrize(
    ("case", "wire"), [pytest.param(c, wire, id=f"{wire}-{c.name}") for c, wire in chosen()]
)
def test_fault(runner: Runner, case: Case) -> None:
    runner.serve(*case.replies, after="repeat_last" if case.repeat else "error")
    ran = runner.frames("go", "--include-partial-messages", "--settings", QUICK, SKIP)
    assert "Traceback" not in ran.stderr, ran
    retries = ran.of("system", "api_retry")
    match case.outcome:
        case Answers(text, requests):
            assert (ran.code, ran.result["result"]) == (0, text), ran
            assert (len(runner.requests), retries) == (requests, [])
        case Recovers(_, status, text):
            assert (ran.code, ran.result["result"]) == (0, text), ran
            assert len(retries) == len(runner.requests) - 1 > 0
            assert status is None or retries[0]["error_status"] == status
        case Settles(texts):
            assert ran.code == 0, ran
            assert ran.result["result"] in texts
        case Ends(codes, requests, _):
            assert ran.code in codes, ran
            assert requests is None or len(runner.requests) == requests
            assert ran.result["is_error"] is True
    assert streamed(ran) == whole(ran), "what was streamed is not what was said"


def whole(ran: Ran) -> list[str]:
    """The texts of the whole messages."""
    return [
        "".join(block.get("text", "") for block in frame["message"]["content"])
        for frame in ran.of("assistant")
    ]


def streamed(ran: Ran) -> list[str]:
    """The texts that a host puts together from the parts; a retry takes back what has no end."""
    texts: list[str] = []
    current = ""
    for frame in ran.frames:
        event = frame.get("event", {})
        match event.get("type"):
            case "message_start":
                current = ""
            case "content_block_delta":
                current += event["delta"].get("text", "")
            case "message_stop":
                texts.append(current)
    return texts


@ALL_WIRES
def test_people_see_the_answer_once(runner: Runner) -> None:
    runner.serve(reply(say("first ", "try"), fault=fault(cut_after=1)), "second try")
    ran = runner.run("-p", "go", "--settings", QUICK)
    assert (ran.code, ran.stdout) == (0, "second try\n"), ran


@ALL_WIRES
def test_people_are_told_why_in_the_last_line(runner: Runner) -> None:
    runner.serve(fault(500), after="repeat_last")
    ran = runner.run("-p", "go", "--settings", QUICK)
    assert (ran.code, ran.stdout) == (7, ""), ran
    *waits, end = ran.stderr.splitlines()
    assert len(waits) == 3 and all("; retry " in wait for wait in waits)
    assert end.startswith("detent: ") and "retry" not in end


@ALL_WIRES
def test_a_redirect_elsewhere_is_told_and_not_followed(runner: Runner) -> None:
    runner.serve(fault(308, headers={"location": "http://other.invalid/v1"}))
    ran = runner.run("-p", "go", "--settings", QUICK)
    assert ran.code in (1, 7), ran
    assert "other.invalid" in ran.stderr


@ALL_WIRES
def test_an_error_text_cannot_paint_the_terminal(runner: Runner) -> None:
    runner.serve(fault(400, body="\x1b[31mred\x1b[0m \x00\x07 \u202eevil"))
    ran = runner.run("-p", "go", "--settings", QUICK)
    assert ran.code == 1, ran
    assert "red" in ran.stderr
    assert not set(ran.stderr) & set("\x1b\x00\x07\u202e")


@ALL_WIRES
def test_half_a_character_can_be_printed(runner: Runner) -> None:
    runner.serve(reply(say("\ud83d", "\ude00")), "second try")
    ran = runner.run("-p", "go", "--settings", QUICK)
    assert ran.code == 0, ran
    assert "Traceback" not in ran.stderr


PROBE = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(done.returncode)
"""


def peak(runner: Runner) -> tuple[int, int]:
    """Exit code and most kilobytes in use; a small parent, for a child inherits its peak."""
    # Patient: it takes the server a moment to make a bomb.
    patient = '{"retryDelays": [0, 0, 0, 0]}'
    command = [sys.executable, "-c", PROBE, str(DETENT), "-p", "go", "--settings", patient]
    ran = subprocess.run(
        command,
        env=runner.env(),
        cwd=runner.work,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    return ran.returncode, int(ran.stderr.split()[-1])


@ALL_WIRES
def test_a_bomb_costs_no_memory(runner: Runner) -> None:
    bomb = reply("x", fault=fault(edits="gzip_bomb:400"))
    runner.serve("fine", bomb, "fine")
    (code, usual), (again, bombed) = peak(runner), peak(runner)
    assert (code, again) == (0, 0)
    assert bombed - usual < 100_000, f"{usual} kB, with a bomb {bombed} kB"


@ALL_WIRES
def test_an_endless_error_text_costs_no_memory(runner: Runner) -> None:
    runner.serve("fine", fault(400, body="x" * 50_000_000))
    (code, usual), (refused, flooded) = peak(runner), peak(runner)
    assert (code, refused) == (0, 1)
    assert flooded - usual < 30_000, f"{usual} kB, with a flood {flooded} kB"
