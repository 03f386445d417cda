"""Results, frames, partial frames, exit codes and plain text: pure functions of events."""

from __future__ import annotations

import asyncio
import json
from typing import Any, get_args

import pytest

from detent.surfaces.headless.activity import Activity, tell_notice
from detent.surfaces.headless.exit_codes import exit_code
from detent.surfaces.headless.frames import LONGEST_LINE, Frames, frame_line
from detent.surfaces.headless.partials import Partials
from detent.surfaces.headless.result import TurnRecord, failed_result, input_object
from detent.surfaces.headless.sent import prompt_from
from detent.surfaces.headless.text import TextWriter
from detent.types.content import Call, Document, Image, Opaque, Redacted, Text, Thinking
from detent.types.effects import Reads, Runs, Writes
from detent.types.events import (
    CallDelta,
    CallEnded,
    CallStarted,
    Compacted,
    Compacting,
    Discarded,
    Event,
    Notice,
    Prompted,
    Reason,
    Replied,
    Retrying,
    StepRecord,
    TextDelta,
    ThinkingDelta,
    TurnEnded,
)
from detent.types.outcomes import Cut, Done, Failed, Refused, done
from detent.types.usage import Usage
from detent.types.verdicts import Allow


def replied(*blocks: Any, stop: str = "end_turn", **more: Any) -> Replied:
    given = {"turn": 1, "step": 1, "model": "m", "usage": Usage(10, 5), **more}
    return Replied(content=blocks, stop=stop, **given)


def ended(reason: Reason = "end_turn", *steps: StepRecord, **more: Any) -> TurnEnded:
    usage = sum((step.usage for step in steps), Usage())
    return TurnEnded(turn=1, reason=reason, steps=steps, usage=usage, ms=1500, api_ms=900, **more)


def step(number: int = 1, model: str = "m", stop: str = "end_turn") -> StepRecord:
    return StepRecord(number, model, stop, Usage(10, 5))


def started(call_id: str, *effects: Any, name: str = "T") -> CallStarted:
    return CallStarted(
        call_id=call_id, name=name, arguments="{}", effects=effects, verdict=Allow("rule x")
    )


def result_of(*events: Event, price: Any = lambda model, usage: 0.25) -> dict[str, Any]:
    record = TurnRecord("s1", price, lambda model: (200_000, 32_000))
    for event in events:
        record.add(event)
    return record.result({"limits": {"turns": 3}})


# exit codes


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("end_turn", 0),
        ("api_error", 1),
        ("hook_stopped", 1),
        ("invalid_response", 1),
        ("refusal", 1),
        ("budget_exceeded", 4),
        ("max_turns", 4),
        ("blocking_limit", 5),
        ("max_tokens", 5),
        ("prompt_too_long", 5),
        ("retries_exhausted", 7),
        ("user_cancelled", 130),
    ],
)
def test_exit_codes(reason: Reason, code: int) -> None:
    assert exit_code(reason, refused=False) == code


def test_every_reason_has_an_exit_code() -> None:
    for reason in get_args(Reason):
        assert isinstance(exit_code(reason, refused=False), int)


def test_a_refused_call_and_a_missing_key_have_codes_of_their_own() -> None:
    assert exit_code("end_turn", refused=True) == 3
    assert exit_code("max_turns", refused=True) == 4, "a limit says more than a refusal"
    assert exit_code("api_error", refused=False, status=401) == 7
    assert exit_code("api_error", refused=False, status=500) == 1


# the result object


def test_a_good_result() -> None:
    call = Call("c1", "Bash", '{"command": "make"}')
    result = result_of(
        replied(call, stop="tool_use"),
        started("c1", Runs("make"), name="Bash"),
        CallEnded(call_id="c1", name="Bash", outcome=done("ok", {"exitCode": 0})),
        replied(Text("all is well"), step=2),
        ended("end_turn", step(1, stop="tool_use"), step(2)),
    )
    assert (result["type"], result["subtype"], result["is_error"]) == ("result", "success", False)
    assert result["result"] == "all is well"
    assert result["num_turns"] == 2 and len(result["iterations"]) == 2
    assert result["usage"]["input_tokens"] == 20
    assert result["total_cost_usd"] == 0.5 and "cost_unknown" not in result
    assert result["modelUsage"]["m"]["costUSD"] == 0.5
    assert (result["duration_ms"], result["duration_api_ms"]) == (1500, 900)
    assert result["session_id"] == "s1" and result["stop_reason"] == "end_turn"
    assert result["terminal_reason"] == "completed"
    assert result["commands"] == [{"command": "make", "exit_code": 0}]
    assert result["budget"] == {"limits": {"turns": 3}}
    assert result["permission_denials"] == [] and result["auto_compaction"] is None
    json.dumps(result)


