"""Why a provider's cache held less than the last request had left in it: the first block that
differs since then, or that none does.
"""

from collections.abc import Sequence
from math import inf
from typing import Any

from msgspec import Struct

from detent.types.events import (
    Compacted,
    Entry,
    Replied,
    Restored,
    Rewound,
    Switched,
    Trimmed,
    Withheld,
)
from detent.types.messages import Message, Reply, Request, ToolSpec
from detent.types.usage import Usage

LEAST_DROP = 2_000
"""Tokens. Providers keep whole pieces, so a little less is no sign of anything."""


class LastRequest(Struct, frozen=True):
    """The last request, by reference: nothing is copied, and looked at only when it is missed."""

    request: Request
    author: tuple[str, str]
    """Model and provider that answered."""
    opened: Any
    """The model as it was opened: with its settings."""
    seq: int
    """The last entry before it."""
    at: float
    left: int
    """Tokens that the cache should hold now."""
    head: str = ""
    """Digests of the tools and the parts of the prompt: what the log keeps of them."""
    missed: str = ""
    """The last miss, in words."""


def lost(left: int, usage: Usage) -> int:
    """How many tokens fewer came from the cache than were there; 0 where that is nothing to speak
    of, or the provider does not count."""
    drop = left - usage.cache_read
    return drop if drop >= LEAST_DROP and usage.context else 0


def left_by(usage: Usage) -> int:
    return usage.cache_read + usage.cache_write


def missed(before: LastRequest, now: LastRequest, usage: Usage, entries: Sequence[Entry]) -> str:
    """What to tell; empty when the cache held what it should."""
    drop = lost(before.left, usage)
    if not drop:
        return ""
    return _told(drop, changed(before, now, entries) or unchanged(now.at - before.at))


def changed(before: LastRequest, now: LastRequest, entries: Sequence[Entry]) -> str:
    """The first difference, in the order in which a cache compares; empty when there is none."""
    since = [entry for entry in entries if before.seq < entry.seq <= now.seq]
    if before.author != now.author:
        return f"another model answers ({before.author[0]} → {now.author[0]}){_entry(since)}"
    if tool := _tool(before.request.tools, now.request.tools):
        return f"the list of tools has changed ({tool})"
    if before.request.system != now.request.system:
        return _prompt(before.request.system, now.request.system)
    if before.opened is not now.opened:
        return "the model was opened with other settings"
    place = first_difference(before.request.messages, now.request.messages)
    if place is None:
        return ""
    causes = changing(since, before.seq)
    why = _named(causes[0]) if causes else ""
    return f"message {place + 1}{_origin(before, entries, place)} has changed{why}"


def unchanged(seconds: float) -> str:
    return f"nothing changed on our side; {_idle(seconds)}"


def first_difference(before: Sequence[Message], now: Sequence[Message]) -> int | None:
    for place, message in enumerate(before):
        if place >= len(now):
            return place
        if message is not now[place] and message != now[place]:
            return place
    return None


def head_of(request: Request, before: LastRequest | None = None) -> str:
    if before is not None and _same_head(before.request, request):
        return before.head
    from zlib import crc32

    tools = 0
    for spec in request.tools:
        tools = crc32(f"{spec.name}\n{spec.description}\n".encode() + bytes(spec.schema), tools)
    parts = [f"{crc32(part.encode()):08x}" for part in request.system]
    return " ".join([f"{tools:08x}", *parts])


def _same_head(one: Request, other: Request) -> bool:
    return one.system == other.system and list(one.tools) == list(other.tools)


def changed_head(before: str, now: str) -> str:
    """What of tools and prompt is another; empty when none is, or nothing is known."""
    old, new = before.split(), now.split()
    if not old or old == new:
        return ""
    if old[0] != new[0]:
        return "the list of tools has changed"
    return f"{_part(old[1:], new[1:])} has changed"


def missed_since_resume(reply: Reply, now: LastRequest, entries: Sequence[Entry], head: str) -> str:
    """The first request of a process: of the last one there is only the log."""
    before = next((e for e in reversed(entries) if isinstance(e, Replied)), None)
    if before is None or not (drop := lost(left_by(before.usage), reply.usage)):
        return ""
    since = [entry for entry in entries if entry.seq > before.seq]
    cause = "" if (before.model, before.provider) != now.author else changed_head(head, now.head)
    cause = cause or _logged(before, now.author, since, entries) or unchanged(now.at - before.at)
    return _told(drop, f"the session was resumed; {cause}")


