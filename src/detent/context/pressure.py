"""How full the window is, and from when on room is made. Pure numbers."""

from typing import Literal

from detent.context.shaping import CRITICAL, CUMULATIVE, WARNING, Shaping

State = Literal["NORMAL", "WARNING", "CRITICAL"]
RESERVE = 4_000
"""Tokens kept free for the answer, at the least."""
MARGIN = 0.02
"""Of the window, for what is estimated too low."""


def state_of(used: int, window: int) -> State:
    if used >= window * CRITICAL:
        return "CRITICAL"
    return "WARNING" if used >= window * WARNING else "NORMAL"


def window_of(shaping: Shaping, window: int, learned: int = 0) -> int:
    """The window that counts: a provider's own word, the user's, what is known of the model."""
    return learned or shaping.window or window


def widest(shaping: Shaping, window: int, learned: int = 0) -> int:
    """Beyond it nothing is sent. Who sets a threshold above what we know of a model knows more."""
    return learned or max(window, shaping.window, round((shaping.tokens or 0) / WARNING))


def room_of(shaping: Shaping, window: int, output: int = 0, learned: int = 0) -> int | None:
    """What may be in use before room is made; None when nothing is ever too much.

    A threshold that the user has set counts as it is. The usual one never leaves so little that an
    answer has no room.
    """
    counts = window_of(shaping, window, learned)
    reserve = max(output, RESERVE)
    limits: list[float] = []
    if shaping.tokens:
        limits.append(shaping.tokens)
    if shaping.share:
        limits.append(counts * shaping.share)
    if learned or (shaping.share is None and shaping.tokens is None):
        limits.append(min(counts * WARNING, max(counts - reserve, counts / 2)))
    if not limits:
        return None
    limit = min(limits)
    if shaping.is_projected:
        limit = max(limit - reserve - counts * MARGIN, limit / 4)
    return round(limit)


def has_read_enough(shaping: Shaping, everything: int, afresh: int) -> bool:
    """Input tokens since the last compaction: all of them against a threshold that was set, those
    read for the first time against the usual one."""
    if shaping.cumulative is not None:
        return bool(shaping.cumulative) and everything > shaping.cumulative
    return shaping.is_usual and afresh > CUMULATIVE
