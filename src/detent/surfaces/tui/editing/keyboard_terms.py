"""Who gets keys instead of the text box."""

from collections.abc import Callable

from msgspec import Struct


class Taker(Struct, frozen=True):
    press: Callable[[str], None]
    """Gets the names of keys, and characters as they are."""
    paste: Callable[[str], None] = lambda text: None
