"""Keys and editing. The one place that knows prompt_toolkit: it decodes what the terminal sends and
edits the text, in the manner of Emacs or vi. It draws nothing: frames are the painter's."""

import asyncio
import re
from collections.abc import Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from prompt_toolkit.application import Application
from prompt_toolkit.application.run_in_terminal import in_terminal
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.data_structures import Size
from prompt_toolkit.document import Document
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.filters import Condition
from prompt_toolkit.input.ansi_escape_sequences import ANSI_SEQUENCES
from prompt_toolkit.input.vt100_parser import Vt100Parser
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.key_binding.vi_state import InputMode
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import BufferControl, Layout, Window
from prompt_toolkit.output import DummyOutput
from prompt_toolkit.renderer import Renderer
from prompt_toolkit.styles import DummyStyle

from detent.surfaces.tui.editing.keyboard_terms import Taker
from detent.surfaces.tui.editing.keys import KEYS, Key

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from prompt_toolkit.input import Input

ESCAPE_WAIT = 0.025
"""Seconds, twice at most, in which what belongs to an escape comes."""
_NO_TEXT = re.compile("[\ud800-\udfff]")
ALT_ENTER = (Keys.Escape, Keys.ControlM)
MODIFIED = [(with_, code) for with_ in range(2, 9) for code in range(127)]
"""Keys with Shift, Alt, Ctrl that have no other way to be told: 2 to 8 is which of these."""
ANSI_SEQUENCES |= {f"\x1b[{code};{with_}u": Keys.Ignore for with_, code in MODIFIED}
ANSI_SEQUENCES |= {f"\x1b[27;{with_};{code}~": Keys.Ignore for with_, code in MODIFIED}
ANSI_SEQUENCES |= {"\x1b[13;2u": ALT_ENTER, "\x1b[27;2;13~": ALT_ENTER, "\x1b[13;5u": ALT_ENTER}
NAMES = {
    Keys.Up: "up", Keys.Down: "down", Keys.Left: "left", Keys.Right: "right", Keys.Home: "home",
    Keys.End: "end", Keys.PageUp: "page up", Keys.PageDown: "page down", Keys.Enter: "enter",
    Keys.Escape: "escape", Keys.Tab: "tab", Keys.BackTab: "back tab", Keys.Backspace: "erase",
    Keys.Delete: "delete", Keys.ControlC: "ctrl+c", Keys.ControlD: "ctrl+d",
    Keys.ControlN: "down", Keys.ControlP: "up", Keys.ControlU: "erase all",
    Keys.ControlW: "erase word", Keys.ControlR: "ctrl+r", Keys.ControlO: "ctrl+o",
    Keys.ControlG: "ctrl+g", Keys.ControlA: "home", Keys.ControlE: "end", Keys.ControlL: "ctrl+l",
    Keys.ControlJ: "enter", Keys.ControlZ: "ctrl+z",
}  # fmt: skip
"""Keys as dialogs know them."""

Act = Callable[[str], bool]


