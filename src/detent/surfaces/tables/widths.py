"""How wide a text is in a terminal, and making it fit."""

from detent.surfaces.wording.shown import shown


def one_line(text: str) -> str:
    """Nothing that a terminal would obey, and no line breaks."""
    return shown(" ".join(text.split()) if "\n" in text or "\t" in text else text)


def width_of(text: str) -> int:
    """In columns: a Chinese character takes two, an accent none."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(char: str) -> int:
    if char.isascii():
        return 1
    from unicodedata import category, east_asian_width

    if category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(char) in "WF" else 1


def fitted(text: str, width: int) -> str:
    """Cut where there is no room for all of it."""
    if width_of(text) <= width:
        return text
    kept, taken = "", 0
    for char in text:
        taken += _columns(char)
        if taken > width - 1:
            break
        kept += char
    return f"{kept}…" if width > 0 else ""