@pytest.mark.parametrize(
    ("reason", "subtype", "terminal"),
    [
        ("max_turns", "error_max_turns", "max_turns"),
        ("budget_exceeded", "error_max_budget_usd", "budget_exhausted"),
        ("api_error", "success", "api_error"),
        ("retries_exhausted", "success", "api_error"),
        ("blocking_limit", "error_during_execution", "blocking_limit"),
        ("user_cancelled", "error_during_execution", "aborted_streaming"),
    ],
)
def test_results_of_other_ends(reason: Reason, subtype: str, terminal: str) -> None:
    result = result_of(replied(Text("half")), ended(reason, step(), error="what happened"))
    assert (result["subtype"], result["terminal_reason"]) == (subtype, terminal)
    assert result["is_error"] is True
    assert result["result"] == "what happened" and result["text"] == "half"
    assert result["errors"] == ["what happened"]


@pytest.mark.parametrize(
    ("limit", "subtype"),
    [
        ("dollars", "error_max_budget_usd"),
        ("requests", "error_max_turns"),
        ("turns", "error_max_turns"),
        ("tokens", "error_during_execution"),
        ("seconds", "error_during_execution"),
    ],
)
def test_only_money_is_called_money(limit: str, subtype: str) -> None:
    result = result_of(ended("budget_exceeded", limit=limit, error="spent"))
    assert (result["subtype"], result["terminal_reason"]) == (subtype, "budget_exhausted")


def test_an_interrupt_during_a_call_is_told_apart() -> None:
    cut = CallEnded(call_id="c", name="T", outcome=Cut("interrupted"))
    assert result_of(cut, ended("user_cancelled"))["terminal_reason"] == "aborted_tools"


def test_an_unknown_price_is_never_free_of_charge_silently() -> None:
    result = result_of(replied(), ended("end_turn", step()), price=lambda model, usage: None)
    assert result["total_cost_usd"] == 0 and result["cost_unknown"] is True


def test_what_came_to_no_answer_is_part_of_the_bill() -> None:
    def price(model: str, usage: Usage) -> float | None:
        return {"m": 1.0, "other": 2.0}.get(model)

    lost = {"m": Usage(100, 1), "other": Usage(7)}
    result = result_of(replied(), ended("end_turn", step(), lost=lost), price=price)
    assert result["total_cost_usd"] == 4.0
    used = {model: used["inputTokens"] for model, used in result["modelUsage"].items()}
    assert used == {"m": 110, "other": 7}
    result = result_of(ended("retries_exhausted", lost={"free": Usage(7)}), price=price)
    assert result["cost_unknown"] is True


def test_denials_name_tool_input_and_reason() -> None:
    result = result_of(
        replied(Call("c1", "Bash", '{"command": "rm x"}'), stop="tool_use"),
        CallEnded(call_id="c1", name="Bash", outcome=Refused("no", "rule")),
        ended("end_turn", step()),
    )
    (denial,) = result["permission_denials"]
    assert denial["tool_name"] == "Bash" and denial["tool_use_id"] == "c1"
    assert denial["tool_input"] == {"command": "rm x"}


def test_files_changed_are_those_of_calls_that_worked() -> None:
    result = result_of(
        started("a", Writes("/x"), Reads("/y")),
        CallEnded(call_id="a", name="T", outcome=done("ok")),
        started("b", Writes("/z")),
        CallEnded(call_id="b", name="T", outcome=Failed("no")),
        started("c", Writes("/x")),
        CallEnded(call_id="c", name="T", outcome=done("ok")),
        ended(),
    )
    assert result["files_changed"] == ["/x"]


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ('{"a": 1}', {"a": 1}),
        ("", {}),
        ("[1]", {"invalid_arguments": "[1]"}),
        ('{"a":', {"invalid_arguments": '{"a":'}),
    ],
)
def test_clients_always_get_an_object(text: str, given: Any) -> None:
    assert input_object(text) == given


