"""Plain text out: the answer, as it comes.

What a model says before it calls a tool is not the answer. On a terminal people want to see it
all the same; in a pipe it would spoil the result, so there the text of a step is held back for a
moment, and dropped if a call follows.
"""

import asyncio

from msgspec import UNSET

from detent.surfaces.headless.activity import tell
from detent.surfaces.headless.stdout import Stdout
from detent.types.codec import encode
from detent.types.events import CallDelta, Discarded, Event, Replied, TextDelta, TurnEnded

HOLD_SECONDS = 1.0
HOLD_CHARACTERS = 400


class ValueWriter:
    """Where the answer is data, it alone is the output: the next program reads it."""

    def __init__(self, stdout: Stdout) -> None:
        self._stdout = stdout

    async def show(self, event: Event) -> None:
        if isinstance(event, TurnEnded) and event.output is not UNSET:
            await self._stdout.write(encode(event.output) + b"\n")


class TextWriter:
    def __init__(self, stdout: Stdout) -> None:
        self._stdout = stdout
        self._held: list[str] = []
        self._since = 0.0
        self._flowing = stdout.is_terminal
        self._has_calls = False
        self._wrote = ""
        """The last character written, to end with exactly one newline."""

    async def show(self, event: Event) -> None:
        match event:
            case TextDelta(text=text):
                await self._text(text)
            case CallDelta():
                self._has_calls = True
            case Discarded():
                await self._discarded()
            case Replied():
                await self._step_ended()
            case TurnEnded():
                if self._wrote and self._wrote != "\n":
                    await self._stdout.write(b"\n")
            case _:
                pass

    async def _text(self, text: str) -> None:
        if self._has_calls and not self._stdout.is_terminal:
            return
        if not self._held:
            self._since = asyncio.get_running_loop().time()
        self._held.append(text)
        if self._flowing or self._is_long_enough():
            self._flowing = True
            await self._release()

    def _is_long_enough(self) -> bool:
        waited = asyncio.get_running_loop().time() - self._since
        return waited >= HOLD_SECONDS or sum(map(len, self._held)) >= HOLD_CHARACTERS

    async def _release(self) -> None:
        text = "".join(self._held)
        self._held = []
        if text:
            self._wrote = text[-1]
            await self._stdout.write(text.encode(errors="replace"))

    async def _discarded(self) -> None:
        """What is printed cannot be taken back; but people can be told."""
        self._held = []
        self._has_calls = False
        if self._flowing and self._wrote not in ("", "\n"):
            self._wrote = "\n"
            await self._stdout.write(b"\n")
            tell("the answer was cut on its way and starts again")

    async def _step_ended(self) -> None:
        if self._has_calls and not self._flowing:
            self._held = []
        await self._release()
        if self._has_calls and self._wrote not in ("", "\n"):
            self._wrote = "\n"
            await self._stdout.write(b"\n")
        self._flowing = self._stdout.is_terminal
        self._has_calls = False
