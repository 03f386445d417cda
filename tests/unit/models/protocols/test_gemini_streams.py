"""What the Gemini wire makes of a stream, of the odd ones too."""

from __future__ import annotations

import json
from typing import Any

import pytest

from detent.models.assemble import Assembler
from detent.models.protocols.gemini import Gemini
from detent.types.content import AssistantBlock, Call, Opaque, Text, Thinking
from detent.types.deltas import CallReady
from detent.types.errors import ModelFailure
from detent.types.messages import Reply
from detent.types.usage import Usage

Part = dict[str, Any]


def chunk(*parts: Part, finish: str = "", **fields: Any) -> Part:
    candidate: Part = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "modelVersion": "gemini-3", **fields}


def fed(*chunks: Part, wire: Gemini | None = None) -> Assembler:
    one, wire = Assembler(), wire or Gemini()
    for each in chunks:
        wire.read(json.dumps(each).encode(), one)
    wire.finish(one)
    return one


def reply(*chunks: Part) -> Reply:
    return fed(*chunks).reply("m")


def content(*parts: Part) -> tuple[AssistantBlock, ...]:
    """The same blocks whether the parts come in one chunk or in one each."""
    at_once = reply(chunk(*parts, finish="STOP")).content
    one_by_one = reply(*map(chunk, parts), chunk(finish="STOP")).content
    assert at_once == one_by_one
    return at_once


def call(name: str = "Read", args: Any = None, **fields: Any) -> Part:
    given = {"name": name, "args": args if args is not None else {}}
    return {"functionCall": {**given, **fields}}


def test_a_whole_stream() -> None:
    answer = reply(
        chunk({"text": "hm", "thought": True}, responseId="r1", usageMetadata={}),
        chunk({"text": "m", "thought": True}),
        chunk({"text": "I "}),
        chunk({"text": "will."}),
        chunk({**call(args={"path": "x"}, id="a"), "thoughtSignature": "sig"}, call("Bash")),
        chunk(
            {"text": ""},
            finish="STOP",
            usageMetadata={
                "promptTokenCount": 100,
                "cachedContentTokenCount": 60,
                "candidatesTokenCount": 7,
                "thoughtsTokenCount": 5,
                "toolUsePromptTokenCount": 3,
                "totalTokenCount": 115,
            },
        ),
    )
    thinking, said, first, second = answer.content
    assert (thinking, said) == (Thinking("hmm"), Text("I will."))
    assert isinstance(first, Call)
    assert (first.id, first.name, first.signature) == ("a", "Read", "sig")
    assert json.loads(first.arguments) == {"path": "x"}
    assert second == Call("call_3", "Bash", "{}")
    assert answer.stop == "tool_use"
    assert answer.usage == Usage(43, 12, 60, reasoning=5)
    assert answer.message_id == "r1"


def test_a_call_is_ready_as_soon_as_it_is_there() -> None:
    one = Assembler()
    part = {**call(id="a"), "thoughtSignature": "sig"}
    Gemini().read(json.dumps(chunk(part)).encode(), one)
    (ready,) = [delta for delta in one.drain() if isinstance(delta, CallReady)]
    assert ready.call == Call("a", "Read", "{}", "sig")


def test_parts_of_one_kind_are_one_block_and_the_order_is_kept() -> None:
    thought = {"text": "t", "thought": True}
    assert content(thought, thought, {"text": "a"}, {"text": "b"}, thought, {"text": "c"}) == (
        Thinking("tt"),
        Text("ab"),
        Thinking("t"),
        Text("c"),
    )


# Signatures


def test_a_thought_is_signed_and_the_signature_ends_it() -> None:
    assert content(
        {"text": "a", "thought": True},
        {"text": "b", "thought": True, "thoughtSignature": "s1"},
        {"text": "c", "thought": True},
        {"text": "", "thought": True, "thoughtSignature": "s2"},
        {"text": "so"},
    ) == (Thinking("ab", "s1"), Thinking("c", "s2"), Text("so"))


