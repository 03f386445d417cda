"""I10: however the network cuts the bytes, the answer is the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detent.models.assemble import Assembler
from detent.models.protocols.anthropic_messages import AnthropicMessages
from detent.models.protocols.openai_chat import OpenAIChat
from detent.models.sse import EventSplitter
from detent.testing import anthropic_wire, chat_wire
from detent.testing.script import Call, RedactedThink, Reply, Say, Think, Usage
from detent.types import content as ours
from detent.types.deltas import CallReady, Delta
from detent.types.events import CallDelta, TextDelta, ThinkingDelta
from detent.types.messages import Reply as Answer

WIRES: dict[str, tuple[Any, type]] = {
    "anthropic": (anthropic_wire, AnthropicMessages),
    "chat": (chat_wire, OpenAIChat),
}
ASKED = {"model": "m", "stream_options": {"include_usage": True}}

words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=10)
objects = st.dictionaries(words, st.integers() | words | st.lists(words, max_size=2), max_size=2)


@st.composite
def cut_up(draw: st.DrawFn, text: str) -> tuple[str, ...]:
    places = sorted(draw(st.sets(st.integers(0, len(text)), max_size=3)))
    edges = [0, *places, len(text)]
    return tuple(text[a:b] for a, b in pairwise(edges))


@st.composite
def says(draw: st.DrawFn) -> Say:
    text = draw(words)
    return Say(text, draw(st.none() | cut_up(text)))


@st.composite
def thoughts(draw: st.DrawFn) -> Think:
    text = draw(words)
    return Think(text, draw(st.sampled_from(["sig", None])), draw(st.none() | cut_up(text)))


@st.composite
def calls(draw: st.DrawFn) -> Call:
    whole = Call("T", draw(objects))
    if draw(st.booleans()):
        return Call("T", pieces=draw(cut_up(whole.arguments)))
    return draw(st.sampled_from([whole, Call("T")]))


@st.composite
def replies(draw: st.DrawFn) -> Reply:
    blocks = draw(
        st.lists(st.one_of(says(), thoughts(), calls(), st.just(RedactedThink("xx"))), max_size=4)
    )
    # Something must be said, or the answer is none.
    blocks.append(draw(st.builds(Say, words.filter(str.strip)) | calls()))
    quirks = draw(st.sets(st.sampled_from(["noise", "no_usage", "null_content"])))
    usage = draw(st.builds(Usage, *[st.integers(0, 999)] * 4))
    return Reply(tuple(blocks), usage=usage, quirks=frozenset(quirks | {"reasoning"}))


@st.composite
def splits(draw: st.DrawFn, data: bytes) -> list[bytes]:
    if draw(st.booleans()) and len(data) < 2_000:
        return [data[i : i + 1] for i in range(len(data))]
    places = sorted(draw(st.sets(st.integers(0, len(data)), max_size=30)))
    edges = [0, *places, len(data)]
    return [data[a:b] for a, b in pairwise(edges)]


def received(wire: str, chunks: Iterable[bytes]) -> tuple[Answer, list[Delta]]:
    codec = WIRES[wire][1]()
    splitter, assembler = EventSplitter(), Assembler()
    deltas: list[Delta] = []

    def read(events: list[bytes]) -> None:
        for data in events:
            codec.read(data, assembler)
        deltas.extend(assembler.drain())

    for chunk in chunks:
        read(splitter.feed(chunk))
    read(splitter.finish())
    codec.finish(assembler)
    deltas.extend(assembler.drain())
    return assembler.reply("m"), deltas


def joined(deltas: Iterable[Delta]) -> dict[tuple[str, int], str]:
    """What a reader has on screen in the end, block by block."""
    shown: dict[tuple[str, int], str] = {}
    for delta in deltas:
        match delta:
            case TextDelta(index=index, text=text):
                key = ("text", index)
            case ThinkingDelta(index=index, text=text):
                key = ("thinking", index)
            case CallDelta(index=index, id=call_id, name=name, fragment=text):
                key = (f"call {call_id} {name}", index)
            case _:
                continue
        shown[key] = shown.get(key, "") + text
    return shown


def shown_of(answer: Answer) -> Iterator[tuple[tuple[str, int], str]]:
    for index, block in enumerate(answer.content):
        match block:
            case ours.Text(text=text):
                yield ("text", index), text
            case ours.Thinking(text=text):
                yield ("thinking", index), text
            case ours.Call(id=call_id, name=name, arguments=arguments):
                yield (f"call {call_id} {name}", index), arguments


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"], ids=["LF", "CRLF", "CR"])
@given(reply=replies(), data=st.data())
@settings(max_examples=60)
def test_the_answer_is_the_same_for_every_split(
    wire: str, newline: bytes, reply: Reply, data: st.DataObject
) -> None:
    events = [event.data for event in WIRES[wire][0].stream(reply, ASKED, 1)]
    straight, first = received(wire, events)
    stream = b"".join(events).replace(b"\n", newline)
    answer, deltas = received(wire, data.draw(splits(stream)))
    assert answer == straight
    assert joined(deltas) == joined(first)
    assert {key: text for key, text in joined(deltas).items() if text} == {
        key: text for key, text in shown_of(answer) if text
    }, "the deltas are the answer"
    ready = [delta for delta in deltas if isinstance(delta, CallReady)]
    assert [(one.index, one.call) for one in sorted(ready, key=lambda one: one.index)] == [
        (index, block) for index, block in enumerate(answer.content) if isinstance(block, ours.Call)
    ], "every call is ready exactly once"


@given(reply=replies())
@settings(max_examples=60)
def test_the_messages_wire_gives_what_was_scripted(reply: Reply) -> None:
    answer, _ = received("anthropic", [e.data for e in anthropic_wire.stream(reply, ASKED, 1)])
    assert answer.content == tuple(scripted(reply))
    assert answer.stop == reply.stop_reason
    assert answer.message_id == "msg_1"
    usage = reply.usage
    if "no_usage" not in reply.quirks:
        assert answer.usage.input == usage.input
        assert answer.usage.output == usage.output
        assert answer.usage.cache_read == usage.cache_read
        assert answer.usage.cache_write == usage.cache_write


def scripted(reply: Reply) -> Iterator[ours.AssistantBlock]:
    for index, block in enumerate(reply.blocks):
        match block:
            case Say(text=text):
                yield ours.Text(text)
            case Think(text=text, signature=signature):
                yield ours.Thinking(text, signature or "")
            case RedactedThink(data=data):
                yield ours.Redacted(data)
            case Call(name=name):
                yield ours.Call(reply.call_id(index, 1), name, block.arguments)


@given(reply=replies(), quirk=st.sampled_from(["", "no_index", "index_zero", "missing_id"]))
@settings(max_examples=120)
def test_the_chat_wire_gives_every_call_that_was_scripted(reply: Reply, quirk: str) -> None:
    quirks = reply.quirks | ({quirk} if quirk else set())
    odd = Reply(reply.blocks, usage=reply.usage, quirks=frozenset(quirks))
    answer, _ = received("chat", [event.data for event in chat_wire.stream(odd, ASKED, 1)])
    assert [(one.name, one.arguments) for one in answer.calls] == [
        (one.name, one.arguments) for one in reply.calls
    ]
    ids = [one.id for one in answer.calls]
    assert all(ids)
    assert len(set(ids)) == len(ids)
    assert ours.plain_text(answer.content) == "".join(
        block.text for block in reply.blocks if isinstance(block, Say)
    )
    thought = "".join(b.text for b in answer.content if isinstance(b, ours.Thinking))
    assert thought == "".join(b.text for b in reply.blocks if isinstance(b, Think))


@given(
    st.lists(st.sampled_from([b"data: a", b"data:b", b": c", b"event: d", b"", b"id"]), max_size=8)
)
@settings(max_examples=100)
def test_splitting_is_the_same_byte_by_byte(lines: list[bytes]) -> None:
    for newline in (b"\n", b"\r\n", b"\r"):
        stream = newline.join([*lines, b"", b""])
        at_once, one_by_one = EventSplitter(), EventSplitter()
        whole = at_once.feed(stream) + at_once.finish()
        bytewise = [e for i in range(len(stream)) for e in one_by_one.feed(stream[i : i + 1])]
        assert bytewise + one_by_one.finish() == whole
