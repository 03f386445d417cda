"""Room that several texts share: short ones stay whole, long ones get the same each."""

from collections.abc import Sequence

TIGHT = 200
"""Characters below which a text has no room for its end, too."""


def shares(lengths: Sequence[int], room: int) -> list[int]:
    """How much of each there is room for."""
    given = [0] * len(lengths)
    left = max(0, room)
    by_length = sorted(range(len(lengths)), key=lambda place: lengths[place])
    for done, place in enumerate(by_length):
        given[place] = min(lengths[place], left // (len(lengths) - done))
        left -= given[place]
    return given


def within(text: str, room: int) -> str:
    """Its beginning and its end; never longer than `room`."""
    if len(text) <= room:
        return text
    if room < TIGHT:
        return f"{text[: room - 1]}…" if room else ""
    note = f"\n[… {len(text):,} characters in all, the middle is left out …]\n"
    left = room - len(note)
    return f"{text[: left - left // 3]}{note}{text[len(text) - left // 3 :]}"
