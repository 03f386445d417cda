"""Calls that came as text."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from detent.models.assemble import Assembler
from detent.models.protocols.openai_chat import OpenAIChat
from detent.models.protocols.wire import Manner
from detent.models.text_calls import MOST_MISSES, Found, Withheld, calls_in
from detent.types.content import Call, Text
from detent.types.events import TextDelta
from detent.types.messages import Request, ToolSpec, User

SCHEMA = msgspec.Raw(
    b'{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"},'
    b'"lines":{"anyOf":[{"type":"array"},{"type":"null"}]},"any":{"type":["string","null"]}}}'
)
TOOLS = {"Read": SCHEMA, "Bash": msgspec.Raw(b"{}")}
READ = '{"path": "a"}'
NAMED = f'{{"name": "Read", "arguments": {READ}}}'
ONE = [Found("Read", READ)]


@pytest.mark.parametrize(
    "text",
    [
        f"<tool_call>\n{NAMED}\n</tool_call>",
        f"<tool_call>{NAMED}",
        f"```json\n{NAMED}\n```",
        f"```json\n{NAMED}",
        f"  {NAMED}\n",
        f"[{NAMED}]",
        f'{{"name": "Read", "parameters": {READ}}}',
        json.dumps({"name": "Read", "arguments": READ}),
        f'{{"type": "function", "function": {NAMED}}}',
        f"[TOOL_CALLS][{NAMED}]",
        f"[TOOL_CALLS] {NAMED}",
        f"[TOOL_CALLS]Read[ARGS]{READ}",
        f"[TOOL_CALLS]Read[CALL_ID]abc[ARGS]{READ}",
        f"<|python_tag|>{NAMED}",
        f"<|tool_calls_section_begin|><|tool_call_begin|>functions.Read:0"
        f"<|tool_call_argument_begin|>{READ}<|tool_call_end|><|tool_calls_section_end|>",
        f"<|tool_call_begin|> Read <|tool_call_argument_begin|> {READ} <|tool_call_end|>",
    ],
)
def test_every_notation_is_read(text: str) -> None:
    assert calls_in(text, TOOLS) == ("", ONE)
    assert calls_in(text, {"Other": SCHEMA}) == (text, []), "only tools that were offered"


def test_parameters_in_tags_get_the_types_of_the_schema() -> None:
    text = (
        "<tool_call>\n<function=Read>\n<parameter=path>\n12\n</parameter>\n"
        "<parameter=limit>\n3\n</parameter><parameter=lines>[1]</parameter>"
        "<parameter=any>{}</parameter><parameter=more>7</parameter>\n</function>\n</tool_call>"
    )
    rest, (call,) = calls_in(text, TOOLS)
    assert rest == ""
    assert json.loads(call.arguments) == {
        "path": "12",
        "limit": 3,
        "lines": [1],
        "any": "{}",
        "more": "7",
    }
    odd = "<function=Read><parameter=limit>many</parameter></function>"
    assert json.loads(calls_in(odd, TOOLS)[1][0].arguments) == {"limit": "many"}
    assert calls_in("<function=Bash></function>", TOOLS) == ("", [Found("Bash", "{}")])


def test_the_text_around_is_kept_and_each_call_is_taken_once() -> None:
    text = f"before <tool_call>{NAMED}</tool_call> between <tool_call>{NAMED}</tool_call> after"
    assert calls_in(text, TOOLS) == ("before  between  after", ONE * 2)
    text = f"look [TOOL_CALLS][{NAMED}, {NAMED}]"
    assert calls_in(text, TOOLS) == ("look ", ONE * 2)
    text = f"<|python_tag|>{NAMED}; {NAMED}"
    assert calls_in(text, TOOLS) == ("", ONE * 2)


def test_a_closing_tag_inside_the_arguments_closes_nothing() -> None:
    arguments = json.dumps({"path": "</tool_call> ``` }"})
    named = f'{{"name":"Read","arguments":{arguments}}}'
    for text in (f"<tool_call>{named}</tool_call>", f"```json\n{named}\n```"):
        assert calls_in(text, TOOLS) == ("", [Found("Read", arguments)])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain",
        "<tool_call>",
        "<tool_call>{cut",
        '<tool_call>{"name":"Read"}</tool_call>',
        '<tool_call>{"name":"Read","arguments":[1]}</tool_call>',
        '<tool_call>{"name":"Read","arguments":"no object"}</tool_call>',
        '{"name":"Read","arguments":{}} and more',
        '{"name":"Read"}',
        '{"name":"Read","arguments":{"a":NaN}}',
        '```json\n{"name":"Read","arguments":{}}\nmore\n```',
        "<function=Read><parameter=path>a</parameter>",
        "<function=Read",
        "[TOOL_CALLS]Read",
        "<|tool_calls_section_begin|>",
        "[1, 2]",
        f'[{NAMED}, {{"a": 1}}]',
        "[" * 100_000,
        '<tool_call>{"a":' * 20_000,
    ],
)
def test_whatever_is_no_call_stays_text(text: str) -> None:
    assert calls_in(text, TOOLS) == (text, [])


def test_a_text_full_of_openings_is_not_searched_for_ever() -> None:
    wrong = "<function=Read>" * 100_000
    assert calls_in(wrong, TOOLS) == (wrong, [])
    last = f"<tool_call>{NAMED}</tool_call>"
    assert calls_in("<tool_call>" * (MOST_MISSES - 1) + last, TOOLS)[1] == ONE


# While it streams


def test_nothing_that_may_be_a_call_is_shown_before_its_time() -> None:
    one = Withheld(TOOLS)
    assert one.feed("I will <") == "I will "
    assert one.feed("b> and <tool") == "<b> and "
    assert one.feed("_call>") == ""
    assert one.feed(NAMED) == ""
    assert one.end() == ("", ONE)
    assert one.end() == ("", []), "once"


def test_what_turns_out_to_be_no_call_is_given_back_whole() -> None:
    one = Withheld(TOOLS)
    assert one.feed("a <tool_call>{x") == "a "
    assert one.end() == ("<tool_call>{x", [])
    assert one.feed(' {"a"') == ""
    assert one.end() == (' {"a"', [])
    assert one.feed("ends with ```js") == "ends with "
    assert one.end() == ("```js", [])


def test_an_ordinary_fence_is_shown_as_soon_as_it_closes() -> None:
    one = Withheld(TOOLS)
    assert one.feed('see ```json\n{"a": 1}\n') == "see "
    assert one.feed("``") == ""
    assert one.feed("` so") == '```json\n{"a": 1}\n``` so'
    assert one.feed(f"```json\n{NAMED}\n``` end") == ""
    assert one.end() == (" end", ONE)


def test_beside_calls_of_its_own_a_text_is_only_text() -> None:
    one = Withheld(TOOLS)
    one.feed(f"<tool_call>{NAMED}</tool_call>")
    assert one.end(search=False) == (f"<tool_call>{NAMED}</tool_call>", [])


# In the wire


def answered(*deltas: dict[str, Any], quirk: str = "text_calls", finish: str = "stop") -> Assembler:
    wire = OpenAIChat(Manner(quirks=frozenset({quirk})))
    tools = tuple(ToolSpec(name, "", schema) for name, schema in TOOLS.items())
    wire.body(Request((), (User((Text("hi"),)),), tools), "m", 1)
    one = Assembler()
    for delta in deltas:
        wire.read(json.dumps({"choices": [{"delta": delta}]}).encode(), one)
    wire.read(json.dumps({"choices": [{"finish_reason": finish}]}).encode(), one)
    wire.read(b"[DONE]", one)
    return one


WRITTEN = {"content": f"I look.\n<tool_call>{NAMED}</tool_call>"}


def test_the_wire_makes_calls_of_them() -> None:
    one = answered(WRITTEN)
    reply = one.reply("m")
    assert reply.content == (Text("I look.\n"), Call("call_1", "Read", READ))
    assert reply.stop == "tool_use"
    assert [d for d in one.drain() if isinstance(d, TextDelta)] == [TextDelta(0, "I look.\n")]


def test_text_behind_the_finish_reason_is_not_lost() -> None:
    wire, one = OpenAIChat(Manner(quirks=frozenset({"text_calls"}))), Assembler()
    wire.body(Request((), (User((Text("hi"),)),), (ToolSpec("Read", "", SCHEMA),)), "m", 1)
    wire.read(b'{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}', one)
    wire.read(b'{"choices":[{"delta":{"content":" <"}}]}', one)
    wire.finish(one)
    assert one.reply("m").content == (Text("a <"),)


def test_without_the_quirk_it_is_text() -> None:
    assert answered(WRITTEN, quirk="").reply("m").content == (Text(WRITTEN["content"]),)


def test_a_server_that_gives_both_means_its_own_calls() -> None:
    call = {"index": 3, "id": "x", "function": {"name": "Bash", "arguments": "{}"}}
    reply = answered(WRITTEN, {"tool_calls": [call]}).reply("m")
    assert reply.calls == (Call("x", "Bash", "{}"),)
    assert "".join(b.text for b in reply.content if isinstance(b, Text)) == WRITTEN["content"]
