"""What comes out: text, json and stream-json; and what goes in on stdin."""

import json
import os
import threading
from pathlib import Path

import pytest

from detent.testing import Call, Request, call, reply, say, think

from .conftest import BOTH_WIRES, Frame, Ran, Runner

MEBIBYTE = 1024 * 1024


def make_plugin(folder: Path, *tools: tuple[str, str]) -> str:
    """A plugin whose tools only read, so that they run side by side; each is a shell script."""
    (folder / ".claude-plugin").mkdir(parents=True)
    declared = []
    for name, program in tools:
        (folder / name).write_text(f"#!/bin/sh\n{program}\n")
        (folder / name).chmod(0o755)
        declared.append({"name": name, "command": f"./{name}", "requiredPermission": "read-only"})
    manifest = json.dumps({"name": "ours", "tools": declared})
    (folder / ".claude-plugin" / "plugin.json").write_text(manifest)
    return str(folder)


# text


@BOTH_WIRES
def test_text_is_the_final_answer_only(runner: Runner) -> None:
    runner.serve(reply("Let me look. ", call("Bash", command="echo hi")), "It says hi.")
    ran = runner.run("-p", "what does it say?")
    assert (ran.code, ran.stdout, ran.stderr) == (0, "It says hi.\n", "")


def test_text_ends_with_one_newline_also_when_the_answer_has_one(runner: Runner) -> None:
    runner.serve("a line\n")
    assert runner.run("-p", "x").stdout == "a line\n"


def test_text_keeps_every_character_of_the_answer(runner: Runner) -> None:
    odd = 'naïve 日本 🎉 \\ "quoted" \x1b[31m\ttab\n\n  indented'
    runner.serve(odd)
    assert runner.run("-p", "x").stdout == odd + "\n"


def test_verbose_tells_on_stderr_what_is_done(runner: Runner) -> None:
    runner.serve(reply(call("Bash", command="echo hi")), "done")
    ran = runner.run("-p", "x", "--verbose")
    assert ran.stdout == "done\n"
    assert "→ Bash echo hi" in ran.stderr
    assert "✓" in ran.stderr


# json


@BOTH_WIRES
def test_json_is_one_object_with_the_fields_of_the_contract(runner: Runner) -> None:
    runner.serve(reply(call("Bash", command="echo hi"), input=100, output=20), "It says hi.")
    ran = runner.prompt("x", "--max-turns", "7")
    assert (ran.code, ran.stderr) == (0, "")
    assert len(ran.frames) == 1
    result = ran.result
    assert result["subtype"] == "success"
    assert result["is_error"] is False
    assert result["result"] == "It says hi."
    assert result["num_turns"] == 2
    assert result["terminal_reason"] == "completed"
    assert result["usage"]["input_tokens"] == 110
    assert result["usage"]["output_tokens"] == 25
    by_model = result["modelUsage"][runner.model]
    assert (by_model["inputTokens"], by_model["outputTokens"]) == (110, 25)
    assert isinstance(result["total_cost_usd"], float)
    assert result["duration_ms"] >= result["duration_api_ms"] >= 0
    assert [log.stem for log in runner.logs] == [result["session_id"]]
    assert result["permission_denials"] == []
    assert [step["stop_reason"] for step in result["iterations"]] == ["tool_use", "end_turn"]
    assert [step["usage"]["input_tokens"] for step in result["iterations"]] == [100, 10]
    assert result["auto_compaction"] is None
    assert result["files_changed"] == []
    assert result["commands"] == [{"command": "echo hi", "exit_code": 0}]
    assert result["budget"]["limits"] == {"turns": 7}
    used = result["budget"]["used"]
    assert (used["turns"], used["tokens"], used["tool_calls"]) == (2, 135, 1)
    assert used["usd"] == result["total_cost_usd"]


