"""Going on from an earlier message of a session: what comes after it no longer counts."""

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec.structs import replace

from detent.app.desk import DeskMaker
from detent.context.project import not_rewound
from detent.session.cutting import after_step, whole
from detent.types.content import Call
from detent.types.errors import BadInput
from detent.types.events import CallEnded, CallStarted, Entry, Opened, Prompted, Replied, Rewound
from detent.types.uuids import seq_in, uuid_of

if TYPE_CHECKING:
    from detent.app.engine import Engine
    from detent.app.options import Options

REJECTED = "Resume rejected by --resume-drops-turn:"


def check(options: "Options", path: str) -> None:
    """Before anything is opened or copied. Raises BadInput; what is wrong with the log itself is
    told by who opens it."""
    from detent.session.reading import read_log

    with suppress(OSError):
        cut_point(read_log(path).entries, options.resume_at, options.drops_turn)


async def truncate(engine: "Engine") -> None:
    options, entries = engine.grounds.options, engine.journal.log.entries
    to = cut_point(entries, options.resume_at, options.drops_turn)
    if to < entries[-1].seq:
        await engine.recorder.emit(Rewound(to=to, asked=True))
        catch_up(engine)


def catch_up(engine: "Engine") -> None:
    """What a session knows beside its log goes by what its model can read now."""
    engine.shop.go_back()
    desk = engine.kit.desk
    if isinstance(desk, DeskMaker):
        engine.kit = replace(engine.kit, desk=desk.remade(engine.journal.log.entries))


def cut_point(entries: Sequence[Entry], at: str, drops: str | None) -> int:
    """The last entry that counts. With `drops`, nothing but that turn may be lost: some program has
    shown it to somebody, and anything else would be gone unseen. Raises BadInput."""
    still = not_rewound(entries)
    seq = _found(still, at)
    if seq is None:
        raise BadInput(f"--resume-session-at: there is no message {at!r} in this session")
    to = _whole_step(still, seq)
    if drops is not None:
        _check(still, to, drops)
    return to


def _found(entries: Sequence[Entry], uuid: str) -> int | None:
    opened = [entry for entry in entries if isinstance(entry, Opened)]
    names = [name for one in opened for name in (one.session, one.parent) if name]
    wanted = {seq for name in names if (seq := seq_in(uuid, name))}
    for entry in entries:
        is_named = isinstance(entry, Prompted) and entry.uuid == uuid
        if is_named or entry.seq in wanted:
            return entry.seq
    return None


def _whole_step(entries: Sequence[Entry], seq: int) -> int:
    """With all results of an answer, where one of them or the answer was meant."""
    entry = next(entry for entry in entries if entry.seq == seq)
    replies = [one for one in entries if isinstance(one, Replied)]
    call_id = entry.call_id if isinstance(entry, CallStarted | CallEnded) else ""
    for number, reply in enumerate(replies, 1):
        calls = {block.id for block in reply.content if isinstance(block, Call)}
        if reply.seq == seq or call_id in calls:
            return after_step(entries, number) or seq
    return whole(entries, seq)


def _check(entries: Sequence[Entry], to: int, drops: str) -> None:
    session = next(entry.session for entry in entries if isinstance(entry, Opened))
    owner: Prompted | None = None
    dropped: dict[int, Prompted | None] = {}
    for entry in entries:
        if isinstance(entry, Prompted) and not entry.steered:
            owner = entry
        if entry.seq > to and isinstance(entry, Prompted | Replied | CallStarted | CallEnded):
            dropped[owner.seq if owner is not None else 0] = owner
    named = [one for one in dropped.values() if one is not None and _is(one, session, drops)]
    if not dropped:
        raise BadInput(f"{REJECTED} nothing comes after that message")
    if not named:
        raise BadInput(f"{REJECTED} {drops!r} is no turn that comes after that message")
    if len(dropped) > 1:
        raise BadInput(f"{REJECTED} {len(dropped) - 1} more would be lost")


def _is(prompt: Prompted, session: str, uuid: str) -> bool:
    return uuid in (prompt.uuid or None, uuid_of(session, prompt.seq))