def test_a_run_that_never_began_has_a_result_too() -> None:
    result = failed_result("", "no model", "no_model")
    assert result["is_error"] is True and result["result"] == "no model"
    assert set(result) >= {"usage", "total_cost_usd", "num_turns", "permission_denials"}


# frames


def frames() -> Frames:
    numbers = iter(range(1000))
    return Frames("s1", lambda: f"u{next(numbers)}")


def test_an_answer_is_an_assistant_frame() -> None:
    blocks = (Thinking("hm", "sig"), Redacted("xx"), Text("hi"), Call("c1", "T", '{"a":1}'))
    (frame,) = frames().of(replied(*blocks, stop="tool_use", message_id="msg_9"))
    assert frame["type"] == "assistant" and frame["session_id"] == "s1" and frame["uuid"] == "u0"
    message = frame["message"]
    assert (message["id"], message["model"], message["stop_reason"]) == ("msg_9", "m", "tool_use")
    assert message["content"] == [
        {"type": "thinking", "thinking": "hm", "signature": "sig"},
        {"type": "redacted_thinking", "data": "xx"},
        {"type": "text", "text": "hi"},
        {"type": "tool_use", "id": "c1", "name": "T", "input": {"a": 1}},
    ]


def test_results_come_in_call_order_and_after_their_answer() -> None:
    """Calls may end before the answer is whole, and in any order."""
    made = frames()
    answer = replied(Call("a", "T", ""), Call("b", "T", ""), stop="tool_use")
    assert made.of(CallEnded(call_id="b", name="T", outcome=done("2"))) == []
    (assistant,) = made.of(answer)
    assert assistant["type"] == "assistant"
    both = made.of(CallEnded(call_id="a", name="T", outcome=Failed("1")))
    results = [frame["message"]["content"][0] for frame in both]
    assert [(r["tool_use_id"], r["content"], r["is_error"]) for r in results] == [
        ("a", "1", True),
        ("b", "2", False),
    ]


def test_a_picture_stays_a_block() -> None:
    made = frames()
    made.of(replied(Call("a", "T", ""), stop="tool_use"))
    (frame,) = made.of(
        CallEnded(call_id="a", name="T", outcome=Done((Image("image/png", "AA"),), {"k": 1}))
    )
    (part,) = frame["message"]["content"][0]["content"]
    assert part["source"] == {"type": "base64", "media_type": "image/png", "data": "AA"}
    assert frame["tool_use_result"] == {"k": 1}


def test_what_only_a_provider_understands_is_shown_as_it_came() -> None:
    search = Opaque('{"type":"server_tool_use","id":"s"}')
    (frame,) = frames().of(replied(search, Opaque("broken"), Text("hi")))
    assert frame["message"]["content"] == [
        {"type": "server_tool_use", "id": "s"},
        {"type": "opaque", "data": "broken"},
        {"type": "text", "text": "hi"},
    ]


def test_a_document_stays_a_block() -> None:
    made = frames()
    made.of(replied(Call("a", "T", ""), stop="tool_use"))
    pdf = Document("application/pdf", "AA", "a.pdf")
    (frame,) = made.of(CallEnded(call_id="a", name="T", outcome=Done((pdf,))))
    source = {"type": "base64", "media_type": "application/pdf", "data": "AA"}
    (part,) = frame["message"]["content"][0]["content"]
    assert part == {"type": "document", "source": source, "title": "a.pdf"}


