"""Characters that may stand in a command: those that a person reads as what they are."""

_INVISIBLE = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
    + "".join(map(chr, range(0xFE00, 0xFE10)))
    + "".join(map(chr, range(0xE0100, 0xE01F0)))
)
"""Characters that nobody sees, though Python calls them printable."""


def is_clear(text: str) -> bool:
    """No control, invisible or direction-changing character: what is shown is what runs."""
    shown = text.replace("\t", " ").replace("\n", " ")
    return shown.isprintable() and (text.isascii() or _INVISIBLE.isdisjoint(text))
