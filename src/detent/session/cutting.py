"""A session cut at an entry, so that what is left is whole: no call without a result, and no call
whose answer is missing. Pure."""

from collections.abc import Sequence

from msgspec.structs import replace

from detent.types.agents import ChildChanged
from detent.types.content import Call
from detent.types.effects import Effect, Reads, Writes
from detent.types.events import CallEnded, CallStarted, Entry, Replied
from detent.types.files import Change, Undone
from detent.types.outcomes import Cut

NOT_THERE = "the session was forked before this call had ended"


def after_step(entries: Sequence[Entry], step: int) -> int | None:
    """The last entry that belongs to it: the end of its last call. None: there is no such step."""
    replies = [entry for entry in entries if isinstance(entry, Replied)]
    if not 0 < step <= len(replies):
        return None
    reply = replies[step - 1]
    calls = _calls(reply)
    ended = [e.seq for e in entries if isinstance(e, CallEnded) and e.call_id in calls]
    return whole(entries, max([reply.seq, *ended]))


def whole(entries: Sequence[Entry], seq: int) -> int:
    """The same entry, or an earlier one where calls had begun before their answer was whole: that
    answer is not there, so nor are they."""
    later = {call for e in entries if isinstance(e, Replied) and e.seq > seq for call in _calls(e)}
    early = [
        e.seq for e in entries if isinstance(e, CallStarted) and e.seq <= seq and e.call_id in later
    ]
    return min(early) - 1 if early else seq


def results_lacking(entries: Sequence[Entry]) -> list[CallEnded]:
    """For calls that have none."""
    ended = {entry.call_id for entry in entries if isinstance(entry, CallEnded)}
    return [
        CallEnded(call_id=block.id, name=block.name, outcome=Cut(NOT_THERE))
        for entry in entries
        if isinstance(entry, Replied)
        for block in entry.content
        if isinstance(block, Call) and block.id not in ended
    ]


def moved(entry: Entry, old: str, new: str) -> Entry:
    """As if it had happened in another folder: what it says of files, so that it can be undone."""

    def there(path: str) -> str:
        if path == old or path.startswith(f"{old.rstrip('/')}/"):
            return new + path[len(old.rstrip("/")) :]
        return path

    def changes(found: Sequence[Change]) -> tuple[Change, ...]:
        return tuple(replace(change, path=there(change.path)) for change in found)

    match entry:
        case CallStarted(effects=effects, kept=kept):
            touched = tuple(_effect(effect, there(_path(effect))) for effect in effects)
            return replace(entry, effects=touched, kept={there(p): s for p, s in kept.items()})
        case CallEnded(changed=changed, seen=seen, cwd=cwd):
            seen = {there(path): digest for path, digest in seen.items()}
            return replace(entry, changed=changes(changed), seen=seen, cwd=there(cwd))
        case ChildChanged(changed=changed):
            return replace(entry, changed=changes(changed))
        case Undone(changes=changed, left=left):
            return replace(entry, changes=changes(changed), left=tuple(map(there, left)))
        case _:
            return entry


def _path(effect: Effect) -> str:
    return effect.path if isinstance(effect, Reads | Writes) else ""


def _effect(effect: Effect, path: str) -> Effect:
    return replace(effect, path=path) if isinstance(effect, Reads | Writes) else effect


def _calls(reply: Replied) -> set[str]:
    return {block.id for block in reply.content if isinstance(block, Call)}