@pytest.mark.parametrize(
    "parts",
    [
        ({"text": "ab", "thoughtSignature": "sig"},),
        ({"text": "a"}, {"text": "b", "thoughtSignature": "sig"}),
        ({"text": "ab"}, {"text": "", "thoughtSignature": "sig"}),
        ({"text": "ab"}, {"thoughtSignature": "sig"}),
    ],
)
def test_the_signature_of_a_text_stands_behind_it(parts: tuple[Part, ...]) -> None:
    assert content(*parts) == (Text("ab"), Thinking("", "sig"))
    assert content(*parts, {"text": "c"}) == (Text("ab"), Thinking("", "sig"), Text("c"))


def test_empty_parts_leave_no_trace() -> None:
    assert content({"text": ""}, {}, {"text": "", "thought": True}, {"text": "a"}) == (Text("a"),)


# Calls


@pytest.mark.parametrize("args", [{"args": None}, {}])
def test_a_call_without_arguments(args: Part) -> None:
    answer = reply(chunk({"functionCall": {"name": "Read", **args}}, finish="STOP"))
    assert answer.calls == (Call("call_0", "Read", "{}"),)


def test_ids_that_are_absent_are_made_up_and_differ() -> None:
    answer = reply(chunk(call(), call(), call()), chunk(call(), finish="STOP"))
    assert len({one.id for one in answer.calls}) == 4


@pytest.mark.parametrize(
    "part",
    [
        {"executableCode": {"language": "PYTHON", "code": "1"}, "thoughtSignature": "s"},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
        {"inlineData": {"mimeType": "image/png", "data": "eA=="}},
        {"toolCall": {"toolType": "GOOGLE_SEARCH", "id": "x"}, "thoughtSignature": "s"},
    ],
)
def test_parts_of_other_kinds_are_kept_as_they_came(part: Part) -> None:
    before, kept, after = content({"text": "a"}, part, {"text": "b"})
    assert (before, after) == (Text("a"), Text("b"))
    assert isinstance(kept, Opaque)
    assert json.loads(kept.data) == part


def test_a_text_with_something_new_beside_it_is_still_a_text() -> None:
    assert content({"text": "a", "speechMetadata": {}}) == (Text("a"),)


# Ends


@pytest.mark.parametrize(
    ("finish", "stop"),
    [
        ("STOP", "end_turn"),
        ("MAX_TOKENS", "max_tokens"),
        ("SAFETY", "refusal"),
        ("RECITATION", "refusal"),
        ("BLOCKLIST", "refusal"),
        ("PROHIBITED_CONTENT", "refusal"),
        ("SPII", "refusal"),
        ("IMAGE_SAFETY", "refusal"),
        ("NOVEL", "NOVEL"),
    ],
)
def test_finish_reasons_are_translated(finish: str, stop: str) -> None:
    assert reply(chunk({"text": "a"}, finish=finish)).stop == stop


@pytest.mark.parametrize(
    "finish",
    ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"],
)
def test_a_spoilt_answer_is_a_failure(finish: str) -> None:
    with pytest.raises(ModelFailure, match="the model") as caught:
        fed(chunk({"text": "a"}, finish=finish))
    assert caught.value.kind == "invalid_response"
    spoilt = chunk(finish=finish)
    spoilt["candidates"][0]["finishMessage"] = "print(x"
    with pytest.raises(ModelFailure, match=r"print\(x"):
        fed(spoilt)


def test_an_answer_that_broke_off_is_a_failure() -> None:
    with pytest.raises(ModelFailure, match="OTHER") as caught:
        fed(chunk({"text": "a"}, finish="OTHER"))
    assert caught.value.kind == "server"


def test_a_prompt_that_was_blocked_is_a_refusal() -> None:
    answer = reply({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {}})
    assert (answer.content, answer.stop) == ((), "refusal")