def test_a_host_may_send_pictures_and_documents() -> None:
    source = {"type": "base64", "media_type": "application/pdf", "data": "AA"}
    words = {"type": "text", "media_type": "text/plain", "data": "hi"}
    prompt = prompt_from(
        [
            {"type": "text", "text": "look"},
            {"type": "image", "source": {**source, "media_type": "image/png"}},
            {"type": "document", "source": source, "title": "a.pdf"},
            {"type": "document", "source": words},
            {"type": "document", "source": {"type": "url", "url": "x"}},
        ]
    )
    assert prompt == (
        Text("look"),
        Image("image/png", "AA"),
        Document("application/pdf", "AA", "a.pdf"),
        Document("text/plain", "aGk="),
    )


@pytest.mark.parametrize(
    ("event", "subtype"),
    [
        (Retrying(1, 4, 0.2, "overloaded", 529), "api_retry"),
        (Notice("hear", "warning"), "informational"),
        (Compacted(summary="s", keeps_from=1), "compact_boundary"),
        (Compacting(), "status"),
    ],
)
def test_system_frames(event: Event, subtype: str) -> None:
    (frame,) = frames().of(event)
    assert (frame["type"], frame["subtype"]) == ("system", subtype)


@pytest.mark.parametrize(
    ("trigger", "told"),
    [
        ("auto", {"trigger": "auto"}),
        ("manual", {"trigger": "manual"}),
        ("reactive", {"trigger": "auto", "is_reactive": True}),
    ],
)
def test_a_compaction_is_told_in_the_words_of_clients(trigger: Any, told: dict[str, Any]) -> None:
    event = Compacted(
        summary="s", keeps_from=1, trigger=trigger, before_tokens=9, after_tokens=4, ms=70
    )
    (frame,) = frames().of(event)
    sizes = {"pre_tokens": 9, "post_tokens": 4, "duration_ms": 70}
    assert frame["compact_metadata"] == {**told, **sizes}


def test_people_see_when_a_summary_is_being_made() -> None:
    shown = [frames().of(Compacting(is_over))[0]["status"] for is_over in (False, True)]
    assert shown == ["compacting", None]


def test_what_is_not_for_clients_makes_no_frame() -> None:
    for event in (Prompted(turn=1, content=()), TextDelta(0, "x"), ended()):
        assert frames().of(event) == []


def test_no_line_is_too_long_and_what_is_left_out_is_counted() -> None:
    line = frame_line({"type": "x", "deep": [{"text": "ä" * 3_000_000}], "short": "kept"})
    assert len(line) <= LONGEST_LINE + 1 and line.endswith(b"\n") and line.count(b"\n") == 1
    frame = json.loads(line)
    assert frame["short"] == "kept" and "characters left out" in frame["deep"][0]["text"]


def test_the_first_frame_tells_what_there_is() -> None:
    frame = frames().init(cwd="/w", tools=("Read",), model="m", mode="plan")
    assert (frame["subtype"], frame["permissionMode"], frame["tools"]) == ("init", "plan", ["Read"])


# partial frames


def test_deltas_become_the_events_of_one_message() -> None:
    partials = Partials("m")
    events: list[Event] = [
        ThinkingDelta(0, "hm"),
        TextDelta(1, "he"),
        TextDelta(1, "llo"),
        CallDelta(2, "c", "T", '{"a":'),
        CallDelta(2, "c", "T", "1}"),
        replied(Text("hello"), stop="tool_use"),
    ]
    made = [frame for event in events for frame in partials.of(event)]
    assert [frame["type"] for frame in made] == [
        "message_start",
        "content_block_start", "content_block_delta", "content_block_stop",
        "content_block_start", "content_block_delta", "content_block_delta", "content_block_stop",
        "content_block_start", "content_block_delta", "content_block_delta", "content_block_stop",
        "message_delta", "message_stop",
    ]  # fmt: skip
    joined = [f["delta"].get("text", "") for f in made if f["type"] == "content_block_delta"]
    assert "".join(joined) == "hello"
    assert made[-2]["delta"]["stop_reason"] == "tool_use"


def test_alternating_calls_keep_their_blocks() -> None:
    partials = Partials("m")
    deltas = [(0, "a", "1"), (1, "b", "2"), (0, "a", "3")]
    events = [CallDelta(index, name, "T", text) for index, name, text in deltas]
    made = [f for event in events for f in partials.of(event)] + partials.of(replied())
    starts = [f["index"] for f in made if f["type"] == "content_block_start"]
    told = [f["index"] for f in made if f["type"] == "content_block_delta"]
    assert starts == [0, 1] and told == [0, 1, 0]
    assert sorted(f["index"] for f in made if f["type"] == "content_block_stop") == [0, 1]


