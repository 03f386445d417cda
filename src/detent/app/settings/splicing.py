"""One value at the top of a JSON file, set or taken out. All other bytes stay as they are: people
order their files, and other programs write them too. The text is known to be a good JSON object."""

import re

from msgspec import Struct

from detent.types.codec import decode_any

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[][{},:]|[^][{},:"\s]+')


class _Member(Struct, frozen=True):
    key: str
    begin: int
    """Of the key."""
    value: int
    """Where its value begins,"""
    end: int
    """and ends."""


def spliced(text: bytes, key: str, value: bytes | None) -> bytes:
    """`value` is JSON; None takes the key out. Where a key stands more than once the last one
    counts, so that is the one that is changed."""
    members = _members(text)
    found = [member for member in members if member.key == key]
    if value is None:
        for member in reversed(found):
            text = _without(text, member)
        return text
    if found:
        last = found[-1]
        return text[: last.value] + value + text[last.end :]
    return _with(text, members, b'"%s": %s' % (key.encode(), value))


def _members(text: bytes) -> list[_Member]:
    """One pass, no recursion: how long it takes is not for whoever wrote the file to say."""
    found: list[_Member] = []
    depth, begin, value = 0, 0, 0
    key: str | None = None
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in (b"{", b"["):
            value = match.start() if depth == 1 else value
            depth += 1
        elif token in (b"}", b"]"):
            depth -= 1
            if depth == 1 and key is not None:
                found.append(_Member(key, begin, value, match.end()))
                key = None
        elif depth == 1 and token not in (b",", b":"):
            if key is None:
                key, begin = str(decode_any(token)), match.start()
            else:
                found.append(_Member(key, begin, match.start(), match.end()))
                key = None
    return found


def _with(text: bytes, members: list[_Member], member: bytes) -> bytes:
    """Behind the last one, indented as it is."""
    if not members:
        at = text.index(b"{") + 1
        return text[:at] + b"\n  " + member + b"\n" + text[at:].lstrip()
    last = members[-1]
    before = text[: last.begin]
    gap = before[len(before.rstrip()) :] or b" "
    return text[: last.end] + b"," + gap + member + text[last.end :]


def _without(text: bytes, member: _Member) -> bytes:
    """With the comma behind it, else the one before it."""
    before, after = text[: member.begin], text[member.end :]
    rest = after.lstrip()
    if rest.startswith(b","):
        return before + rest[1:].lstrip()
    before = before.rstrip()
    return (before[:-1] if before.endswith(b",") else before) + after
