"""Asks a person, in the terminal, which session is meant. Inline: what was there stays there.

The terminal is spoken to by its own name, for stdin may be a pipe and stdout a file.
"""

import codecs
import os
import select
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from detent.sdk.sessions import SessionCard
from detent.surfaces.tables import choice as keys
from detent.surfaces.tables.choice import Choice

ESCAPE_WAIT = 0.05
"""Seconds in which what belongs to an escape comes: a person's Esc has nothing behind it."""
NAMES = {
    "\x1b[A": keys.UP, "\x1bOA": keys.UP, "\x10": keys.UP,
    "\x1b[B": keys.DOWN, "\x1bOB": keys.DOWN, "\x0e": keys.DOWN,
    "\x1b[5~": keys.PAGE_UP, "\x1b[6~": keys.PAGE_DOWN,
    "\x7f": keys.ERASE, "\x08": keys.ERASE, "\x17": keys.ERASE_WORD, "\x15": keys.ERASE_ALL,
}  # fmt: skip
ENTER, LEAVE = ("\r", "\n"), ("\x1b", "\x03", "\x04")


def has_terminal() -> bool:
    """Somebody sits before one that can move its cursor."""
    if os.environ.get("TERM", "dumb") == "dumb" or not any(map(os.isatty, range(3))):
        return False
    try:
        os.close(_open())
    except OSError:
        return False
    return True


def pick(cards: Sequence[SessionCard]) -> SessionCard:
    """Raises KeyboardInterrupt when the person leaves without choosing."""
    descriptor = _open()
    try:
        with _raw(descriptor):
            return _asked(descriptor, Choice(cards))
    finally:
        os.close(descriptor)


def _asked(descriptor: int, choice: Choice) -> SessionCard:
    drawn = 0
    pressed = _keys(descriptor)
    while True:
        drawn = _draw(descriptor, choice, drawn)
        key = next(pressed)
        if key in LEAVE:
            _erase(descriptor, drawn)
            raise KeyboardInterrupt
        if key in ENTER and choice.chosen is not None:
            _erase(descriptor, drawn)
            return choice.chosen
        choice.press(NAMES.get(key, key))


def _keys(descriptor: int) -> Iterator[str]:
    """Characters, and escapes as a whole. The end of the terminal is as good as leaving."""
    decode = codecs.getincrementaldecoder("utf-8")("replace").decode
    while True:
        text = decode(os.read(descriptor, 1024))
        if text == "\x1b" and select.select([descriptor], [], [], ESCAPE_WAIT)[0]:
            text += decode(os.read(descriptor, 1024))
        if not text and not select.select([descriptor], [], [], 0)[0]:
            yield LEAVE[0]
        while text:
            key = _first(text)
            text = text[len(key) :]
            yield key


def _first(text: str) -> str:
    """`ESC [ … letter`, `ESC O letter`, or one character."""
    if text[:2] == "\x1bO":
        return text[:3]
    if text[:2] != "\x1b[":
        return text[0]
    end = next((at for at, char in enumerate(text[2:], 3) if "@" <= char <= "~"), len(text))
    return text[:end]


def _draw(descriptor: int, choice: Choice, drawn: int) -> int:
    """How many lines there are now."""
    size = os.get_terminal_size(descriptor)
    lines = choice.lines(size.columns or 80, size.lines or 24)
    _write(descriptor, _back(drawn) + "\r\n".join(lines))
    return len(lines)


def _erase(descriptor: int, drawn: int) -> None:
    _write(descriptor, _back(drawn))


def _back(drawn: int) -> str:
    """To the first line that we have drawn; everything below goes."""
    up = f"\x1b[{drawn - 1}A" if drawn > 1 else ""
    return f"\r{up}\x1b[J"


def _write(descriptor: int, text: str) -> None:
    rest = text.encode("utf-8", "replace")
    while rest:
        rest = rest[os.write(descriptor, rest) :]


@contextmanager
def _raw(descriptor: int) -> Iterator[None]:
    """Every key at once, and none shown; as it was before, however this ends."""
    import termios

    before = termios.tcgetattr(descriptor)
    raw = [*before]
    raw[3] &= ~(termios.ICANON | termios.ECHO | termios.ISIG | termios.IEXTEN)
    raw[0] &= ~(termios.ICRNL | termios.IXON)

    def restore() -> None:
        with suppress(termios.error):
            termios.tcsetattr(descriptor, termios.TCSADRAIN, before)

    termios.tcsetattr(descriptor, termios.TCSADRAIN, raw)
    try:
        with _ended_by_signals(restore):
            yield
    finally:
        restore()


@contextmanager
def _ended_by_signals(restore: Callable[[], None]) -> Iterator[None]:
    def leave(number: int, frame: object) -> None:
        restore()
        os._exit(128 + number)

    wanted = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, leave) for number in wanted}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _open() -> int:
    return os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