def test_a_discarded_message_begins_anew() -> None:
    partials = Partials("m")
    partials.of(TextDelta(0, "void"))
    partials.of(Discarded("lost"))
    again = partials.of(TextDelta(0, "new"))
    assert again[0]["type"] == "message_start" and again[-1]["index"] == 0


def test_an_answer_without_deltas_makes_no_partial_frames() -> None:
    assert Partials("m").of(replied(Text("x"))) == []


# plain text


class Paper:
    def __init__(self, is_terminal: bool) -> None:
        self.is_terminal = is_terminal
        self.data = b""

    async def write(self, data: bytes) -> None:
        self.data += data


def printed(*events: Event, terminal: bool = False) -> str:
    async def show() -> str:
        paper = Paper(terminal)
        writer = TextWriter(paper)  # type: ignore[arg-type]
        for event in events:
            await writer.show(event)
        return paper.data.decode()

    return asyncio.run(show())


def test_the_answer_ends_with_exactly_one_newline() -> None:
    for terminal in (False, True):
        for text in ("hi", "hi\n"):
            events = TextDelta(0, text), replied(Text(text)), ended()
            assert printed(*events, terminal=terminal) == "hi\n"
    assert printed(replied(), ended()) == ""


def test_talk_before_a_call_is_no_answer_in_a_pipe() -> None:
    events = (
        TextDelta(0, "let me look"),
        replied(Text("let me look"), Call("c", "T", "{}"), stop="tool_use"),
        TextDelta(0, "done"),
        replied(Text("done")),
        ended(),
    )
    assert printed(*events) == "done\n"
    assert printed(*events, terminal=True) == "let me look\ndone\n"


def test_an_answer_flows_on_a_terminal_and_comes_whole_into_a_pipe() -> None:
    long = "x" * 10_000
    assert printed(TextDelta(0, long), terminal=True) == long
    assert printed(TextDelta(0, long)) == ""
    assert printed(TextDelta(0, long), replied(Text(long))) == f"{long}\n"


@pytest.mark.parametrize("terminal", [False, True])
def test_a_line_ends_with_the_answer_unless_the_rest_of_it_may_follow(terminal: bool) -> None:
    """The turn may go on: what people are told meanwhile must not stand behind the answer."""
    first = TextDelta(0, "half a "), TextDelta(0, "line")
    parts = replied(Text("half a "), stop="max_tokens"), replied(Text("line"))
    assert printed(first[0], parts[0], terminal=terminal) == "half a "
    assert printed(first[0], parts[0], first[1], parts[1], terminal=terminal) == "half a line\n"


def test_what_was_discarded_is_not_printed_in_a_pipe() -> None:
    void = "void" * 1_000
    events = (
        TextDelta(0, void),
        Discarded("lost"),
        TextDelta(0, "good"),
        replied(Text("good")),
        ended(),
    )
    assert printed(*events) == "good\n"
    assert printed(*events, terminal=True) == f"{void}\ngood\n"


def test_lone_surrogates_do_not_break_the_output() -> None:
    assert printed(replied(Text("a\udc80b")), ended()) == "a?b\n"


# what people are told


@pytest.mark.parametrize(
    ("attempt", "delay", "told"),
    [(1, 0.2, ""), (1, 1.0, "in 1 s"), (2, 0.4, "retry 2/4"), (3, 30.0, "in 30 s")],
)
def test_a_wait_that_looks_like_a_hang_is_told(
    attempt: int, delay: float, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    tell_notice(Retrying(attempt, 4, delay, "Overloaded"))
    said = capsys.readouterr().err
    assert told in said
    assert ("Overloaded" in said) == bool(told)


def test_retries_are_told_once_when_everything_is(capsys: pytest.CaptureFixture[str]) -> None:
    Activity().tell(Retrying(2, 4, 1.0, "Overloaded"))
    assert capsys.readouterr().err.count("Overloaded") == 1