def test_counts_and_parts_may_come_behind_the_finish_reason() -> None:
    answer = reply(
        chunk({"text": "a"}, finish="STOP"),
        {"usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 1}},
    )
    assert answer.usage == Usage(5, 1)


def test_without_a_finish_reason_the_answer_is_not_whole() -> None:
    with pytest.raises(ModelFailure) as caught:
        reply(chunk({"text": "a"}))
    assert caught.value.kind == "network"


def test_only_the_first_candidate_counts() -> None:
    both = chunk({"text": "a"}, finish="STOP")
    both["candidates"] += chunk({"text": "b"}, finish="SAFETY")["candidates"]
    answer = reply(both)
    assert (answer.content, answer.stop) == ((Text("a"),), "end_turn")


def test_what_is_known_of_one_answer_does_not_leak_into_the_next() -> None:
    wire = Gemini()
    assert fed(chunk(call(), finish="STOP"), wire=wire).reply("m").stop == "tool_use"
    second = fed(chunk({"text": "a"}, finish="STOP"), wire=wire).reply("m")
    assert (second.content, second.stop) == ((Text("a"),), "end_turn")


# Errors and rubbish


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        ("RESOURCE_EXHAUSTED", "quota", "rate_limit"),
        ("UNAVAILABLE", "busy", "overloaded"),
        ("INTERNAL", "oops", "server"),
        ("DEADLINE_EXCEEDED", "late", "timeout"),
        ("INVALID_ARGUMENT", "what?", "invalid_request"),
        (
            "INVALID_ARGUMENT",
            "The input token count 9 exceeds the maximum number of tokens allowed 8.",
            "prompt_too_long",
        ),
        ("UNAUTHENTICATED", "who?", "auth"),
        ("PERMISSION_DENIED", "no", "auth"),
        ("NOT_FOUND", "which?", "not_found"),
        ("NOVEL", "hm", "server"),
    ],
)
def test_an_error_inside_the_stream_has_a_kind(status: str, message: str, kind: str) -> None:
    error = {"error": {"code": 1, "message": message, "status": status}}
    with pytest.raises(ModelFailure, match=message.replace("?", r"\?")) as caught:
        fed(chunk({"text": "a"}), error)
    assert caught.value.kind == kind


@pytest.mark.parametrize(
    ("error", "words"), [("plain", "plain"), ({"status": "INTERNAL"}, "INTERNAL"), ([1], "1")]
)
def test_an_error_of_another_shape(error: Any, words: str) -> None:
    with pytest.raises(ModelFailure, match=words) as caught:
        fed({"error": error})
    assert caught.value.kind == "server"


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"error": None},
        {"candidates": None},
        {"candidates": []},
        {"candidates": [{}]},
        {"candidates": [{"content": {}}]},
        {"candidates": [{"content": {"parts": None}, "finishReason": None}]},
        {"promptFeedback": {}},
        {"usageMetadata": {"promptTokenCount": None}, "thunder": 7},
    ],
)
def test_what_is_unknown_or_empty_is_passed_over(odd: Part) -> None:
    answer = reply(odd, chunk({"text": "a"}), odd, chunk({"text": "b"}, finish="STOP"), odd)
    assert answer.content == (Text("ab"),)


def test_the_end_mark_of_another_protocol_is_passed_over() -> None:
    one, wire = Assembler(), Gemini()
    for data in (json.dumps(chunk({"text": "a"}, finish="STOP")), "[DONE]"):
        wire.read(data.encode(), one)
    wire.finish(one)
    assert one.reply("m").content == (Text("a"),)


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b"[]",
        b"\xff",
        b'{"candidates":7}',
        b'{"candidates":[{"content":{"parts":[7]}}]}',
        b'{"candidates":[{"content":{"parts":[{"text":"\xff"}]}}]}',
        b'{"candidates":[{"content":{"parts":[{"novel":"\xff"}]}}]}',
        b'{"candidates":[{"content":{"parts":[{"functionCall":{"args":{"a":"\xff"}}}]}}]}',
        b'{"x":' + b"[" * 100_000,
    ],
)
def test_an_unreadable_event_is_an_invalid_response(data: bytes) -> None:
    with pytest.raises(ModelFailure) as caught:
        Gemini().read(data, Assembler())
    assert caught.value.kind == "invalid_response"
