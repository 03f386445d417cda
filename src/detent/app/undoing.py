"""`detent uncompact`: a session reads again as it was, because nothing was deleted."""

from msgspec import Struct
from msgspec.structs import replace

from detent.app.grounds import grounds_of
from detent.app.journal import open_journal
from detent.app.models import facts_of
from detent.app.options import Options
from detent.context.compact.undoing import undoable
from detent.context.conversation import Conversation
from detent.types.events import Entry, Replied, Restored


class Uncompacted(Struct, frozen=True):
    session: str
    undone: tuple[int, ...]
    """The entries that do not count any more."""
    messages: int
    """How many there are now."""
    came_back: int
    tokens: int
    """What they take, as far as it is known."""
    model: str
    window: int
    """0 when nothing is known of it."""

    @property
    def fits(self) -> bool:
        return not self.window or self.tokens < self.window


def uncompact(options: Options, session: str = "", *, last: bool = False) -> Uncompacted:
    """Of a stored session that nobody has open, the newest of the folder by default. Raises
    BadInput when there is none, or another process writes it."""
    grounds = grounds_of(options)
    wanted = replace(options, resume=session, continue_newest=not session, fork=False, persist=True)
    journal = open_journal(wanted, grounds.cwd, grounds.home, grounds.clock.now)
    try:
        before = list(journal.log.entries)
        undone = undoable(before, last=last)
        if undone:
            journal.log.append(Restored(entries=undone))
        after = list(journal.log.entries)
    finally:
        journal.close()
    model = next((e.model for e in reversed(after) if isinstance(e, Replied)), "")
    window = facts_of(grounds.settings)(model).window if model else 0
    return report(journal.session, undone, before, after, model, window)


def report(
    session: str,
    undone: tuple[int, ...],
    before: list[Entry],
    after: list[Entry],
    model: str,
    window: int,
) -> Uncompacted:
    now = Conversation(after)
    messages = len(now.messages())
    came_back = messages - len(Conversation(before).messages())
    return Uncompacted(session, undone, messages, came_back, now.tokens(), model, window)
