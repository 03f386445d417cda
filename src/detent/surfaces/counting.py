"""How many of what, in words that people read."""


def counted(number: int, one: str, several: str = "") -> str:
    """`1 file`, `1,200 files`; `several` where it is not the same with an s."""
    return f"1 {one}" if number == 1 else f"{number:,} {several or one + 's'}"
