"""What keys do. Each action is a function of the seat and says whether it did something; what it
leaves, the text box does."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from detent.surfaces.tui import away, saying
from detent.surfaces.tui.blocks import Told
from detent.surfaces.tui.dialogs.dialog import Entry
from detent.surfaces.tui.editing.keys import listed
from detent.surfaces.tui.editing.recalling import SearchDialog
from detent.surfaces.tui.footer import mode_in_words
from detent.surfaces.tui.seat import Seat
from detent.types.errors import BadInput

TWICE = 1.0
"""Seconds in which a second press belongs to the first."""
MODES = ("default", "acceptEdits", "plan", "auto")


class Controls:
    def __init__(self, seat: Seat, leave: Callable[[], None]) -> None:
        self._seat, self._leave = seat, leave
        self._pressed: dict[str, float] = {}

    def act(self, action: str) -> bool:
        seat = self._seat
        if action not in ("escape", "cancel", "leave"):
            seat.hint = ""
        dialog = seat.stage.dialog
        if dialog is not None and dialog.entry is not None and not _serves(action, dialog.entry):
            return True
        if action == "leave":
            self._leave()
            return True
        did: Callable[[], bool] = getattr(self, f"_{action}")
        return did()

    def _begin(self, work: Coroutine[Any, Any, None]) -> bool:
        self._seat.begin(work)
        return True

    # --- sending

    def _send(self) -> bool:
        seat, keyboard = self._seat, self._seat.keyboard
        text = keyboard.text
        if seat.stage.dialog is not None:
            return seat.stage.questions.give(seat.pasted.unfolded(text))
        if seat.completion is not None and seat.completion.is_open and not self._complete():
            return True
        text = keyboard.text
        if text[: keyboard.cursor].endswith("\\"):
            keyboard.replace_before(1, "\n")
            return True
        if text.strip():
            keyboard.put("")
            seat.recall.add(seat.pasted.unfolded(text))
            saying.say(seat, text)
        return True

    def _complete(self) -> bool:
        """Takes what is offered; whether that is all that was meant."""
        completion, keyboard = self._seat.completion, self._seat.keyboard
        taken = completion.take() if completion is not None else None
        if taken is None:
            return False
        length, offer = taken
        keyboard.replace_before(length, offer.insert)
        if completion is not None and not offer.insert.endswith("/"):
            completion.leave(keyboard.text)
        return offer.label.startswith("/") and not offer.takes_more

    def _tab(self) -> bool:
        seat, keyboard = self._seat, self._seat.keyboard
        if seat.completion is not None and seat.completion.is_open:
            self._complete()
        elif keyboard.text.strip() and seat.stage.dialog is None:
            text = keyboard.text
            if seat.conversation is not None and seat.conversation.is_busy:
                keyboard.put("")
                seat.recall.add(seat.pasted.unfolded(text))
                saying.say(seat, text, later=True)
        return True

    def _newline(self) -> bool:
        return False

    # --- stopping

    def _escape(self) -> bool:
        seat, keyboard = self._seat, self._seat.keyboard
        if seat.completion is not None and seat.completion.is_open:
            seat.completion.leave(keyboard.text[: keyboard.cursor])
        elif seat.overlay:
            seat.overlay = ()
        elif seat.stage.dialog is not None:
            seat.stage.questions.back()
        elif seat.conversation is not None and seat.conversation.interrupt():
            pass
        elif keyboard.text:
            seat.recall.add(seat.pasted.unfolded(keyboard.text))
            keyboard.put("")
        elif self._is_twice("escape"):
            seat.hint = ""
            seat.begin(_rewind(seat))
        else:
            self._hint("esc again: go back to an earlier prompt")
        return True

    def _cancel(self) -> bool:
        seat, keyboard = self._seat, self._seat.keyboard
        if seat.stage.dialog is not None:
            return self._escape()
        if keyboard.text:
            seat.recall.add(seat.pasted.unfolded(keyboard.text))
            keyboard.put("")
        elif seat.conversation is not None and seat.conversation.interrupt():
            self._pressed.pop("cancel", None)
        elif self._is_twice("cancel"):
            self._leave()
        else:
            self._hint("ctrl+c again: leave")
        return True

    def _is_twice(self, key: str) -> bool:
        now, before = self._seat.now(), self._pressed.pop(key, -1e9)
        if now - before <= TWICE:
            return True
        self._pressed[key] = now
        return False

    def _hint(self, text: str) -> None:
        self._seat.hint = text
        asyncio.get_running_loop().call_later(TWICE, self._unhint, text)

    def _unhint(self, text: str) -> None:
        if self._seat.hint == text:
            self._seat.hint = ""
            self._seat.stage.touch()

    # --- what was typed before

    def _up(self) -> bool:
        seat, keyboard = self._seat, self._seat.keyboard
        if seat.completion is not None and seat.completion.press("up"):
            return True
        if not keyboard.is_first_line or seat.stage.dialog is not None:
            return False
        return self._recalled(seat.recall.older(keyboard.text))

    def _down(self) -> bool:
        seat, keyboard = self._seat, self._seat.keyboard
        if seat.completion is not None and seat.completion.press("down"):
            return True
        if not keyboard.is_last_line or seat.stage.dialog is not None:
            return False
        return self._recalled(seat.recall.newer())

    def _recalled(self, text: str | None) -> bool:
        if text is not None:
            text = self._seat.pasted.take(text)  # a long one is folded as when it was pasted
            self._seat.keyboard.put(text)
            if self._seat.completion is not None:
                self._seat.completion.leave(text)
        return True

    def _search(self) -> bool:
        return self._begin(self._searched())

    async def _searched(self) -> None:
        seat = self._seat
        found = await seat.stage.ask(SearchDialog(seat.recall.texts, seat.keyboard.text))
        if found is not None:
            self._recalled(found)

    def _stash(self) -> bool:
        seat = self._seat
        seat.stashed, text = seat.keyboard.text, seat.stashed
        seat.keyboard.put(text)
        if seat.stashed:
            self._hint("put aside; ctrl+s brings it back")
        return True

    def _take_back(self) -> bool:
        seat = self._seat
        if seat.conversation is not None and (text := seat.conversation.take_back()):
            before = seat.keyboard.text
            seat.keyboard.put(f"{text}\n{before}" if before else text)
        return True

    # --- the session

    def _mode(self) -> bool:
        session = self._seat.session
        if session is None:
            return True
        at = MODES.index(session.mode) if session.mode in MODES else -1
        for mode in (*MODES[at + 1 :], *MODES[: at + 1]):
            with suppress(BadInput):  # one that the settings do not let anybody have
                session.mode = mode
                break
        if self._seat.stage.is_linear:  # no footer tells it
            self._seat.stage.show(Told(mode_in_words(session.mode)))
        self._seat.changed()
        return True

    def _background(self) -> bool:
        session = self._seat.session
        if session is not None and not session.to_background():
            self._hint("nothing here can go on in the background")
        return True

    # --- looking

    def _todos(self) -> bool:
        self._seat.stage.toggle_todos()
        return True

    def _thinking(self) -> bool:
        self._seat.stage.toggle_thinking()
        return True

    def _keys(self) -> bool:
        seat = self._seat
        if seat.overlay:
            seat.overlay = ()
            return True
        wide = max(len(name) for name, _ in listed())
        paint = seat.stage.look.theme.paint
        rows = [f"  {paint('accent', f'{name:<{wide}}')}  {about}" for name, about in listed()]
        most = max(1, seat.stage.painter.height - 4)
        if len(rows) > most:
            rows[most - 1 :] = [paint("faint", "  … /keys lists them all")]
        seat.overlay = tuple(rows)
        return True

    def _transcript(self) -> bool:
        return self._begin(away.transcript(self._seat))

    def _editor(self) -> bool:
        return self._begin(away.editor(self._seat))

    def _suspend(self) -> bool:
        return self._begin(away.suspend(self._seat))

    def _picture(self) -> bool:
        return self._begin(away.picture(self._seat))

    def _redraw(self) -> bool:
        stage = self._seat.stage
        stage.redraw()
        return True


def _serves(action: str, entry: Entry) -> bool:
    """In the text box of a dialog. What is secret goes nowhere but to it."""
    if action in ("send", "escape", "cancel", "up", "down", "redraw"):
        return True
    return action in ("newline", "editor") and not entry.is_secret


async def _rewind(seat: Seat) -> None:
    from detent.surfaces.tui.going_back import rewind

    await rewind(seat)
