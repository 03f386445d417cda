"""Replaying a session: from its log file to a report."""

from collections.abc import Sequence

from msgspec.structs import replace

from detent.app.replay.given import inputs_in
from detent.app.replay.playing import Player
from detent.app.replay.report import Report
from detent.app.replay.tape import Show
from detent.session.reading import read_log
from detent.types.codec import encode
from detent.types.errors import BadInput
from detent.types.events import Entry, Opened, Prompted
from detent.types.running import Equipped

MOST_TRIES = 30


def replay(path: str, show: Show | None = None) -> Report:
    """Runs no tool, asks no model, writes nothing. `show` gets what happens, as a reader of the
    session got it. Raises BadInput where there is no log to read."""
    try:
        reading = read_log(path)
    except OSError as error:
        raise BadInput(f"the session cannot be read: {error.strerror} ({path})") from None
    entries = reading.entries
    opened = next((entry for entry in entries if isinstance(entry, Opened)), None)
    if opened is None:
        raise BadInput(f"no session can be read from {path}")
    whole = _without_hole(entries[: reading.understood], opened.forked_at)
    reasons: list[str] = []
    if reading.damaged:
        reasons.append(
            "1 damaged line" if reading.damaged == 1 else f"{reading.damaged} damaged lines"
        )
    if reading.strange:
        reasons.append(f"a later version has written {reading.strange}")
    report = replayed(whole, show)
    unread = reading.damaged - reading.torn + bool(reading.strange)  # torn: it never was written
    if report.unchecked:
        reasons.append(_why(whole))
    return replace(
        report,
        entries=len(entries),
        unchecked=report.unchecked + len(entries) - len(whole) + unread,
        why_unchecked=tuple(reasons),
        session=opened.session,
        version=opened.version,
    )


def replayed(entries: Sequence[Entry], show: Show | None = None) -> Report:
    """Where something came from outside in the middle of a turn, the log does not tell how early:
    late is tried first, then early, for the last of such turns before the difference."""
    player = _played(entries, frozenset())
    tried: set[int] = set()
    while player.difference is not None and len(tried) < MOST_TRIES:
        left = [place for place in player.unclear if place not in tried]
        if not left:
            break
        tried.add(left[-1])
        other = _played(entries, player.early | {left[-1]})
        if other.difference is None or other.tape.place > player.tape.place:
            player = other
    if show is not None:
        for event in player.shown:
            show(event)
    tape = player.tape
    return Report(
        session="",
        version="",
        entries=len(entries),
        made=tape.made,
        given=tape.given - player.unchecked,
        bytes=sum(len(encode(entry)) for entry in player.made),
        inputs=sum(map(inputs_in, player.made)),
        unchecked=player.unchecked,
        turns=player.turns,
        difference=player.difference,
    )


def _why(entries: Sequence[Entry]) -> str:
    """Why turns were not replayed."""
    first = next((entry for entry in entries if isinstance(entry, Equipped | Prompted)), None)
    if isinstance(first, Equipped):
        return "others spend from the same account"
    return "turns were recorded without what a replay goes by"


def _without_hole(entries: Sequence[Entry], forked_at: int) -> Sequence[Entry]:
    """Up to the first number that is missing. A fork has not all that its parent had."""
    for place in range(1, len(entries)):
        seq, before = entries[place].seq, entries[place - 1].seq
        if seq != before + 1 and before >= forked_at:
            return entries[:place]
    return entries


def _played(entries: Sequence[Entry], early: frozenset[int]) -> Player:
    player = Player(entries, early)
    player.play()
    return player
