"""What a replay takes as it was recorded: entries and parts of them that no loop makes."""

from msgspec.structs import replace

from detent.types.agents import AgentEnded, AgentStarted, ChildChanged, GroupEnded, TaskChanged
from detent.types.codec import encode
from detent.types.events import (
    Budgeted,
    CallEnded,
    CallStarted,
    Classified,
    Compacted,
    Entry,
    Estimated,
    HooksRan,
    Lost,
    Opened,
    Prompted,
    Reminded,
    Replied,
    Restored,
    Switched,
    TurnEnded,
)
from detent.types.files import Undone
from detent.types.running import Equipped, Named, Unanswered

OF_OTHERS = (
    Opened, Equipped, Named, Undone, Restored, Budgeted, Classified,
    AgentStarted, AgentEnded, GroupEnded, ChildChanged, TaskChanged,
)  # fmt: skip
"""The program around the loop, the gate, a person, or those who work for it write these."""


INPUTS: dict[type, tuple[str, ...]] = {
    Prompted: ("content", "uuid"),
    Reminded: ("text", "path", "why"),
    Replied: ("content", "stop", "usage", "model", "message_id", "provider", "ms", "sent"),
    Unanswered: ("kind", "error", "status", "usage", "window", "tokens"),
    CallStarted: ("effects", "verdict", "kept"),
    CallEnded: ("outcome", "ms", "seen", "cwd", "changed", "stop"),
    Compacted: ("written", "usage", "model", "ms"),
    HooksRan: ("hooks", "said", "ms", "denied"),
    Lost: ("model", "usage"),
    TurnEnded: ("ms", "delegated"),
}
"""What the stand-ins take from an entry, and the loop only writes down again."""


def inputs_in(entry: Entry) -> int:
    """Bytes of it, with its number and its time."""
    taken = (getattr(entry, name) for name in ("seq", "at", *INPUTS.get(type(entry), ())))
    return sum(len(encode(value)) for value in taken)


def is_given(entry: Entry) -> bool:
    """Also in the middle of a turn."""
    match entry:
        case Lost(what="classifier" | "aside") | Estimated(what="classifier" | "aside"):
            return True
        case Switched(reason=reason):
            return not reason  # with one it is a model that gave way to its fallback
        case _:
            return isinstance(entry, OF_OTHERS)


def as_recorded(made: Entry, recorded: Entry) -> Entry:
    """With the number and the time of the record, and with what only the moment could tell."""
    match made, recorded:
        case TurnEnded(), TurnEnded(delegated=delegated, error=told):
            made = replace(made, delegated=delegated)  # what others have spent
            if made.limit == "seconds" and _told(made.error) == _told(told):  # how late it was
                made = replace(made, error=told, needed=recorded.needed)
        case Estimated(usage=usage), Estimated(usage=told):
            made = replace(made, usage=replace(usage, output=told.output))  # of what nobody kept
        case Prompted(), Prompted(uuid=uuid):
            made = replace(made, uuid=uuid)
        case _:
            pass
    return replace(made, seq=recorded.seq, at=recorded.at)


def _told(text: str) -> str:
    """Without its numbers."""
    return "".join(char for char in text if not char.isdigit() and char not in ",.")
