"""Every dialog, key by key: what it answers, and what stands there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from detent.ports import Answer, Proposal, Question
from detent.sdk.permissions import Explanation
from detent.sdk.trust import WouldRun
from detent.sdk.undo import Point
from detent.surfaces.tui.approving import DialogApprover
from detent.surfaces.tui.dialogs.choosing import OTHER, ChoosingDialog
from detent.surfaces.tui.dialogs.dialog import Dialog, Row, Rows
from detent.surfaces.tui.dialogs.listing import Listing
from detent.surfaces.tui.dialogs.permission import PermissionDialog
from detent.surfaces.tui.dialogs.plan import PlanDialog
from detent.surfaces.tui.dialogs.rewind import RewindDialog, Wanted
from detent.surfaces.tui.dialogs.trusting import TrustDialog
from detent.surfaces.tui.editing.recalling import SearchDialog
from detent.surfaces.tui.first_run import TextDialog
from detent.types.content import Call
from detent.types.effects import Connects, Effect, Runs, Writes
from terminalbench import look, raw_in_line, settle, staged

EVERY_KEY = (
    "up", "down", "left", "right", "home", "end", "page up", "page down", "enter", "escape", "tab",
    "back tab", "erase", "delete", "ctrl+c", "ctrl+d", "erase all", "erase word", "ctrl+r",
    "ctrl+o", "ctrl+g", "ctrl+l", "ctrl+z", *"0123456789 aeny?/é日", "9" * 5_000, "pasted words",
)  # fmt: skip
RULES = ("Bash(npm test)", "Bash(npm test *)", "Bash(npm *)", "Bash(*)")


def question(
    tool: str = "Bash",
    arguments: dict[str, Any] | None = None,
    effects: tuple[Effect, ...] = (),
    **more: Any,
) -> Question:
    given = {"command": "npm test"} if arguments is None else arguments
    cwd = more.pop("cwd", "/p")
    proposal = Proposal(Call("c1", tool, "{}"), tool, given, effects, cwd)
    return Question(proposal, more.pop("reason", "It runs a command."), RULES, **more)


def explained(**more: Any) -> Explanation:
    known: dict[str, Any] = {
        "tool": "Bash", "input": {}, "cwd": "/p", "mode": "default", "decision": "ask",
        "layer": "the mode", "reason": "Nothing allows it.", "rule": None, "commands": (),
        "proven": True, "permits": (), "permits_together": (), "notices": (), "considered": (),
    }  # fmt: skip
    return Explanation(**{**known, **more})


def answered(make: Callable[[], Dialog[Any]], *keys: str, give: str | None = None) -> Any:
    """What came of these keys; None where somebody still waits."""

    async def play() -> Any:
        dialog = make()
        for key in keys:
            dialog.press(key)
        if give is not None:
            assert dialog.entry is not None, "it wants no text"
            dialog.give(give)
        return dialog.answer.result() if dialog.answer.done() else None

    return asyncio.run(play())


def seen(make: Callable[[], Dialog[Any]], *keys: str, width: int = 70, height: int = 30) -> str:
    async def play() -> str:
        dialog = make()
        for key in keys:
            dialog.press(key)
        return "\n".join(dialog.lines(look(width), height))

    return asyncio.run(play())


# --- may it run?


def permission(**more: Any) -> Callable[[], PermissionDialog]:
    return lambda: PermissionDialog(question(**more), lambda: None)


@pytest.mark.parametrize(
    "keys", [("1",), ("y",), ("enter",), ("down", "up", "enter"), ("home", "enter")]
)
def test_yes_is_for_this_once(keys: tuple[str, ...]) -> None:
    assert answered(permission(), *keys) == Answer(True, by="user")


@pytest.mark.parametrize("key, rule", [("2", RULES[0]), ("3", RULES[1]), ("4", RULES[2])])
def test_a_rule_is_kept_as_it_stands_there(key: str, rule: str) -> None:
    answer = answered(permission(), key)
    assert answer == Answer(True, rules=(rule,), scope="session", by="user")
    assert rule in seen(permission())


@pytest.mark.parametrize(
    "tabs, scope, words",
    [
        (0, "session", "in this session"),
        (1, "local", "for you in this project"),
        (2, "project", "for everybody in this project"),
        (3, "user", "for you everywhere"),
        (4, "session", "in this session"),
    ],
)
def test_tab_chooses_how_long_a_rule_holds(tabs: int, scope: str, words: str) -> None:
    keys = ("tab",) * tabs
    assert f"{words}: Bash(npm test)" in seen(permission(), *keys)
    assert answered(permission(), *keys, "2").scope == scope


def test_another_scope_leaves_the_cursor_where_it_is() -> None:
    assert answered(permission(), "down", "tab", "enter").rules == (RULES[0],)


@pytest.mark.parametrize("keys", [("5",), ("n",), ("end", "enter"), ("up", "enter")])
def test_no_asks_why(keys: tuple[str, ...]) -> None:
    assert answered(permission(), *keys) is None, "somebody may want to say why"
    assert answered(permission(), *keys, give=" use make ") == Answer(False, "use make", by="user")
    assert answered(permission(), *keys, give="") == Answer(False, "", by="user")


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
def test_leaving_the_question_ends_the_turn(key: str) -> None:
    answer = answered(permission(), key)
    assert not answer.allowed and answer.interrupt


@pytest.mark.parametrize(
    "tool, arguments, key",
    [
        ("Bash", {"command": "rm a", "timeout": 5}, "command"),
        ("Write", {"file_path": "/x", "content": "old"}, "content"),
        ("Edit", {"file_path": "/x", "old_string": "a", "new_string": "b"}, "new_string"),
    ],
)
def test_what_would_run_can_be_written_anew(tool: str, arguments: dict[str, Any], key: str) -> None:
    async def play() -> None:
        dialog = PermissionDialog(question(tool, arguments), lambda: None)
        dialog.press("e")
        assert dialog.entry is not None and dialog.entry.text == arguments[key]
        dialog.give("mine")
        assert dialog.answer.result() == Answer(
            True, arguments={**arguments, key: "mine"}, by="user"
        )

    asyncio.run(play())


def test_what_nobody_could_edit_is_not_offered() -> None:
    make = permission(tool="WebFetch", arguments={"url": "https://a"})
    assert answered(make, "e", "y") == Answer(True, by="user")


def test_every_other_key_is_passed_over() -> None:
    meant = {
        "up", "down", "home", "end", "page up", "page down", "enter", "escape", "ctrl+c", "tab",
        *"12345", "e", "n", "y", "?",
    }  # fmt: skip
    for key in (one for one in EVERY_KEY if one not in meant):
        before = seen(permission())
        assert seen(permission(), key) == before, key
        assert answered(permission(), key) is None, key


def test_exactly_what_would_run_is_shown() -> None:
    text = seen(
        permission(
            arguments={"command": "curl x | \x1b[2Ksh\nrm -r \u202ey", "timeout": 7},
            effects=(Runs("curl", outside=True), Connects("example.com"), Writes("/p/out")),
            agent="Explore\x1b[1m",
            reason="No rule\nallows it.",
        )
    )
    assert "curl x | <U+001B>[2Ksh" in text and "rm -r <U+202E>y" in text
    assert '"timeout":7' in text
    assert "in /p" in text and "network: example.com" in text and "writes /p/out" in text
    assert "outside of the sandbox" in text
    assert "The subagent Explore<U+001B>[1m wants to use Bash" in text
    assert not [line for line in text.split("\n") if raw_in_line(line)]


def test_a_long_command_is_broken_and_never_cut() -> None:
    command = " ".join(f"argument-{number}" for number in range(30))
    text = seen(permission(arguments={"command": command}), width=40, height=60)
    assert "".join(command.split()) in "".join(text.split())


def test_a_long_line_of_an_edit_is_broken_and_never_cut() -> None:
    """What stands behind many blanks is written, too."""
    content = "a = 2" + " " * 150 + "; evil()"
    arguments = {"file_path": "/nowhere/a.py", "content": content}
    text = seen(permission(tool="Write", arguments=arguments), width=40, height=60)
    assert "evil()" in "".join(line.strip("+ ") for line in text.split("\n"))


def test_the_ways_to_answer_are_seen_however_long_it_is() -> None:
    command = "\n".join(f"line {number}" for number in range(400))
    for height in (12, 16, 24):
        text = seen(permission(arguments={"command": command}), height=height)
        assert "1. Yes, this once" in text and "No, and tell why" in text
        assert len(text.split("\n")) <= height + 8
        assert "more lines: all of it stands above" in text


def test_an_edit_shows_what_it_would_change(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("one\ntwo\n")
    arguments = {"file_path": str(tmp_path / "a.py"), "old_string": "two", "new_string": "2"}
    text = seen(permission(tool="Edit", arguments=arguments, cwd=str(tmp_path)), width=200)
    assert "+1 -1" in text and "- two" in text and "+ 2" in text


def test_why_it_is_asked_is_told_and_taken_away_again() -> None:
    found = explained(
        proven=False, permits=("Bash(npm *)",), commands=(("npm", "test"), ("rm", "x"))
    )

    def make() -> PermissionDialog:
        return PermissionDialog(question(), lambda: found)

    told = seen(make, "?")
    assert "Decided by: the mode. Nothing allows it." in told
    assert "Not all of it could be understood" in told and "Bash(npm *)" in told
    assert "Decided by" not in seen(make, "?", "?")
    assert "1. npm test" in seen(make) and "2. rm x" in seen(make), "each command by itself"
    assert "Nothing more is known." in seen(permission(), "?")


# --- questions of the model


def asking(
    *, multiple: bool = False, options: int = 3, count: int = 1
) -> Callable[[], ChoosingDialog]:
    questions = [
        {
            "question": f"Which {number}?",
            "multiSelect": multiple,
            "options": [{"label": f"L{at}", "description": f"about {at}"} for at in range(options)],
        }
        for number in range(count)
    ]
    return lambda: ChoosingDialog({"questions": questions})


def test_one_question_after_the_other() -> None:
    answer = answered(asking(count=2), "2", "down", "down", "enter")
    assert answer.allowed and answer.arguments["answers"] == {"Which 0?": "L1", "Which 1?": "L2"}
    assert "Which 1?" in seen(asking(count=2), "2")
    assert answered(asking(count=2), "2") is None


def test_words_of_ones_own() -> None:
    answer = answered(asking(), "4", give=" neither ")
    assert answer.arguments["answers"] == {"Which 0?": "neither"}
    assert answered(asking(), "4", give="  ") is None, "nothing is no answer"


def test_several_are_marked() -> None:
    answer = answered(asking(multiple=True), "1", "down", "down", " ", "enter")
    assert answer.arguments["answers"] == {"Which 0?": "L0, L2"}
    answer = answered(asking(multiple=True), "1", "1", "down", "enter")
    assert answer.arguments["answers"] == {"Which 0?": "L1"}, "unmarked again: the row that stands"
    assert answered(asking(multiple=True), "3", "9", "0", "2" * 5_000) is None


def test_marks_stand_where_they_were_set_however_few_rows_are_seen() -> None:
    keys = (*["down"] * 6, " ")
    text = seen(asking(multiple=True, options=9), *keys, height=7)
    assert [line for line in text.split("\n") if "[x]" in line and "L6" in line]
    assert text.count("[x]") == 1


def test_who_does_not_answer_one_answers_none() -> None:
    answer = answered(asking(count=2), "1", "escape")
    assert not answer.allowed and answer.reason and not answer.interrupt


def test_options_cannot_pass_for_ours() -> None:
    given = {"questions": [{"question": "A\x1b[2J?", "options": [{"label": "B\x07\nC"}]}]}
    text = seen(lambda: ChoosingDialog(given))
    assert not [line for line in text.split("\n") if raw_in_line(line)]
    assert OTHER in text


# --- a plan


@pytest.mark.parametrize(
    "key, mode", [("1", "acceptEdits"), ("2", "default"), ("enter", "acceptEdits")]
)
def test_a_plan_is_agreed_to(key: str, mode: str) -> None:
    assert answered(PlanDialog, key) == Answer(True, mode=mode, by="user")


def test_a_plan_is_sent_back() -> None:
    assert answered(PlanDialog, "3", give="smaller") == Answer(False, "smaller", by="user")
    assert "What should be different?" in seen(PlanDialog, "3")
    answer = answered(PlanDialog, "escape")
    assert not answer.allowed and answer.interrupt


# --- lists


ROWS = (Row("Apple", "red", 1), Row("Banana", "yellow", 2), Row("Cherry", "red", 3))


def listing(**more: Any) -> Callable[[], Listing]:
    return lambda: Listing("Which?", ROWS, **more)


def test_a_list_is_narrowed_by_typing() -> None:
    assert answered(listing(), "down", "enter") == ROWS[1]
    assert answered(listing(), "3") == ROWS[2]
    assert answered(listing(), *"red", "down", "enter") == ROWS[2]
    assert answered(listing(), *"yel low", "enter") == ROWS[1]
    assert answered(listing(), *"zz", "enter") is None
    assert "nothing fits" in seen(listing(), *"zz")
    assert answered(listing(), *"zz", "erase", "erase", "enter") == ROWS[0]
    assert answered(listing(), *"zz", "erase all", "enter") == ROWS[0]
    assert answered(listing(start=2), "enter") == ROWS[2]


def test_leaving_a_list_chooses_nothing() -> None:
    async def play() -> None:
        for key in ("escape", "ctrl+c", "ctrl+d"):
            dialog = listing()()
            dialog.press(key)
            assert dialog.answer.done() and dialog.answer.result() is None

    asyncio.run(play())


def test_who_moves_in_a_list_is_followed() -> None:
    stood: list[Any] = []
    answered(listing(moved=lambda row: stood.append(row.value)), "down", "down", *"app")
    assert stood[:2] == [2, 3] and stood[-1] == 1


def test_rows_go_round_at_their_ends_but_pages_do_not() -> None:
    rows = Rows(tuple(Row(str(number), value=number) for number in range(30)))
    rows.press("up")
    assert rows.at == 29
    rows.press("down")
    assert rows.at == 0
    rows.press("page down")
    assert rows.at == 10
    rows.press("end")
    assert rows.at == 29
    rows.press("page down")
    assert rows.at == 29
    rows.press("home")
    assert rows.at == 0
    assert not Rows(()).press("enter") and Rows(()).chosen is None
    assert Rows(()).lines(look(), 5) == []


def test_a_label_is_never_cut() -> None:
    rule = "Bash(" + "x" * 150 + ")"
    text = "".join(line.strip() for line in Rows((Row(rule),)).lines(look(40), 5))
    assert rule in text.replace("❯ 1. ", "")


# --- earlier prompts


PAST = ["make the tests pass", "look at a", "fix b", "look at a"]


def test_earlier_prompts_are_searched_by_words() -> None:
    def make() -> SearchDialog:
        return SearchDialog(PAST)

    assert answered(make, "enter") == "look at a", "the newest first, none twice"
    assert answered(make, "ctrl+r", "enter") == "fix b"
    assert answered(make, *"tests make", "enter") == "make the tests pass"
    assert answered(make, *"zz", "enter") is None
    assert "look at a" in seen(make) and "nothing fits" in seen(make, *"zz")
    assert answered(lambda: SearchDialog(PAST, "fix"), "tab") == "fix b"


def test_keys_that_mean_nothing_here_are_not_typed() -> None:
    for key in ("left", "delete", "back tab", "ctrl+o", "ctrl+d", "ctrl+g", "ctrl+l", "ctrl+z"):
        assert seen(lambda: SearchDialog(PAST), key) == seen(lambda: SearchDialog(PAST)), key


# --- going back


POINTS = (Point(1, 1, "first\x1b[2J words", 0.0, 3), Point(2, 9, "second", 0.0, 0))


def test_going_back_is_chosen_in_two_steps() -> None:
    asked: list[Point] = []

    def make() -> RewindDialog:
        return RewindDialog(POINTS, asked.append)

    assert answered(make, "enter", "1") == Wanted(POINTS[1], "both"), "the last prompt stands first"
    assert answered(make, "up", "enter", "2") == Wanted(POINTS[0], "chat")
    assert answered(make, "1", "3") == Wanted(POINTS[0], "files")
    assert asked == [POINTS[1], POINTS[0], POINTS[0]], "what it means is looked up"
    assert answered(make, "1", "escape") is None
    text = seen(make)
    assert "3 files changed since" in text and "\x1b" not in text


def test_what_going_back_means_is_told_before_it_is_done() -> None:
    async def play() -> None:
        dialog = RewindDialog(POINTS, lambda point: None)
        dialog.press("1")
        dialog.tell(["a.py is put back", "\x1b[2Jb.py is removed"])
        text = "\n".join(dialog.lines(look(), 20))
        assert "a.py is put back" in text and "\x1b" not in text
        assert "The chat and the files" in text

    asyncio.run(play())


# --- trust


def trusting(tmp_path: Path, wishes: int = 1) -> Callable[[], TrustDialog]:
    from detent.app.settings.sources import Where
    from detent.app.trust.findings import Asking, Wish

    asked = tuple(Wish("runs", f"sh \x1b[2J evil {number}\nmore") for number in range(wishes))
    where = Where(str(tmp_path), str(tmp_path), "", "")
    return lambda: TrustDialog(WouldRun(where, (Asking(".claude/settings.json", asked, {}),)))


def test_nothing_is_trusted_by_pressing_enter(tmp_path: Path) -> None:
    make = trusting(tmp_path)
    assert answered(make, "enter") == "no"
    assert answered(make, "escape") == "no" and answered(make, "ctrl+c") == "no"
    assert answered(make, "1") == "for good" and answered(make, "2") == "this time"
    assert answered(make, "3") == "no"


def test_what_the_files_ask_for_is_told_as_it_is(tmp_path: Path) -> None:
    text = seen(trusting(tmp_path, wishes=40), height=14)
    assert "<U+001B>[2J evil 0" in text and "\x1b" not in text
    assert "more lines: all of it stands above" in text
    assert "Do not trust it" in text and "Trust it this time" in text


# --- no dialog breaks, whatever is pressed and however small the terminal


def test_no_key_breaks_any_dialog(tmp_path: Path) -> None:
    makes: tuple[Callable[[], Dialog[Any]], ...] = (
        permission(), asking(multiple=True), asking(), PlanDialog, listing(),
        lambda: SearchDialog(PAST), lambda: RewindDialog(POINTS, lambda point: None),
        trusting(tmp_path), lambda: TextDialog("Paste a key"),
    )  # fmt: skip

    async def play() -> None:
        for make, key in product(makes, EVERY_KEY):
            dialog = make()
            for pressed in (key, key, "down", key):
                if not dialog.answer.done() and dialog.entry is None:
                    dialog.press(pressed)
            for width, height in ((20, 3), (80, 24)):
                lines = dialog.lines(look(width), height)
                assert not any(map(raw_in_line, lines)), (type(dialog), key)

    asyncio.run(play())


# --- who asks


def test_every_kind_of_question_gets_its_dialog() -> None:
    async def play() -> None:
        stage, terminal, _ = staged()
        called: list[str] = []

        async def call(text: str) -> None:
            called.append(text)

        approver = DialogApprover(stage, call)
        asked = [
            question(),
            question("AskUserQuestion", {"questions": [{"question": "Q?", "options": []}]}),
            question("ExitPlanMode", {"plan": "# The plan"}),
        ]
        waiting = [asyncio.create_task(approver.ask(one)) for one in asked]
        await settle()
        kinds = (PermissionDialog, ChoosingDialog, PlanDialog)
        for task, kind in zip(waiting, kinds, strict=True):
            assert isinstance(stage.dialog, kind)
            stage.questions.press("escape")
            assert not (await task).allowed
        await settle()
        assert called == [f"{one.proposal.tool} needs your answer" for one in asked], (
            "somebody made the person look"
        )
        stage.paint()
        assert "The plan" in terminal.screen, "it stands in the scrollback"
        stage.leave()

    asyncio.run(play())


def test_a_command_that_is_too_long_for_a_dialog_stands_above_it() -> None:
    async def play() -> None:
        stage, terminal, _ = staged()

        async def call(text: str) -> None:
            pass

        command = "\n".join(f"step-{number}" for number in range(60))
        asking = asyncio.create_task(
            DialogApprover(stage, call).ask(question(arguments={"command": command}))
        )
        await settle()
        stage.paint()
        assert all(f"step-{number}" in terminal.screen for number in range(60))
        asking.cancel()
        await settle()
        assert stage.dialog is None, "a question that is withdrawn is gone"
        stage.leave()

    asyncio.run(play())
