"""What a call will touch, declared before it runs. Rules match effects, not tools."""

from msgspec import Struct


class Touch(Struct, frozen=True, tag_field="type", tag=str.lower, gc=False):
    """Base of every effect."""


class Reads(Touch, frozen=True):
    path: str


class Writes(Touch, frozen=True):
    path: str


class Runs(Touch, frozen=True):
    command: str


class Connects(Touch, frozen=True):
    host: str


class Spawns(Touch, frozen=True):
    agent: str


class Asks(Touch, frozen=True):
    """Needs an answer from the person."""


Effect = Reads | Writes | Runs | Connects | Spawns | Asks