def test_a_known_price_gives_the_cost_to_the_cent(runner: Runner) -> None:
    runner.serve(reply("x", input=1_000_000, output=100_000))
    ran = runner.prompt("x", "--model", "claude-haiku-4-5")
    assert ran.result["total_cost_usd"] == pytest.approx(1.0 + 0.5)
    assert "cost_unknown" not in ran.result


@BOTH_WIRES
def test_an_unknown_price_is_said_to_be_unknown(runner: Runner) -> None:
    runner.serve(reply("x", input=1_000_000))
    ran = runner.prompt("x", "--model", "mystery-9000")
    assert ran.code == 0
    assert runner.requests[0].json["model"] == "mystery-9000"
    assert ran.result["cost_unknown"] is True
    assert ran.result["total_cost_usd"] == 0.0


@BOTH_WIRES
def test_files_changed_and_commands_with_exit_codes(runner: Runner) -> None:
    (runner.work / "old.txt").write_text("one\n")
    runner.serve(
        reply(call("Write", file_path="new.txt", content="x")),
        reply(call("Read", file_path="old.txt")),
        reply(call("Edit", file_path="old.txt", old_string="one", new_string="two")),
        reply(call("Edit", file_path="old.txt", old_string="absent", new_string="three")),
        reply(call("Bash", command="exit 3"), call("Bash", command="mkdir d; echo x > d/made")),
        "done",
    )
    ran = runner.prompt("x", "--dangerously-skip-permissions")
    assert ran.code == 0, ran
    expected = [str(runner.work / name) for name in ("new.txt", "old.txt", "d/made")]
    assert ran.result["files_changed"] == expected
    assert ran.result["commands"] == [
        {"command": "exit 3", "exit_code": 3},
        {"command": "mkdir d; echo x > d/made", "exit_code": 0},
    ]
    assert (runner.work / "old.txt").read_text() == "two\n"


def test_the_budget_tells_limits_and_use(runner: Runner) -> None:
    runner.serve(reply(call("Bash", command="true"), input=900, output=200))
    limits = ("--max-tokens", "1000", "--max-tool-calls", "9", "--max-time", "60")
    ran = runner.prompt("x", *limits, "--max-budget-usd", "5")
    assert ran.code == 4
    expected = {"tokens": 1000, "tool_calls": 9, "seconds": 60, "usd": 5}
    assert ran.result["budget"]["limits"] == expected
    assert ran.result["budget"]["used"]["tokens"] == 1100
    assert ran.result["terminal_reason"] == "budget_exhausted"
    assert ran.result["subtype"] == "error_during_execution", "no money was short"
    assert "1100 of 1000 tokens" in ran.result["result"]


# stream-json


@BOTH_WIRES
def test_frames_begin_with_init_and_end_with_the_result(runner: Runner) -> None:
    runner.serve(reply("Looking. ", call("Bash", command="echo hi")), "done")
    ran = runner.frames("x")
    assert (ran.code, ran.stderr) == (0, "")
    shapes = [(frame["type"], frame.get("subtype")) for frame in ran.frames]
    assert shapes == [
        ("system", "init"),
        ("assistant", None),
        ("user", None),
        ("assistant", None),
        ("result", "success"),
    ]
    assert len({frame["session_id"] for frame in ran.frames}) == 1
    assert len({frame["uuid"] for frame in ran.frames}) == len(ran.frames)
    init = ran.frames[0]
    assert init["cwd"] == str(runner.work)
    assert init["model"] == runner.model
    assert init["permissionMode"] == "default"
    assert {"Bash", "Read", "Edit", "Write", "Grep", "Glob"} <= set(init["tools"])
    message = ran.frames[1]["message"]
    assert message["model"] == runner.model
    assert [block["type"] for block in message["content"]] == ["text", "tool_use"]
    (result,) = ran.tool_results
    assert result["tool_use_id"] == message["content"][1]["id"]
    assert result["content"] == "hi"


