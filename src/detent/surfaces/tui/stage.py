"""What the person sees: the view, the dialog or the text box below it, and frames of both.

It decides nothing. Finished blocks go up into the scrollback in the order in which they come; a
frame follows a key at once, and events at most thirty times a second.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from detent.surfaces.tables.widths import one_line
from detent.surfaces.tui.blocks import Block, Card, Finished, Prose
from detent.surfaces.tui.dialogs.dialog import Dialog
from detent.surfaces.tui.drawing import live
from detent.surfaces.tui.drawing.blocks import Look, drawn, is_apart
from detent.surfaces.tui.editing import text_box
from detent.surfaces.tui.folding import fold
from detent.surfaces.tui.folding.turns import broken_off
from detent.surfaces.tui.questions import Questions
from detent.surfaces.tui.screen.painter import Painter
from detent.surfaces.tui.screen.spans import clipped
from detent.surfaces.tui.screen.terminal import Terminal
from detent.surfaces.tui.view import View
from detent.types.events import Event, TurnEnded

T = TypeVar("T")

FRAME = 1 / 30
TICK = 1 / 8
"""Seconds between two pictures of the spinner."""
MOST_QUEUED = 5
STOP = " (esc to interrupt)"
MOST_READ_OUT = 200
HELD = "(stop typing for a moment to answer)"


class Below(Struct, frozen=True):
    """What stands below the text box, and around it."""

    menu: tuple[str, ...] = ()
    footer: tuple[str, ...] = ()
    queued: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()
    numbers: live.Numbers = live.Numbers()
    hint: str = text_box.PLACEHOLDER
    busy: str = ""
    """What is being done that is no turn."""
    verb: str = ""
    """For the live line, where the person has chosen some."""


class Typed(Struct, frozen=True):
    text: str = ""
    cursor: int = 0


class Stage:
    def __init__(
        self,
        terminal: Terminal,
        look: Look,
        now: Callable[[], float],
        *,
        is_linear: bool = False,
        is_still: bool = False,
    ) -> None:
        """`is_linear`: line after line, for who listens to the screen. `is_still`: no spinner."""
        width, height = terminal.size()
        self._terminal = terminal
        self.painter = Painter(terminal.write, width, height)
        self.look = replace(look, width=width)
        self.view = View()
        self.typed: Callable[[], Typed] = Typed
        self.below: Callable[[], Below] = Below
        self._todos: bool | None = None
        """Shown or not, as the person wants it; None: while a turn runs."""
        self.is_linear, self._is_still = is_linear, is_still or is_linear
        self.is_away = self.has_left = False
        """The terminal is somebody else's for a while, or for good."""
        self.while_away: Callable[[], None] = lambda: None
        """Called when it is another size then."""
        self._now = now
        self._finished: list[str] = []
        self._last: Block | None = None
        self.questions = Questions(now, self.touch)
        self.questions.is_asked = self._asked
        self._live, self._live_at = "", 0.0
        self._live_about: object = None
        """The live line as it was drawn last, when, and what it was drawn from."""
        self._painted_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._ticker: asyncio.TimerHandle | None = None

    # --- what comes

    def hear(self, event: Event) -> None:
        self.view, blocks = fold(self.view, event, self._now())
        self.show(*blocks)
        self.touch()

    def hear_end(self, ended: TurnEnded, dollars: float | None) -> None:
        self.view, blocks = fold(self.view, ended, self._now())
        priced = (
            replace(block, dollars=dollars, is_unpriced=dollars is None)
            if isinstance(block, Finished)
            else block
            for block in blocks
        )  # fmt: skip
        self.show(*priced)
        self.paint()  # who has interrupted it is looking

    def rest(self) -> None:
        """No turn runs any more, also where none has told its end."""
        if self.view.is_running:
            self.view, blocks = broken_off(self.view, self._now())
            self.show(*blocks)

    def show(self, *blocks: Block) -> None:
        """For good: they go up into the scrollback with the next frame."""
        for block in blocks:
            if is_apart(self._last, block):
                self._finished.append("")
            self._finished += drawn(block, self.look)
            self._last = block
        if blocks:
            self.touch()

    def show_lines(self, lines: list[str]) -> None:
        self._finished += lines
        self._last = None
        self.touch()

    async def ask(self, dialog: Dialog[T]) -> T:
        """One at a time, in the order in which they come."""
        return await self.questions.ask(dialog)

    @property
    def dialog(self) -> Dialog[Any] | None:
        return self.questions.front

    def _asked(self, dialog: Dialog[Any]) -> None:
        """For who listens to the screen a question is read out once, and answered by its number."""
        if self.is_linear:
            self.show_lines(["", *dialog.lines(self.look, MOST_READ_OUT)])

    # --- frames

    def touch(self) -> None:
        """Something has changed: a frame follows soon, and not too many of them."""
        if self._timer is None:
            loop = asyncio.get_running_loop()
            wait = max(0.0, self._painted_at + FRAME - loop.time())
            self._timer = loop.call_later(wait, self.paint)

    def paint(self) -> None:
        """Now."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self.is_away or self.has_left or self._terminal.is_gone:
            return
        if self._terminal.size() != (self.painter.width, self.painter.height):
            self.resize()  # before the signal that tells of it: a frame must fit
        below = self.below()
        lines, cursor = self._lines(below)
        finished, self._finished = self._finished, []
        self.painter.frame(finished, lines, cursor)
        self._painted_at = asyncio.get_running_loop().time()
        self._keep_moving(below)

    def _keep_moving(self, below: Below) -> None:
        moves = self.view.is_running or bool(below.busy or below.jobs)
        if not moves or self.is_linear or self._ticker is not None:
            return
        is_fast = (self.view.is_running or below.busy) and not self._is_still
        wait = TICK if is_fast else 1.0
        self._ticker = asyncio.get_running_loop().call_later(wait, self._tick)

    def _tick(self) -> None:
        self._ticker = None
        self.touch()

    @property
    def _shows_todos(self) -> bool:
        return self.view.is_running if self._todos is None else self._todos

    def toggle_todos(self) -> None:
        self._todos = not self._shows_todos

    def toggle_thinking(self) -> None:
        self.look = replace(self.look, shows_thinking=not self.look.shows_thinking)

    def redraw(self) -> None:
        """A clean screen; what was in the scrollback stays there."""
        self.painter.erase()  # a terminal may keep what it clears
        self._terminal.write("\x1b[H\x1b[2J")
        self.paint()

    def resize(self) -> None:
        """Also when somebody else has written: everything below is painted anew. Who has the
        terminal meanwhile may want to know; what stands below waits until it is ours again."""
        if self.is_away:
            self.while_away()
            return
        width, height = self._terminal.size()
        if (width, height) == (self.painter.width, self.painter.height):
            self.painter.erase()
        else:
            self.painter.resize(width, height)
        self.look = replace(self.look, width=width)

    def leave(self) -> None:
        """The last frame: nothing live is left behind."""
        for timer in (self._timer, self._ticker):
            if timer is not None:
                timer.cancel()
        finished, self._finished = self._finished, []
        self.painter.frame(finished, [], (0, 0))
        self.painter.erase()
        self.has_left = True

    def _lines(self, below: Below) -> tuple[list[str], tuple[int, int] | None]:
        now = self._now()
        lines = [] if self.is_linear else self._at_work(below, now)
        room = self.painter.height - 2
        dialog = self.dialog
        if dialog is not None:
            asked = self._question(dialog, room)
            left = room - len(asked) - 1
            above = lines[-left:] if left > 0 else []
            lines = [*above, *([""] if above else []), *asked]
            if dialog.entry is None:
                return lines, None
        return self._with_text_box(lines, below, room)

    def _question(self, dialog: Dialog[Any], room: int) -> list[str]:
        if self.is_linear:
            if dialog.entry is not None:
                return [dialog.entry.title]
            return [HELD if self.questions.is_held else "Your answer?"]
        asked = dialog.lines(self.look, room if dialog.entry is None else room - 4)
        if self.questions.is_held and asked:
            held = clipped(f"{HELD} {one_line(self.typed().text)}", self.look.width)
            asked[-1] = self.look.theme.paint("warning", held)
        return asked

    def _with_text_box(
        self, lines: list[str], below: Below, room: int
    ) -> tuple[list[str], tuple[int, int]]:
        typed, entry = self.typed(), self.dialog.entry if self.dialog else None
        text = typed.text
        if entry is not None and entry.is_secret:
            text = "•" * len(text)
        most = max(1, room // 2)
        box, cursor = text_box.drawn(
            text, typed.cursor, self.look.width, most, self.look.theme,
            hint="" if entry else below.hint,
        )  # fmt: skip
        if lines[-1:] != [""] and (lines or self._last is not None):
            lines = [*lines, ""]
        row = len(lines) + cursor[0]
        under = () if entry or self.is_linear else below.menu or below.footer
        return [*lines, *box, *under], (row, cursor[1])

    def _at_work(self, below: Below, now: float) -> list[str]:
        view, look = self.view, self.look
        lines = live.written(view, look)
        if lines and lines[0] and not isinstance(self._last, Prose | None):
            lines.insert(0, "")
        calls = live.running(view.calls, now, look)
        if (calls and not lines and not isinstance(self._last, Card | None)) or (calls and lines):
            lines.append("")
        lines += calls + live.workers(view.workers, below.numbers, now, look)
        lines += [look.theme.paint("faint", clipped(one_line(j), look.width)) for j in below.jobs]
        verb = "Waiting for you" if self.dialog is not None else below.verb
        words = self._live_line(below, now, verb)
        if below.busy:
            busy = f"{live.spin(now)} {one_line(below.busy)}"
            busy = clipped(busy, max(8, look.width - len(STOP)))
            words = look.theme.paint("accent", busy) + look.theme.paint("faint", STOP)
        if words:
            lines += [*([""] if lines or self._last is not None else []), words]
        if self._shows_todos:
            lines += live.todos(view.todos, look)
        return lines + _faint(below.queued[:MOST_QUEUED], look)

    def _live_line(self, below: Below, now: float, verb: str) -> str:
        """Drawn anew when something has happened; while an answer is only written, no more often
        than the spinner turns."""
        view = self.view
        usage = None if view.tally is None else view.tally.usage
        about = (view.phase, view.note, view.forming, usage, verb, below.numbers, self.look.width)
        if about != self._live_about or now - self._live_at >= TICK:
            self._live_about, self._live_at = about, now
            self._live = live.live_line(view, below.numbers, now, verb, self.look)
        return self._live


def _faint(texts: Sequence[str], look: Look) -> list[str]:
    rows = (clipped(f"  {one_line(text)}", look.width) for text in texts)
    return [look.theme.paint("faint", row) for row in rows]
