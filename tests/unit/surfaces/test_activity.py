"""What people read on stderr while a turn runs."""

from __future__ import annotations

import json
import os
from types import SimpleNamespace
from typing import Any

import pytest

from detent.surfaces.headless.activity import Activity, LongCalls
from detent.surfaces.headless.single import view_of
from detent.surfaces.wording.gist import WIDTH, came_to, gist
from detent.surfaces.wording.shown import shown
from detent.types.agents import AgentEnded, AgentStarted
from detent.types.content import Call, Document, Image, Text
from detent.types.events import (
    CallEnded,
    CallStarted,
    Compacted,
    Event,
    Nested,
    Notice,
    Progress,
    Replied,
    Trim,
    Trimmed,
    TurnEnded,
)
from detent.types.outcomes import Done, Failed, Outcome, Refused, done
from detent.types.usage import Usage
from detent.types.verdicts import Allow


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Any:
    def told(*events: Event, view: Any = None) -> list[str]:
        view = view or Activity()
        for event in events:
            view.tell(event)
        return capsys.readouterr().err.splitlines()

    return told


def started(name: str = "Bash", call_id: str = "c", **arguments: Any) -> CallStarted:
    given = json.dumps(arguments, ensure_ascii=False)
    verdict = Allow("mode")
    return CallStarted(call_id=call_id, name=name, arguments=given, effects=(), verdict=verdict)


def ended(outcome: Outcome, name: str = "Bash", call_id: str = "c") -> CallEnded:
    return CallEnded(call_id=call_id, name=name, outcome=outcome, ms=12)


def replied(*calls: Call) -> Replied:
    return Replied(turn=1, step=1, model="m", content=calls, stop="tool_use", usage=Usage())


# A sign of life


def test_a_long_call_is_told_every_ten_seconds(told: Any) -> None:
    beats = [Progress("a", "Bash", seconds=2 + 0.9 * n) for n in range(32)]
    assert told(*beats) == ["  … Bash · 10 s", "  … Bash · 20 s"]


def test_each_call_has_its_own_time(told: Any) -> None:
    view = LongCalls()
    beats = [Progress(call, "Bash", seconds=11.0) for call in "aabb"]
    assert told(*beats, view=view) == ["  … Bash · 11 s"] * 2


def test_a_beat_that_comes_late_is_not_lost(told: Any) -> None:
    assert told(Progress("a", "Bash", seconds=9.9), Progress("a", "Bash", seconds=19.9)) == [
        "  … Bash · 20 s"
    ]


def test_output_is_no_sign_of_time(told: Any) -> None:
    assert told(*[Progress("a", "Bash", "line\n", 10.0 + n) for n in range(30)]) == []


@pytest.mark.parametrize(("is_terminal", "lines"), [(True, 1), (False, 0)])
def test_who_looks_on_sees_it_unasked(
    is_terminal: bool, lines: int, told: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "isatty", lambda descriptor: is_terminal and descriptor == 2)
    look = SimpleNamespace(tell=view_of(verbose=False))
    assert len(told(Progress("a", "Bash", seconds=11.0), started(), view=look)) == lines


# Calls


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"command": "make"}, "make"),
        ({"cmd": "make"}, "make"),
        ({"command": "make\nmake test"}, "make …"),
        ({"pattern": "TODO", "path": "src"}, "TODO in src"),
        ({"pattern": "*.py"}, "*.py"),
        ({"query": "weather", "allowed_domains": []}, "weather"),
        ({"path": "a.txt", "content": "x"}, "a.txt"),
        ({"notebook_path": "a.ipynb"}, "a.ipynb"),
        ({"url": "http://x/", "prompt": "y"}, "http://x/"),
        ({"task_id": "job_1", "block": False}, "job_1"),
        ({"bash_id": "job_2"}, "job_2"),
        ({"subject": "Parse", "description": "all"}, "Parse"),
        ({"taskId": "3", "status": "completed"}, "3"),
        ({"seconds": 3}, '{"seconds": 3}'),
    ],
)
def test_what_a_call_is_about(arguments: Any, words: str) -> None:
    assert gist(json.dumps(arguments)) == words


def test_arguments_that_are_none_are_shown_as_they_are() -> None:
    assert gist('{"command": ') == '{"command":'


def test_a_list_of_things_to_do_is_shown(told: Any) -> None:
    items = [("one", "completed"), ("two", "in_progress"), ("x" * 200, "pending")]
    todos = [{"content": text, "status": status} for text, status in items]
    head, *lines = told(started("TodoWrite", todos=todos))
    assert head == "  → TodoWrite 3 items"
    assert lines[:2] == ["    [x] one", "    [>] two"]
    assert lines[2].startswith("    [ ] xxx") and lines[2].endswith("x…")
    assert len(lines[2]) == WIDTH


