"""`detent uncompact`: a session reads again as it was, because nothing was deleted."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from detent.app.grounds import Grounds, grounds_of
from detent.app.journal import InUse, Journal, open_journal
from detent.app.models import facts_of
from detent.app.options import Options
from detent.app.shaping import shaping_of
from detent.context.compact.undoing import undoable
from detent.context.conversation import Conversation
from detent.context.pressure import window_of
from detent.context.project import effective, project
from detent.types.errors import BadInput
from detent.types.events import Entry, Replied, Restored


class Uncompacted(Struct, frozen=True):
    session: str
    undone: tuple[int, ...]
    """The entries that do not count any more."""
    messages: int
    """How many there are now."""
    came_back: int
    whole_again: int
    """Results and answers that were shortened, and are not any more."""
    tokens: int
    """What the conversation takes, as far as it is known."""
    model: str
    window: int
    """The one that counts; 0 when nothing is known of it."""
    fits: bool


def uncompact(options: Options, session: str = "", *, last: bool = False) -> Uncompacted:
    """Of a stored session that nobody has open, the newest of the folder by default. Raises
    BadInput when there is none, another process writes it, or it cannot be written."""
    grounds = grounds_of(options)
    wanted = replace(options, resume=session, continue_newest=not session, fork=False, persist=True)
    journal = _opened(wanted, grounds)
    try:
        before = list(journal.log.entries)
        undone = undoable(before, last=last)
        if undone:
            journal.log.append(Restored(entries=undone))
        if journal.log.trouble:
            raise BadInput(f"nothing was undone: {journal.log.trouble}")
        now = Conversation(journal.log.entries)
    finally:
        journal.close()
    model = next((e.model for e in reversed(before) if isinstance(e, Replied)), "")
    known = facts_of(grounds.settings)(model).window if model else 0
    shaping = shaping_of(options, grounds.settings, grounds.environ)
    window = window_of(shaping, known, now.window)
    return report(journal.session, undone, before, now, model, window)


def report(
    session: str,
    undone: tuple[int, ...],
    before: Sequence[Entry],
    now: Conversation,
    model: str,
    window: int,
) -> Uncompacted:
    messages, tokens = len(now.messages()), now.tokens()
    read = {entry.seq: entry for entry in effective(before)} if undone else {}
    after = effective(now.entries) if undone else []
    return Uncompacted(
        session=session,
        undone=undone,
        messages=messages,
        came_back=max(0, messages - len(project(before))),
        whole_again=sum(entry.seq in read and read[entry.seq] != entry for entry in after),
        tokens=tokens,
        model=model,
        window=window,
        fits=not window or tokens < window,
    )


def _opened(options: Options, grounds: Grounds) -> Journal:
    try:
        return open_journal(options, grounds.cwd, grounds.home, grounds.clock.now)
    except InUse:
        which = options.resume or "the newest session here"
        raise BadInput(f"{which} is in use by another process: end that first") from None
