"""The exact request a model sees, as snapshots: a change of a byte here is a change on purpose.

`UPDATE_SNAPSHOTS=1 pytest tests/unit/models/test_requests.py` writes them anew.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from detent.context.conversation import Conversation
from detent.models.protocols.anthropic_messages import AnthropicMessages
from detent.models.protocols.caching import with_marks
from detent.models.protocols.openai_chat import OpenAIChat
from detent.models.protocols.wire import EncodedMessages, Manner, Wire, parsed_arguments
from detent.types.content import (
    Call,
    Document,
    Image,
    Opaque,
    Redacted,
    Result,
    Text,
    Thinking,
)
from detent.types.events import CallEnded, Entry, Prompted, Replied
from detent.types.messages import Assistant, Message, Request, ToolSpec, User
from detent.types.outcomes import Done
from detent.types.usage import Usage

SNAPSHOTS = Path(__file__).parents[2] / "requests"
READ = ToolSpec(
    "Read",
    "Reads a file.",
    msgspec.Raw(b'{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}'),
)
BASH = ToolSpec("Bash", "Runs a command.", msgspec.Raw(b'{"type":"object"}'))
SYSTEM = ("You are Detent.", "# Surroundings\n- Working folder: /p")

CONVERSATIONS: dict[str, tuple[Message, ...]] = {
    "plain": (User((Text("hi"),)),),
    "results": (
        User((Text("read both"), Text("please"))),
        Assistant(
            (
                Text("I will."),
                Call("a", "Read", '{"path": "/p/ü.txt"}'),
                Call("b", "Read", "{broken"),
                Call("c", "Bash", "{}"),
            ),
            "m",
        ),
        User(
            (
                Result("a", (Text("one\ntwo"),)),
                Result("b", (Text("Send an object."),), is_error=True),
                Result("c", (Text("before"), Text("after"))),
                Text("and be quick"),
            )
        ),
    ),
    "images": (
        User((Text("what is this?"), Image("image/png", "cGl4ZWxz"))),
        Assistant((Call("a", "Read", '{"path":"x.png"}'),), "m"),
        User((Result("a", (Text("a picture"), Image("image/jpeg", "bW9yZQ=="))),)),
    ),
    "thinking": (
        User((Text("think"),)),
        Assistant(
            (
                Thinking("of mine", "sig-m"),
                Redacted("sealed-m"),
                Thinking("unsigned", ""),
                Text("so"),
                Call("a", "Bash", "{}"),
            ),
            "m",
        ),
        User((Result("a", (Text("ok"),)),)),
        Assistant(
            (
                Thinking("of another", "sig-n"),
                Redacted("sealed-n"),
                Text("well"),
            ),
            "n",
        ),
        User((Text("go on"),)),
        Assistant((Thinking("nothing else", "sig-n"),), "n"),
        User((Text("and?"),)),
    ),
    "documents": (
        User((Text("read it"), Document("application/pdf", "cGRm", "a.pdf"))),
        Assistant((Call("functions.Read:0", "Read", '{"path":"b.pdf"}'),), "m"),
        User((Result("functions.Read:0", (Document("text/plain", "d29yZHM="),)),)),
    ),
    "sealed": (
        User((Text("search"),)),
        Assistant(
            (
                Thinking("where?", '[{"type":"reasoning.text","text":"where?","signature":"s"}]'),
                Opaque('{"type":"server_tool_use","id":"s","name":"web_search","input":{"q":"a"}}'),
                Opaque('{"type":"web_search_tool_result","tool_use_id":"s","content":[]}'),
                Call("a", "Bash", "{}", '{"google":{"thought_signature":"t"}}'),
            ),
            "m",
        ),
        User((Result("a", (Text("ok"),)),)),
    ),
}


def wire_of(name: str) -> Wire:
    return AnthropicMessages() if name == "anthropic" else OpenAIChat()


def body(wire: Wire, request: Request, model: str = "m", most: int = 1_000) -> Any:
    return json.loads(wire.body(request, model, most))


@pytest.mark.parametrize("wire", ["anthropic", "chat"])
@pytest.mark.parametrize("name", CONVERSATIONS)
def test_the_request_is_the_one_on_file(wire: str, name: str) -> None:
    request = Request(SYSTEM, CONVERSATIONS[name], (READ, BASH))
    made = body(wire_of(wire), request)
    path = SNAPSHOTS / f"{wire}-{name}.json"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    on_file = path.read_text(encoding="utf-8")
    assert json.dumps(made, indent=1, ensure_ascii=False) + "\n" == on_file, "order counts too"


def test_no_snapshot_lies_around_unused() -> None:
    wanted = {f"{wire}-{name}.json" for wire in ("anthropic", "chat") for name in CONVERSATIONS}
    assert {path.name for path in SNAPSHOTS.glob("*.json")} == wanted


# What the snapshots are to show, said once in words


def test_thinking_goes_back_only_to_the_model_it_came_from() -> None:
    request = Request((), CONVERSATIONS["thinking"])
    always = Manner(replay="always")
    for model, own, other in (("m", "sig-m", "sig-n"), ("n", "sig-n", "sig-m")):
        sent = AnthropicMessages(always).body(request, model, 1).decode()
        assert own in sent
        assert other not in sent
        assert f"sealed-{model}" in sent
        assert sent.count("sealed-") == 1
        assert "unsigned" not in sent
    assert "sig-" not in OpenAIChat().body(request, "m", 1).decode()
    for manner in (Manner(), Manner(provider="p", replay="always"), Manner(replay="never")):
        assert "sig-n" not in AnthropicMessages(manner).body(request, "n", 1).decode()


def test_a_switch_of_the_model_is_seen_by_a_wire_that_is_already_warm() -> None:
    wire = AnthropicMessages()
    request = Request((), CONVERSATIONS["thinking"])
    for model in ("m", "n", "m"):
        assert wire.body(request, model, 1) == AnthropicMessages().body(request, model, 1)


def test_at_most_four_cache_markers_and_the_last_moves() -> None:
    request = Request(SYSTEM, CONVERSATIONS["results"], (READ, BASH))
    sent = body(AnthropicMessages(), request)
    marks = json.dumps(sent).count("cache_control")
    assert marks == 4
    assert [part.get("cache_control") for part in sent["system"]] == [{"type": "ephemeral"}, None]
    assert [tool.get("cache_control") for tool in sent["tools"]] == [None, {"type": "ephemeral"}]
    assert sent["messages"][-1]["content"][-1]["cache_control"] == {"type": "ephemeral"}
    unmarked = body(AnthropicMessages(Manner(caching=False)), request)
    assert "cache_control" not in json.dumps(unmarked)
    hourly = body(AnthropicMessages(Manner(cache_ttl="1h")), request)
    assert json.dumps(hourly).count('{"type": "ephemeral", "ttl": "1h"}') == 4


def test_without_a_system_prompt_the_tools_are_marked() -> None:
    sent = body(AnthropicMessages(), Request((), CONVERSATIONS["plain"], (READ, BASH)))
    assert [tool.get("cache_control") for tool in sent["tools"]] == [None, {"type": "ephemeral"}]
    assert json.dumps(sent["messages"]).count("cache_control") == 1


def test_without_tools_the_prompt_is_marked() -> None:
    sent = body(AnthropicMessages(), Request(SYSTEM, CONVERSATIONS["results"]))
    assert [part.get("cache_control") for part in sent["system"]] == [{"type": "ephemeral"}, None]
    assert json.dumps(sent["messages"]).count("cache_control") == 2


def test_tools_of_the_provider_stand_behind_the_mark() -> None:
    search = msgspec.Raw(b'{"type":"web_search","name":"web_search"}')
    wire = AnthropicMessages(Manner(server_tools=(search,)))
    sent = body(wire, Request(SYSTEM, CONVERSATIONS["plain"], (READ, BASH)))
    assert [tool["name"] for tool in sent["tools"]] == ["Read", "Bash", "web_search"]
    assert [n for n, tool in enumerate(sent["tools"]) if "cache_control" in tool] == [1]
    alone = body(wire, Request(SYSTEM, CONVERSATIONS["plain"]))
    assert "cache_control" not in json.dumps(alone["tools"])
    assert json.dumps(alone).count("cache_control") == 2


def test_a_message_with_nothing_to_mark_is_left_alone() -> None:
    odd = [b'{"role":"user","content":[]}', b'{"role":"user","content":"text"}']
    assert with_marks(odd, {"type": "ephemeral"}) == odd
    assert with_marks([], {}) == []


@pytest.mark.parametrize("quirks", [(), ("cache_control",)])
def test_a_request_is_marked_where_the_one_before_it_ended(quirks: tuple[str, ...]) -> None:
    """However many blocks an answer has, the lookback of a mark never has to find anything."""
    wire: Wire = OpenAIChat(Manner(quirks=frozenset(quirks))) if quirks else AnthropicMessages()
    ended = -1
    for messages in grown(30):
        sent = body(wire, Request(SYSTEM, messages, (READ,)))
        assert json.dumps(sent).count("cache_control") <= 4
        said = [m for m in sent["messages"] if m["role"] != "system"]
        marked = [n for n, m in enumerate(said) if "cache_control" in json.dumps(m)]
        assert ended in (-1, *marked)
        ended = len(said) - 1
        assert marked[-1] == ended


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("gpt-4o", "max_tokens"),
        ("qwen3", "max_tokens"),
        ("gpt-5.1", "max_completion_tokens"),
        ("gpt-6.1-terra", "max_completion_tokens"),
        ("openai/o3-mini", "max_completion_tokens"),
    ],
)
def test_the_output_limit_has_two_names(model: str, name: str) -> None:
    request = Request((), CONVERSATIONS["plain"])
    assert body(OpenAIChat(), request, model)[name] == 1_000
    assert name not in body(OpenAIChat(), request, model, 0)


def test_the_messages_wire_needs_a_limit() -> None:
    request = Request((), CONVERSATIONS["plain"])
    assert body(AnthropicMessages(), request, most=0)["max_tokens"] == 8_192


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [
        ('{"a": 1}', {"a": 1}),
        ("{}", {}),
        ("{cut", {"invalid_arguments": "{cut"}),
        ("[1]", {"invalid_arguments": "[1]"}),
        ("", {}),
        ('"é"', {"invalid_arguments": '"é"'}),
    ],
)
def test_arguments_go_back_as_an_object_whatever_they_were(arguments: str, sent: Any) -> None:
    assert json.loads(bytes(parsed_arguments(arguments))) == sent


# A growing conversation


def grown(steps: int) -> list[list[Message]]:
    """The messages before each request of a turn with so many steps."""
    conversation = Conversation()
    requests: list[list[Message]] = []
    seq = 0

    def add(entry: Entry) -> None:
        nonlocal seq
        seq += 1
        conversation.add(msgspec.structs.replace(entry, seq=seq))

    add(Prompted(turn=1, content=(Text("go"),)))
    for step in range(steps):
        requests.append(conversation.messages())
        made = Call(f"c{step}", "Bash", f'{{"n":{step}}}')
        add(
            Replied(
                turn=1,
                step=step,
                model="m",
                content=(Text(f"step {step}"), made),
                stop="tool_use",
                usage=Usage(1, 1),
            )
        )
        add(CallEnded(call_id=made.id, name="Bash", outcome=Done((Text(f"result {step}"),))))
    return requests


@pytest.mark.parametrize("wire", ["anthropic", "chat"])
def test_each_request_begins_with_the_one_before(wire: str) -> None:
    one = wire_of(wire)
    mark = b',"cache_control":{"type":"ephemeral"}'
    before = b""
    for messages in grown(10):
        sent = one.body(Request(SYSTEM, messages, (READ,)), "m", 1_000)
        system_end = sent.index(b'"messages"')
        # The marker on the last message moves on; everything else stays, byte for byte.
        plain = sent[:system_end] + sent[system_end:].replace(mark, b"")
        assert plain.startswith(before)
        assert plain.endswith(b"]}")
        before = plain[:-2]
        assert sent == wire_of(wire).body(Request(SYSTEM, messages, (READ,)), "m", 1_000), (
            "what is kept between requests changes nothing"
        )


def test_each_message_is_encoded_once() -> None:
    encoded: list[Message] = []

    def encode(message: Message) -> bytes:
        encoded.append(message)
        return b"x"

    kept = EncodedMessages(encode)
    requests = grown(30)
    for messages in requests:
        kept.of(messages[:-1])
    assert len(encoded) == len(requests[-1]) - 1, "not again for every request"
    before = len(encoded)
    kept.of(requests[-1][:-1])
    assert len(encoded) == before
    encoded.clear()
    kept = EncodedMessages(encode)
    for messages in requests:
        kept.of(messages)
    # The last message is open until the next answer closes it; as a rule it says the same then.
    assert len(encoded) == len(requests[-1])


def test_what_cannot_be_encoded_leaves_nothing_behind() -> None:
    def encode(message: Message) -> bytes:
        if message is broken:
            raise ValueError("no")
        return b"%d" % len(message.content)

    kept = EncodedMessages(encode)
    first, second = User((Text("a"),)), User((Text("b"), Text("c")))
    broken: Message = User((Text("d"),))
    with pytest.raises(ValueError, match="no"):
        kept.of([first, second, broken])
    assert kept.of([first, second]) == [b"1", b"2"]
    assert kept.of([second]) == [b"2"]


def test_a_changed_history_is_encoded_anew_from_there() -> None:
    kept = EncodedMessages(lambda message: repr(message).encode())
    one, two, three = (User((Text(text),)) for text in ("one", "two", "three"))
    kept.of([one, two, three])
    assert kept.of([one, three]) == [repr(one).encode(), repr(three).encode()]
    assert kept.of([two]) == [repr(two).encode()]
    assert kept.of([]) == []
