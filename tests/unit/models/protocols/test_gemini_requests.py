"""The exact request of the Gemini wire. `UPDATE_SNAPSHOTS=1` writes the one on file anew."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from detent.models.assemble import Assembler
from detent.models.protocols.gemini import UNSIGNED, Gemini
from detent.models.protocols.wire import Manner
from detent.types.content import Call, Document, Image, Opaque, Redacted, Result, Text, Thinking
from detent.types.messages import Assistant, Message, Reply, Request, ToolSpec, User
from detent.types.usage import Usage

SNAPSHOT = Path(__file__).parents[3] / "requests" / "gemini" / "round-trip.json"
READ = ToolSpec(
    "Read",
    "Reads a file.",
    msgspec.Raw(b'{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}'),
)
MODEL = "gemini-3.8-flash"
MANNER = Manner(provider="p", replay="always", thinks="effort", effort="high")
CODE = '{"executableCode":{"code":"1"},"thoughtSignature":"sig-code"}'

STREAM: list[list[dict[str, Any]]] = [
    [{"text": "Both.", "thought": True}],
    [{"text": "So:"}],
    [
        {
            "functionCall": {"id": "a", "name": "Read", "args": {"path": "a.txt"}},
            "thoughtSignature": "c2ln",
        },
        {"functionCall": {"name": "Bash", "args": {}}},
    ],
]


def answered() -> Reply:
    one, wire = Assembler(), Gemini()
    for parts in STREAM:
        wire.read(json.dumps({"candidates": [{"content": {"parts": parts}}]}).encode(), one)
    usage = {"promptTokenCount": 90, "cachedContentTokenCount": 80, "candidatesTokenCount": 7}
    last = {"candidates": [{"finishReason": "STOP"}], "usageMetadata": usage}
    wire.read(json.dumps(last).encode(), one)
    wire.finish(one)
    return one.reply(MODEL, "p")


def conversation() -> list[Message]:
    answer = answered()
    assert answer.usage == Usage(10, 7, 80)
    first, second = answer.calls
    return [
        User(
            (Text("look"), Image("image/png", "cGl4"), Document("application/pdf", "cGRm", "a.pdf"))
        ),
        Assistant(answer.content, answer.model, answer.provider),
        User(
            (
                Result(first.id, (Text("one\ntwo"),)),
                Result(second.id, (Text("It failed."),), is_error=True),
                Text("go on"),
            )
        ),
        Assistant((Thinking("not ours", "sig"), Text("well"), Call("c", "Read", "{broken")), "n"),
        User(
            (
                Result("c", (Text("both"), Image("image/jpeg", "bW9yZQ=="))),
                Document("application/pdf", "cGRm"),
            )
        ),
        Assistant((Text("done"), Thinking("", "ZW5k")), MODEL, "p"),
        User((Text("thanks"),)),
    ]


def body(
    *messages: Message, manner: Manner = MANNER, model: str = MODEL, most: int = 1_000, **more: Any
) -> dict[str, Any]:
    request = Request(more.pop("system", ()), messages or (User((Text("hi"),)),), **more)
    made: dict[str, Any] = json.loads(Gemini(manner).body(request, model, most))
    return made


def config(manner: Manner, model: str = MODEL, **more: Any) -> dict[str, Any]:
    made: dict[str, Any] = body(manner=manner, model=model, most=0, **more)["generationConfig"]
    return made


def parts(*messages: Message, manner: Manner = MANNER, model: str = MODEL) -> list[dict[str, Any]]:
    """Of the last message."""
    made: list[dict[str, Any]] = body(*messages, manner=manner, model=model)["contents"][-1][
        "parts"
    ]
    return made


def test_the_request_after_a_round_trip_is_the_one_on_file() -> None:
    system = ("You are Detent.", "# Surroundings")
    made = body(*conversation(), system=system, tools=(READ,))
    written = json.dumps(made, indent=1, ensure_ascii=False) + "\n"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        SNAPSHOT.write_text(written, encoding="utf-8")
    assert written == SNAPSHOT.read_text(encoding="utf-8"), "order counts too"


def test_one_request_is_a_byte_prefix_of_the_next() -> None:
    messages = conversation()
    warm = Gemini(MANNER)
    sent = [
        warm.body(Request(("s",), messages[:count], (READ,)), MODEL, 100)
        for count in range(1, len(messages) + 1)
    ]
    for earlier, later in pairwise(sent):
        assert later.startswith(earlier.removesuffix(b"]}"))
    assert sent[-1] == Gemini(MANNER).body(Request(("s",), messages, (READ,)), MODEL, 100)


def test_a_switch_of_the_model_is_seen_by_a_wire_that_is_already_warm() -> None:
    warm, request = Gemini(MANNER), Request((), conversation())
    for model in (MODEL, "gemini-2.5-pro", "n", MODEL):
        assert warm.body(request, model, 1) == Gemini(MANNER).body(request, model, 1)


@pytest.mark.parametrize("model", ["gemini-3-pro", "models/gemini-3-pro"])
def test_the_model_is_part_of_the_path(model: str) -> None:
    assert Gemini().path(model) == "/models/gemini-3-pro:streamGenerateContent?alt=sse"


# Fields beside the contents


def test_nothing_is_sent_that_nobody_asked_for() -> None:
    assert body(manner=Manner(), most=0) == {
        "generationConfig": {},
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
    }


def test_tools_are_declared_and_those_of_the_server_stand_behind_them() -> None:
    search = msgspec.Raw(b'{"googleSearch":{}}')
    sent = body(tools=(READ,), manner=Manner(server_tools=(search,)))["tools"]
    declared = {
        "name": "Read",
        "description": "Reads a file.",
        "parametersJsonSchema": json.loads(bytes(READ.schema)),
    }
    assert sent == [{"functionDeclarations": [declared]}, {"googleSearch": {}}]
    assert body(manner=Manner(server_tools=(search,)))["tools"] == [{"googleSearch": {}}]


def test_extra_fields_win_and_the_contents_stay_last() -> None:
    extra = msgspec.Raw(b'{"generationConfig":{"temperature":0},"safetySettings":[]}')
    sent = body(manner=Manner(extra_body=extra))
    assert sent["generationConfig"] == {"temperature": 0}
    assert list(sent)[-1] == "contents"


def test_a_form_is_a_schema_of_the_answer_where_tools_allow_it() -> None:
    form = msgspec.Raw(b'{"type":"object"}')
    schema = {"responseMimeType": "application/json", "responseJsonSchema": {"type": "object"}}
    assert config(Manner(), form=form) == schema
    assert config(Manner(), form=form, tools=(READ,)) == schema
    assert config(Manner(), "gemini-2.5-pro", form=form) == schema
    assert config(Manner(), "gemini-2.5-pro", form=form, tools=(READ,)) == {}


@pytest.mark.parametrize(
    ("manner", "model", "sent"),
    [
        (Manner(thinks="effort", effort="low"), MODEL, {"thinkingLevel": "LOW"}),
        (Manner(thinks="effort", effort="medium"), MODEL, {"thinkingLevel": "MEDIUM"}),
        (Manner(thinks="effort", effort="max"), MODEL, {"thinkingLevel": "HIGH"}),
        (Manner(thinks="effort"), MODEL, {}),
        (Manner(thinks="budget", thinking_budget=512), "gemini-2.5-pro", {"thinkingBudget": 512}),
        (Manner(thinks="budget"), "gemini-2.5-pro", {}),
        (Manner(thinks="adaptive"), MODEL, {}),
    ],
)
def test_how_the_model_is_told_to_think(manner: Manner, model: str, sent: dict[str, Any]) -> None:
    assert config(manner, model) == {"thinkingConfig": {"includeThoughts": True, **sent}}


def test_no_thinking_is_the_least_a_model_can_do() -> None:
    def thinking(thinks: Any, model: str) -> Any:
        manner = Manner(thinks=thinks, thinking_budget=0, effort="high")
        return config(manner, model)["thinkingConfig"]

    none = {"includeThoughts": False}
    assert thinking("budget", "gemini-2.5-flash") == {**none, "thinkingBudget": 0}
    assert thinking("effort", "gemini-3.8-flash") == {**none, "thinkingLevel": "MINIMAL"}
    assert thinking("effort", "gemini-3.1-pro") == {**none, "thinkingLevel": "LOW"}
    assert config(Manner(thinking_budget=0)) == {}


@pytest.mark.parametrize(
    ("model", "wanted", "sent"),
    [
        ("gemini-2.5-pro", 0, 128),
        ("gemini-2.5-pro", 1, 128),
        ("models/gemini-2.5-pro", 64_000, 32_768),
        ("gemini-2.5-flash", 0, 0),
        ("gemini-2.5-flash", 1, 1),
        ("gemini-2.5-flash", 32_768, 24_576),
        ("gemini-2.5-flash-lite", 0, 0),
        ("gemini-2.5-flash-lite", 100, 512),
        ("gemini-2.5-flash-lite-preview", 99_999, 24_576),
        ("gemini-9", 99_999, 99_999),
    ],
)
def test_a_budget_is_one_that_the_model_takes(model: str, wanted: int, sent: int) -> None:
    made = config(Manner(thinks="budget", thinking_budget=wanted), model)["thinkingConfig"]
    assert made == {"includeThoughts": wanted > 0, "thinkingBudget": sent}


# Signatures


def said(*content: Any, model: str = MODEL, provider: str = "p") -> Assistant:
    return Assistant(content, model, provider)


def test_signatures_go_back_on_the_part_they_came_with() -> None:
    made = parts(
        said(
            Thinking("hm", "sig-t"),
            Thinking("unsigned"),
            Text("so"),
            Thinking("", "sig-x"),
            Opaque(CODE),
            Call("a", "Read", "{}", "sig-c"),
            Call("b", "Read", "{}"),
        )
    )
    assert made == [
        {"text": "hm", "thought": True, "thoughtSignature": "sig-t"},
        {"text": "so"},
        {"text": "", "thoughtSignature": "sig-x"},
        json.loads(CODE),
        {"functionCall": {"id": "a", "name": "Read", "args": {}}, "thoughtSignature": "sig-c"},
        {"functionCall": {"id": "b", "name": "Read", "args": {}}},
    ]


@pytest.mark.parametrize("author", [{"model": "gemini-3-pro"}, {"provider": "q"}])
def test_signatures_go_back_to_nobody_else(author: dict[str, str]) -> None:
    content = (Thinking("hm", "sig-t"), Opaque(CODE), Text("so"), Call("a", "Read", "{}", "sig-c"))
    assert "sig-" not in json.dumps(parts(said(*content, **author)))


def test_calls_keep_their_signature_where_thinking_is_not_wanted_back() -> None:
    content = (Thinking("hm", "sig-t"), Call("a", "Read", "{}", "sig-c"))
    made = json.dumps(parts(said(*content), manner=Manner(provider="p", replay="never")))
    assert "sig-c" in made
    assert "sig-t" not in made


@pytest.mark.parametrize(
    ("model", "sent"),
    [
        ("gemini-3-pro", UNSIGNED),
        ("gemini-4-argon", UNSIGNED),
        ("gemini-flash-latest", UNSIGNED),
        ("gemini-2.5-pro", None),
        ("gemma-4", None),
    ],
)
def test_the_first_of_the_calls_another_model_made_is_excused(model: str, sent: Any) -> None:
    content = (Call("a", "Read", "{}", "theirs"), Call("b", "Read", "{}"))
    made = parts(Assistant(content, "claude", "p"), model=model)
    assert [part.get("thoughtSignature") for part in made] == [sent, None]


def test_an_own_call_without_a_signature_is_excused_too() -> None:
    (made,) = parts(said(Call("a", "Read", "{}")))
    assert made["thoughtSignature"] == UNSIGNED


# Results


def test_a_result_has_the_name_of_its_call_and_media_follow() -> None:
    made = parts(
        said(Call("a", "Read", "{}"), Call("call_1", "Bash", "{}")),
        User(
            (
                Text("be quick"),
                Result("a", (Text("x"), Image("image/png", "eA=="))),
                Result("call_1", (Text("no"),), is_error=True),
            )
        ),
    )
    assert made == [
        {"functionResponse": {"id": "a", "name": "Read", "response": {"output": "x"}}},
        {"functionResponse": {"name": "Bash", "response": {"error": "no"}}},
        {"text": "be quick"},
        {"inlineData": {"mimeType": "image/png", "data": "eA=="}},
    ]


def test_a_result_without_text_says_so() -> None:
    made = parts(
        said(Call("a", "Read", "{}"), Call("b", "Read", "{}")),
        User((Result("a", ()), Result("b", (Document("application/pdf", "eA=="),)))),
    )
    said_of = [part["functionResponse"]["response"] for part in made[:2]]
    assert said_of == [{"output": "(no output)"}, {"output": "(the content follows)"}]


def test_ids_that_come_again_are_those_of_the_calls_right_before() -> None:
    """Ids are made up where a server gives none, so each answer may have the same ones."""
    first = said(Call("call_0", "Read", "{}"))
    second = said(Call("call_0", "Bash", "{}"))
    results = [User((Result("call_0", (Text("x"),)),)) for _ in range(3)]
    wire = Gemini(MANNER)

    def names(*messages: Message) -> list[str]:
        sent = json.loads(wire.body(Request((), messages), MODEL, 0))["contents"]
        return [
            one["parts"][0]["functionResponse"]["name"] for one in sent if one["role"] == "user"
        ]

    assert names(first, results[0], second, results[1]) == ["Read", "Bash"]
    assert names(first, results[2]) == ["Read"], "after a rewind too"


def test_messages_that_hold_nothing_are_left_out() -> None:
    made = body(said(Redacted("x"), Thinking("y"), Text("")), User((Text(""),)))
    assert made["contents"] == []


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [('{"a": 1}', {"a": 1}), ("", {}), ("{cut", {"invalid_arguments": "{cut"})],
)
def test_arguments_go_back_as_an_object(arguments: str, sent: Any) -> None:
    assert parts(said(Call("a", "Read", arguments)))[0]["functionCall"]["args"] == sent
