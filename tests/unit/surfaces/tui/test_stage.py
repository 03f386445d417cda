"""The stage: who gets the keys, and what becomes of what was typed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from detent.surfaces.tui.dialogs.dialog import Dialog, Entry
from detent.surfaces.tui.drawing.blocks import Look
from detent.surfaces.tui.editing.keyboard_terms import Taker
from detent.surfaces.tui.questions import PAUSE
from detent.surfaces.tui.stage import Stage
from detent.types.content import Text
from detent.types.events import (
    Prompted,
)
from terminalbench import Box, settle, staged

PROMPT = Prompted(turn=1, content=(Text("go"),))


class Noting(Dialog[str]):
    """Keeps every key; `e` wants a text."""

    def __init__(
        self, name: str = "", text: str = "", *, at_once: bool = False, unasked: bool = False
    ) -> None:
        super().__init__()
        self.comes_unasked, self.is_all_entry = unasked, at_once
        self.pasted: list[str] = []
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

    def paste(self, text: str) -> None:
        self.pasted.append(text)

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
    box.taker.press(key)


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


def typed(stage: Stage, box: Box, clock: Clock, *keys: str) -> None:
    """As somebody types: a key each 0.1 s, whoever gets it."""
    for key in keys:
        clock.now += 0.1
        stage.questions.key_pressed()
        if box.taker is not None:
            box.taker.press(key)
        else:
            box.text += key


def test_who_is_typing_when_a_dialog_comes_does_not_mean_it() -> None:
    """However long it goes on, and whether anything was typed before: it takes a pause."""

    async def body() -> None:
        clock = Clock()
        for draft in ("", "and then"):
            stage, terminal, box = staged(now=clock)
            box.text = draft
            typed(stage, box, clock, "x")
            dialog = Noting(unasked=True)
            asked = asyncio.create_task(stage.ask(dialog))
            await settle()
            typed(stage, box, clock, *" yes 1", "enter", "y")
            stage.questions.paste("enter")
            assert dialog.keys == dialog.pasted == [], "all of it was meant for the text box"
            assert box.text == f"{draft}x yes 1yenter"
            stage.paint()
            assert "stop typing" in terminal.screen, "and it is said why"
            clock.now += PAUSE
            stage.questions._look_for_pause()
            assert not stage.questions.is_held
            typed(stage, box, clock, "1", "enter")
            assert dialog.keys == ["1", "enter"] and await asked == "enter"
            stage.leave()

    play(body)


def test_escape_and_the_keys_of_who_was_not_typing_count_at_once() -> None:
    async def body() -> None:
        for was_typing, key in ((False, "1"), (True, "escape")):
            clock = Clock()
            stage, _, box = staged(now=clock)
            if was_typing:
                typed(stage, box, clock, "x")
            dialog = Noting(unasked=True)
            asked = asyncio.create_task(stage.ask(dialog))
            await settle()
            press(box, key)
            assert dialog.keys == [key]
            dialog.resolve("")
            await asked
            stage.leave()

    play(body)


def test_a_dialog_that_the_person_has_called_for_is_not_guarded() -> None:
    async def body() -> None:
        clock = Clock()
        stage, _, box = staged(now=clock)
        typed(stage, box, clock, "x")
        asked = asyncio.create_task(stage.ask(Noting()))
        await settle()
        press(box, "enter")
        assert await asked == "enter"
        stage.leave()

    play(body)


def test_each_dialog_is_guarded_anew() -> None:
    async def body() -> None:
        clock = Clock()
        stage, _, box = staged(now=clock)
        first, second = Noting(unasked=True), Noting(unasked=True)
        asked = [asyncio.create_task(stage.ask(dialog)) for dialog in (first, second)]
        await settle()
        typed(stage, box, clock, "enter")
        await settle()
        typed(stage, box, clock, "enter", "enter")
        assert second.keys == [], "it has only just come"
        clock.now += PAUSE
        stage.questions._look_for_pause()
        press(box, "enter")
        await asyncio.gather(*asked)
        stage.leave()

    play(body)


def test_what_is_pasted_is_never_a_key() -> None:
    async def body() -> None:
        stage, _, box = staged()
        dialog = Noting(unasked=True)
        asked = asyncio.create_task(stage.ask(dialog))
        await settle()
        assert box.taker is not None
        box.taker.paste("enter")
        assert dialog.keys == [] and dialog.pasted == ["enter"] and not asked.done()
        press(box, "enter")
        await asked
        stage.leave()

    play(body)


def test_a_screen_of_its_own_has_the_keys_until_a_question_comes() -> None:
    async def body() -> None:
        stage, _, box = staged()
        pressed: list[str] = []
        closed: list[bool] = []
        stage.questions.lend(Taker(pressed.append), lambda: closed.append(True))
        press(box, "down")
        dialog = Noting(unasked=True)
        asked = asyncio.create_task(stage.ask(dialog))
        await settle()
        assert closed == [True], "it is told to make room"
        press(box, "enter")
        assert pressed == ["down", "enter"] and dialog.keys == [], "not before it has"
        stage.questions.take_back()
        press(box, "enter")
        assert await asked == "enter"
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
        press(box, "e")
        assert box.text == "the command" and box.taker is None
        box.text = "another command"
        assert stage.questions.give(box.text)
        assert await asked == "another command"
        await settle()
        assert box.text == "half a thought"
        assert not stage.questions.give("more"), "nobody waits for it"
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
            press(box, "e")
            stage.questions.back()
            assert box.text == draft, "and not what the dialog was about"
            press(box, "escape")
            assert await asked == "escape", "one level up, then out"
            await settle()
            assert box.text == draft
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
        assert stage.questions.give(box.text)
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
        stage.questions.give("my reason")
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
