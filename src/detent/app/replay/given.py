"""What a replay takes as it was recorded: entries and parts of them that no loop makes."""

from msgspec.structs import replace

from detent.types.events import (
    Budgeted,
    Classified,
    Entry,
    Estimated,
    Lost,
    Opened,
    Prompted,
    Restored,
    Switched,
    TurnEnded,
)
from detent.types.files import Undone
from detent.types.running import Equipped, Named

OF_OTHERS = (Opened, Equipped, Named, Undone, Restored, Budgeted, Classified)
"""The program around the loop, the gate or a person writes these."""


def is_given(entry: Entry) -> bool:
    """Also in the middle of a turn."""
    match entry:
        case Lost(what="classifier") | Estimated(what="classifier"):
            return True
        case Switched(reason=reason):
            return not reason  # with one it is a model that gave way to its fallback
        case _:
            return isinstance(entry, OF_OTHERS)


def as_recorded(made: Entry, recorded: Entry) -> Entry:
    """With the number and the time of the record, and with what only the moment could tell."""
    match made, recorded:
        case TurnEnded(), TurnEnded(delegated=delegated):
            made = replace(made, delegated=delegated)  # what others have spent
            if made.limit == recorded.limit == "seconds":  # how late it was
                made = replace(made, error=recorded.error, needed=recorded.needed)
        case Estimated(usage=usage), Estimated(usage=told):
            made = replace(made, usage=replace(usage, output=told.output))  # of what nobody kept
        case Prompted(), Prompted(uuid=uuid):
            made = replace(made, uuid=uuid)
        case _:
            pass
    return replace(made, seq=recorded.seq, at=recorded.at)
