"""`detent context`: the ledger adds up to the bytes that went over the wire, and asks nobody."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
import subprocess
from typing import Any

import pytest

from detent.testing import call, fault, reply

from .conftest import ALL_WIRES, DETENT, PATIENCE, Ran, Runner

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)
OFFLINE = {
    "ANTHROPIC_API_KEY": None, "ANTHROPIC_BASE_URL": None, "OPENAI_API_KEY": None,
    "OPENAI_BASE_URL": None, "GEMINI_API_KEY": None, "GEMINI_BASE_URL": None, "HOUSE_KEY": None,
}  # fmt: skip


def ledger(ran: Ran) -> dict[str, Any]:
    assert ran.code == 0, ran
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def check(found: dict[str, Any]) -> None:
    """Nothing is left out and nothing counted twice."""
    assert sum(block["bytes"] for block in found["blocks"]) == found["bytes"]
    assert sum(row["bytes"] for row in found["rows"]) == found["bytes"]
    assert sum(row["tokens"] for row in found["rows"]) == found["tokens"]
    assert found["tokens"] + found["free"] + found["reserved"] <= max(
        found["window"], found["tokens"]
    )


def converse(runner: Runner) -> str:
    """Two runs of one session, with memory, results, a picture and a failure. Gives its id."""
    work = runner.work
    (work / "CLAUDE.md").write_text("# House rules\nBe quick. " + "Rule. " * 40)
    (work / "a.txt").write_text("alpha ü\n" * 300)
    (work / "p.png").write_bytes(PNG)
    runner.serve(
        reply(
            "Reading.",
            call("Read", {"file_path": str(work / "a.txt")}),
            call("Read", {"file_path": str(work / "p.png")}),
            input=1000,
        ),
        reply("And.", call("Read", {"file_path": str(work / "none.txt")}), input=2000),
        reply("one", input=3000),
        reply(call("Grep", {"pattern": "alpha", "path": str(work)}), input=4000),
        reply("two", input=5000),
    )
    ran = runner.prompt("look at both")
    assert ran.code == 0, ran
    session = str(ran.result["session_id"])
    ran = runner.prompt("again", "--resume", session)
    assert ran.code == 0, ran
    return session


@ALL_WIRES
def test_every_request_adds_up_to_its_bytes(runner: Runner, wire: str) -> None:
    session = converse(runner)
    assert len(runner.requests) == 5
    for step, request in enumerate(runner.requests, 1):
        found = ledger(runner.run("context", session, "--at", str(step), "--json", env=OFFLINE))
        check(found)
        assert found["bytes"] == len(request.body), f"step {step}"
        assert found["is_exact"]
        assert found["tokens"] == step * 1000, "as the provider counted"
        assert all(block["billed"] is not None for block in found["blocks"])
        frame = next(row for row in found["rows"] if row["name"] == "frame")
        assert frame["bytes"] < 700


@ALL_WIRES
def test_every_block_is_known(runner: Runner, wire: str) -> None:
    session = converse(runner)
    found = ledger(runner.run("context", session, "--json", env=OFFLINE))
    check(found)
    entries = {entry["seq"]: entry for entry in runner.entries(session)}
    kinds: dict[str, str] = {
        "prompt": "prompted", "answer": "replied", "call": "replied", "result": "callended",
        "memory": "reminded", "reminder": "reminded", "surroundings": "reminded",
    }  # fmt: skip
    for block in found["blocks"]:
        assert block["reason"]
        if block["message"] >= 0:
            assert entries[block["origin"]]["type"] == kinds[block["kind"]]
    reasons = [block["reason"] for block in found["blocks"]]
    assert any(reason.startswith("result of Read: ") for reason in reasons)
    assert any("CLAUDE.md" in reason for reason in reasons)
    names = {row["name"] for row in found["rows"]}
    assert {"system prompt", "tools", "memory", "messages", "results", "images"} <= names
    assert (found["step"], found["steps"], found["state"]) == (0, 5, "NORMAL")


@pytest.mark.parametrize(
    ("order", "made", "kind"),
    [(["auto"], "compacted", "summary"), (["micro", "snip_window", "collapse"], "trimmed", "")],
)
def test_a_request_after_room_was_made_adds_up(
    runner: Runner, order: list[str], made: str, kind: str
) -> None:
    """Each request of the session, those before it included, as it was when it was sent."""
    (runner.work / "a.txt").write_text("alpha and omega\n" * 400)
    read = call("Read", {"file_path": str(runner.work / "a.txt")})
    runner.serve(
        *(reply(read, input=5_000) for _ in range(6)),
        reply("one", input=25_000),
        "two",
        "three",
    )
    settings = json.dumps({"compaction": {"summariser": "local", "tokens": 20_000, "order": order}})
    session = runner.prompt("read", "--settings", settings).result["session_id"]
    for prompt in ("more", "and more"):
        assert runner.prompt(prompt, "--resume", session, "--settings", settings).code == 0
    types = [entry["type"] for entry in runner.entries(session)]
    assert made in types, types
    for step, request in enumerate(runner.requests, 1):
        ran = runner.run(
            "context", session, "--at", str(step), "--json", "--settings", settings, env=OFFLINE
        )
        found = ledger(ran)
        check(found)
        assert found["bytes"] == len(request.body), f"step {step}"
    blocks = found["blocks"]
    if kind:
        assert kind in [block["kind"] for block in blocks]
    else:
        assert any(", shortened by " in block["reason"] for block in blocks)


def test_the_table(runner: Runner) -> None:
    session = converse(runner)
    for width in (60, 100):
        ran = runner.run("context", env={**OFFLINE, "COLUMNS": str(width)})
        assert ran.code == 0, ran
        lines = ran.stdout.splitlines()
        assert (session if width == 100 else f"{session[:8]}…") in lines[0]
        assert len(lines[1]) <= width
        assert lines[1].startswith("[S") or lines[1].startswith("[T")
        assert "\x1b" not in ran.stdout
        for name in ("system prompt", "tools", "memory", "results", "free", "reserved output"):
            assert any(name in line for line in lines)
        assert all(len(line) <= max(width, 100) for line in lines)
    short = len(ran.stdout.splitlines())
    assert len(runner.run("context", "--all", env=OFFLINE).stdout.splitlines()) > short


def test_a_session_in_use_can_be_looked_at(runner: Runner) -> None:
    runner.serve("one", "two")
    with_host = runner.converse()
    with_host.say("hi")
    with_host.next("result")
    before = runner.logs[0].read_bytes()
    found = ledger(runner.run("context", "--json", env=OFFLINE))
    assert found["steps"] == 1
    assert runner.logs[0].read_bytes() == before
    with_host.say("more")
    with_host.next("result")
    assert with_host.finish().code == 0


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ((), "no sessions here yet"),
        (("nobody",), "no session 'nobody'"),
        (("a", "b"), "takes one SESSION"),
        (("--at", "x"), "the number of a step"),
    ],
)
def test_what_is_wrong_is_said(runner: Runner, args: tuple[str, ...], says: str) -> None:
    ran = runner.run("context", *args)
    assert ran.code == 2
    assert says in ran.stderr


def test_a_step_that_never_was(runner: Runner) -> None:
    runner.serve("hi")
    runner.prompt("hi")
    ran = runner.run("context", "--at", "2")
    assert (ran.code, "there is no step 2" in ran.stderr) == (2, True)


def test_a_scripted_session_has_a_ledger_too(runner: Runner) -> None:
    script = runner.folder / "s.json"
    script.write_text('{"replies": ["hi"]}')
    assert runner.prompt("hi", "--model", f"scripted:{script}").code == 0
    found = ledger(runner.run("context", "--json"))
    assert not found["is_exact"]
    check(found)


def test_the_host_asks_for_usage(runner: Runner) -> None:
    (runner.work / "CLAUDE.md").write_text("Be quick.")
    runner.serve(reply("hi", input=5000))
    live = runner.converse()
    live.control("initialize")
    empty = live.control("get_context_usage")["response"]
    assert 0 < empty["totalTokens"] < 20_000, "the prompt and the tools"
    live.say("hi")
    live.next("result")
    answer = live.control("get_context_usage")["response"]
    assert answer["totalTokens"] >= 5000
    assert answer["maxTokens"] == answer["rawMaxTokens"] > 0
    assert answer["percentage"] == round(answer["totalTokens"] / answer["maxTokens"] * 100)
    assert answer["isAutoCompactEnabled"] is True
    assert answer["model"] == runner.model
    names = [category["name"] for category in answer["categories"]]
    assert {"System prompt", "Messages", "Free space"} <= set(names)
    assert all(set(one) >= {"name", "tokens", "color"} for one in answer["categories"])
    assert [one["path"] for one in answer["memoryFiles"]] == [str(runner.work / "CLAUDE.md")]
    assert answer["gridRows"]
    assert live.finish().code == 0


def test_an_answer_that_was_cut_had_more_room_in_the_end(runner: Runner) -> None:
    """It was asked for again with twice the room; what was thrown away has no entry."""
    read = call("Read", {"file_path": "none"})
    runner.serve(reply("half", stop="max_tokens"), reply(read), "whole")
    env = {"CLAUDE_CODE_MAX_OUTPUT_TOKENS": "8000"}
    session = runner.prompt("hi", env=env).result["session_id"]
    limits = [request.json["max_tokens"] for request in runner.requests]
    assert limits == [8_000, 16_000, 16_000]
    for step, request in enumerate(runner.requests[1:], 1):
        ran = runner.run("context", session, "--at", str(step), "--json", env={**OFFLINE, **env})
        assert ledger(ran)["bytes"] == len(request.body)


def test_the_last_word_of_a_budget_had_no_tools(runner: Runner) -> None:
    runner.serve(reply(call("Read", {"file_path": "none"})), "that is all")
    ran = runner.prompt("hi", "--max-tool-calls", "1", "--on-budget", "wrap_up")
    session = ran.result["session_id"]
    assert "tools" not in runner.requests[1].json
    for step, request in enumerate(runner.requests, 1):
        found = ledger(runner.run("context", session, "--at", str(step), "--json", env=OFFLINE))
        assert found["bytes"] == len(request.body)
    assert "tools" not in [row["name"] for row in found["rows"]]


def test_a_request_that_was_kept_short_by_its_budget_adds_up(runner: Runner) -> None:
    read = call("Read", {"file_path": "none"})
    runner.serve(reply(read, input=9_000, output=50), reply("so", input=9_100, output=5))
    flags = ("--max-tokens", "30000", "--strict-budget")
    session = runner.prompt("hi", *flags).result["session_id"]
    limits = [request.json["max_tokens"] for request in runner.requests]
    assert len(limits) == 2 and max(limits) < 20_000
    for step, request in enumerate(runner.requests, 1):
        ran = runner.run("context", session, "--at", str(step), "--json", env=OFFLINE)
        assert ledger(ran)["bytes"] == len(request.body)


def test_a_request_after_the_provider_found_it_too_long_adds_up(runner: Runner) -> None:
    (runner.work / "a").write_text("alpha beta\n" * 800)
    read = reply(call("Read", {"file_path": str(runner.work / "a")}))
    told = "prompt is too long: 210000 tokens > 20000 maximum"
    body = {"type": "error", "error": {"type": "invalid_request_error", "message": told}}
    runner.serve(*[read] * 5, fault(400, body=body), "done")
    settings = ("--settings", '{"compaction": {"summariser": "local"}}')
    session = runner.prompt("hi", *settings).result["session_id"]
    ran = runner.run("context", session, "--at", "6", "--json", *settings, env=OFFLINE)
    assert ledger(ran)["bytes"] == len(runner.requests[-1].body)


def test_thinking_that_goes_back_is_weighed(runner: Runner) -> None:
    from detent.testing.script import Think

    read = call("Read", {"file_path": "none"})
    runner.serve(reply(Think("let me see " * 50, "sig"), read), "so")
    session = runner.prompt("hi").result["session_id"]
    found = ledger(runner.run("context", session, "--at", "2", "--json", env=OFFLINE))
    assert found["bytes"] == len(runner.requests[1].body)
    (thought,) = [block for block in found["blocks"] if block["kind"] == "thinking"]
    assert thought["bytes"] > 500


@ALL_WIRES
def test_a_live_session_tells_the_same(runner: Runner, wire: str) -> None:
    """Also while a turn runs, and without changing what it sends."""
    from detent.sdk.context import look
    from detent.sdk.options import Options
    from detent.sdk.session import Session
    from detent.types.events import CallEnded
    from detent.types.ledger import ContextLedger

    read = call("Read", {"file_path": "none"})
    runner.serve(reply("I.", read, input=900), reply(read, input=950), reply("so", input=990))
    options = Options(cwd=str(runner.work), environ=runner.env(), persist=True)
    seen: list[ContextLedger] = []

    async def talk() -> str:
        async with Session(options) as session:
            async for event in session.send("hi"):
                if isinstance(event, CallEnded):
                    seen.append(session.context())
            seen.append(session.context())
            steps = [session.context(step) for step in (1, 2, 3)]
            assert [one.bytes for one in steps] == [len(r.body) for r in runner.requests]
            assert [one.tokens for one in steps] == [900, 950, 990]
            return session.id

    name = asyncio.run(talk())
    assert all(sum(b.bytes for b in one.blocks) == one.bytes for one in seen)
    assert [one.steps for one in seen][-1] == 3
    later = asyncio.run(look(options, name))
    assert later.blocks == seen[-1].blocks


@pytest.mark.parametrize(("given", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colours_are_for_terminals(runner: Runner, given: dict[str, str], coloured: bool) -> None:
    runner.serve("hi")
    assert runner.prompt("hi").code == 0
    ours, theirs = os.openpty()
    with open(ours, "rb", buffering=0) as terminal:
        done = subprocess.run(
            [str(DETENT), "context"],
            env=runner.env({**OFFLINE, "COLUMNS": "60", **given}),
            cwd=runner.work,
            stdout=theirs,
            timeout=PATIENCE,
            check=True,
        )
        assert done.returncode == 0
        os.close(theirs)
        said = terminal.read(100_000).decode()
    bar = said.splitlines()[1]
    assert ("\x1b[" in said) is coloured
    assert len(re.sub(r"\x1b\[\d+m", "", bar)) == 60
