"""Codecs under every split, every kind of block and any rubbish; and sealed state stays home."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from detent.context.project import project
from detent.models.assemble import Assembler
from detent.models.protocols.anthropic_messages import AnthropicMessages
from detent.models.protocols.chat_writing import QUIRKS
from detent.models.protocols.openai_chat import OpenAIChat
from detent.models.protocols.wire import Manner, Wire
from detent.models.sse import EventSplitter
from detent.models.text_calls import calls_in
from detent.types import content as ours
from detent.types.deltas import CallReady, Delta
from detent.types.errors import ModelFailure
from detent.types.events import CallEnded, Entry, Prompted, Replied, TextDelta
from detent.types.messages import Reply, Request, ToolSpec, User
from detent.types.outcomes import Done
from detent.types.usage import Usage

WIRES: dict[str, Any] = {"anthropic": AnthropicMessages, "chat": OpenAIChat}
TOOLS = (ToolSpec("T", "A tool.", msgspec.Raw(b'{"type":"object"}')),)
ASKED = Request((), (User((ours.Text("hi"),)),), TOOLS)

words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
objects = st.dictionaries(words, st.integers() | words | st.lists(words, max_size=2), max_size=2)


@st.composite
def pieces(draw: st.DrawFn, text: str) -> list[str]:
    places = sorted(draw(st.sets(st.integers(0, len(text)), max_size=6)))
    return [text[a:b] for a, b in pairwise([0, *places, len(text)])]


@st.composite
def splits(draw: st.DrawFn, data: bytes) -> list[bytes]:
    places = sorted(draw(st.sets(st.integers(0, len(data)), max_size=20)))
    return [data[a:b] for a, b in pairwise([0, *places, len(data)])]


def received(wire: Wire, chunks: Iterable[bytes]) -> tuple[Reply, list[Delta]]:
    splitter, into = EventSplitter(), Assembler()
    shown: list[Delta] = []
    for events in (*map(splitter.feed, chunks), splitter.finish()):
        for event in events:
            wire.read(event, into)
        shown += into.drain()
    wire.finish(into)
    return into.reply("m"), shown + into.drain()


def text_shown(deltas: Iterable[Delta]) -> str:
    return "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))


def sse(events: Iterable[Any]) -> bytes:
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)


# The Messages wire: every block comes back as it was, opaque ones with their input


@st.composite
def messages_streams(draw: st.DrawFn) -> tuple[list[Any], list[Any]]:
    """The events of an answer, and the blocks it is made of."""
    events: list[Any] = [{"type": "message_start", "message": {"id": "x"}}]
    blocks: list[Any] = []

    def add(begin: Any, deltas: list[Any], whole: Any) -> None:
        index = len(blocks)
        start = {"type": "content_block_start", "index": index, "content_block": begin}
        events.append(start)
        events.extend(
            {"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas
        )
        events.append({"type": "content_block_stop", "index": index})
        blocks.append(whole)

    for kind in draw(st.lists(st.sampled_from(["text", "thinking", "call", "search", "new"]))):
        given = draw(objects)
        inputs = [
            {"type": "input_json_delta", "partial_json": piece}
            for piece in draw(pieces(json.dumps(given)))
        ]
        match kind:
            case "text":
                text = draw(words)
                parts = [{"type": "text_delta", "text": part} for part in draw(pieces(text))]
                add({"type": "text", "text": ""}, parts, ours.Text(text))
            case "thinking":
                seal = [{"type": "signature_delta", "signature": "sig"}]
                add({"type": "thinking", "thinking": ""}, seal, ours.Thinking("", "sig"))
            case "call":
                call = {"type": "tool_use", "id": f"c{len(blocks)}", "name": "T"}
                add({**call, "input": {}}, inputs, ours.Call(call["id"], "T", json.dumps(given)))
            case "search":
                search = {"type": "server_tool_use", "id": "s", "name": "web_search"}
                add({**search, "input": {}}, inputs, {**search, "input": given})
            case _:
                block = {"type": "hologram", **draw(objects)}
                assume(block["type"] == "hologram")
                add(block, [], block)
    add({"type": "text", "text": "end"}, [], ours.Text("end"))
    return [*events, {"type": "message_stop"}], blocks


@given(messages_streams(), st.data())
@settings(max_examples=150)
def test_the_messages_wire_keeps_every_block(
    stream: tuple[list[Any], list[Any]], data: st.DataObject
) -> None:
    events, blocks = stream
    whole = sse(events)
    straight, _ = received(AnthropicMessages(), [whole])
    reply, deltas = received(AnthropicMessages(), data.draw(splits(whole)))
    assert reply == straight
    plain = [json.loads(b.data) if isinstance(b, ours.Opaque) else b for b in reply.content]
    assert plain == blocks
    assert text_shown(deltas) == ours.plain_text(reply.content)


# The Chat wire: sealed state, and calls that are written as text


def chunk(**delta: Any) -> Any:
    return {"choices": [{"delta": delta}]}


@st.composite
def chat_streams(draw: st.DrawFn) -> tuple[list[Any], str, list[tuple[str, Any]]]:
    """The chunks of an answer, the text of its reasoning details, and its calls' state."""
    thought = draw(words)
    events = [
        chunk(reasoning_details=[{"type": "reasoning.text", "index": 0, "text": part}])
        for part in draw(pieces(thought))
    ]
    events += [chunk(content=part) for part in draw(pieces(draw(words)))]
    calls = []
    for number in range(draw(st.integers(1, 3))):
        given, extra = draw(objects), draw(st.none() | objects)
        first, *rest = draw(pieces(json.dumps(given)))
        call = {"index": number, "id": f"c{number}", "extra_content": extra}
        events.append(chunk(tool_calls=[{**call, "function": {"name": "T", "arguments": first}}]))
        events += [
            chunk(tool_calls=[{"index": number, "function": {"arguments": part}}]) for part in rest
        ]
        calls.append((json.dumps(given), extra or None))
    return [*events, {"choices": [{"finish_reason": "tool_calls"}]}], thought, calls


