"""The working folder: a `cd` in one command holds for the next."""

import os
import re
from contextlib import suppress

from detent.ports import Desk, Host

START = os.path.join(os.path.dirname(__file__), "bash_start.sh")
LONGEST = 65_536

_MOVING = re.compile(
    r"(?<![\w./-])(?:cd|pushd|popd|source|eval)(?![\w./-])"
    r"|(?:^|[;&|(){}\n])\s*\.\s"  # `. script`
)


def may_move(command: str) -> bool:
    """Cheap, and rather too often than too seldom. What it does not see moves nobody."""
    return _MOVING.search(command) is not None


class Footprint:
    """A private file in which a shell leaves where it stood at its end. Without such a file the
    command runs all the same, and nobody moves."""

    def __init__(self, host: Host, *, wanted: bool) -> None:
        self._host, self._wanted = host, wanted
        self._descriptor, self._path = -1, ""

    def __enter__(self) -> "Footprint":
        if self._wanted:
            from tempfile import mkstemp

            with suppress(OSError):
                folder = self._host.scratch or None
                self._descriptor, self._path = mkstemp(prefix="detent-", dir=folder)
        return self

    def __exit__(self, *exc: object) -> None:
        if self._path:
            os.close(self._descriptor)
            with suppress(OSError):
                os.unlink(self._path)

    @property
    def env(self) -> dict[str, str]:
        return {"BASH_ENV": START, "DETENT_FOLDER_TO": self._path} if self._path else {}

    def folder(self) -> str:
        """Empty when the shell left none: it was killed, became another program, or had other
        things to do at its end."""
        if not self._path:
            return ""
        return os.fsdecode(os.pread(self._descriptor, LONGEST, 0).removesuffix(b"\n"))


async def follow(folder: str, desk: Desk) -> str:
    """Later calls start there, if they may. What the model should know of it."""
    if not folder or folder == desk.cwd:
        return ""
    if _is_text(folder) and desk.shop.move(folder):
        return f"[Working folder: {folder}]"
    return f"[The working folder is {desk.cwd} again: {await _why_not(folder, desk)}]"


async def _why_not(folder: str, desk: Desk) -> str:
    if not _is_text(folder):
        return f"the name {folder!a} is not UTF-8 text."
    if await desk.host.facts(folder) is None:
        return f"{folder} is gone."
    return f"{folder} is outside the workspace."


def _is_text(folder: str) -> bool:
    try:
        folder.encode()
    except UnicodeEncodeError:
        return False
    return True


def way_back(desk: Desk, *, may_move: bool) -> str:
    """How to go on when the working folder is gone or closed.

    Only a command that was judged as one that moves may move: those beside one that is not were
    judged where we stand.
    """
    if not may_move:
        return "Send `cd ..` to go to the nearest folder that can be worked in."
    parent = os.path.dirname(desk.cwd)
    while not desk.shop.move(parent):
        if parent == os.path.dirname(parent):
            return "Nothing can be run until it is there again; Write can make it with a file."
        parent = os.path.dirname(parent)
    return f"The working folder is {parent} now; send the command again if it fits there."
