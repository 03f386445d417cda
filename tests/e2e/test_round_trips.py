"""One full round trip on every wire: thinking, two calls, signatures back, cached tokens."""

from __future__ import annotations

import base64
import threading

from detent.testing import call, fault, reply, say, think

from .conftest import ALL_WIRES, Pipe, Runner

pytestmark = ALL_WIRES

SIGNATURES = {
    "anthropic": "signed-by-the-model",
    "chat": "thought-1-2",  # what some servers put beside a call
    "responses": "signed-by-the-model",
    "gemini": base64.b64encode(b"signed-by-the-model").decode(),
}


def test_a_turn_with_everything_in_it(runner: Runner) -> None:
    wire = runner.wire
    (runner.work / "a.txt").write_text("alpha\n")
    (runner.work / "b.txt").write_text("beta\n")
    runner.serve(
        reply(
            think("let me ", "look", signature="signed-by-the-model"),
            say("Both ", "files."),
            call("Read", {"file_path": str(runner.work / "a.txt")}),
            call("Read", {"file_path": str(runner.work / "b.txt")}),
            input=100,
            output=20,
            cache_read=70,
            quirks=("thought_signature", "reasoning_content") if wire == "chat" else (),
        ),
        reply("alpha and beta", input=200, output=4, cache_read=150),
    )
    ran = runner.frames("read both")
    assert ran.code == 0, ran
    assert ran.result["result"] == "alpha and beta"
    usage = ran.result["usage"]
    assert usage["cache_read_input_tokens"] == 220
    assert (usage["input_tokens"], usage["output_tokens"]) == (300, 24)
    first, second = runner.requests
    assert second.body.count(SIGNATURES[wire].encode()) == 1
    alpha, beta = (result.text for result in second.tool_results)
    assert "alpha" in alpha and "beta" in beta
    blocks = ran.of("assistant")[0]["message"]["content"]
    kinds = [block["type"] for block in blocks if block.get("thinking") != ""]
    assert kinds == ["thinking", "text", "tool_use", "tool_use"]
    # The conversation only grows: the cache of the provider can be used.
    if wire != "anthropic":  # there the mark moves on
        assert second.body.startswith(first.body[:-2])


def test_what_was_signed_goes_back_also_when_the_answer_broke_off(
    runner: Runner, pipe: Pipe
) -> None:
    """A provider that thinks before it calls refuses the call without the thought."""
    wire, cut = runner.wire, threading.Event()
    runner.serve(
        reply(
            think("let me ", "look", signature="signed-by-the-model"),
            say("Now."),
            call("Bash", command=f"echo ran > {pipe.path}"),
            fault=fault(cut_after=99),
            hold=cut,
            hold_after=99,
            quirks=("thought_signature", "reasoning_content") if wire == "chat" else (),
        ),
        "done",
    )
    live = runner.start(
        "-p", "x", "--output-format", "stream-json", "--dangerously-skip-permissions"
    )
    assert pipe.line() == "ran"
    cut.set()
    ran = live.finish()
    assert (ran.code, ran.result["result"]) == (0, "done"), ran
    assert SIGNATURES[wire].encode() in runner.requests[1].body
    assert len(runner.requests[1].tool_results) == 1
