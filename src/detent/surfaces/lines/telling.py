"""A word to people, beside whatever the output is."""

import sys
from contextlib import suppress


def tell(text: str) -> None:
    """A line to people."""
    say(f"detent: {text}")


def say(text: str) -> None:
    """Control characters of the world outside do not reach the terminal."""
    clean = "".join(char if char.isprintable() or char == "\n" else "�" for char in text)
    with suppress(OSError):
        print(clean, file=sys.stderr, flush=True)