@given(chat_streams(), st.data())
@settings(max_examples=150)
def test_the_chat_wire_keeps_what_is_sealed(
    stream: tuple[list[Any], str, list[tuple[str, Any]]], data: st.DataObject
) -> None:
    events, thought, calls = stream
    reply, deltas = received(OpenAIChat(), data.draw(splits(sse(events))))
    assert reply == received(OpenAIChat(), [sse(events)])[0]
    thinking = reply.content[0]
    assert isinstance(thinking, ours.Thinking)
    assert thinking.text == thought
    (detail,) = json.loads(thinking.signature)
    assert detail["text"] == thought
    states = [json.loads(call.signature) if call.signature else None for call in reply.calls]
    assert [(call.arguments, s) for call, s in zip(reply.calls, states, strict=True)] == calls
    ready = sorted((d for d in deltas if isinstance(d, CallReady)), key=lambda d: d.index)
    assert [d.call for d in ready] == list(reply.calls)


NAMED = '{"name":"T","arguments":{"a":"</tool_call>"}}'
fragments = st.sampled_from(
    [
        *("<tool_call>", "</tool_call>", "<function=T>", "<parameter=a>", "</parameter>"),
        *("</function>", "[TOOL_CALLS]", "<|python_tag|>", "<|tool_call_begin|>", "T[ARGS]{}"),
        *("<|tool_calls_section_begin|>", "functions.T:0<|tool_call_argument_begin|>{}"),
        *("```json\n", "```", "{", "}", "[", "]", "<", "`", ";", " ", "\n", '{"a":1}', "so"),
        *(NAMED, NAMED.replace('"T"', '"U"'), f"<tool_call>{NAMED}</tool_call>"),
        f"```json\n{NAMED}\n```",
    ]
)
texts = st.lists(fragments | words, max_size=8).map("".join)


@given(texts)
@settings(max_examples=400)
def test_calls_in_a_text_are_of_tools_that_exist_and_the_rest_is_of_the_text(text: str) -> None:
    tools = {tool.name: tool.schema for tool in TOOLS}
    rest, calls = calls_in(text, tools)
    for call in calls:
        assert call.name == "T"
        assert isinstance(json.loads(call.arguments), dict)
    assert calls or rest == text
    letters = iter(text)
    assert all(letter in letters for letter in rest), "in its order, with nothing added"
    assert calls_in(text, {}) == (text, [])


@given(texts, st.data())
@settings(max_examples=400)
def test_calls_in_a_text_are_the_same_for_every_split(text: str, data: st.DataObject) -> None:
    def answer(parts: list[str]) -> tuple[Any, ...]:
        wire = OpenAIChat(Manner(quirks=frozenset({"text_calls"})))
        wire.body(ASKED, "m", 1)
        events = [chunk(content=part) for part in parts]
        try:
            reply, deltas = received(
                wire, [sse([*events, {"choices": [{"finish_reason": "stop"}]}])]
            )
        except ModelFailure as failure:
            return (failure.kind,)
        assert text_shown(deltas) == ours.plain_text(reply.content)
        return reply.content, reply.stop, len([d for d in deltas if isinstance(d, CallReady)])

    whole = answer([text])
    assert answer(data.draw(pieces(text))) == whole
    assert answer(list(text)) == whole
    found = calls_in(text, {tool.name: tool.schema for tool in TOOLS})[1]
    if len(whole) > 1:
        assert whole[2] == len(found)