def assert_short_lines(ran: Ran) -> None:
    assert max(len(line) for line in ran.stdout.splitlines()) < MEBIBYTE


@pytest.mark.parametrize("letter", ["x", "é", "\x01"])
def test_lines_stay_below_a_mebibyte_with_a_huge_tool_output(runner: Runner, letter: str) -> None:
    (runner.work / "big.txt").write_text(letter * 3_000_000)
    dump = make_plugin(runner.folder / "plugin", ("dump", "cat big.txt"))
    runner.serve(reply(call("Bash", command="cat big.txt"), call("dump")), "done")
    ran = runner.frames("x", "--plugin-dir", dump)
    assert ran.code == 0, ran
    assert [result["is_error"] for result in ran.tool_results] == [False, False]
    assert_short_lines(ran)


@BOTH_WIRES
def test_lines_stay_below_a_mebibyte_with_a_huge_answer(runner: Runner) -> None:
    many = {"values": list(range(300_000))}
    runner.serve(reply(say(*["é" * 3_000] * 1_000), Call("Nonsense", many)), "done")
    ran = runner.frames("x")
    assert ran.code == 0, ran
    assert_short_lines(ran)
    (use,) = [b for b in ran.of("assistant")[0]["message"]["content"] if b["type"] == "tool_use"]
    assert use["name"] == "Nonsense"
    assert use["id"] == ran.tool_results[0]["tool_use_id"]


@BOTH_WIRES
def test_results_of_parallel_calls_come_in_call_order(runner: Runner) -> None:
    """`first` ends only when the process of `second` is gone: they must run side by side."""
    os.mkfifo(runner.work / "fifo")
    plugin = make_plugin(
        runner.folder / "plugin",
        ("first", "read other < fifo; while kill -0 $other 2>/dev/null; do :; done; echo one"),
        ("second", "echo $$ > fifo; echo two"),
    )
    runner.serve(reply(call("first", id="a"), call("second", id="b")), "done")
    ran = runner.frames("x", "--plugin-dir", plugin)
    assert ran.code == 0, ran
    got = [(result["tool_use_id"], result["content"]) for result in ran.tool_results]
    assert got == [("a", "one"), ("b", "two")]
    told = [(result.id, result.text) for result in runner.requests[1].tool_results]
    assert told == got


# --include-partial-messages


def check_sequence(events: list[Frame]) -> list[dict[int, Frame]]:
    """The rules of the Messages API; returns the blocks of each message, put together."""
    messages: list[dict[int, Frame]] = []
    blocks: dict[int, Frame] = {}
    open_blocks: set[int] = set()
    state = "outside"
    for event in events:
        kind = event["type"]
        if kind == "message_start":
            assert state == "outside"
            state, blocks = "inside", {}
            assert event["message"]["role"] == "assistant"
        elif kind == "content_block_start":
            assert state == "inside"
            assert event["index"] == len(blocks), "blocks begin in order, and once"
            blocks[event["index"]] = {**event["content_block"], "said": ""}
            open_blocks.add(event["index"])
        elif kind == "content_block_delta":
            assert event["index"] in open_blocks
            delta = dict(event["delta"])
            assert delta.pop("type") in ("text_delta", "thinking_delta", "input_json_delta")
            (piece,) = delta.values()
            blocks[event["index"]]["said"] += piece
        elif kind == "content_block_stop":
            open_blocks.remove(event["index"])
        elif kind == "message_delta":
            assert state == "inside" and not open_blocks
            state = "ending"
            assert event["delta"]["stop_reason"]
        else:
            assert kind == "message_stop" and state == "ending"
            state = "outside"
            messages.append(blocks)
    assert state == "outside"
    return messages


def partial_events(ran: Ran) -> list[Frame]:
    return [frame["event"] for frame in ran.of("stream_event")]


