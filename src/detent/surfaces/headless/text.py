"""Plain text out: the answer.

On a terminal people want to see it as it comes, with what the model says before it calls a tool.
In a pipe that would spoil the result, and what is written cannot be taken back: there an answer is
written when it is whole, and only if no call follows.
"""

from msgspec import UNSET

from detent.surfaces.headless.stdout import Stdout
from detent.surfaces.lines.telling import tell
from detent.types.codec import encode
from detent.types.content import Call, plain_text
from detent.types.events import (
    CallStarted,
    Discarded,
    Event,
    Prompted,
    Reminded,
    Replied,
    TextDelta,
    TurnEnded,
)

GOES_ON = ("max_tokens", "model_context_window_exceeded", "pause_turn")
"""Where an answer stops so, the next message may be the rest of it, in the middle of a line."""


class ValueWriter:
    """Where the answer is data, it alone is the output: the next program reads it."""

    def __init__(self, stdout: Stdout) -> None:
        self._stdout = stdout

    async def show(self, event: Event) -> None:
        if isinstance(event, TurnEnded) and event.output is not UNSET:
            value = encode(event.output).decode()
            await self._stdout.write(f"{_fit_for(self._stdout, value)}\n".encode())


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
            case Replied(content=content, stop=stop):
                calls = any(isinstance(block, Call) for block in content)
                if not live and not calls:
                    await self._write(plain_text(content))
                if calls or stop not in GOES_ON:
                    await self._end_line()
            case CallStarted() if live:  # what is told of it has lines of its own
                await self._end_line()
            case TurnEnded() | Prompted() | Reminded(source="stop hook" | "background"):
                # What comes now is another answer.
                await self._end_line()
            case _:
                pass

    async def _write(self, text: str) -> None:
        if text := _fit_for(self._stdout, text):
            self._last = text[-1]
            await self._stdout.write(text.encode(errors="replace"))

    async def _end_line(self) -> None:
        if self._last not in ("", "\n"):
            await self._write("\n")


def _fit_for(stdout: Stdout, text: str) -> str:
    """A terminal obeys what a program would only read."""
    if not stdout.is_terminal:
        return text
    from detent.surfaces.wording.shown import shown

    return shown(text)
