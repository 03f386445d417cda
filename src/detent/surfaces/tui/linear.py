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
from detent.surfaces.commands import Said, known, run, said
from detent.surfaces.commands.custom import prepared
from detent.surfaces.lines.asking import LineApprover
from detent.surfaces.lines.reading import Lines
from detent.surfaces.lines.telling import tell
from detent.surfaces.tui import header
from detent.surfaces.tui.blocks import Block, Output
from detent.surfaces.tui.blocks import Said as Said_
from detent.surfaces.tui.drawing.blocks import Look, drawn
from detent.surfaces.tui.folding import fold
from detent.surfaces.tui.screen.terminal import INSTEAD, is_unicode
from detent.surfaces.tui.screen.themes import NONE
from detent.surfaces.tui.view import View
from detent.surfaces.wording.ran import as_note
from detent.types.content import Text, UserBlock
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
        model = header.model_of(session)
        sys.stdout.write(f"{header.title()}  {model}\n{session.cwd}\n/help, /exit\n")
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
        self._notes: list[UserBlock] = []
        """What goes with the next prompt."""

    async def say(self, text: str) -> None:
        try:
            if text.startswith("!"):
                await self._shell(text)
            elif self._is_built_in(one := said((Text(text),))):
                assert one is not None
                self._show(Output("", await run(one, self._session, self.hear)))
            else:
                await self._turn(text)
        except (BadInput, ModelFailure) as error:
            tell(str(error))

    def _is_built_in(self, one: Said | None) -> bool:
        """A slip of the pen may be the name of a command that the person has written."""
        if one is None or one.command.name in known():
            return one is not None
        return all(one.command.name != each.name for each in self._session.custom_commands)

    async def _turn(self, text: str) -> None:
        found = await prepared(self._session, (Text(text),), self.hear)
        notes, self._notes = self._notes, []
        async for event in self._session.send((*notes, *found.content), wishes=found.wishes):
            await self.hear(event)

    async def _shell(self, text: str) -> None:
        command = text.lstrip("!").strip()
        ran = await self._session.shell(command)
        self._show(Output("", f"{ran.output.rstrip()}\nexit code {ran.exit_code}"))
        if not text.startswith("!!"):
            self._notes.append(as_note(ran))

    async def hear(self, event: Event) -> None:
        """What the person has just typed need not be said again."""
        self._view, blocks = fold(self._view, event, time.time())
        self._show(*(block for block in blocks if not isinstance(block, Said_)))

    def _show(self, *blocks: Block) -> None:
        for line in (line for block in blocks for line in drawn(block, self._look)):
            sys.stdout.write((line if self._is_unicode else line.translate(INSTEAD)) + "\n")
        sys.stdout.flush()
