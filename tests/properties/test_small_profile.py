"""Whatever the log holds: the small model gets a valid request, and the loop a valid answer."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from detent.models.small.model import MOST_SAMPLES, SmallModel
from detent.models.small.telling import _dropped
from detent.testing.scripted_model import ScriptedModel
from detent.types.content import Call, Result, Text, UserBlock
from detent.types.deltas import Delta
from detent.types.messages import Assistant, Message, Reply, Request, ToolSpec, User

NAMES = ("Bash", "Read", "Edit", "Write", "Glob", "Grep")
FIELDS = ("file_path", "command", "old_string", "new_string", "content")
TOOLS = tuple(ToolSpec(name, "…", msgspec.Raw(b"{}")) for name in NAMES)
texts = st.text(max_size=30) | st.sampled_from(["     1\tx = 1\n     2\ty = 2", "y" * 9000])
values = st.one_of(
    st.text(max_size=8), st.integers(), st.none(), st.lists(st.integers(), max_size=2)
)
arguments = st.one_of(
    st.dictionaries(st.sampled_from(FIELDS), values, max_size=4).map(json.dumps),
    st.sampled_from(["", "{broken", "[]", "null"]),
)  # fmt: skip
calls = st.tuples(st.sampled_from([*NAMES, "mcp__x__y"]), arguments, texts, st.booleans())
actions = st.sampled_from(
    [
        {"tool": "run", "command": "ls"},
        {"tool": "read", "path": "a"},
        {"tool": "edit", "path": "a"},
        {"tool": "edit", "path": "nowhere"},
        {"tool": "write", "path": "a", "content": "x"},
        {"tool": "answer", "text": "done"},
        {"tool": "answer"},
        {"tool": "answer", "text": ""},
        {"tool": "answer", "value": {"n": 1}},
        {"tool": "run", "command": "ls", "value": {}},
        {"why": "w", "old": "x = 1", "new": "x = 2"},
        {"tool": 7},
    ]
).map(json.dumps) | st.sampled_from(["words", "{", "```\nx = 3\ny = 2\n```", "[]"])


def conversation(steps: list[list[tuple[str, str, str, bool]]]) -> list[Message]:
    messages: list[Message] = [User((Text("do it"),))]
    for number, made in enumerate(steps):
        blocks = tuple(
            Call(f"c{number}_{i}", name, given) for i, (name, given, _, _) in enumerate(made)
        )
        results: tuple[UserBlock, ...] = tuple(
            Result(block.id, (Text(text),), failed)
            for block, (_, _, text, failed) in zip(blocks, made, strict=True)
        )
        messages += [Assistant((*blocks, Text("I did."))), User(results or (Text("go on"),))]
    return messages


def answer(messages: list[Message], says: list[str]) -> tuple[Reply, list[Request], list[Delta]]:
    spare = json.dumps({"tool": "answer", "text": "enough"})
    inner = ScriptedModel(*says, *[spare] * 20, window=4096)
    heard: list[Delta] = []

    async def hear(delta: Delta) -> None:
        heard.append(delta)

    reply = asyncio.run(SmallModel(inner).stream(Request(("s",), messages, TOOLS), hear))
    return reply, inner.requests, heard


@given(
    st.lists(st.lists(calls, max_size=3), max_size=6),
    st.lists(actions, max_size=3 * MOST_SAMPLES),
)
def test_any_log_and_any_model(steps: list[Any], says: list[str]) -> None:
    reply, requests, _ = answer(conversation(steps), says)
    assert len(requests) <= 3 * MOST_SAMPLES, "it must not go round in circles"
    for request in requests:
        assert request.tools == ()
        assert [isinstance(m, User) for m in request.messages] == [
            n % 2 == 0 for n in range(len(request.messages))
        ]
        assert all(isinstance(b, Text) and b.text for m in request.messages for b in m.content)
        assert sum(len(b.text) for m in request.messages for b in m.content) < 30_000  # type: ignore[union-attr]
    (block,) = reply.content
    if isinstance(block, Call):
        assert reply.stop == "tool_use" and block.name in NAMES and block.id
        assert isinstance(json.loads(block.arguments), dict)
    else:
        assert isinstance(block, Text) and block.text.strip()


@given(st.lists(st.lists(calls, max_size=3), max_size=6))
def test_it_is_pure_over_the_messages(steps: list[Any]) -> None:
    """So a resumed session asks exactly what the first would have asked."""
    messages = conversation(steps)
    again = msgspec.json.decode(msgspec.json.encode(messages), type=list[Any])
    assert len(again) == len(messages)
    assert answer(messages, [])[1] == answer(list(messages), [])[1]


def test_what_is_left_out_goes_many_at_once() -> None:
    """Else every step would change the beginning, and the server read all of it again."""
    dropped = [_dropped([10] * count, 100) for count in range(60)]
    assert len(set(dropped)) <= 10 and dropped[-1] >= 45


@given(st.lists(st.integers(1, 60), max_size=30))
def test_what_is_left_out_only_grows_and_leaves_room(sizes: list[int]) -> None:
    dropped = [_dropped(sizes[:upto], 100) for upto in range(len(sizes) + 1)]
    assert dropped == sorted(dropped)
    for upto, count in enumerate(dropped):
        assert sum(sizes[count:upto]) <= 100
