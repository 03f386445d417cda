"""What each part of a request has in bytes, as it goes over the wire."""

from msgspec import Struct


class Weights(Struct, frozen=True):
    """Together they are the body, to the byte."""

    total: int
    frame: int
    """The rest: names, limits, brackets, cache marks."""
    system: tuple[int, ...]
    tools: tuple[int, ...]
    messages: tuple[tuple[int, ...], ...]
    """By message and block; the last block of a message carries what is around it."""
    is_marked: bool = False
    """Whether marks say what the provider is to keep; without them it keeps what it likes."""
