"""What can be done to a stream on its way out, by name.

An edit is `"word"` or `"word:argument"`; several are done in the order given. Each takes the
events of an answer and gives those that are sent instead. An event that is dropped stays as an
empty one, so that counts of deltas mean the same with and without the edit.
"""

from __future__ import annotations

import json
import re
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from detent.testing.sse import Event

GZIP, DEFLATE = 31, 15
"""What zlib calls the two encodings."""
MEGABYTE = 1 << 20
_GZIP_HEAD = bytes.fromhex("1f8b08000000000000ff")

Events = Iterable[Event]
Edit = Callable[[Events, str], Iterator[Event]]


def edited(events: Events, edits: tuple[str, ...]) -> Iterator[Event]:
    for edit in edits:
        word, _, argument = edit.partition(":")
        events = (_PLAIN.get(word) or _WITH_ARGUMENT[word])(events, argument)
    return iter(events)


def check_edit(edit: str) -> None:
    """ValueError for one that does not exist or lacks what it needs."""
    word, colon, argument = edit.partition(":")
    if word not in EDITS:
        raise ValueError(f"unknown edit {word!r}; there are {', '.join(sorted(EDITS))}")
    if word in _PLAIN and colon:
        raise ValueError(f"the edit {word!r} takes no argument")
    if word in _WITH_ARGUMENT and not argument:
        raise ValueError(f"the edit {word!r} needs an argument: {word}:…")
    if word == "replace" and "=>" not in argument:
        raise ValueError("the edit 'replace' needs OLD=>NEW")
    if word == "gzip_bomb" and not argument.isdecimal():
        raise ValueError("the edit 'gzip_bomb' needs a number of megabytes")


def encoding_of(edits: tuple[str, ...]) -> str | None:
    """The content encoding that the edits stand for, true or not."""
    for edit in edits:
        word, _, argument = edit.partition(":")
        if word == "encoding":
            return argument
        if word in ("gzip", "gzip_cut", "gzip_bomb", "deflate"):
            return word.partition("_")[0]
    return None


def _each(change: Callable[[bytes], bytes]) -> Edit:
    def edit(events: Events, _: str) -> Iterator[Event]:
        return (event._replace(data=change(event.data)) for event in events)

    return edit


def _in_data_lines(data: bytes) -> bytes:
    """JSON spread over lines, each a `data:` line of its own."""

    def spread(found: re.Match[bytes]) -> bytes:
        try:
            lines = json.dumps(json.loads(found[1]), indent=1).splitlines()
        except ValueError:
            return found[0]
        return "\n".join(f"data: {line}" for line in lines).encode()

    return re.sub(rb"^data: (.*)$", spread, data, flags=re.MULTILINE)


def _bom(events: Events, _: str) -> Iterator[Event]:
    mark = b"\xef\xbb\xbf"
    for event in events:
        yield event._replace(data=mark + event.data)
        mark = b""


def _no_last_blank(events: Events, _: str) -> Iterator[Event]:
    *most, last = events
    yield from most
    yield last._replace(data=last.data.rstrip(b"\n") + b"\n")


def _drop(events: Events, word: str) -> Iterator[Event]:
    return (e._replace(data=b"") if word.encode() in e.data else e for e in events)


def _twice(events: Events, word: str) -> Iterator[Event]:
    return (e._replace(data=e.data * 2) if word.encode() in e.data else e for e in events)


def _late(events: Events, word: str) -> Iterator[Event]:
    """Events that hold the word come after all others but the closing ones."""
    late: list[Event] = []
    for event in events:
        if event.closing:
            yield from late
            late = []
        if not event.closing and word.encode() in event.data:
            late.append(event)
        else:
            yield event
    yield from late


def _replace(events: Events, argument: str) -> Iterator[Event]:
    old, _, new = argument.partition("=>")
    # A lone surrogate stands for a byte that is no UTF-8, as Python has it elsewhere.
    found, instead = old.encode(), new.encode(errors="surrogateescape")
    return _each(lambda data: data.replace(found, instead))(events, "")


def _compressed(kind: int) -> Edit:
    def edit(events: Events, _: str) -> Iterator[Event]:
        squeeze = zlib.compressobj(wbits=kind)
        for event in events:
            data = squeeze.compress(event.data) + squeeze.flush(zlib.Z_SYNC_FLUSH)
            yield event._replace(data=data)
        yield Event(squeeze.flush(), closing=True)

    return edit


def _gzip_cut(events: Events, _: str) -> Iterator[Event]:
    squeeze = zlib.compressobj(wbits=GZIP)
    whole = squeeze.compress(b"".join(event.data for event in events)) + squeeze.flush()
    yield Event(whole[: len(whole) // 2])


def _gzip_bomb(events: Events, megabytes: str) -> Iterator[Event]:
    yield Event(_zeros(int(megabytes)))


@lru_cache
def _zeros(megabytes: int) -> bytes:
    """One packed megabyte again and again: blocks that do not refer to each other may repeat."""
    blank, checksum = bytes(MEGABYTE), 0
    squeeze = zlib.compressobj(wbits=-DEFLATE)
    block, end = squeeze.compress(blank) + squeeze.flush(zlib.Z_FULL_FLUSH), squeeze.flush()
    for _ in range(megabytes):
        checksum = zlib.crc32(blank, checksum)
    trailer = struct.pack("<LL", checksum, megabytes * MEGABYTE & 0xFFFFFFFF)
    return _GZIP_HEAD + block * megabytes + end + trailer


_PLAIN: dict[str, Edit] = {
    "crlf": _each(lambda data: data.replace(b"\n", b"\r\n")),
    "cr": _each(lambda data: data.replace(b"\n", b"\r")),
    "bom": _bom,  # a byte order mark before everything
    "comments": _each(lambda data: b": a comment\n\n" + data),
    "comments_only": _each(lambda data: b": a comment\n\n"),
    "data_lines": _each(_in_data_lines),
    "no_last_blank": _no_last_blank,  # the blank line behind the last event is missing
    "gzip": _compressed(GZIP),
    "gzip_cut": _gzip_cut,  # only the first half of the compressed answer
    "deflate": _compressed(DEFLATE),
}
_WITH_ARGUMENT: dict[str, Edit] = {
    "drop": _drop,  # drop:WORD, every event that holds the word is left out
    "twice": _twice,  # twice:WORD
    "late": _late,  # late:WORD
    "replace": _replace,  # replace:OLD=>NEW, in every event
    "encoding": lambda events, _: iter(events),  # encoding:NAME, claimed and not done
    "gzip_bomb": _gzip_bomb,  # gzip_bomb:N, that many megabytes of zeros in place of the answer
}
EDITS = frozenset({*_PLAIN, *_WITH_ARGUMENT})
