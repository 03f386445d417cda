"""The script format: constructors, JSON, and what is said about mistakes."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from detent.testing import (
    Call,
    Fault,
    Foreign,
    RedactedThink,
    Reply,
    Request,
    Say,
    Script,
    Think,
    ToolResult,
    Usage,
    call,
    fault,
    load_script,
    parse_script,
    reply,
    say,
    script,
    think,
)
from detent.testing.scripted_model import ScriptedModel
from detent.types import messages
from detent.types.content import Text, plain_text


def request(body: object) -> Request:
    return Request(1, "/v1/messages", {}, json.dumps(body).encode(), 1, 0.0)


def test_constructors_make_the_data_one_would_write_by_hand() -> None:
    assert say("hi") == Say("hi")
    assert say("he", "llo") == Say("hello", ("he", "llo"))
    assert think("a", "b", signature="s") == Think("ab", "s", ("a", "b"))
    assert call("Bash", command="ls") == Call("Bash", {"command": "ls"})
    assert call("Bash", {"id": 1}, id="x", more=2) == Call("Bash", {"id": 1, "more": 2}, "x")
    assert call("Bash") == Call("Bash")
    assert call("Bash", {}) == Call("Bash", {})
    assert fault(529, retry_after="1") == Fault(529, {"retry-after": "1"})
    assert reply("x", input=1, output=2, gap=0.5) == Reply((Say("x"),), usage=Usage(1, 2), gap=0.5)


def test_script_takes_text_faults_replies_and_functions() -> None:
    def answer(request: Request) -> str:
        return request.path

    made = script("text", fault(529), reply("x"), answer, scenarios={"a": ["b"]})
    assert made.replies == (Reply((Say("text"),)), Reply(fault=Fault(529)), reply("x"), answer)
    assert made.scenarios == {"a": (Reply((Say("b"),)),)}


@pytest.mark.parametrize(
    ("made", "arguments", "fragments", "parsed"),
    [
        (call("T"), "", (), {}),
        (call("T", {}), "{}", ("{}",), {}),
        (call("T", a="ü"), '{"a": "ü"}', ('{"a": "ü"}',), {"a": "ü"}),
        (call("T", raw='{"a'), '{"a', ('{"a',), None),
        (call("T", raw="[1]"), "[1]", ("[1]",), None),
        (call("T", pieces=["", '{"a"', ":1}"]), '{"a":1}', ("", '{"a"', ":1}"), {"a": 1}),
    ],
)
def test_arguments_of_a_call(
    made: Call, arguments: str, fragments: tuple[str, ...], parsed: dict[str, Any] | None
) -> None:
    assert (made.arguments, made.fragments, made.parsed) == (arguments, fragments, parsed)


def test_stop_reason_follows_from_the_blocks_unless_given() -> None:
    assert reply("x").stop_reason == "end_turn"
    assert reply("x", call("T")).stop_reason == "tool_use"
    assert reply(call("T"), stop="max_tokens").stop_reason == "max_tokens"


def test_made_up_ids_differ_by_request_and_block() -> None:
    made = reply(call("A"), call("B"), call("C", id="own"))
    assert [made.call_id(n, 7) for n in range(3)] == ["call_7_0", "call_7_1", "own"]


@pytest.mark.parametrize(
    "mistake",
    [
        lambda: Say("ab", ("a",)),
        lambda: Think("ab", None, ("a",)),
        lambda: Call("T", {"a": 1}, pieces=('{"a"', ":2}")),
        lambda: Call("T", {"a": 1}, raw="{}"),
        lambda: Call("T", raw="{}", pieces=("{",)),
        lambda: reply("x", quirks=["no_such"]),
        lambda: fault(edits="no_such"),
    ],
)
def test_contradictions_are_refused(mistake: Any) -> None:
    with pytest.raises(ValueError):
        mistake()


def test_json_says_everything_python_says(tmp_path: Path) -> None:
    found = {
        "replies": [
            "text",
            {
                "blocks": [
                    "short",
                    {"say": "hi", "pieces": ["h", "i"]},
                    {"think": "hm", "signature": None},
                    {"redacted_think": "xx"},
                    {"call": "Bash", "input": {"a": 1}, "id": "i", "pieces": ['{"a"', ":1}"]},
                    {"call": "Bash", "raw": "{"},
                    {"foreign": {"type": "search"}},
                ],
                "stop": "max_tokens",
                "stop_details": {"why": "long"},
                "usage": {
                    "input": 1,
                    "output": 2,
                    "cache_read": 3,
                    "cache_write": 4,
                    "reasoning": 1,
                },
                "delay": 0,
                "gap": 0.5,
                "tail": 1,
                "headers": {"x": "y"},
                "model": "m",
                "quirks": ["no_index"],
                "fault": {"cut_after": 1, "no_stop": True},
            },
            {"fault": {"status": 529, "headers": {"retry-after": "1"}, "body": {"a": 1}}},
            {"fault": {"edits": ["crlf", "drop:ping"], "framing": "length", "split": 3}},
            {"fault": {"raw": "HTTP/1.1 200 OK\r\n\r\n\u00ff", "reset_after": 7}},
        ],
        "scenarios": {"one": ["a", "b"]},
        "pick": "by_turn",
        "after": "repeat_last",
    }
    path = tmp_path / "script.json"
    path.write_text(json.dumps(found), encoding="utf-8")
    rich = Reply(
        blocks=(
            Say("short"),
            Say("hi", ("h", "i")),
            Think("hm", None),
            RedactedThink("xx"),
            Call("Bash", {"a": 1}, "i", pieces=('{"a"', ":1}")),
            Call("Bash", raw="{"),
            Foreign({"type": "search"}),
        ),
        stop="max_tokens",
        stop_details={"why": "long"},
        usage=Usage(1, 2, 3, 4, 1),
        gap=0.5,
        tail=1,
        headers={"x": "y"},
        model="m",
        quirks=frozenset({"no_index"}),
        fault=Fault(cut_after=1, no_stop=True),
    )
    refused = Reply(fault=Fault(529, {"retry-after": "1"}, {"a": 1}))
    bent = Reply(fault=fault(edits=["crlf", "drop:ping"], framing="length", split=3))
    literal = Reply(fault=Fault(raw=b"HTTP/1.1 200 OK\r\n\r\n\xff", reset_after=7))
    assert load_script(path) == Script(
        (Reply((Say("text"),)), rich, refused, bent, literal),
        {"one": (Reply((Say("a"),)), Reply((Say("b"),)))},
        "by_turn",
        "repeat_last",
    )


def in_reply(**fields: object) -> dict[str, object]:
    return {"replies": ["", fields]}


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ([], "script: expected an object, got a list"),
        ({"reply": []}, "script: unknown key 'reply'"),
        ({"replies": {}}, "replies: expected a list, got an object"),
        ({"replies": [1]}, "replies[0]: expected an object, got a whole number"),
        ({"pick": "any"}, "pick: expected one of 'sequence', 'by_turn', got 'any'"),
        ({"scenarios": {"a": ["", None]}}, "scenarios.a[1]: expected an object, got null"),
        (in_reply(blocks=[{"cal": "B"}]), "replies[1].blocks[0]: unknown key 'cal'"),
        (
            in_reply(blocks=["", {"call": "B", "inputs": {}}]),
            "replies[1].blocks[1]: unknown key 'inputs'",
        ),
        (
            in_reply(blocks=[{"pieces": []}]),
            "replies[1].blocks[0]: needs one of 'say', 'think', 'redacted_think', 'call', 'for",
        ),
        (
            in_reply(blocks=[{"say": "ab", "pieces": ["a"]}]),
            "replies[1].blocks[0]: pieces do not join up to the text",
        ),
        (
            in_reply(blocks=[{"say": "a", "pieces": ["a", 1]}]),
            "replies[1].blocks[0].pieces[1]: expected a string, got a whole number",
        ),
        (in_reply(delay="1"), "replies[1].delay: expected a number, got a string"),
        (in_reply(delay=-1), "replies[1].delay: must not be negative"),
        (
            in_reply(usage={"input": True}),
            "replies[1].usage.input: expected a whole number, got true or false",
        ),
        (in_reply(fault={"cut": 1}), "replies[1].fault: unknown key 'cut'"),
        (
            in_reply(fault={"status": 1.5}),
            "replies[1].fault.status: expected a whole number, got a number",
        ),
        (in_reply(fault={"body": 1}), "replies[1].fault.body: expected a string or an object"),
        (
            in_reply(fault={"edits": ["crlf", "odd"]}),
            "replies[1].fault.edits[1]: unknown edit 'odd'",
        ),
        (
            in_reply(fault={"edits": ["crlf:1"]}),
            "replies[1].fault.edits[0]: the edit 'crlf' takes no argument",
        ),
        (
            in_reply(fault={"edits": ["drop"]}),
            "replies[1].fault.edits[0]: the edit 'drop' needs an argument",
        ),
        (
            in_reply(fault={"edits": ["replace:a"]}),
            "replies[1].fault.edits[0]: the edit 'replace' needs OLD=>NEW",
        ),
        (
            in_reply(fault={"edits": ["gzip_bomb:much"]}),
            "replies[1].fault.edits[0]: the edit 'gzip_bomb' needs a number",
        ),
        (in_reply(fault={"framing": "odd"}), "replies[1].fault.framing: expected one of"),
        (in_reply(fault={"raw": "\u1234"}), "replies[1].fault.raw: expected characters up to"),
        (
            in_reply(blocks=[{"foreign": "x"}]),
            "replies[1].blocks[0].foreign: expected an object, got a string",
        ),
        (in_reply(headers={"a": 1}), "replies[1].headers.a: expected a string"),
        (in_reply(quirks=["odd"]), "replies[1].quirks[0]: expected one of"),
    ],
)
def test_a_mistake_is_named_with_its_place(found: object, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        parse_script(found)
    assert str(caught.value).startswith(message)


def test_a_file_that_is_not_json(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text("{", encoding="utf-8")
    with pytest.raises(ValueError, match="not JSON"):
        load_script(path)


ANTHROPIC_TALK = [
    {"role": "user", "content": [{"type": "text", "text": "SCENARIO:first"}]},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "a"}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "old"}]},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "b"}]},
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "b", "content": "new", "is_error": True},
            {
                "type": "tool_result",
                "tool_use_id": "c",
                "content": [{"type": "text", "text": "two"}],
            },
        ],
    },
]
CHAT_TALK = [
    {"role": "system", "content": "SCENARIO:never"},
    {"role": "user", "content": "SCENARIO:first"},
    {"role": "assistant", "content": None},
    {"role": "tool", "tool_call_id": "b", "content": "new"},
    {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "two"}]},
]


def test_a_request_knows_its_turn_and_latest_tool_results() -> None:
    ours = request({"messages": ANTHROPIC_TALK})
    assert ours.turn == 2
    assert ours.tool_results == [ToolResult("b", "new", True), ToolResult("c", "two", False)]
    theirs = request({"messages": CHAT_TALK})
    assert theirs.turn == 1
    assert theirs.tool_results == [ToolResult("b", "new", False), ToolResult("c", "two", False)]


RESPONSES_TALK = [
    {"role": "developer", "content": "SCENARIO:never"},
    {"role": "user", "content": [{"type": "input_text", "text": "SCENARIO:first"}]},
    {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "x"},
    {"role": "assistant", "content": [{"type": "output_text", "text": "hm"}]},
    {"type": "function_call", "call_id": "b", "name": "T", "arguments": "{}"},
    {"type": "function_call", "call_id": "c", "name": "T", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "b", "output": "new"},
    {
        "type": "function_call_output",
        "call_id": "c",
        "output": [{"type": "input_text", "text": "two"}],
    },
]
GEMINI_TALK = [
    {"role": "user", "parts": [{"text": "SCENARIO:first"}]},
    {
        "role": "model",
        "parts": [
            {"text": "secret", "thought": True},
            {"text": "hm"},
            {"functionCall": {"id": "b", "name": "T", "args": {}}},
            {"functionCall": {"name": "T", "args": {}}},
        ],
    },
    {
        "role": "user",
        "parts": [
            {"functionResponse": {"id": "b", "name": "T", "response": {"output": "new"}}},
            {"functionResponse": {"name": "T", "response": {"error": "two"}}},
        ],
    },
]


def test_the_talk_of_the_other_two_wires() -> None:
    responses = request({"instructions": "be brief", "input": RESPONSES_TALK})
    assert [said.role for said in responses.talk] == [
        "system", "system", "user", "assistant", "user",
    ]  # fmt: skip
    assert responses.talk[3].text == "hm"
    assert responses.talk[3].calls == ("b", "c")
    assert responses.turn == 1
    assert responses.tool_results == [ToolResult("b", "new", False), ToolResult("c", "two", False)]
    assert responses.system == "be brief\nSCENARIO:never"
    assert responses.scenario == "first"
    gemini = request({"systemInstruction": {"parts": [{"text": "s"}]}, "contents": GEMINI_TALK})
    assert (gemini.system, gemini.turn, gemini.scenario) == ("s", 1, "first")
    assert gemini.talk[2].text == "hm"
    assert gemini.talk[2].calls == ("b", "T-1-1")
    assert gemini.tool_results == [ToolResult("b", "new", False), ToolResult("T-1-1", "two", True)]


def test_the_system_prompt_of_the_two_older_wires() -> None:
    parts = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    assert request({"system": parts, "messages": []}).system == "one\ntwo"
    assert request({"messages": CHAT_TALK}).system == "SCENARIO:never"


def test_input_that_is_only_text() -> None:
    assert request({"input": "hello"}).user_texts == ["hello"]


def test_the_scenario_is_in_the_last_user_text_or_else_in_the_first() -> None:
    assert request({"messages": ANTHROPIC_TALK}).scenario == "first"
    assert request({"messages": CHAT_TALK}).scenario == "first"
    more = [*CHAT_TALK, {"role": "user", "content": "go: PARITY_SCENARIO:second!"}]
    assert request({"messages": more}).scenario == "second"
    assert request({"messages": [*more, {"role": "user", "content": "and"}]}).scenario == "first"
    assert request({"messages": []}).scenario is None
    assert request({"messages": "odd"}).scenario is None


def test_a_body_that_is_no_object_has_no_json() -> None:
    with pytest.raises(ValueError):
        _ = request([1]).json


def test_the_function_named_script_wins_over_the_module_of_that_name() -> None:
    program = (
        "import detent.testing.server, sys; from detent.testing import script, serve;"
        "assert callable(script) and callable(serve)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_server_is_loaded_only_when_asked_for() -> None:
    program = "import detent.testing, sys; assert 'asyncio' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_script_in_process_repeats_its_last_reply_when_it_says_so(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text('{"replies": ["again"], "after": "repeat_last"}')
    model = ScriptedModel.from_file(str(path))

    async def main() -> list[str]:
        async def ignore(delta: object) -> None:
            pass

        asked = messages.Request((), [messages.User((Text("x"),))])
        return [plain_text((await model.stream(asked, ignore)).content) for _ in range(3)]

    assert asyncio.run(main()) == ["again"] * 3