class Keyboard:
    def __init__(
        self,
        paint: Callable[[], None],
        resize: Callable[[], None],
        size: Callable[[], tuple[int, int]],
        *,
        vim: bool = False,
        source: "Input | None" = None,
    ) -> None:
        self.act: Act = lambda action: False
        """Gets the name of an action and says whether it did something; what it did not do, the
        text box does."""
        self.taker: Taker | None = None
        """Gets every key instead of the text box: a dialog is open."""
        self.is_running: Callable[[], bool] = lambda: False
        self.on_paste: Callable[[str], str] = lambda text: text
        self.on_change: Callable[[], None] = lambda: None
        self.on_key: Callable[[], None] = lambda: None
        """Before any key, whoever gets it."""
        self._buffer = Buffer(multiline=True, on_text_changed=lambda _: self.on_change())
        self._app: Application[None] = Application(
            layout=Layout(Window(BufferControl(self._buffer))),
            key_bindings=self._bindings(),
            editing_mode=EditingMode.VI if vim else EditingMode.EMACS,
            style=DummyStyle(),
            include_default_pygments_style=False,
            output=_NoOutput(size),
            input=source,
            terminal_size_polling_interval=None,
            max_render_postpone_time=None,
        )
        self._app.key_processor.before_key_press += lambda _: self.on_key()
        self._app.ttimeoutlen = self._app.timeoutlen = ESCAPE_WAIT
        self._app.renderer = _Frames(self._app, paint, resize)

    def take_keys(self, taker: Taker | None) -> None:
        self.taker = taker

    async def listen(self, early: str = "") -> None:
        """Until `stop`; first what was typed before. Raises EOFError when the terminal is gone."""
        await self._app.run_async(
            pre_run=lambda: self._feed(early), handle_sigint=False, set_exception_handler=False
        )

    def _feed(self, text: str) -> None:
        pressed: list[KeyPress] = []
        Vt100Parser(pressed.append).feed_and_flush(text)
        self._app.key_processor.feed_multiple(pressed)
        asyncio.get_running_loop().call_soon(self._app.key_processor.process_keys)

    def stop(self) -> None:
        if self._app.is_running and not self._app.is_done:
            self._app.exit()

    @asynccontextmanager
    async def set_aside(self) -> "AsyncIterator[None]":
        """The terminal is somebody else's: an editor's, or a pager's."""
        async with in_terminal():
            yield

    @property
    def text(self) -> str:
        """With a mark for every byte that was no text: such a prompt could not be stored."""
        text = self._buffer.text
        return text if text.isascii() else _NO_TEXT.sub("\ufffd", text)

    @property
    def cursor(self) -> int:
        return self._buffer.cursor_position

    def put(self, text: str, cursor: int | None = None) -> None:
        """Replaces what is typed."""
        at = len(text) if cursor is None else cursor
        self._buffer.set_document(Document(text, at), bypass_readonly=True)

    def insert(self, text: str) -> None:
        self._buffer.insert_text(text)

    def replace_before(self, count: int, text: str) -> None:
        """The last so many characters before the cursor become `text`."""
        self._buffer.delete_before_cursor(count)
        self._buffer.insert_text(text)

    @property
    def is_first_line(self) -> bool:
        return self._buffer.document.on_first_line

    @property
    def is_last_line(self) -> bool:
        return self._buffer.document.on_last_line

    @property
    def vim(self) -> bool:
        return self._app.editing_mode == EditingMode.VI

    @vim.setter
    def vim(self, wanted: bool) -> None:
        self._app.editing_mode = EditingMode.VI if wanted else EditingMode.EMACS
        self._app.vi_state.input_mode = InputMode.INSERT

    @property
    def vim_mode(self) -> str:
        """INSERT, NORMAL …; empty without vi keys."""
        if not self.vim:
            return ""
        mode = self._app.vi_state.input_mode
        visual = self._buffer.selection_state is not None and mode == InputMode.NAVIGATION
        names = {InputMode.NAVIGATION: "NORMAL", InputMode.INSERT_MULTIPLE: "INSERT"}
        return "VISUAL" if visual else names.get(mode, mode.name)

    def _bindings(self) -> KeyBindings:
        found = KeyBindings()
        for key in KEYS:
            found.add(*key.keys, filter=Condition(self._owns(key)))(self._acting(key))
        held = Condition(lambda: self.taker is not None)
        for name in (*NAMES, Keys.Any, Keys.BracketedPaste):
            found.add(name, filter=held, eager=True)(self._taken)
        free = Condition(lambda: self.taker is None)
        found.add(Keys.BracketedPaste, filter=free)(self._pasted)
        return found

    def _owns(self, key: Key) -> Callable[[], bool]:
        def owns() -> bool:
            if self.taker is not None:
                return False
            if key.action == "escape" and self.vim and self._buffer.text:
                return self._app.vi_state.input_mode == InputMode.NAVIGATION
            if self._is_commanded() and key.keys[0] not in ("enter", "escape", "s-tab", "c-c"):
                return False
            if key.when == "empty":
                return not self._buffer.text
            return key.when != "running" or self.is_running()

        return owns

    def _is_commanded(self) -> bool:
        """vi's own commands come first, but for a few."""
        if not self.vim or not self._buffer.text:
            return False
        return self._app.vi_state.input_mode == InputMode.NAVIGATION

    def _acting(self, key: Key) -> Callable[[KeyPressEvent], None]:
        def press(event: KeyPressEvent) -> None:
            if not self.act(key.action):
                self._otherwise(key.action, event)

        return press

    def _otherwise(self, action: str, event: KeyPressEvent) -> None:
        """What a text box does with the key."""
        buffer = event.current_buffer
        match action:
            case "up":
                buffer.cursor_up()
            case "down":
                buffer.cursor_down()
            case "newline":
                buffer.newline(copy_margin=False)
            case "keys":
                buffer.insert_text("?")

    def _taken(self, event: KeyPressEvent) -> None:
        if self.taker is None:
            return
        pressed = event.key_sequence[0]
        name = NAMES.get(pressed.key) if isinstance(pressed.key, Keys) else None
        if name is not None:
            self.taker.press(name)
        elif pressed.key == Keys.BracketedPaste:
            self.taker.paste(pressed.data)
        elif len(pressed.data) == 1 and pressed.data.isprintable():
            self.taker.press(pressed.data)

    def _pasted(self, event: KeyPressEvent) -> None:
        text = event.data.replace("\r\n", "\n").replace("\r", "\n")
        event.current_buffer.insert_text(self.on_paste(text))


class _NoOutput(DummyOutput):
    """prompt_toolkit writes nothing; it only wants to know how large the terminal is."""

    def __init__(self, size: Callable[[], tuple[int, int]]) -> None:
        self._size = size

    def get_size(self) -> Size:
        columns, rows = self._size()
        return Size(rows=rows, columns=columns)


class _Frames(Renderer):
    """Where prompt_toolkit would draw, a frame is wanted."""

    def __init__(
        self, app: Application[Any], paint: Callable[[], None], resize: Callable[[], None]
    ) -> None:
        self._paint, self._resize = paint, resize
        super().__init__(app.renderer.style, app.output)

    def render(self, app: Application[Any], layout: Layout, is_done: bool = False) -> None:
        if not is_done:
            self._paint()

    def erase(self, leave_alternate_screen: bool = True) -> None:
        self._resize()

    def clear(self) -> None:
        self._resize()
