"""Text for a terminal, without what a terminal would obey."""

UNSEEN = (
    range(0x09),
    range(0x0B, 0x20),
    range(0x7F, 0xA0),
    range(0xAD, 0xAE),
    range(0x61C, 0x61D),
    range(0x180E, 0x180F),
    range(0x200B, 0x2010),
    range(0x2028, 0x202F),
    range(0x2060, 0x2070),
    range(0xFEFF, 0xFF00),
    range(0xFFF9, 0xFFFC),
    range(0xE0000, 0xE1000),
)
"""What a terminal obeys instead of showing it (controls, escapes, directions of writing), and what
it cannot show at all (zero-width and tag characters)."""


class _Shown(dict[int, int | None]):
    """Filled as characters come: for `str.translate`, which leaves out what is None."""

    def __missing__(self, code: int) -> int | None:
        self[code] = None if any(code in part for part in UNSEEN) else code
        return self[code]


_SHOWN = _Shown()


def shown(text: str) -> str:
    """For a terminal. Character by character, so that nothing depends on where a text is split:
    without its first character no sequence is obeyed."""
    return text.translate(_SHOWN)


def visible(text: str, indent: int = 0) -> str:
    """Everything there is, for somebody who has to decide about it: what a terminal would obey or
    hide is named, and further lines stand back, so that none can pass for one of ours."""
    parts = [
        f"\n{' ' * indent}" if char == "\n" else char if _is_plain(char) else f"<U+{ord(char):04X}>"
        for char in text
    ]
    return "".join(parts)


def _is_plain(char: str) -> bool:
    return char.isprintable() and not any(ord(char) in part for part in UNSEEN)
