"""Two texts side by side: what differs, and both changes of one in one."""

from collections.abc import Sequence
from difflib import SequenceMatcher, unified_diff

LONGEST = 200_000
"""Bytes that are compared: it may take long, and somebody waits."""
MOST_LINES = 12

Edit = tuple[int, int, list[str]]
"""Lines of the base from here to there are replaced by these."""


def text_in(data: bytes) -> str | None:
    if len(data) > LONGEST or b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def difference(before: bytes, after: bytes) -> tuple[str, ...]:
    """The first lines of it; none where it is no text."""
    old, new = text_in(before), text_in(after)
    if old is None or new is None:
        return ()
    lines = [*unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=1)][2:]
    more = len(lines) - MOST_LINES
    return tuple(lines if more <= 1 else [*lines[:MOST_LINES], f"… {more} more lines"])


def merged(base: bytes, mine: bytes, theirs: bytes) -> bytes | None:
    """Both changes of the base; None where they touch the same lines, or it is no text."""
    texts = [text_in(data) for data in (base, mine, theirs)]
    if any(text is None for text in texts):
        return None
    old, one, other = ((text or "").splitlines(keepends=True) for text in texts)
    ours, its = _edits(old, one), _edits(old, other)
    if any(_meet(a, b) and a != b for a in ours for b in its):
        return None
    for begin, end, lines in sorted([*ours, *(e for e in its if e not in ours)], reverse=True):
        old[begin:end] = lines
    return "".join(old).encode()


def _edits(old: Sequence[str], new: Sequence[str]) -> list[Edit]:
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [(i, j, list(new[k:m])) for tag, i, j, k, m in codes if tag != "equal"]


def _meet(one: Edit, other: Edit) -> bool:
    """Lines that touch belong together: what is right for one may be wrong for the other."""
    return one[0] <= other[1] and other[0] <= one[1]
