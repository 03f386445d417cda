"""The Responses and the Gemini wire: every split, any rubbish, any history."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detent.models.assemble import Assembler
from detent.models.protocols.gemini import Gemini
from detent.models.protocols.openai_responses import OpenAIResponses
from detent.models.protocols.wire import Manner, Wire
from detent.models.sse import EventSplitter
from detent.types.content import (
    AssistantBlock,
    Call,
    Document,
    Image,
    Opaque,
    Redacted,
    Result,
    Text,
    Thinking,
    UserBlock,
)
from detent.types.deltas import CallReady, Delta
from detent.types.errors import ModelFailure
from detent.types.events import CallDelta, TextDelta, ThinkingDelta
from detent.types.messages import Assistant, Message, Reply, Request, User

WIRES: dict[str, type[OpenAIResponses] | type[Gemini]] = {
    "responses": OpenAIResponses,
    "gemini": Gemini,
}
Event = dict[str, Any]
Script = tuple[list[AssistantBlock], list[Event]]
"""What a stream says, and the stream."""

words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=10)
objects = st.dictionaries(words, st.integers(-99, 99) | words, max_size=2)


@st.composite
def cut_up(draw: st.DrawFn, text: str) -> list[str]:
    places = sorted(draw(st.sets(st.integers(0, len(text)), max_size=3)))
    return [text[a:b] for a, b in pairwise([0, *places, len(text)])]


# Streams of the Responses wire


@st.composite
def told(draw: st.DrawFn, name: str, text: str, field: str, place: Event) -> list[Event]:
    """A text in pieces, whole, or both ways."""
    pieces = [
        {"type": f"response.{name}.delta", "delta": piece, **place} for piece in draw(cut_up(text))
    ]
    whole = [{"type": f"response.{name}.done", field: text, **place}]
    return draw(st.sampled_from([pieces, pieces + whole, whole, []]))


@st.composite
def items(draw: st.DrawFn, place: int) -> tuple[AssistantBlock, list[Event]]:
    where = {"output_index": place, "item_id": f"i{place}"}
    kind = draw(st.sampled_from(["message", "reasoning", "function_call", "web_search_call"]))
    item: Event = {"type": kind, "id": f"i{place}"}
    text, block, middle = draw(words), None, []
    match kind:
        case "message":
            item["content"] = [{"type": "output_text", "text": text}]
            middle = draw(told("output_text", text, "text", {**where, "content_index": 0}))
            block = Text(text)
        case "reasoning":
            item["summary"] = [{"type": "summary_text", "text": text}]
            item["encrypted_content"] = "x"
            at = {**where, "summary_index": 0}
            middle = draw(told("reasoning_summary_text", text, "text", at))
            block = Thinking(text, json.dumps(item))
        case "function_call":
            arguments = json.dumps(draw(objects))
            item |= {"call_id": f"c{place}", "name": "T", "arguments": arguments}
            middle = draw(told("function_call_arguments", arguments, "arguments", where))
            block = Call(f"c{place}", "T", arguments)
        case _:
            block = Opaque(json.dumps(item))
    first = {k: v for k, v in item.items() if k in ("type", "id", "call_id", "name")}
    opening = [{"type": "response.output_item.added", "output_index": place, "item": first}]
    closing = {"type": "response.output_item.done", "output_index": place, "item": item}
    noise = {"type": "response.novel", "delta": 7}
    return block, [*opening, *middle, noise, closing]


@st.composite
def responses_streams(draw: st.DrawFn) -> Script:
    made = [draw(items(place)) for place in range(draw(st.integers(0, 4)))]
    blocks, events = [block for block, _ in made], [e for _, events in made for e in events]
    blocks.append(Text("end"))
    content = [{"type": "output_text", "text": "end"}]
    last = {"type": "message", "content": content}
    done = {"type": "response.output_item.done", "output_index": len(made), "item": last}
    usage = {"input_tokens": 9, "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 2}
    response = {"id": "r", "status": "completed", "usage": usage}
    return blocks, [*events, done, {"type": "response.completed", "response": response}]


# Streams of the Gemini wire


@st.composite
def parts(draw: st.DrawFn, place: int) -> tuple[AssistantBlock, list[Event]]:
    text = draw(words)
    match draw(st.sampled_from(["text", "thinking", "signature", "call", "opaque"])):
        case "text":
            return Text(text), [{"text": piece} for piece in draw(cut_up(text))]
        case "thinking":
            pieces = [{"text": piece, "thought": True} for piece in draw(cut_up(text))]
            pieces[-1]["thoughtSignature"] = "s"
            return Thinking(text, "s"), pieces
        case "signature":
            return Thinking("", "s"), [{"text": "", "thoughtSignature": "s"}]
        case "call":
            arguments = draw(objects)
            call = {"id": f"c{place}", "name": "T", "args": arguments}
            block = Call(f"c{place}", "T", json.dumps(arguments), "s")
            return block, [{"functionCall": call, "thoughtSignature": "s"}]
        case _:
            part = {"executableCode": {"code": text}}
            return Opaque(json.dumps(part)), [part]


@st.composite
def gemini_streams(draw: st.DrawFn) -> Script:
    made = [draw(parts(place)) for place in range(draw(st.integers(0, 5)))]
    made.append((Text("end"), [{"text": "end"}]))
    blocks: list[AssistantBlock] = []
    for block, _ in made:
        before = blocks[-1] if blocks else None
        if isinstance(block, Text) and isinstance(before, Text):
            blocks[-1] = Text(before.text + block.text)
        else:
            blocks.append(block)
    flat = [part for _, pieces in made for part in pieces]
    edges = [0, *sorted(draw(st.sets(st.integers(0, len(flat)), max_size=6))), len(flat)]
    chunks: list[Event] = [
        {"candidates": [{"content": {"parts": flat[a:b]}}], "responseId": "r"}
        for a, b in pairwise(edges)
    ]
    usage = {"promptTokenCount": 9, "cachedContentTokenCount": 4, "candidatesTokenCount": 2}
    end: Event = {"candidates": [{"finishReason": "STOP"}], "usageMetadata": usage}
    return blocks, [*chunks, end]


STREAMS = {"responses": responses_streams(), "gemini": gemini_streams()}


def lines(events: Iterable[Event]) -> list[bytes]:
    return [
        b"event: %b\ndata: %b\n\n" % (str(e.get("type", "x")).encode(), json.dumps(e).encode())
        for e in events
    ]


def received(wire: Wire, chunks: Iterable[bytes]) -> tuple[Reply, list[Delta]]:
    splitter, assembler = EventSplitter(), Assembler()
    deltas: list[Delta] = []

    def read(events: list[bytes]) -> None:
        for data in events:
            wire.read(data, assembler)
        deltas.extend(assembler.drain())

    for chunk in chunks:
        read(splitter.feed(chunk))
    read(splitter.finish())
    wire.finish(assembler)
    deltas.extend(assembler.drain())
    return assembler.reply("m", "p"), deltas


def joined(deltas: Iterable[Delta]) -> dict[int, str]:
    """What a reader has on screen in the end, block by block."""
    shown: dict[int, str] = {}
    for delta in deltas:
        match delta:
            case TextDelta(index=index, text=text) | ThinkingDelta(index=index, text=text):
                shown[index] = shown.get(index, "") + text
            case CallDelta(index=index, fragment=text):
                shown[index] = shown.get(index, "") + text
    return {index: text for index, text in shown.items() if text}


def shown_of(answer: Reply) -> dict[int, str]:
    texts = {
        index: block.arguments if isinstance(block, Call) else block.text
        for index, block in enumerate(answer.content)
        if isinstance(block, Text | Thinking | Call)
    }
    return {index: text for index, text in texts.items() if text}


def plain(blocks: Iterable[AssistantBlock]) -> list[Any]:
    """JSON inside of blocks compared as values, not as text."""
    made: list[Any] = []
    for block in blocks:
        match block:
            case Opaque(data=data):
                made.append(json.loads(data))
            case Call(id=call_id, name=name, arguments=arguments, signature=signature):
                made.append((call_id, name, json.loads(arguments), signature))
            case Thinking(text=text, signature=signature) if signature.startswith("{"):
                made.append((text, json.loads(signature)))
            case _:
                made.append(block)
    return made


@st.composite
def splits(draw: st.DrawFn, data: bytes) -> list[bytes]:
    if draw(st.booleans()) and len(data) < 2_000:
        return [data[i : i + 1] for i in range(len(data))]
    places = sorted(draw(st.sets(st.integers(0, len(data)), max_size=30)))
    return [data[a:b] for a, b in pairwise([0, *places, len(data)])]


@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("wire", WIRES)
@given(data=st.data())
@settings(max_examples=60)
def test_the_answer_is_what_was_said_for_every_split(
    wire: str, newline: bytes, data: st.DataObject
) -> None:
    blocks, events = data.draw(STREAMS[wire])
    straight, first = received(WIRES[wire](), lines(events))
    stream = b"".join(lines(events)).replace(b"\n", newline)
    answer, deltas = received(WIRES[wire](), data.draw(splits(stream)))
    assert answer == straight
    assert plain(answer.content) == plain(blocks)
    assert joined(deltas) == joined(first) == shown_of(answer)
    calls = [(i, b) for i, b in enumerate(answer.content) if isinstance(b, Call)]
    ready = [(d.index, d.call) for d in deltas if isinstance(d, CallReady)]
    assert ready == calls, "every call is ready exactly once"
    assert answer.stop == ("tool_use" if calls else "end_turn")
    assert (answer.usage.input, answer.usage.cache_read, answer.usage.output) == (5, 4, 2)


# Rubbish

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place of a JSON value where something else could stand."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, child in inner:
        yield value, key
        if isinstance(child, dict | list):
            yield from places(child)


@st.composite
def spoilt(draw: st.DrawFn, events: list[Event]) -> list[bytes]:
    """Events in another order, lost or doubled; fields replaced; bytes changed."""
    order = draw(st.lists(st.sampled_from(range(len(events))), max_size=2 * len(events)))
    mixed = [json.loads(json.dumps(events[i])) for i in order] or events
    for event in draw(st.lists(st.sampled_from(mixed), max_size=3)):
        where, key = draw(st.sampled_from(list(places(event))))
        where[key] = draw(anything)
    data = [json.dumps(event).encode() for event in mixed]
    if draw(st.booleans()):
        at = draw(st.integers(0, len(data) - 1))
        cut = draw(st.integers(0, len(data[at])))
        data[at] = data[at][:cut] + draw(st.binary(max_size=3)) + data[at][cut + 1 :]
    return data


def survives(wire: Wire, events: Iterable[bytes]) -> None:
    """Nothing but a failure of the model may come of whatever a server sends."""
    assembler = Assembler()
    try:
        for data in events:
            wire.read(data, assembler)
            assembler.drain()
        wire.finish(assembler)
        content = assembler.reply("m", "p").content
    except ModelFailure:
        return
    sent = type(wire)(Manner(provider="p", replay="always")).body(
        Request((), (Assistant(content, "m", "p"), User((Text("go on"),)))), "m", 1
    )
    json.loads(sent)


@pytest.mark.parametrize("wire", WIRES)
@given(data=st.data())
@settings(max_examples=300)
def test_a_spoilt_stream_is_a_failure_or_an_answer_that_can_go_back(
    wire: str, data: st.DataObject
) -> None:
    _, events = data.draw(STREAMS[wire])
    survives(WIRES[wire](), data.draw(spoilt(events)))


@pytest.mark.parametrize("wire", WIRES)
@given(events=st.lists(st.binary() | anything.map(lambda v: json.dumps(v).encode()), max_size=4))
@settings(max_examples=200)
def test_rubbish_is_a_failure_or_nothing(wire: str, events: list[bytes]) -> None:
    survives(WIRES[wire](), events)


# Histories

texts = st.text(st.characters(codec="utf-8"), max_size=6)
media = st.builds(Image, st.just("image/png"), st.just("eA==")) | st.builds(
    Document, st.sampled_from(["application/pdf", "text/plain"]), st.just("eA=="), texts
)
json_texts = anything.map(json.dumps) | texts
others: st.SearchStrategy[AssistantBlock] = st.one_of(
    st.builds(Text, texts),
    st.builds(Thinking, texts, json_texts),
    st.builds(Thinking, texts, st.just('{"type":"reasoning","encrypted_content":"x"}')),
    st.builds(Redacted, texts),
    st.builds(Opaque, json_texts),
)


@st.composite
def histories(draw: st.DrawFn) -> list[Message]:
    messages: list[Message] = [User((Text(draw(words)),))]
    for step in range(draw(st.integers(0, 4))):
        ids = [
            f"{draw(st.sampled_from(['call_', 'x']))}{step}{n}"
            for n in range(draw(st.integers(0, 3)))
        ]
        calls = [
            Call(each, draw(st.sampled_from(["Read", "Bash"])), draw(json_texts), draw(texts))
            for each in ids
        ]
        content = draw(st.permutations([*calls, *draw(st.lists(others, max_size=4))]))
        model, provider = draw(st.sampled_from(["gemini-3", "n"])), draw(st.sampled_from("pq"))
        messages.append(Assistant(tuple(content), model, provider))
        parts = st.lists(st.builds(Text, texts) | media, max_size=2).map(tuple)
        results = [Result(each, draw(parts), draw(st.booleans())) for each in ids]
        said: list[UserBlock] = list(draw(st.lists(st.builds(Text, texts) | media, max_size=2)))
        messages.append(User((*results, *said)))
    return messages


manners = st.builds(
    Manner,
    provider=st.just("p"),
    replay=st.sampled_from(["never", "tool_turns", "always"]),
    thinks=st.sampled_from(["", "adaptive", "budget", "effort"]),
)


@given(history=histories(), manner=manners)
@settings(max_examples=200)
def test_every_call_in_a_request_has_its_result(history: list[Message], manner: Manner) -> None:
    sent = json.loads(OpenAIResponses(manner).body(Request((), history), "gemini-3", 0))["input"]
    calls = [i["call_id"] for i in sent if i.get("type") == "function_call" and "name" in i]
    results = [i["call_id"] for i in sent if i.get("type") == "function_call_output"]
    wanted = [b.id for m in history for b in m.content if isinstance(b, Call)]
    assert sorted(calls) == sorted(results) == sorted(wanted)


@given(history=histories(), manner=manners)
@settings(max_examples=200)
def test_every_call_among_the_contents_has_its_response(
    history: list[Message], manner: Manner
) -> None:
    sent = json.loads(Gemini(manner).body(Request((), history), "gemini-3", 0))["contents"]
    names = [b.name for m in history for b in m.content if isinstance(b, Call)]
    seen: list[str] = []
    for before, after in pairwise([*sent, {"parts": []}]):
        calls = [p["functionCall"] for p in before["parts"] if "functionCall" in p]
        answers = [p["functionResponse"] for p in after["parts"] if "functionResponse" in p]
        assert sorted((c.get("id", ""), c["name"]) for c in calls) == sorted(
            (a.get("id", ""), a["name"]) for a in answers
        ), "in the very next message"
        assert not calls or calls_signed(before["parts"])
        seen += [call["name"] for call in calls]
    assert seen == names


def calls_signed(parts: list[Event]) -> bool:
    first = next(part for part in parts if "functionCall" in part)
    return bool(first.get("thoughtSignature"))


@pytest.mark.parametrize("wire", WIRES)
@given(history=histories(), manner=manners)
@settings(max_examples=60)
def test_a_request_is_a_byte_prefix_of_the_next(
    wire: str, history: list[Message], manner: Manner
) -> None:
    warm = WIRES[wire](manner)
    sent = [warm.body(Request((), history[:n]), "m", 0) for n in range(1, len(history) + 1)]
    for earlier, later in pairwise(sent):
        assert later.startswith(earlier.removesuffix(b"]}"))
    assert sent[-1] == WIRES[wire](manner).body(Request((), history), "m", 0)
