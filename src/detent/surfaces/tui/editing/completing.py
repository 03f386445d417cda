"""What may be meant by the word at the cursor: a command, or a file behind an @."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence

from msgspec import Struct

from detent.surfaces.tables.widths import one_line
from detent.surfaces.tui.drawing.blocks import Look
from detent.surfaces.tui.editing.fuzzy import best, matches
from detent.surfaces.tui.screen.spans import clipped

MOST, SHOWN = 60, 8
"""Offers in all, and how many of them are seen at once."""
STALE = 5.0
"""Seconds after which the names of files are looked for again."""
_MENTION = re.compile(r'(?:^|(?<=\s))@("?)([^\s"]*)$')
_COMMAND = re.compile(r"^/([\w:.-]*)$")


class Offer(Struct, frozen=True):
    label: str
    about: str = ""
    insert: str = ""
    takes_more: bool = False
    """Something goes behind it, so that it is not sent at once."""


class Completion:
    def __init__(
        self,
        commands: Callable[[], Sequence[Offer]],
        names: Callable[[str], Awaitable[tuple[Sequence[str], bool]]],
        changed: Callable[[], None],
        now: Callable[[], float],
    ) -> None:
        self._commands, self._names, self._changed, self._now = commands, names, changed, now
        self.offers: tuple[Offer, ...] = ()
        self.at = 0
        self._length = 0
        """How many characters before the cursor an offer stands for."""
        self._files: Sequence[str] = ()
        self._listed_at = -1e9
        self._task: asyncio.Task[None] | None = None
        self._left: str | None = None
        """The text for which the person did not want any."""

    @property
    def is_open(self) -> bool:
        return bool(self.offers)

    def look(self, text: str, cursor: int) -> None:
        """After each change of what is typed."""
        before = text[:cursor]
        if before and before == self._left:
            return
        self._left = None
        self._cancel()
        if command := _COMMAND.match(before):
            self._offer(_fitting(command[1], self._commands()), len(before))
        elif mention := _MENTION.search(before):
            self._length = len(mention[0].lstrip())
            self._task = asyncio.ensure_future(self._find(mention[2]))
        else:
            self._offer((), 0)

    def press(self, key: str) -> bool:
        """Arrows move in an open list."""
        if not self.offers:
            return False
        step = -1 if key == "up" else 1
        self.at = (self.at + step) % len(self.offers)
        return True

    def take(self) -> tuple[int, Offer] | None:
        """The offer that is chosen, and how much of what is typed it replaces."""
        if not self.offers:
            return None
        taken = self._length, self.offers[self.at]
        self._offer((), 0)
        return taken

    def leave(self, text: str) -> None:
        """None are wanted until something else is typed."""
        self._left = text
        self._cancel()
        self._offer((), 0)

    def lines(self, look: Look, height: int) -> tuple[str, ...]:
        """As many as leave room for the text box on a screen of this height."""
        most = max(1, min(SHOWN, height - 5))
        first = max(0, min(self.at - most // 2, len(self.offers) - most))
        seen = self.offers[first : first + most]
        wide = max((len(offer.label) for offer in seen), default=0)
        found = []
        for number, offer in enumerate(seen, first):
            is_chosen = number == self.at
            label = look.theme.paint("accent" if is_chosen else "", f"{offer.label:<{wide}}")
            about = look.theme.paint("faint", f"  {one_line(offer.about)}" if offer.about else "")
            found.append(clipped(f"{'❯' if is_chosen else ' '} {label}{about}", look.width))
        if len(self.offers) > most:
            found.append(look.theme.paint("faint", f"  {self.at + 1} of {len(self.offers)}"))
        return tuple(found)

    async def _find(self, typed: str) -> None:
        if self._now() - self._listed_at > STALE:
            self._files, is_whole = await self._names(typed)
            self._listed_at = self._now() if is_whole else -1e9
            if not is_whole:  # somebody else has chosen them, and their order
                self._offer_files(self._files[:MOST])
                return
        for found in matches(typed, self._files, MOST):
            if found is None:
                await asyncio.sleep(0)  # a key that was pressed meanwhile comes first
            else:
                self._offer_files(found)

    def _offer_files(self, names: Sequence[str]) -> None:
        offers = tuple(Offer(one_line(f"@{name}"), "", _mention(name)) for name in names)
        self._offer(offers, self._length)
        self._changed()

    def _offer(self, offers: tuple[Offer, ...], length: int) -> None:
        self.offers, self._length, self.at = offers, length, 0

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None


def _mention(name: str) -> str:
    """A folder may go on; a name with blanks is quoted."""
    if any(char.isspace() for char in name):
        return f'@"{name}" '
    return f"@{name}" if name.endswith("/") else f"@{name} "


def _fitting(typed: str, commands: Sequence[Offer]) -> tuple[Offer, ...]:
    """Those that begin so first, then those that have the letters somewhere."""
    named = {offer.label[1:]: offer for offer in commands}
    if not typed:
        return tuple(named[name] for name in sorted(named))[:MOST]
    first = sorted(name for name in named if name.startswith(typed))
    others = [name for name in best(typed, sorted(named), MOST) if name not in first]
    return tuple(named[name] for name in (*first, *others))[:MOST]
