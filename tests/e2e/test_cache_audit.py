"""Requests as the provider's cache sees them: thirty steps, a resumed session, what it misses."""

from __future__ import annotations

import json
import re
import subprocess
from itertools import pairwise
from typing import Any

from detent.testing import call, reply

from .conftest import ALL_WIRES, Runner

MARK = re.compile(rb',"cache_control":\{"type":"ephemeral"\}')
LOOKBACK = 20
"""How many blocks the provider looks back from a mark."""


def places(request: dict[str, Any]) -> list[int]:
    """At which blocks the marks stand: tools, then system, then messages, counted through."""
    blocks = [*request["tools"], *request["system"]]
    for message in request["messages"]:
        blocks += message["content"]
    return [number for number, block in enumerate(blocks) if "cache_control" in block]


def unmarked(request: dict[str, Any]) -> str:
    def strip(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: strip(each) for key, each in value.items() if key != "cache_control"}
        return [strip(each) for each in value] if isinstance(value, list) else value

    return json.dumps(strip({key: request[key] for key in ("tools", "system", "messages")}))


def test_thirty_steps(runner: Runner) -> None:
    (runner.work / "a.txt").write_text("alpha\n")
    many = [call("Read", {"file_path": str(runner.work / "a.txt")}) for _ in range(12)]
    steps = [reply("Reading.", *many[: 1 + number % 12]) for number in range(29)]
    runner.serve(*steps, "done")
    ran = runner.prompt("read", "--max-turns", "40")
    assert ran.code == 0, ran
    requests = [request.json for request in runner.requests]
    assert len(requests) == 30
    for request in requests:
        assert 3 <= len(places(request)) <= 4
        ends = [len(request["tools"]) - 1, len(request["tools"])]
        assert places(request)[:2] == ends, "the end of the tools, and of the stable prompt"
    for before, after in pairwise(requests):
        assert unmarked(after).startswith(unmarked(before)[:-2]), "the prefix has changed"
        # What the last request wrote into the cache is found again, however much came since.
        end = places(before)[-1]
        assert any(0 <= mark - end < LOOKBACK for mark in places(after))
        assert end in places(after)


@ALL_WIRES
def test_the_prefix_survives_steps_and_resume(runner: Runner, wire: str) -> None:
    """Each request is the beginning of the next, byte for byte, also in another process."""
    work = runner.work
    (work / "CLAUDE.md").write_text("Be quick.\n")
    (work / "a.txt").write_text("alpha ü\n" * 20)
    for command in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *command], cwd=work, check=True, env=runner.env())
    read = call("Read", {"file_path": str(work / "a.txt")})
    look = call("Grep", {"pattern": "alpha"})
    runner.serve(reply("I.", read, look), reply(look), "one", reply(read, read), "two", "three")
    session = runner.prompt("read").result["session_id"]
    (work / "b.txt").write_text("new\n")
    assert runner.prompt("more", "--resume", session).code == 0
    assert runner.prompt("and more", "--continue").code == 0
    bodies = [MARK.sub(b"", request.body) for request in runner.requests]
    assert len(bodies) == 6
    for before, after in pairwise(bodies):
        assert before.endswith(b"]}")
        assert after.startswith(before[:-2]), "the prefix has changed"


def test_two_sessions_of_a_folder_share_tools_and_prompt(runner: Runner) -> None:
    """What the first mark keeps, the next session finds."""
    runner.serve("one", "two")
    runner.prompt("first")
    runner.prompt("second")
    one, other = (request.json for request in runner.requests)
    assert one["tools"] == other["tools"]
    assert one["system"][0] == other["system"][0]


def test_a_miss_names_what_changed(runner: Runner) -> None:
    """Another process with another prompt: the provider says that it has found nothing."""
    warm = {"cache_read": 8000, "cache_write": 2000}
    runner.serve(
        reply("one", **warm),
        reply("two", cache_read=10_000),
        reply(call("Read", {"file_path": "none"}), cache_read=0, cache_write=10_000),
        reply("three", cache_read=10_000),
    )
    session = runner.prompt("hi").result["session_id"]
    normal = runner.prompt("more", "--resume", session, "--verbose", output="text")
    assert "prompt cache" not in normal.stderr
    changed = ("--resume", session, "--append-system-prompt", "Be kind.", "--verbose")
    told = runner.prompt("and more", *changed, output="text")
    lost = "10,000 tokens were not read from the prompt cache: "
    why = "the session's part of the system prompt has changed"
    assert f"{lost}the session was resumed; {why}" in told.stderr
    assert f"Last miss: {lost}{why}" in runner.run("context", session).stdout


def test_a_request_that_cannot_be_made_again_says_so(runner: Runner) -> None:
    """The log has a digest of the prompt, not the prompt."""
    runner.serve(reply("one", cache_write=2000))
    given = ("--append-system-prompt", "Be kind.")
    session = runner.prompt("hi", *given).result["session_id"]
    size, shown = len(runner.requests[0].body), ("context", session, "--at", "1", "--json")
    same = json.loads(runner.run(*shown, *given).stdout)
    assert (same["bytes"], same["differs"]) == (size, "")
    other = json.loads(runner.run(*shown).stdout)
    assert other["bytes"] < size
    assert other["differs"] == "the session's part of the system prompt has changed"
    table = runner.run("context", session, "--at", "1").stdout
    assert "Since it was sent, the session's part of the system prompt has changed" in table
