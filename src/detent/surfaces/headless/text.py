"""Plain text out: the answer.

On a terminal people want to see it as it comes, with what the model says before it calls a tool.
In a pipe that would spoil the result, and what is written cannot be taken back: there an answer is
written when it is whole, and only if no call follows.
"""

from msgspec import UNSET

from detent.surfaces.headless.activity import tell
from detent.surfaces.headless.stdout import Stdout
from detent.types.codec import encode
from detent.types.content import Call, plain_text
from detent.types.events import Discarded, Event, Replied, TextDelta, TurnEnded

UNSEEN = (
    range(0x09),
    range(0x0B, 0x20),
    range(0x7F, 0xA0),
    range(0xAD, 0xAE),
    range(0x61C, 0x61D),
    range(0x180E, 0x180F),
    range(0x200B, 0x2010),
    range(0x2028, 0x202F),
    range(0x2060, 0x2070),
    range(0xFEFF, 0xFF00),
    range(0xFFF9, 0xFFFC),
    range(0xE0000, 0xE1000),
)
"""What a terminal obeys instead of showing it (controls, escapes, directions of writing), and what
it cannot show at all (zero-width and tag characters)."""


class _Shown(dict[int, int | None]):
    """Filled as characters come: for `str.translate`, which leaves out what is None."""

    def __missing__(self, code: int) -> int | None:
        self[code] = None if any(code in part for part in UNSEEN) else code
        return self[code]


_SHOWN = _Shown()


def shown(text: str) -> str:
    """For a terminal. Character by character, so that nothing depends on where a text is split:
    without its first character no sequence is obeyed."""
    return text.translate(_SHOWN)


class ValueWriter:
    """Where the answer is data, it alone is the output: the next program reads it."""

    def __init__(self, stdout: Stdout) -> None:
        self._stdout = stdout

    async def show(self, event: Event) -> None:
        if isinstance(event, TurnEnded) and event.output is not UNSET:
            value = encode(event.output).decode()
            line = shown(value) if self._stdout.is_terminal else value
            await self._stdout.write(f"{line}\n".encode())


class TextWriter:
    def __init__(self, stdout: Stdout) -> None:
        self._stdout = stdout
        self._last = ""
        """The last character written, to end with exactly one newline."""

    async def show(self, event: Event) -> None:
        live = self._stdout.is_terminal
        match event:
            case TextDelta(text=text) if live:
                await self._write(text)
            case Discarded() if live and self._last not in ("", "\n"):
                await self._end_line()
                tell("the answer was cut on its way and starts again")
            case Replied(content=content):
                calls = any(isinstance(block, Call) for block in content)
                if calls:
                    await self._end_line()
                elif not live:
                    await self._write(plain_text(content))
            case TurnEnded():
                await self._end_line()
            case _:
                pass

    async def _write(self, text: str) -> None:
        if self._stdout.is_terminal:
            text = shown(text)
        if text:
            self._last = text[-1]
            await self._stdout.write(text.encode(errors="replace"))

    async def _end_line(self) -> None:
        if self._last not in ("", "\n"):
            await self._write("\n")
