"""A fact that a summary must keep."""

from typing import Literal

from msgspec import Struct

Kind = Literal["request", "constraint", "todo", "failing", "file", "name", "decision", "said"]
KINDS: tuple[Kind, ...] = (
    "request",
    "constraint",
    "todo",
    "failing",
    "file",
    "name",
    "decision",
    "said",
)
"""The strongest first."""


class Fact(Struct, frozen=True):
    kind: Kind
    text: str
