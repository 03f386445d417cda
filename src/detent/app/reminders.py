"""What the program tells the model of itself: each part knows its own, here they are joined.

Loaded at every start, so it holds only what finds out whether there is any memory at all.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from detent.app.grounds import Grounds
from detent.context.conversation import Conversation
from detent.ports import Gate, Reminders
from detent.types.events import Reminded

if TYPE_CHECKING:
    from detent.app.memory.remembering import Remembering

Moment = Literal["prompt", "calls", "compacted"]

OFF = "CLAUDE_CODE_DISABLE_CLAUDE_MDS"
SIGNS = (
    "CLAUDE.md", "AGENTS.md", "CLAUDE.local.md", ".claude/CLAUDE.md", ".claude/rules",
    ".detent/DETENT.md", ".detent/rules",
)  # fmt: skip
"""One of these is there wherever a folder has memory of its own."""


class Composed:
    def __init__(self, *parts: Reminders) -> None:
        self._parts = parts

    async def due(self, moment: Moment) -> Sequence[Reminded]:
        found: list[Reminded] = []
        for part in self._parts:
            found += await part.due(moment)
        return found


class MemoryFiles:
    """Memory files as reminders. What reads them is loaded when the first is found."""

    def __init__(
        self, grounds: Grounds, conversation: Conversation, gate: Gate, tell: Callable[[str], None]
    ) -> None:
        self._parts = grounds, conversation, gate, tell
        self._remembering: Remembering | None = None
        self._goes_on = bool(conversation.entries)
        """An earlier run may have touched a folder that has memory."""

    async def due(self, moment: Moment) -> Sequence[Reminded]:
        if self._remembering is None and not self._may_have_any(moment):
            return ()
        return await self.remembering.due(moment)

    @property
    def remembering(self) -> "Remembering":
        if self._remembering is None:
            from detent.app.memory.remembering import Remembering

            self._remembering = Remembering(*self._parts)
        return self._remembering

    def _may_have_any(self, moment: Moment) -> bool:
        """A handful of looks at the disk. Calls may touch a folder that has some."""
        grounds = self._parts[0]
        if is_off(grounds):
            return False
        if moment == "calls" or self._goes_on or grounds.settings.managed_memory:
            return True
        return any(map(os.path.lexists, _signs(grounds)))


def off_by(grounds: Grounds) -> str:
    """What switches memory off; empty when nothing does."""
    switch = grounds.environ.get(OFF, "").strip().lower()
    if switch not in ("", "0", "false", "no", "off"):
        return f"{OFF}={switch}"
    return "" if grounds.settings.memory_files else '"memoryFiles": false'


def is_off(grounds: Grounds) -> bool:
    return bool(off_by(grounds))


def _signs(grounds: Grounds) -> Iterator[str]:
    """Without any of these there is no memory."""
    where = grounds.where
    yield from (f"{folder}/CLAUDE.md" for folder in where.managed)
    yield from (f"{where.claude}/CLAUDE.md", f"{where.claude}/rules")
    yield from (f"{where.home}/{name}" for name in ("DETENT.md", "AGENTS.md", "rules"))
    for folder in folders_down(highest(grounds) or where.root, where.cwd):
        yield from (f"{folder}/{name}" for name in SIGNS)


def highest(grounds: Grounds) -> str:
    """Where no repository bounds the search for memory: the home folder that the working folder
    lies below. Empty where it is bounded; and only trust makes it count."""
    where, own = grounds.where, os.path.realpath(grounds.own)
    if where.root != where.cwd or not where.cwd.startswith(f"{own.rstrip('/')}/"):
        return ""
    return "" if own == "/" or os.path.lexists(f"{where.cwd}/.git") else own


def folders_down(top: str, bottom: str) -> list[str]:
    """Both included; the lower one alone where it does not lie below the other."""
    if not bottom.startswith(f"{top.rstrip('/')}/"):
        return [bottom]
    found = [top]
    for name in bottom[len(top.rstrip("/")) + 1 :].split("/"):
        found.append(os.path.join(found[-1], name))
    return found
