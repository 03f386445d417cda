"""The stage: who gets the keys, and what becomes of what was typed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from detent.surfaces.tui.dialogs.dialog import Dialog, Entry
from detent.surfaces.tui.drawing.blocks import Look
from detent.surfaces.tui.stage import SLIP
from detent.types.content import Text
from detent.types.events import (
    Prompted,
)
from terminalbench import Box, settle, staged

PROMPT = Prompted(turn=1, content=(Text("go"),))


class Noting(Dialog[str]):
    """Keeps every key; `e` wants a text."""

    def __init__(self, name: str = "", text: str = "", *, at_once: bool = False) -> None:
        super().__init__()
        self.keys: list[str] = []
        self.name, self._text = name, text
        if at_once:
            self.entry = Entry("Which?", text)

    def lines(self, look: Look, height: int) -> list[str]:
        return [f"dialog {self.name}"]

    def press(self, key: str) -> None:
        self.keys.append(key)
        if key == "e":
            self.entry = Entry("Which?", self._text)
        elif key in ("enter", "escape"):
            self.resolve(key)

    def give(self, text: str) -> None:
        self.entry = None
        self.resolve(text)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def play(body: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(body())  # type: ignore[arg-type]


def press(box: Box, key: str) -> None:
    assert box.taker is not None, "the keys are the text box's"
    box.taker(key)


# --- dialogs


def test_dialogs_come_one_at_a_time_and_in_order() -> None:
    async def body() -> None:
        stage, terminal, box = staged()
        dialogs = [Noting(name) for name in "abc"]
        asked = [asyncio.create_task(stage.ask(dialog)) for dialog in dialogs]
        await settle()
        for dialog, task in zip(dialogs, asked, strict=True):
            stage.paint()
            assert stage.dialog is dialog and f"dialog {dialog.name}" in terminal.screen
            press(box, "x")
            press(box, "enter")
            assert await task == "enter"
        await settle()
        assert [dialog.keys for dialog in dialogs] == [["x", "enter"]] * 3
        assert stage.dialog is None and box.taker is None, "keys are typed again"
        stage.leave()

    play(body)


def test_a_question_that_is_withdrawn_makes_room_for_the_next() -> None:
    async def body() -> None:
        stage, _, box = staged()
        first, second = Noting("a"), Noting("b")
        asking = asyncio.create_task(stage.ask(first))
        later = asyncio.create_task(stage.ask(second))
        await settle()
        asking.cancel()
        await settle()
        press(box, "enter")
        assert await later == "enter" and first.keys == []
        stage.leave()

    play(body)


def test_who_was_typing_when_a_dialog_came_did_not_mean_it() -> None:
    async def body() -> None:
        clock = Clock()
        stage, _, box = staged(now=clock)
        box.text = "and then"
        dialog = Noting()
        asked = asyncio.create_task(stage.ask(dialog))
        await settle()
        for key in (" ", "1", "enter"):
            press(box, key)
        assert dialog.keys == [] and box.text == "and then 1", "what is typed is typed on"
        clock.now += SLIP + 0.01
        press(box, "1")
        assert dialog.keys == ["1"]
        press(box, "enter")
        await asked
        assert box.text == "and then 1"
        stage.leave()

    play(body)


def test_escape_and_the_keys_of_who_was_not_typing_count_at_once() -> None:
    async def body() -> None:
        for text, key in (("", "1"), ("typing", "escape")):
            stage, _, box = staged()
            box.text = text
            dialog = Noting()
            asked = asyncio.create_task(stage.ask(dialog))
            await settle()
            press(box, key)
            assert dialog.keys == [key]
            dialog.resolve("")
            await asked
            stage.leave()

    play(body)


def test_each_dialog_is_guarded_anew() -> None:
    async def body() -> None:
        clock = Clock()
        stage, _, box = staged(now=clock)
        box.text = "typing"
        first, second = Noting(), Noting()
        asked = [asyncio.create_task(stage.ask(dialog)) for dialog in (first, second)]
        await settle()
        clock.now += 10
        press(box, "enter")
        await settle()
        press(box, "enter")
        assert second.keys == [], "it has only just come"
        clock.now += SLIP + 0.01
        press(box, "enter")
        await asyncio.gather(*asked)
        stage.leave()

    play(body)


# --- what was typed before


def test_a_draft_is_kept_while_a_dialog_has_the_text_box() -> None:
    async def body() -> None:
        clock = Clock()
        stage, _, box = staged(now=clock)
        box.text = "half a thought"
        asked = asyncio.create_task(stage.ask(Noting(text="the command")))
        await settle()
        clock.now += SLIP + 0.01
        press(box, "e")
        assert box.text == "the command" and box.taker is None
        box.text = "another command"
        assert stage.give(box.text)
        assert await asked == "another command"
        await settle()
        assert box.text == "half a thought"
        assert not stage.give("more"), "nobody waits for it"
        stage.leave()

    play(body)


def test_leaving_a_text_that_a_dialog_wanted_gives_the_draft_back() -> None:
    async def body() -> None:
        for draft in ("", "half a thought"):
            clock = Clock()
            stage, _, box = staged(now=clock)
            box.text = draft
            asked = asyncio.create_task(stage.ask(Noting(text="rm -rf build")))
            await settle()
            clock.now += SLIP + 0.01
            press(box, "e")
            box.text = ""  # as the escape key does it
            stage.press("escape")
            assert await asked == "escape"
            await settle()
            assert box.text == draft, "and not what the dialog was about"
            stage.leave()

    play(body)


def test_a_text_whose_dialog_was_withdrawn_does_not_become_a_prompt() -> None:
    async def body() -> None:
        for draft in ("", "half a thought"):
            clock = Clock()
            stage, _, box = staged(now=clock)
            box.text = draft
            asked = asyncio.create_task(stage.ask(Noting(text="rm -rf build")))
            await settle()
            clock.now += SLIP + 0.01
            press(box, "e")
            asked.cancel()
            await settle()
            assert box.text == draft
            stage.leave()

    play(body)


def test_a_dialog_that_wants_a_text_at_once_gets_none_that_was_typed_before() -> None:
    """What was typed while we started is no key of anybody."""

    async def body() -> None:
        stage, _, box = staged()
        box.text = "fix the bug"
        asked = asyncio.create_task(stage.ask(Noting(at_once=True)))
        await settle()
        assert box.text == ""
        box.text = "sk-1"
        assert stage.give(box.text)
        assert await asked == "sk-1"
        await settle()
        assert box.text == "fix the bug"
        stage.leave()

    play(body)


def test_a_dialog_that_comes_meanwhile_waits_for_the_text() -> None:
    async def body() -> None:
        stage, _, box = staged()
        first, second = Noting(), Noting("b")
        asked = asyncio.create_task(stage.ask(first))
        await settle()
        press(box, "e")
        box.text = "my rea"
        later = asyncio.create_task(stage.ask(second))
        await settle()
        assert box.taker is None and box.text == "my rea"
        stage.give("my reason")
        assert await asked == "my reason"
        await settle()
        press(box, "enter")
        await later
        stage.leave()

    play(body)


def test_a_secret_is_not_seen() -> None:
    async def body() -> None:
        stage, terminal, box = staged()
        dialog = Noting()
        asked = asyncio.create_task(stage.ask(dialog))
        await settle()
        dialog.entry = Entry("Key", is_secret=True)
        box.text = "sk-secret"
        stage.paint()
        assert "sk-secret" not in terminal.all and "•••••••••" in terminal.screen
        asked.cancel()
        await settle()
        stage.leave()

    play(body)