def test_a_tool_has_one_name_in_both_lines(told: Any) -> None:
    data = {"exitCode": 0}
    assert told(started("Bash", cmd="ls"), ended(done("a", data), "bash")) == [
        "  → Bash ls",
        "  ✓ Bash · 12 ms · exit 0 · a",
    ]


def test_a_line_that_is_cut_says_so(told: Any) -> None:
    (line,) = told(started(command="x" * 300))
    assert len(line) == WIDTH and line.endswith("x…")
    (line,) = told(started(command="x" * 90))
    assert not line.endswith("…")


@pytest.mark.parametrize("answer_first", [True, False])
def test_a_call_that_never_ran_shows_what_was_sent(told: Any, answer_first: bool) -> None:
    answer = replied(Call("c", "Frobnicate", '{"how": "fast"}'))
    failed = ended(Failed("There is no tool named 'Frobnicate'."), "Frobnicate")
    events = (answer, failed) if answer_first else (failed, answer)
    assert told(*events) == [
        '  ✗ Frobnicate {"how": "fast"}',
        "    There is no tool named 'Frobnicate'.",
    ]


def test_a_call_of_an_answer_that_never_came_is_told_all_the_same(told: Any) -> None:
    over = TurnEnded(turn=1, reason="user_cancelled")
    assert told(ended(Refused("no", "rule")), over) == ["  ⊘ Bash", "    Not run. no"]


# Results


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (done("a\n---", {"exitCode": 0}), "exit 0 · ---"),
        (done("(no output)", {"exitCode": 0}), "exit 0 · (no output)"),
        (Failed("bad\n\nExit code 2", {"exitCode": 2}), "exit 2 · bad"),
        (Failed("Exit code 2", {"exitCode": 2}), "exit 2 · (no output)"),
        (done("job_1\n\ntick", {"exitCode": None, "status": "running"}), "running · tick"),
        (done("x", {"file": {"numLines": 1}}), "1 line"),
        (done("x", {"file": {"numLines": 2}}), "2 lines"),
        (Done((Image("image/png", "AA"),)), "a picture"),
        (Done((Text("page 1"), Document("application/pdf", "AA"))), "a document"),
        (Done((Image("image/png", "AA"), Image("image/png", "AA"))), "2 pictures"),
        (done("}\nmore"), "} …"),
    ],
)
def test_what_a_result_comes_to(outcome: Outcome, words: str) -> None:
    assert came_to(outcome) == words


# On a terminal


@pytest.mark.parametrize("code", [*range(0x20), *range(0x7F, 0xA0)])
def test_no_control_reaches_a_terminal(code: int) -> None:
    assert shown(f"a{chr(code)}b") == ("ab" if chr(code) not in "\n\t" else f"a{chr(code)}b")


@pytest.mark.parametrize("char", "\u200b\u200d\u200e\u202e\u2066\u2069\u2060\ufeff\u00ad\U000e0041")
def test_nor_what_nobody_can_see(char: str) -> None:
    assert shown(f"a{char}b") == "ab"


def test_what_can_be_seen_stays() -> None:
    text = "naïve 日本 🎉 \u00a0\u3000→ \ue0b0 ﬁ\ufe0f"
    assert shown(text) == text


def test_room_that_was_made_is_told(told: Any) -> None:
    trims = (Trim(1), Trim(2))
    lines = told(
        Compacted(summary="s", keeps_from=9, before_tokens=150_000, after_tokens=9_000),
        Trimmed(stage="micro", trims=trims, before_tokens=90_000, after_tokens=80_000),
    )
    assert lines == [
        "  ⇣ compacted · 150,000 → 9,000 tokens · `detent uncompact` undoes it",
        "  ⇣ micro: 2 shortened · 90,000 → 80,000 tokens · `detent uncompact` undoes it",
    ]


# Subagents


def an_agent(agent: str = "a", **more: Any) -> AgentStarted:
    given: dict[str, Any] = {"kind": "Explore", "description": "look around"}
    return AgentStarted(agent=agent, call_id="c", **{**given, **more})


def work(**more: Any) -> dict[str, Any]:
    given = {"totalSteps": 3, "totalToolUseCount": 1, "totalTokens": 12_345, "totalCostUsd": 0.0123}
    return {"status": "completed", **given, **more}