# Rubbish

KEYS = [
    *("type", "index", "delta", "content_block", "message", "usage", "error", "text", "input"),
    *("partial_json", "thinking", "signature", "data", "id", "name", "choices", "content"),
    *("finish_reason", "tool_calls", "function", "arguments", "extra_content", "reasoning"),
    *("reasoning_details", "stop_reason", "refusal", "encrypted_content", "summary", "code"),
]
KINDS = [
    *("content_block_start", "content_block_delta", "content_block_stop", "message_start"),
    *("message_delta", "message_stop", "error", "tool_use", "text", "thinking", "hologram"),
    *("input_json_delta", "text_delta", "server_tool_use", "redacted_thinking", "T", "{}", "[]"),
]
leaves = (
    st.none() | st.booleans() | st.integers(0, 2) | st.floats() | st.sampled_from(KINDS) | words
)
values: st.SearchStrategy[Any] = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5)
    ),
    max_leaves=12,
)
rubbish = (
    st.binary(max_size=20)
    | values.map(lambda value: json.dumps(value).encode())
    | st.dictionaries(st.sampled_from(KEYS), values, max_size=5).map(
        lambda v: json.dumps(v).encode()
    )
    | st.sampled_from(
        [b"[" * 5_000, b'{"error":' * 5_000, b"[DONE]", b'{"content_block":' + b"[" * 5_000]
    )
)


@st.composite
def damaged(draw: st.DrawFn, event: bytes) -> bytes:
    place = draw(st.integers(0, len(event)))
    match draw(st.sampled_from(["keep", "keep", "cut", "put", "swap"])):
        case "cut":
            return event[:place] + event[place + draw(st.integers(1, 5)) :]
        case "put":
            return event[:place] + draw(st.binary(min_size=1, max_size=3)) + event[place:]
        case "swap":
            return event[:place] + draw(st.sampled_from([b"0", b'"', b"\xff"])) + event[place + 1 :]
        case _:
            return event


def only_failures(wire: Wire, events: Iterable[bytes]) -> None:
    wire.body(ASKED, "m", 1)
    into = Assembler()
    for event in events:
        try:
            wire.read(event, into)
        except ModelFailure:
            continue  # a client gives up here; the codec must not be worse off for going on
        msgspec.json.encode(into.drain())
    try:
        wire.finish(into)
        reply = into.reply("m")
    except ModelFailure:
        return
    msgspec.json.encode(reply)
    said = (ours.Text("hi"),)
    entry = Replied(
        turn=1, step=1, model="m", content=reply.content, stop=reply.stop, usage=reply.usage
    )
    history = project([Prompted(turn=1, content=said), entry, Prompted(turn=2, content=said)])
    json.loads(wire.body(replace(ASKED, messages=history), "m", 1))


@pytest.mark.parametrize("wire", WIRES)
@given(events=st.lists(rubbish, max_size=8), quirks=st.sets(st.sampled_from(sorted(QUIRKS))))
@settings(max_examples=250)
def test_rubbish_is_a_failure_of_the_answer_and_nothing_else(
    wire: str, events: list[bytes], quirks: set[str]
) -> None:
    only_failures(WIRES[wire](Manner(quirks=frozenset(quirks))), events)


@given(messages_streams(), st.data())
@settings(max_examples=150)
def test_a_damaged_messages_stream(stream: tuple[list[Any], Any], data: st.DataObject) -> None:
    events = [data.draw(damaged(json.dumps(event).encode())) for event in stream[0]]
    only_failures(AnthropicMessages(), events)


@given(chat_streams(), st.data())
@settings(max_examples=150)
def test_a_damaged_chat_stream(stream: tuple[list[Any], Any, Any], data: st.DataObject) -> None:
    events = [data.draw(damaged(json.dumps(event).encode())) for event in stream[0]]
    only_failures(OpenAIChat(Manner(quirks=frozenset({"text_calls"}))), events)


# Histories

AUTHORS = [(model, provider) for model in ("m", "n") for provider in ("p", "q")]
ids = st.sampled_from(["a", "b", "functions.T:0", "ü", ""])
files: st.SearchStrategy[ours.Image | ours.Document] = st.sampled_from(
    [
        ours.Image("image/png", "aGk="),
        ours.Document("application/pdf", "aGk=", "a.pdf"),
        ours.Document("text/plain", "aGk="),
        ours.Document("text/plain", "broken"),
    ]
)
said = st.builds(ours.Text, words.filter(str.strip)) | files
prompts = st.builds(
    Prompted, turn=st.just(1), content=st.lists(said, min_size=1, max_size=3).map(tuple)
)


