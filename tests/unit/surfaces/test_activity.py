"""What people read on stderr while a turn runs."""

from __future__ import annotations

import json
import os
from types import SimpleNamespace
from typing import Any

import pytest

from detent.surfaces.headless.activity import Activity, LongCalls
from detent.surfaces.headless.gist import WIDTH, came_to, gist
from detent.surfaces.headless.shown import shown
from detent.surfaces.headless.single import view_of
from detent.types.content import Call, Document, Image, Text
from detent.types.events import (
    CallEnded,
    CallStarted,
    Compacted,
    Event,
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