def last_miss(entries: Sequence[Entry]) -> str:
    """The same from the log alone: of the prompt and the tools it has digests."""
    before: Replied | None = None
    found, head, since = "", "", list[Entry]()
    for entry in entries:
        if not isinstance(entry, Replied):
            since.append(entry)
            continue
        if before is not None and (drop := lost(left_by(before.usage), entry.usage)):
            author = (entry.model, entry.provider)
            cause = changed_head(head, entry.head) if entry.head else ""
            cause = cause or _logged(before, author, since, entries)
            found = _told(drop, cause or unchanged(entry.at - entry.ms / 1000 - before.at))
        if entry.usage.context:
            before, since, head = entry, [], entry.head or head
    return found


def _logged(
    before: Replied, author: tuple[str, str], since: Sequence[Entry], entries: Sequence[Entry]
) -> str:
    if (before.model, before.provider) != author:
        return f"another model answers ({before.model} → {author[0]}){_entry(since)}"
    from detent.context.provenance import sent_before

    sent = max((entry.seq for entry in sent_before(entries, before)), default=0)
    causes = changing(since, sent)
    return f"older messages have changed{_named(causes[0])}" if causes else ""


def changing(since: Sequence[Entry], sent: int) -> list[Entry]:
    """Entries that change what had been sent; results are often shortened before they are."""
    return [entry for entry in since if _first_changed(entry) <= sent]


def _first_changed(entry: Entry) -> float:
    match entry:
        case Compacted() | Restored():
            return 0
        case Trimmed(trims=trims):
            return min((trim.entry for trim in trims), default=inf)
        case Withheld(entries=entries):
            return min(entries, default=inf)
        case Rewound(to=to):
            return to + 1
        case _:
            return inf


def _origin(before: LastRequest, entries: Sequence[Entry], place: int) -> str:
    from detent.context.project import effective
    from detent.context.provenance import origins

    known = origins(effective([entry for entry in entries if entry.seq <= before.seq]))
    return f" (from entry {known[place][0]} on)" if place < len(known) else ""


def _told(drop: int, cause: str) -> str:
    return f"{drop:,} tokens were not read from the prompt cache: {cause}"


def _entry(since: Sequence[Entry]) -> str:
    switched = [entry for entry in since if isinstance(entry, Switched) and entry.model]
    return _named(switched[-1]) if switched else ""


def _named(entry: Entry) -> str:
    match entry:
        case Compacted(trigger=trigger):
            what = f"compacted ({trigger})"
        case Trimmed(stage=stage):
            what = f"shortened by {stage}, from entry {_first_changed(entry)} on"
        case Withheld():
            what = f"pictures left out, from entry {_first_changed(entry)} on"
        case Rewound(to=to):
            what = f"went back to entry {to}"
        case Restored():
            what = "a compaction, trim or rewind was undone"
        case Switched(reason=reason):
            what = reason or "switched"
        case _:
            what = type(entry).__name__.lower()
    return f": {what} (entry {entry.seq})"


def _tool(before: Sequence[ToolSpec], now: Sequence[ToolSpec]) -> str:
    for old, new in zip(before, now, strict=False):
        if old is new or old == new:
            continue
        names = {spec.name for spec in now}
        if old.name == new.name:
            return f"{old.name} reads otherwise"
        return f"{new.name} came" if old.name in names else f"{old.name} went"
    if len(before) == len(now):
        return ""
    if len(now) > len(before):
        return f"{now[len(before)].name} came"
    return f"{before[len(now)].name} went"


def _prompt(before: Sequence[str], now: Sequence[str]) -> str:
    """With the heading over the first difference, if there is one."""
    heading = ""
    for old, new in zip("\n".join(before).split("\n"), "\n".join(now).split("\n"), strict=False):
        if old != new:
            break
        heading = old.lstrip("# ") if old.startswith("#") else heading
    return f"{_part(before, now)} has changed" + (f" ({heading})" if heading else "")


def _part(before: Sequence[str], now: Sequence[str]) -> str:
    """The first one is the same in every session with the same tools."""
    if len(before) == len(now) == 2:
        which = "stable" if before[0] != now[0] else "session's"
        return f"the {which} part of the system prompt"
    return "the system prompt"


def _idle(seconds: float) -> str:
    minutes = max(0, round(seconds / 60))
    ago = f"{minutes} min" if minutes else "less than a minute"
    return f"the last request was {ago} before, and the provider has let go of it"
