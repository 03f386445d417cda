"""While the terminal is somebody else's: an editor's, the shell's, or a full screen of our own."""

import asyncio
import os
import signal
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from detent.surfaces.tui.blocks import Told
from detent.surfaces.tui.editing.keyboard_terms import Taker
from detent.surfaces.tui.folding import fold_all
from detent.surfaces.tui.saying import LARGEST_PICTURE
from detent.surfaces.tui.screen.terminal import FULL_OFF, FULL_ON
from detent.surfaces.tui.seat import Seat
from detent.surfaces.tui.transcript import Transcript

EDITORS = ("VISUAL", "EDITOR")
CLIPBOARDS = (
    ("wl-paste", "--type", "image/png"),
    ("xclip", "-selection", "clipboard", "-t", "image/png", "-o"),
    ("pngpaste", "-"),
)
PNG = b"\x89PNG"


@asynccontextmanager
async def lent(seat: Seat) -> AsyncIterator[None]:
    """The terminal as it was before us; ours again afterwards, with everything painted anew."""
    stage = seat.stage
    stage.painter.erase()
    stage.is_away = True  # before anything waits: no frame may come between
    async with seat.keyboard.set_aside():
        seat.terminal.leave()
        try:
            yield
        finally:
            seat.terminal.enter()
            stage.is_away = False
            stage.painter.forget()
    stage.paint()


async def suspend(seat: Seat) -> None:
    async with lent(seat):
        os.kill(os.getpid(), signal.SIGTSTP)


async def editor(seat: Seat) -> None:
    """What is typed, in the editor of the person; what it leaves is what is typed."""
    named = next(filter(None, map(os.environ.get, EDITORS)), "vi")
    with tempfile.TemporaryDirectory(prefix="detent-") as folder:
        path = os.path.join(folder, "prompt.md")
        _write(path, seat.pasted.unfolded(seat.keyboard.text))
        async with lent(seat):
            code = await _edited(named, path)
        if code:
            name = os.path.basename(named)
            seat.stage.show(Told(f"{name} ended with exit code {code}: nothing was taken over."))
            return
        seat.keyboard.put(_read(path))


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _keep(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read().rstrip("\n")


async def _edited(named: str, path: str) -> int:
    """As the person's shell would start it: it may have arguments."""
    import shlex

    try:
        process = await asyncio.create_subprocess_exec(*shlex.split(named), path)
    except (OSError, ValueError):
        return 127
    return await process.wait()


async def picture(seat: Seat) -> None:
    """The picture in the clipboard, as a file that goes with the prompt."""
    data = await _from_clipboard()
    if data is None:
        seat.hint = "no picture in the clipboard (wl-paste, xclip or pngpaste fetch one)"
        seat.stage.touch()
        return
    path = os.path.join(seat.scratch(), f"picture-{len(os.listdir(seat.scratch()))}.png")
    _keep(path, data)
    seat.keyboard.insert(seat.pasted.add_picture(path))
    seat.stage.paint()


async def _from_clipboard() -> bytes | None:
    for argv in CLIPBOARDS:
        with suppress(OSError, TimeoutError):
            process = await asyncio.create_subprocess_exec(
                *argv, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
            )  # fmt: skip
            try:
                data, _ = await asyncio.wait_for(process.communicate(), 3)
            except TimeoutError:
                process.kill()
                raise
            if data.startswith(PNG) and len(data) <= LARGEST_PICTURE:
                return data
    return None


async def transcript(seat: Seat) -> None:
    """Everything that was said and done, on a screen of its own: the scrollback stays as it is. A
    question that comes meanwhile closes it."""
    stage, session = seat.stage, seat.session
    if session is None or stage.dialog is not None:
        return
    _, blocks = await asyncio.to_thread(fold_all, tuple(session.entries))
    screen, write = Transcript(blocks, stage.look, seat.terminal.size), seat.terminal.write
    stage.questions.lend(Taker(lambda key: screen.press(key, write)), screen.close)
    stage.is_away, stage.while_away = True, lambda: screen.paint(write)
    write(FULL_ON)
    screen.paint(write)
    try:
        await screen.over
    finally:
        write(FULL_OFF)
        stage.is_away, stage.while_away = False, lambda: None
        stage.questions.take_back()
        stage.paint()