def group(completed: int, failed: int = 0, skipped: int = 0) -> dict[str, int]:
    return {"completed": completed, "failed": failed, "skipped": skipped}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"description": "look", "prompt": "p", "subagent_type": "Plan"}, "Plan: look"),
        ({"description": "look", "prompt": "p"}, "general-purpose: look"),
        ({"to": "a", "message": "one\ntwo"}, "a: one …"),
        ({"groups": [{"children": [1, 2]}, {"children": [3]}, 4]}, "3 children in 3 groups"),
        ({"children": [{}]}, "1 child"),
        ({"prompt": "do it"}, "do it"),
        ({"url": "https://a.b", "prompt": "p"}, "https://a.b"),
        ({"resume_group_id": "c1/look"}, "c1/look"),
    ],
)
def test_what_is_given_to_others(arguments: dict[str, Any], text: str) -> None:
    assert gist(json.dumps(arguments)) == text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (work(), "3 steps, 1 call, 12,345 tokens, $0.0123"),
        (work(totalCostUsd=0), "3 steps, 1 call, 12,345 tokens"),
        (work(status="failed"), "failed · 3 steps, 1 call, 12,345 tokens, $0.0123"),
        (work(status="async_launched"), "in the background"),
        (
            work(status=None, totalCostUsd=0, groups=[group(2), group(1, failed=1, skipped=2)]),
            "3 of 6 completed · 3 steps, 1 call, 12,345 tokens",
        ),
        (work(status=None, totalCostUsd=0, groups=[group(2)]), "3 steps, 1 call, 12,345 tokens"),
    ],
)
def test_what_others_did_for_a_call(data: dict[str, Any], text: str) -> None:
    assert came_to(done("the answer", data)) == text


def test_calls_of_an_agent_are_lines_below_its_own(told: Any) -> None:
    deep = an_agent("b", name="deep", depth=2)
    events = [
        an_agent(),
        Nested("a", started(call_id="1", command="ls")),
        Nested("a", ended(done("x"), call_id="1")),
        Nested("a", deep),
        Nested("a", Nested("b", ended(Failed("no"), call_id="2"))),
        Nested("a", Nested("b", TurnEnded(turn=1, reason="end_turn"))),
        AgentEnded(agent="a", state="completed"),
    ]
    assert told(*events) == [
        "    ✓ look around: Bash ls · 12 ms",
        "      ✗ deep: Bash · 12 ms · no",
    ]


def test_the_end_of_one_in_the_background_is_told(told: Any) -> None:
    one = an_agent(background=True)
    assert told(one, AgentEnded(agent="a", state="stopped", steps=1, ms=7)) == [
        "  ✂ look around has ended · stopped · 7 ms · 1 step, 0 calls, 0 tokens"
    ]


def test_what_people_must_know_of_an_agent_they_are_told(capsys: Any) -> None:
    view = view_of(verbose=False)
    view(Nested("a", Nested("b", Notice("the disk is full", "warning"))))
    view(Nested("a", Notice("by the way")))
    assert capsys.readouterr().err == "detent: the disk is full\n"


@pytest.mark.parametrize("verbose", [False, True])
def test_one_in_the_background_gives_a_sign_of_life_every_ten_seconds(
    monkeypatch: pytest.MonkeyPatch, told: Any, verbose: bool
) -> None:
    """Also while it waits for one long call, of which there are only signals."""
    monkeypatch.setattr(os, "isatty", lambda descriptor: True)
    look, now = SimpleNamespace(tell=view_of(verbose=verbose)), [100.0]
    monkeypatch.setattr("time.time", lambda: now[0])
    assert told(an_agent(background=True, at=100.0), an_agent("d", at=100.0), view=look) == []
    lines: list[str] = []
    for now[0] in (101.0, 109.9, 110.2, 112.0, 131.0):
        life = Nested("b", Progress("c", "Bash", seconds=1.0))
        lines += told(Nested("a", life), Nested("d", life), view=look)
    assert lines == ["  … look around · 10 s", "  … look around · 31 s"], "of d its call tells"
    now[0] = 150.0
    over = AgentEnded(agent="a", state="completed")
    assert "…" not in "".join(told(over, Nested("a", life), view=look))


def test_lines_of_work_that_is_given_at_once_say_which_is_meant(told: Any) -> None:
    long = "everything that there is to be known of the parser"
    given = [
        started("Agent", about, description=about, prompt="…", subagent_type="Explore")
        for about in ("look at a", long)
    ]
    graph = started("delegate_agent", "g", children=["x", "y"])
    beats = [Progress(one.call_id, "Agent", seconds=12.0) for one in given]
    lines = told(*given, graph, *beats, Progress("g", "delegate_agent", seconds=12.0))
    assert lines[3:] == [
        "  … Agent look at a · 12 s",
        "  … Agent everything that there is to be known of… · 12 s",
        "  … delegate_agent 2 children · 12 s",
    ]
    assert told(*given, *beats, view=LongCalls()) == lines[3:5], "without --verbose, too"
    ends = [ended(done("x"), "Task", one.call_id) for one in given]
    assert told(*given, *ends)[2:] == [
        "  ✓ Agent look at a · 12 ms · x",
        "  ✓ Agent everything that there is to be known of… · 12 ms · x",
    ]


def test_how_far_a_graph_is(told: Any) -> None:
    far = Progress("c", "delegate_agent", "1 of 3 ended; x: completed", 2.0)
    assert told(far) == ["    … 1 of 3 ended; x: completed"]
    life = Progress("c", "delegate_agent", seconds=12.0)
    assert told(far, life, view=LongCalls()) == [
        "  … delegate_agent · 12 s · 1 of 3 ended; x: completed"
    ]
