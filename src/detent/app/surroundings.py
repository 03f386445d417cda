"""What a session runs in: told once in its prompt, and what changes of it as reminders."""

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from detent.context.prompt.facts import Surroundings
from detent.types.events import Reminded

if TYPE_CHECKING:
    from detent.app.git_state import Git
    from detent.context.conversation import Conversation

Moment = Literal["prompt", "calls", "compacted"]

SOURCE = "surroundings"
NO_GIT = "CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS"
OS_RELEASE = ("/etc/os-release", "/usr/lib/os-release")
MAC_VERSION = "/System/Library/CoreServices/SystemVersion.plist"


def look_around(
    cwd: str, opened: float, environ: Mapping[str, str], folders: Sequence[str] = ()
) -> Surroundings:
    """`opened` is when the session was: a day later its prompt is still the same."""
    return Surroundings(cwd, _platform(), day(opened), _shell(environ), tuple(folders))


def day(moment: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(moment))


def repository_root(folder: str) -> str | None:
    while True:
        if os.path.exists(os.path.join(folder, ".git")):
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


class Lookout:
    """The date and what git says, when the model does not know it yet."""

    def __init__(
        self,
        conversation: "Conversation",
        cwd: Callable[[], str],
        now: Callable[[], float],
        date: str,
        environ: Mapping[str, str],
        *,
        tells_git: bool = True,
        git: "Git | None" = None,
    ) -> None:
        """`date` is the one in the prompt; `git` may have begun already."""
        self._conversation = conversation
        self._cwd = cwd
        self._now = now
        self._date = date
        self._environ = environ
        self._tells_git = tells_git
        self._git = git

    async def due(self, moment: Moment) -> Sequence[Reminded]:
        if moment == "calls":
            return ()
        found = self._of_date()
        if self._tells_git:
            found += await self._of_git()
        return found

    def _of_date(self) -> list[Reminded]:
        today, told = day(self._now()), self._conversation.told.get((SOURCE, "date"))
        text = f"<surroundings>\nThe date is now {today}.\n</surroundings>"
        if text == told or (told is None and today == self._date):
            return []
        return [_reminder("date", text)]

    async def _of_git(self) -> list[Reminded]:
        """Without a repository nothing is loaded and nothing run."""
        cwd = self._cwd()
        if (root := repository_root(cwd)) is None and not self._environ.get("GIT_DIR"):
            return []
        from detent.app.git_state import Git
        from detent.context.repository import due_texts

        self._git = self._git or Git(self._environ)
        repository = await self._git.look(root, cwd)
        told = {path: text for (source, path), text in self._conversation.told.items()
                if source == SOURCE}  # fmt: skip
        return [_reminder(path, text) for path, text in due_texts(repository, told)]


def git_ahead(cwd: str, environ: Mapping[str, str]) -> "Git | None":
    """Git at work already; None without a repository."""
    if (root := repository_root(cwd)) is None:
        return None
    from detent.app.git_state import Git

    git = Git(environ)
    git.begin(root)
    return git


def wants_git(environ: Mapping[str, str], setting: bool) -> bool:
    """The variable beats the setting."""
    switch = environ.get(NO_GIT, "").strip().lower()
    return setting if not switch else switch in ("0", "false", "no", "off")


def _reminder(path: str, text: str) -> Reminded:
    return Reminded(text=text, source=SOURCE, path=path, leads=True)


def _shell(environ: Mapping[str, str]) -> str:
    """Commands run in bash, whatever the user's own is."""
    own = os.path.basename(environ.get("SHELL", ""))
    return "bash" if own in ("", "bash") else f"bash for commands; the user's own is {own[:40]}"


def _platform() -> str:
    """The system and its version. Read, not run: this is part of every start."""
    if sys.platform == "win32":
        version = sys.getwindowsversion()
        return f"Windows {version.major}.{version.minor}.{version.build}"
    system = os.uname()
    if sys.platform == "darwin":
        version_text = _between(_text(MAC_VERSION), "<key>ProductVersion</key>", "</string>")
        return f"macOS {version_text.rpartition('>')[2].strip() or system.release}"
    for path in OS_RELEASE:
        if pretty := _between(f"\n{_text(path)}", "\nPRETTY_NAME=", "\n").strip("\"'"):
            return f"{system.sysname}, {pretty}"
    return f"{system.sysname} {system.release}"


def _between(text: str, before: str, after: str) -> str:
    return text.partition(before)[2].partition(after)[0]


def _text(path: str) -> str:
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return ""
    try:
        return os.read(file, 4_096).decode(errors="replace")
    finally:
        os.close(file)
