"""Which dialog has the keys, and what was being typed before it came.

One dialog at a time, in the order in which they come. One that comes by itself takes no key from
somebody who is typing: what is typed goes on into the draft until there was a pause.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

from detent.surfaces.tui.dialogs.dialog import Dialog, Entry
from detent.surfaces.tui.editing.keyboard_terms import Taker

T = TypeVar("T")

PAUSE = 0.5
"""Seconds without a key after which a key is meant for the dialog."""


class Questions:
    def __init__(self, now: Callable[[], float], changed: Callable[[], None]) -> None:
        self._now, self._changed = now, changed
        self.text: Callable[[], str] = str
        self.put_text: Callable[[str], None] = lambda text: None
        self.insert: Callable[[str], None] = lambda text: None
        self.take_keys: Callable[[Taker | None], None] = lambda taker: None
        self.is_asked: Callable[[Dialog[Any]], None] = lambda dialog: None
        """Told of each that comes to the front."""
        self._dialogs: deque[Dialog[Any]] = deque()
        self._front: Dialog[Any] | None = None
        self._entry: Entry | None = None
        """What the text box is open for, where a dialog wants a text,"""
        self._draft = ""
        """and what was typed before."""
        self._key_at = float("-inf")
        self._is_held = False
        self._lent: Taker | None = None
        """A screen of its own has the keys."""
        self._close_screen: Callable[[], None] = lambda: None

    @property
    def front(self) -> Dialog[Any] | None:
        return self._dialogs[0] if self._dialogs else None

    @property
    def is_held(self) -> bool:
        """Somebody was typing when it came: it waits for a pause."""
        return self._is_held

    async def ask(self, dialog: Dialog[T]) -> T:
        self._dialogs.append(dialog)
        if self._lent is not None:
            self._close_screen()  # a question must be seen
        self.settle()
        try:
            return await dialog.answer
        finally:
            self._dialogs.remove(dialog)
            self.settle()

    def settle(self) -> None:
        """Who gets the keys now: a screen of its own, the dialog in front, or the text box."""
        dialog = self.front
        if self._lent is not None:
            return
        if dialog is not self._front:
            self._front = dialog
            self._is_held = dialog is not None and dialog.comes_unasked
            self._look_for_pause()
            if dialog is not None:
                self.is_asked(dialog)
        self._settle_text(dialog.entry if dialog and not dialog.answer.done() else None)
        takes = dialog is not None and self._entry is None
        self.take_keys(Taker(self.press, self.paste) if takes else None)
        self._changed()

    def _settle_text(self, entry: Entry | None) -> None:
        """The text box is a dialog's while that wants a text, and then again as it was before,
        however the dialog has ended."""
        if entry is self._entry:
            return
        if self._entry is None:
            self._draft = self.text()
        self._entry = entry
        self.put_text(self._draft if entry is None else entry.text)

    def key_pressed(self) -> None:
        """Any key, whoever gets it."""
        self._key_at = self._now()

    def _look_for_pause(self) -> None:
        if not self._is_held:
            return
        left = self._key_at + PAUSE - self._now()
        if left <= 0:
            self._is_held = False
            self._changed()
        else:
            asyncio.get_running_loop().call_later(min(left, PAUSE), self._look_for_pause)

    def press(self, key: str) -> None:
        """A key for the dialog in front. Who is typing does not mean it, but for Esc."""
        dialog = self.front
        if dialog is None:
            return
        if self._is_held and key not in ("escape", "ctrl+c"):
            self.insert(key if len(key) == 1 else "")
            return
        dialog.press(key)
        self.settle()

    def paste(self, text: str) -> None:
        """Never a key, whatever it says."""
        if self._is_held:
            self.insert(text)
        elif self.front is not None:
            self.front.paste(text)
            self.settle()

    def give(self, text: str) -> bool:
        """What was typed for a dialog, where one waits for it."""
        dialog = self.front
        if dialog is None or dialog.entry is None:
            return False
        dialog.give(text)
        self.settle()
        return True

    def back(self) -> None:
        """Esc in the text box of a dialog: one level up, and out where there is none."""
        dialog = self.front
        if dialog is None:
            return
        if dialog.entry is not None and not dialog.is_all_entry:
            dialog.entry = None
        else:
            dialog.press("escape")
        self.settle()

    def lend(self, taker: Taker, close: Callable[[], None]) -> None:
        """To a screen of its own, until it is taken back; `close` ends it."""
        self._lent, self._close_screen = taker, close
        self.take_keys(taker)

    def take_back(self) -> None:
        self._lent = None
        self.settle()
