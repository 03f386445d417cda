"""Streams of every wire, damaged at random: nothing but a `ModelFailure` may come out of a codec.

`python tests/fuzz/codecs.py --minutes 60` goes on for an hour and prints what it found; the suite
runs a few thousand rounds from fixed seeds. A round is reproduced by its seed.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import msgspec
from msgspec.structs import replace

from detent.models.assemble import Assembler
from detent.models.protocols.anthropic_messages import AnthropicMessages
from detent.models.protocols.gemini import Gemini
from detent.models.protocols.openai_chat import OpenAIChat
from detent.models.protocols.openai_responses import OpenAIResponses
from detent.models.protocols.wire import Manner, Wire
from detent.models.sse import EventSplitter
from detent.testing import (
    QUIRKS,
    RedactedThink,
    Reply,
    anthropic_wire,
    call,
    chat_wire,
    gemini_wire,
    responses_wire,
    say,
    think,
)
from detent.testing.script import Usage
from detent.types.content import Call, Opaque, Redacted, Text, Thinking
from detent.types.deltas import CallReady, Counted, Delta, Sealed
from detent.types.errors import ModelFailure
from detent.types.events import CallDelta, TextDelta, ThinkingDelta
from detent.types.messages import Assistant, Request, ToolSpec, User

Codec = Callable[[Manner], Wire]
WIRES: dict[str, tuple[Codec, ModuleType]] = {
    "anthropic": (AnthropicMessages, anthropic_wire),
    "chat": (OpenAIChat, chat_wire),
    "responses": (OpenAIResponses, responses_wire),
    "gemini": (Gemini, gemini_wire),
}
TEXTS = (
    "",
    "a",
    "hällo",
    "漢字🙂",
    "line\nline",
    '{"a": 1}',
    "<tool_call>",
    "```json\n{",
    "\x00\x1b",
)
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 2**63, 1e308, "", "x", "\ud83d", [], {}, [[]], [None], {"": 0},
    {"type": "text"}, {"type": "tool_use", "input": 3}, "error", "stop", "tool_calls",
)  # fmt: skip
ASKED = Request(
    ("system",),
    [User((Text("hi"),))],
    [ToolSpec("Bash", "runs", msgspec.Raw(b'{"type":"object"}'))],
)
QUIRK_NAMES = ("text_calls", "reasoning_back", "short_ids", "no_stream_options")


def one_round(seed: int) -> str:
    """What became of it: an answer, or the kind of failure. Any other exception is a find."""
    chance = random.Random(seed)
    name = chance.choice(list(WIRES))
    codec, wire_module = WIRES[name]
    quirks = frozenset(quirk for quirk in QUIRK_NAMES if chance.random() < 0.3)
    wire = codec(Manner(provider="p", quirks=quirks))
    wire.body(ASKED, "m", 100)
    stream = b"".join(damaged(events_of(wire_module, chance), chance))
    try:
        reply, deltas = read(wire, stream, chance)
    except ModelFailure as failure:
        return failure.kind
    check(reply, deltas)
    # What was understood can be sent back.
    history = [*ASKED.messages, Assistant(reply.content, "m", "p"), *ASKED.messages]
    json.loads(wire.body(Request((), history), "m", 100))
    return "answer"


def events_of(wire_module: ModuleType, chance: random.Random) -> list[bytes]:
    blocks = [block(chance) for _ in range(chance.randrange(5))]
    quirks = frozenset(quirk for quirk in sorted(QUIRKS) if chance.random() < 0.1)
    usage = Usage(*(chance.randrange(1000) for _ in range(4)))
    stop = chance.choice([None, None, "max_tokens", "refusal", "pause_turn", "odd", "error"])
    reply = Reply(tuple(blocks), stop=stop, usage=usage, quirks=quirks)
    asked = {"model": "m", "stream_options": {"include_usage": True}}
    return [event.data for event in wire_module.stream(reply, asked, 1)]


def block(chance: random.Random) -> Any:
    pieces = [chance.choice(TEXTS) for _ in range(chance.randrange(1, 4))]
    match chance.randrange(5):
        case 0:
            return think(*pieces, signature=chance.choice(["", "sig"]))
        case 1:
            return RedactedThink(chance.choice(TEXTS))
        case 2:
            return call("Bash", command=pieces[0])
        case 3:
            return call(chance.choice(["Bash", "Read", ""]), raw="".join(pieces), pieces=pieces)
        case _:
            return say(*pieces)


def damaged(events: list[bytes], chance: random.Random) -> list[bytes]:
    for _ in range(chance.choice([0, 1, 1, 2, 3, 8])):
        if not events:
            break
        at = chance.randrange(len(events))
        match chance.randrange(7):
            case 0:
                del events[at]
            case 1:
                events.insert(at, chance.choice(events))
            case 2:
                chance.shuffle(events)
            case 3:
                events[at] = with_flipped_bytes(events[at], chance)
            case 4:
                events[at] = events[at][: chance.randrange(len(events[at]) + 1)]
            case _:
                events[at] = with_other_values(events[at], chance)
    return events


def with_flipped_bytes(event: bytes, chance: random.Random) -> bytes:
    data = bytearray(event)
    for _ in range(chance.randrange(1, 5)):
        if data:
            data[chance.randrange(len(data))] = chance.randrange(256)
    return bytes(data)


def with_other_values(event: bytes, chance: random.Random) -> bytes:
    """The JSON stays JSON, but something in it is of another shape."""
    head, mark, data = event.partition(b"data: ")
    try:
        value = json.loads(data)
    except ValueError:
        return event
    for _ in range(chance.randrange(1, 4)):
        value = altered(value, chance)
    return head + mark + json.dumps(value).encode() + b"\n\n"


def altered(value: Any, chance: random.Random) -> Any:
    if isinstance(value, dict) and value and chance.random() < 0.85:
        key = chance.choice(list(value))
        if chance.random() < 0.1:
            return {other: each for other, each in value.items() if other != key}
        return {**value, key: altered(value[key], chance)}
    if isinstance(value, list) and value and chance.random() < 0.85:
        at = chance.randrange(len(value))
        return [*value[:at], altered(value[at], chance), *value[at + 1 :]]
    return chance.choice(VALUES)


def read(wire: Wire, stream: bytes, chance: random.Random) -> tuple[Any, list[Delta]]:
    splitter, assembler = EventSplitter(), Assembler()
    deltas: list[Delta] = []
    place = 0
    while place < len(stream) and not assembler.ended:
        size = chance.choice([1, 3, 50, 1000, len(stream)])
        for data in splitter.feed(stream[place : place + size]):
            if not assembler.ended:
                wire.read(data, assembler)
        place += size
        deltas += assembler.drain()
    for data in splitter.finish():
        if not assembler.ended:
            wire.read(data, assembler)
    wire.finish(assembler)
    deltas += assembler.drain()
    return assembler.reply("m", "p"), deltas


def check(reply: Any, deltas: list[Delta]) -> None:
    """What was shown is what there is: nothing lost, nothing doubled, every call ready once."""
    shown: dict[int, list[str]] = {}
    ready: dict[int, Call] = {}
    for delta in deltas:
        match delta:
            case TextDelta(index=index, text=text) | ThinkingDelta(index=index, text=text):
                shown.setdefault(index, []).append(text)
            case CallDelta(index=index, fragment=fragment):
                shown.setdefault(index, []).append(fragment)
            case CallReady(index=index, call=found):
                assert index not in ready, "a call was ready twice"
                ready[index] = found
            case Counted() | Sealed():
                pass
            case _:
                raise AssertionError(f"unexpected {delta}")
    for index, block in enumerate(reply.content):
        said = "".join(shown.get(index, ()))
        match block:
            case Text(text=text) | Thinking(text=text):
                assert said == text, (said, text)
            case Call():
                # The signature may come late: it goes back with the call, not into it.
                assert replace(ready[index], signature=block.signature) == block
                assert block.id, "a call without an id"
            case Redacted() | Opaque():
                assert not said


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    end = time.monotonic() + options.minutes * 60
    seed, finds, outcomes = options.seed, 0, dict[str, int]()
    while time.monotonic() < end and finds < 20:
        try:
            outcome = one_round(seed)
        except Exception:
            finds += 1
            outcome = "FIND"
            print(f"seed {seed}:\n{traceback.format_exc()}", flush=True)
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
        seed += 1
    print(f"{seed - options.seed:,} rounds, {finds} finds: {outcomes}")
    sys.exit(1 if finds else 0)


if __name__ == "__main__":
    main()
