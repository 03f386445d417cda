"""What a model port hands to the loop while it streams: what readers see, and what they do not."""

from msgspec import Struct

from detent.types.content import Call, Opaque, Redacted, Thinking
from detent.types.events import (
    CallDelta,
    Discarded,
    Notice,
    Retrying,
    Switched,
    TextDelta,
    ThinkingDelta,
)
from detent.types.usage import Usage


class Begun(Struct, frozen=True, gc=False):
    """A request goes out: to whom, and how much the answer may have."""

    model: str
    provider: str = ""
    max_output: int = 0
    """0 is unknown."""


class CallReady(Struct, frozen=True, gc=False):
    """A whole call block has arrived while the message still streams."""

    index: int
    call: Call


class Sealed(Struct, frozen=True, gc=False):
    """A whole block that only its author can read.

    The same index may come again: then the block has become more.
    """

    index: int
    block: Thinking | Redacted | Opaque


class Counted(Struct, frozen=True, gc=False):
    """What the answer has cost so far."""

    usage: Usage


Delta = (
    TextDelta
    | ThinkingDelta
    | CallDelta
    | Begun
    | CallReady
    | Sealed
    | Counted
    | Retrying
    | Discarded
    | Switched
    | Notice
)
"""What a model port hands to the loop while it streams."""