@BOTH_WIRES
def test_partial_messages_follow_the_rules_of_the_messages_api(runner: Runner) -> None:
    runner.serve(
        reply(
            think("hm", "m"),
            say("Let me ", "look."),
            call("Bash", pieces=('{"comm', 'and":"echo hi"}')),
            call("Bash", command="true"),
            quirks=["reasoning"],
        ),
        reply(say("do", "ne")),
    )
    ran = runner.frames("x", "--include-partial-messages")
    assert ran.code == 0, ran
    first, second = check_sequence(partial_events(ran))
    said = [(block["type"], block["said"]) for block in first.values()]
    assert said[:3] == [
        ("thinking", "hmm"),
        ("text", "Let me look."),
        ("tool_use", '{"command":"echo hi"}'),
    ]
    assert json.loads(said[3][1]) == {"command": "true"}
    assert [block["said"] for block in second.values()] == ["done"]
    whole = ran.of("assistant")[0]["message"]["content"]
    assert [block["type"] for block in whole] == [kind for kind, _ in said]
    assert [b["id"] for b in whole[2:]] == [first[2]["id"], first[3]["id"]]
    types = [frame["type"] for frame in ran.frames]
    assert types.index("stream_event") < types.index("assistant")


def test_partial_messages_of_interleaved_calls_open_each_block_once(runner: Runner) -> None:
    runner.wire = "chat"
    runner.serve(
        reply(
            "Two at once.",
            call("Bash", pieces=('{"command":', '"echo one"}')),
            call("Bash", pieces=('{"command":', '"echo two"}')),
            quirks=["interleave"],
        ),
        "done",
    )
    ran = runner.frames("x", "--include-partial-messages")
    first, _ = check_sequence(partial_events(ran))
    assert [block["said"] for block in first.values()] == [
        "Two at once.",
        '{"command":"echo one"}',
        '{"command":"echo two"}',
    ]
    assert [result["content"] for result in ran.tool_results] == ["one", "two"]


def test_partial_messages_come_before_the_answer_is_complete(runner: Runner) -> None:
    release = threading.Event()
    runner.serve(reply(say("one ", "two"), hold=release, hold_after=1))
    partial = ("--output-format", "stream-json", "--include-partial-messages")
    live = runner.start("-p", "x", *partial)
    delta = live.next("stream_event", where=lambda f: "delta" in f["event"])
    assert delta["event"]["delta"] == {"type": "text_delta", "text": "one "}
    release.set()
    assert live.finish().result["result"] == "one two"


# stdin


@BOTH_WIRES
def test_stdin_is_context_and_the_prompt_the_instruction(runner: Runner) -> None:
    runner.serve("done")
    assert runner.run("-p", "review this", stdin="+ added line\n").code == 0
    (text,) = runner.requests[0].user_texts
    assert "+ added line" in text
    assert text.rstrip().endswith("review this")


@BOTH_WIRES
def test_stdin_alone_is_the_prompt(runner: Runner) -> None:
    runner.serve("done")
    ran = runner.run("-p", stdin="what is\ntwo and two?\n")
    assert (ran.code, ran.stdout) == (0, "done\n")
    (text,) = runner.requests[0].user_texts
    assert text.strip() == "what is\ntwo and two?"


def test_piped_stdin_without_p_is_headless_too(runner: Runner) -> None:
    runner.serve("done")
    ran = runner.run(stdin="hello")
    assert (ran.code, ran.stdout) == (0, "done\n")


def test_a_closed_stdin_is_no_context(runner: Runner) -> None:
    runner.serve("done")
    live = runner.start("-p", "hello")
    assert live.finish().stdout == "done\n"
    assert runner.requests[0].user_texts == ["hello"]


def test_a_prompt_that_looks_like_a_flag_goes_behind_two_dashes(runner: Runner) -> None:
    def answer(request: Request) -> str:
        return request.user_texts[-1]

    runner.serve(answer)
    assert runner.run("-p", "--", "--verbose is a flag?").stdout == "--verbose is a flag?\n"
