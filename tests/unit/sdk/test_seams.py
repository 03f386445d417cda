"""Every seam can be replaced without touching the loop (F002, F003, F005), hooks and observers."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import msgspec
import pytest
from sdkbench import Settings, run

import detent
from detent.ports import Answer, Desk, Question
from detent.sdk.approval import ApprovingApprover, DenyingApprover, FailingApprover
from detent.sdk.custom_tools import tool
from detent.sdk.hooks import BeforeCall, HookAnswer, Hooks, Stopping, Submitted
from detent.sdk.query import run as run_once
from detent.sdk.session import Session
from detent.sdk.summary import TurnSummary
from detent.testing import call, reply
from detent.testing.memory_host import MemoryHost
from detent.testing.scripted_model import ScriptedModel
from detent.testing.static_tools import StaticTools
from detent.types.content import Result
from detent.types.effects import Reads, Runs, Writes
from detent.types.events import Answered, Asked, CallStarted, Event, Notice, Opened
from detent.types.outcomes import Cut, Done, Failed, Refused, done, text_of
from detent.types.verdicts import Allow


def turn(settings: Settings, *replies: Any, **options: Any) -> tuple[TurnSummary, list[Event]]:
    events: list[Event] = []

    async def body() -> TurnSummary:
        observers = (*options.pop("observers", ()), events.append)
        return await run_once(
            "go", settings(ScriptedModel(*replies), observers=observers, **options)
        )

    return run(body), events


def results(summary: TurnSummary) -> list[str]:
    return [text_of(result.outcome) for result in summary.tool_results]


# the static executor (F005)


def add(text: str) -> str:
    return str(sum(int(number) for number in text.split(",")))


def test_static_tools_run_closures_by_name(settings: Settings) -> None:
    tools = StaticTools().register("add", add).register("shout", str.upper)
    summary, _ = turn(
        settings,
        reply(call("add", raw="1,2,39"), call("shout", raw="hi"), call("nope", raw="x")),
        reply(call("add", raw="1,x")),
        "done",
        toolbox=tools,
    )
    assert results(summary)[:2] == ["42", "HI"]
    assert isinstance(summary.tool_results[2].outcome, Failed)
    assert "nope" in results(summary)[2] and "add, shout" in results(summary)[2]
    assert isinstance(summary.tool_results[3].outcome, Failed)
    assert "ValueError" in results(summary)[3]
    assert summary.text == "done", "an error result does not end the turn"


def test_the_model_reads_all_results_together(settings: Settings) -> None:
    model = ScriptedModel(reply(call("add", raw="1,1"), call("add", raw="2,2")), "ok")

    async def body() -> None:
        await run_once("go", settings(model, toolbox=StaticTools().register("add", add)))

    run(body)
    results_sent = [b for b in model.requests[1].messages[-1].content if isinstance(b, Result)]
    assert [block.content[0].text for block in results_sent] == ["2", "4"]  # type: ignore[union-attr]
    assert [spec.name for spec in model.requests[0].tools] == ["add"]


# the approver (F003)


class Recording:
    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.questions: list[Question] = []

    async def ask(self, question: Question) -> Answer:
        self.questions.append(question)
        return self.answers.pop(0) if self.answers else Answer(True)


def writing(ran: list[str] | None = None) -> StaticTools:
    record = ran if ran is not None else []
    return StaticTools().register(
        "save", lambda text: record.append(text) or "saved", (Writes("/elsewhere/x"),)
    )


def test_without_an_approver_nobody_can_be_asked(settings: Settings) -> None:
    ran: list[str] = []
    summary, events = turn(settings, reply(call("save", {})), "ok", toolbox=writing(ran))
    assert ran == [] and len(summary.refused) == 1
    assert isinstance(summary.refused[0].outcome, Refused)
    assert [type(e) for e in events if isinstance(e, Asked | Answered | CallStarted)] == [
        Asked,
        Answered,
    ]
    assert summary.text == "ok"


def test_a_custom_approver_decides_without_the_loop_knowing(settings: Settings) -> None:
    person = Recording(Answer(False, "not this one"), Answer(True, by="me"))
    ran: list[str] = []
    summary, events = turn(
        settings,
        reply(call("save", {"n": 1}), call("save", {"n": 2})),
        "ok",
        toolbox=writing(ran),
        approver=person,
    )
    assert ran == ['{"n": 2}']
    assert "not this one" in results(summary)[0]
    started = [e for e in events if isinstance(e, CallStarted)]
    assert [e.verdict for e in started] == [Allow("me")]
    assert person.questions[0].proposal.effects == (Writes("/elsewhere/x"),)


@pytest.mark.parametrize(
    ("approver", "ran", "reason"),
    [
        (ApprovingApprover(), 1, "end_turn"),
        (DenyingApprover(), 0, "end_turn"),
        (FailingApprover(), 0, "hook_stopped"),
    ],
)
def test_the_three_approvers(settings: Settings, approver: Any, ran: int, reason: str) -> None:
    calls: list[str] = []
    summary, _ = turn(
        settings, reply(call("save", {})), "ok", toolbox=writing(calls), approver=approver
    )
    assert (len(calls), summary.reason) == (ran, reason)


def test_an_interrupting_answer_ends_the_turn(settings: Settings) -> None:
    person = Recording(Answer(False, "stop it all", interrupt=True))
    summary, _ = turn(
        settings, reply(call("save", {})), "unheard", toolbox=writing(), approver=person
    )
    assert summary.reason == "hook_stopped" and "stop it all" in summary.error
    assert summary.iterations == 1


def test_an_auto_approver_does_not_beat_deny_rules(settings: Settings) -> None:
    ran: list[str] = []
    summary, _ = turn(
        settings,
        reply(call("save", {})),
        "ok",
        toolbox=writing(ran),
        approver=ApprovingApprover(),
        disallowed_tools=("save",),
    )
    assert ran == [] and len(summary.refused) == 1


def test_rules_in_an_answer_spare_the_next_question_of_the_same_step(settings: Settings) -> None:
    person = Recording(Answer(True, rules=("save",)))
    turn(
        settings,
        reply(call("save", {"n": 1}), call("save", {"n": 2})),
        "ok",
        toolbox=writing(),
        approver=person,
    )
    assert len(person.questions) == 1


# hooks as callables


def test_hooks_see_prompt_call_and_end(settings: Settings) -> None:
    seen: list[str] = []

    def note(event: Any) -> HookAnswer | None:
        seen.append(type(event).__name__)
        return HookAnswer(context="be kind") if isinstance(event, Submitted) else None

    async def later(event: Any) -> None:
        await asyncio.sleep(0)
        seen.append("async")

    hooks = Hooks(
        before_call=(note, later), after_call=(note,), submitted=(note,), stopping=(note,)
    )
    model = ScriptedModel(reply(call("add", raw="1,2")), "3")

    async def body() -> None:
        await run_once(
            "go", settings(model, toolbox=StaticTools().register("add", add), hooks=hooks)
        )

    run(body)
    assert seen == ["Submitted", "BeforeCall", "async", "AfterCall", "Stopping"]
    assert "be kind" in str(model.requests[0].messages)


def test_a_hook_may_change_the_input_and_it_is_recorded(settings: Settings) -> None:
    def change(event: BeforeCall) -> HookAnswer:
        return HookAnswer(arguments={"n": 2})

    ran: list[str] = []
    tools = StaticTools().register("note", lambda text: ran.append(text) or "ok")
    _, events = turn(
        settings,
        reply(call("note", {"n": 1})),
        "ok",
        toolbox=tools,
        hooks=Hooks(before_call=(change,)),
    )
    assert ran == ['{"n":2}']
    assert [e.arguments for e in events if isinstance(e, CallStarted)] == ['{"n":2}']


def test_a_stop_hook_makes_the_turn_go_on(settings: Settings) -> None:
    def insist(event: Stopping) -> HookAnswer | None:
        return None if event.again else HookAnswer("deny", "run the tests first")

    summary, _ = turn(settings, "done", "really done", hooks=Hooks(stopping=(insist,)))
    assert (summary.text, summary.iterations) == ("really done", 2)


def test_a_broken_hook_is_a_notice_not_a_decision(settings: Settings) -> None:
    def broken(event: Any) -> None:
        raise RuntimeError("boom")

    summary, events = turn(
        settings,
        reply(call("add", raw="1,2")),
        "3",
        toolbox=StaticTools().register("add", add),
        hooks=Hooks(before_call=(broken,)),
    )
    assert results(summary) == ["3"]
    assert any(isinstance(e, Notice) and "boom" in e.text for e in events)


def test_a_blocked_prompt_never_reaches_the_model(settings: Settings) -> None:
    model = ScriptedModel("unheard")
    hooks = Hooks(submitted=(lambda event: HookAnswer("deny", "no secrets"),))

    async def body() -> TurnSummary:
        return await run_once("go", settings(model, hooks=hooks))

    summary = run(body)
    assert summary.reason == "hook_stopped" and "no secrets" in summary.error
    assert model.requests == []


# host and clock


class Clock:
    def __init__(self) -> None:
        self.ticks = 1000.0

    def now(self) -> float:
        self.ticks += 1
        return self.ticks

    def elapsed(self) -> float:
        return self.ticks

    def new_id(self, prefix: str) -> str:
        return f"{prefix}_fixed"

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)


def test_tools_act_on_the_host_they_are_given(settings: Settings) -> None:
    cwd = os.path.realpath(settings.cwd)
    host = MemoryHost({f"{cwd}/a.txt": "hello\n"}, {"make": (0, "built\n")})
    summary, _ = turn(
        settings,
        reply(call("Read", file_path="a.txt"), call("Bash", command="make")),
        reply(call("Edit", file_path="a.txt", old_string="hello", new_string="bye")),
        "ok",
        host=host,
        permission_mode="acceptEdits",
        allowed_tools=("Bash(make:*)",),
    )
    assert "hello" in results(summary)[0] and results(summary)[1] == "built"
    assert host.text(f"{cwd}/a.txt") == "bye\n"
    assert not os.path.exists(f"{cwd}/a.txt")


def test_time_and_ids_come_from_the_clock(settings: Settings) -> None:
    _, events = turn(
        settings,
        reply(call("add", raw="1,2", id="same"), call("add", raw="3,4", id="same")),
        "ok",
        toolbox=StaticTools().register("add", add),
        clock=Clock(),
    )
    opened = next(e for e in events if isinstance(e, Opened))
    assert opened.at > 1000 and opened.at < 2000
    assert {e.call_id for e in events if isinstance(e, CallStarted)} == {"same", "call_fixed"}


# observers


def test_an_observer_that_fails_hurts_nobody(settings: Settings) -> None:
    seen: list[Event] = []

    def broken(event: Event) -> None:
        raise RuntimeError("observer down")

    summary, events = turn(settings, "fine", observers=(broken, seen.append))
    assert summary.text == "fine"
    assert seen == events and seen


def test_the_failure_of_an_observer_is_told_once_in_a_while(settings: Settings) -> None:
    def broken(event: Event) -> None:
        raise RuntimeError("observer down")

    async def body() -> list[str]:
        options = settings(ScriptedModel("fine"), observers=(broken,))
        async with Session(options) as session:
            return [e.text async for e in session.send("x") if isinstance(e, Notice)]

    assert any("observer down" in text for text in run(body))


# custom tools


class Point(msgspec.Struct):
    x: int
    y: int = 0


@tool
def plus(a: int, b: int = 10) -> str:
    """Adds two numbers."""
    return str(a + b)


@tool(effects=())
async def norm(point: Point, names: list[str] | None = None) -> dict[str, int]:
    """The length of a way."""
    await asyncio.sleep(0)
    return {"length": abs(point.x) + abs(point.y), "names": len(names or [])}


@tool(name="where", effects=())
def where_am_i(desk: Desk, suffix: str = "") -> str:
    return desk.cwd + suffix


@tool(effects=())
def odd(kind: str) -> Any:
    if kind == "raise":
        raise ValueError("odd")
    return {"fail": Failed("told you"), "done": done("fine"), "cut": Cut("late")}[kind]


CUSTOM = {"tools": [], "custom_tools": [plus, norm, where_am_i, odd]}


def test_a_signature_is_a_schema() -> None:
    schema = msgspec.json.decode(plus.spec.schema)
    assert (plus.spec.name, plus.spec.description) == ("plus", "Adds two numbers.")
    assert schema["type"] == "object" and schema["required"] == ["a"]
    assert schema["properties"]["b"] == {"type": "integer", "default": 10}
    nested = msgspec.json.decode(norm.spec.schema)
    assert nested["properties"]["point"] == {"$ref": "#/$defs/Point"}
    assert nested["$defs"]["Point"]["required"] == ["x"]
    assert "desk" not in msgspec.json.decode(where_am_i.spec.schema)["properties"]


def test_sync_async_defaults_nested_and_desk(settings: Settings) -> None:
    summary, _ = turn(
        settings,
        reply(
            call("plus", a=1),
            call("plus", a=1, b=2),
            call("norm", point={"x": 3, "y": -4}, names=["a"]),
            call("where", suffix="!"),
        ),
        "ok",
        approver=ApprovingApprover(),
        **CUSTOM,
    )
    cwd = os.path.realpath(settings.cwd)
    assert results(summary) == ["11", "3", '{"length":7,"names":1}', f"{cwd}!"]


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ({"a": "x"}, "int"),
        ({}, "a"),
        ({"a": 1, "b": None}, "int"),
    ],
)
def test_wrong_arguments_are_an_error_result(settings: Settings, given: Any, hint: str) -> None:
    summary, _ = turn(
        settings, reply(call("plus", given)), "ok", approver=ApprovingApprover(), **CUSTOM
    )
    outcome = summary.tool_results[0].outcome
    assert isinstance(outcome, Failed)
    assert hint in outcome.text and "a, b" in outcome.text
    assert summary.text == "ok"


def test_arguments_that_are_no_json_are_an_error_result(settings: Settings) -> None:
    summary, _ = turn(settings, reply(call("plus", raw='{"a": ')), "ok", **CUSTOM)
    assert isinstance(summary.tool_results[0].outcome, Failed)


def test_a_tool_may_return_an_outcome_or_raise(settings: Settings) -> None:
    summary, _ = turn(
        settings,
        reply(*(call("odd", kind=kind) for kind in ("fail", "done", "cut", "raise"))),
        "ok",
        **CUSTOM,
    )
    kinds = [type(result.outcome) for result in summary.tool_results]
    assert kinds == [Failed, Done, Cut, Failed]
    assert "ValueError: odd" in results(summary)[3]


def test_a_missing_annotation_is_found_when_the_tool_is_made() -> None:
    def untyped(a, b: int) -> str:  # type: ignore[no-untyped-def]
        return str(a + b)

    with pytest.raises(TypeError, match="untyped: the argument a needs a type"):
        tool(untyped)


def test_what_a_tool_declares_decides_about_permission(settings: Settings) -> None:
    ran: list[str] = []

    def made(name: str, **declared: Any) -> Any:
        return tool(name=name, **declared)(lambda: ran.append(name) or "ok")

    tools = [
        made("unknown"),
        made("harmless", effects=()),
        made("reads", effects=(Reads(os.path.realpath(settings.cwd)),)),
        made("writes", effects=(Writes("/etc/x"),)),
        made("runs", effects=(Runs("make"),)),
    ]
    names = [each.spec.name for each in tools]
    summary, _ = turn(
        settings, reply(*(call(name, {}) for name in names)), "ok", tools=[], custom_tools=tools
    )
    assert sorted(ran) == ["harmless", "reads"]
    assert [r.name for r in summary.refused] == ["unknown", "writes", "runs"]
    ran.clear()
    turn(
        settings,
        reply(*(call(name, {}) for name in names)),
        "ok",
        tools=[],
        custom_tools=tools,
        allowed_tools=("unknown",),
    )
    assert "unknown" in ran


def test_a_custom_tool_replaces_a_built_in_one(settings: Settings) -> None:
    @tool(name="Read", effects=())
    def mine(file_path: str) -> str:
        return f"mine: {file_path}"

    summary, _ = turn(settings, reply(call("Read", file_path="a")), "ok", custom_tools=[mine])
    assert results(summary) == ["mine: a"]


def test_the_package_offers_what_the_readme_shows(settings: Settings) -> None:
    assert detent.tool is tool and detent.Session is Session

    async def body() -> None:
        async for event in detent.query("hi", settings(ScriptedModel("hello"))):
            last = event
        assert last.reason == "end_turn"  # type: ignore[union-attr]

    run(body)
