"""A session line by line, for a terminal that cannot move its cursor: nothing is painted over."""

import asyncio
import os
import signal
import sys
import time

from msgspec.structs import replace

from detent.sdk.options import Options
from detent.sdk.session import Session
from detent.surfaces.arguments import Arguments
from detent.surfaces.commands import run, said
from detent.surfaces.lines.asking import LineApprover
from detent.surfaces.lines.reading import Lines
from detent.surfaces.lines.telling import tell
from detent.surfaces.tui.blocks import Block, Output
from detent.surfaces.tui.drawing.blocks import Look, drawn
from detent.surfaces.tui.folding import fold
from detent.surfaces.tui.screen.terminal import INSTEAD, is_unicode
from detent.surfaces.tui.screen.themes import NONE
from detent.surfaces.tui.view import View
from detent.types.content import Text
from detent.types.errors import BadInput, ModelFailure
from detent.types.events import Event

WIDTH = 80
LEAVE = ("/exit", "/quit")


async def converse(options: Options, arguments: Arguments) -> int:
    """Until the end of input, /exit, or a second Ctrl+C. Raises BadInput and NoModel."""
    lines = Lines()
    approver = LineApprover(lines)
    async with Session(replace(options, approver=approver)) as session:
        _heed_interrupts(session)
        talk = _Talk(session)
        for notice in session.news():
            await talk.hear(notice)
        first = " ".join(arguments.words)
        while True:
            text = first.strip() or await _next(lines)
            first = ""
            if text is None or text in LEAVE:
                break
            if text:
                await talk.say(text)
        if session.entries and session.path:
            tell(f"go on with: detent --resume {session.id}")
    return 0


async def _next(lines: Lines) -> str | None:
    sys.stdout.write("> ")
    sys.stdout.flush()
    line = await lines.next()
    return None if line is None else line.decode(errors="replace").strip()


def _heed_interrupts(session: Session) -> None:
    """Ctrl+C ends the turn; where none runs, the program."""

    def interrupt() -> None:
        if not session.interrupt():
            os._exit(130)

    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, interrupt)


class _Talk:
    def __init__(self, session: Session) -> None:
        self._session = session
        self._view = View()
        self._look = Look(WIDTH, NONE, session.cwd)
        self._is_unicode = is_unicode(os.environ)

    async def say(self, text: str) -> None:
        try:
            if (one := said((Text(text),))) is not None:
                self._show(Output("", await run(one, self._session, self.hear)))
            elif text.startswith("!"):
                ran = await self._session.shell(text.lstrip("!"))
                self._show(Output("", f"{ran.output.rstrip()}\nexit code {ran.exit_code}"))
            else:
                blocks, notices = await self._session.with_mentions(text)
                for notice in notices:
                    tell(notice)
                async for event in self._session.send(blocks):
                    await self.hear(event)
        except (BadInput, ModelFailure) as error:
            tell(str(error))

    async def hear(self, event: Event) -> None:
        self._view, blocks = fold(self._view, event, time.time())
        self._show(*blocks)

    def _show(self, *blocks: Block) -> None:
        for line in (line for block in blocks for line in drawn(block, self._look)):
            sys.stdout.write((line if self._is_unicode else line.translate(INSTEAD)) + "\n")
        sys.stdout.flush()