@st.composite
def answers(draw: st.DrawFn) -> list[Entry]:
    """An answer full of state that belongs to its author, and perhaps the ends of its calls."""
    model, provider = draw(st.sampled_from(AUTHORS))
    secret = f"SECRET-{model}-{provider}"
    block: st.SearchStrategy[ours.AssistantBlock] = st.sampled_from(
        [
            ours.Thinking("hm", secret),
            ours.Thinking(secret),
            ours.Thinking("hm", json.dumps([{"type": "reasoning.text", "signature": secret}])),
            ours.Redacted(secret),
            ours.Opaque(json.dumps({"type": "server_tool_use", "id": secret})),
            ours.Opaque(secret),
            ours.Text("so"),
            ours.Text(" "),
        ]
    )
    state = st.sampled_from(["", json.dumps({"google": secret}), secret])
    given = st.sampled_from(["", "{}", '{"a":1}', "{bad"])
    call = st.builds(ours.Call, ids, st.just("T"), given, state)
    content = tuple(draw(st.lists(block | call, max_size=5)))
    reply = Replied(
        turn=1,
        step=1,
        model=model,
        provider=provider,
        content=content,
        stop="end_turn",
        usage=Usage(1, 1),
    )
    outcome = Done(tuple(draw(st.lists(said, max_size=2))))
    ran = [b.id for b in content if isinstance(b, ours.Call) and draw(st.booleans())]
    return [reply, *(CallEnded(call_id=one, name="T", outcome=outcome) for one in ran)]


histories = st.lists(prompts.map(lambda one: [one]) | answers(), max_size=7).map(
    lambda parts: [entry for part in parts for entry in part]
)
manners = st.builds(
    Manner,
    provider=st.sampled_from(["p", "q"]),
    replay=st.sampled_from(["never", "tool_turns", "always"]),
    caching=st.booleans(),
    quirks=st.sets(st.sampled_from(sorted(QUIRKS))).map(frozenset),
)


@pytest.mark.parametrize("wire", WIRES)
@given(log=histories, manner=manners, model=st.sampled_from(["m", "n"]))
@settings(max_examples=300)
def test_every_history_is_a_valid_request_and_secrets_stay_with_their_author(
    wire: str, log: list[Entry], manner: Manner, model: str
) -> None:
    messages = project([replace(entry, seq=n) for n, entry in enumerate(log, 1)])
    assume(messages)
    sent = WIRES[wire](manner).body(Request(("a", "b"), messages, TOOLS), model, 1_000)
    for author in AUTHORS:
        if author != (model, manner.provider):
            assert "SECRET-{}-{}".format(*author).encode() not in sent
    assert sent.count(b'"cache_control"') <= (4 if manner.caching else 0)
    body = json.loads(sent)["messages"]
    pairs = messages_pairs(body) if wire == "anthropic" else chat_pairs(body)
    for called, answered in pairs:
        assert called == answered
        assert len(set(called)) == len(called)


def messages_pairs(body: list[Any]) -> Iterable[tuple[list[str], list[str]]]:
    """The ids of each message's calls, and those of the results in the next."""
    for said, answered in pairwise([*body, {"content": []}]):
        if said.get("role") == "assistant":
            assert said["content"]
            yield (
                [b["id"] for b in said["content"] if b["type"] == "tool_use"],
                [b["tool_use_id"] for b in answered["content"] if b["type"] == "tool_result"],
            )


def chat_pairs(body: list[Any]) -> Iterable[tuple[list[str], list[str]]]:
    open_calls: list[str] = []
    results: list[str] = []
    for one in body:
        if one["role"] == "tool":
            results.append(one["tool_call_id"])
        else:
            yield open_calls, results
            open_calls, results = [call["id"] for call in one.get("tool_calls", ())], []
            assert one["content"] or open_calls
    yield open_calls, results


@pytest.mark.parametrize("wire", WIRES)
@given(log=histories, manner=manners)
@settings(max_examples=60)
def test_a_warm_wire_says_what_a_new_one_says(wire: str, log: list[Entry], manner: Manner) -> None:
    messages = project([replace(entry, seq=n) for n, entry in enumerate(log, 1)])
    assume(messages)
    warm = WIRES[wire](manner)
    for model in ("m", "n", "m"):
        request = Request((), messages, TOOLS)
        assert warm.body(request, model, 9) == WIRES[wire](manner).body(request, model, 9)
