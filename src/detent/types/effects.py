"""What a call will touch, declared before it runs. Rules match effects, not tools."""

from msgspec import Struct


class Touch(Struct, frozen=True, tag_field="type", tag=str.lower, omit_defaults=True, gc=False):
    """Base of every effect."""


class Reads(Touch, frozen=True):
    path: str


class Writes(Touch, frozen=True):
    path: str


class Runs(Touch, frozen=True):
    command: str
    outside: bool = False
    """Outside the sandbox, as it asks for."""


class Connects(Touch, frozen=True):
    host: str
    only_asks: bool = False
    """Nothing is changed there: several may be asked at the same time."""


class Spawns(Touch, frozen=True):
    agent: str


class Asks(Touch, frozen=True):
    """Needs an answer from the person."""

    leaves: str = ""
    """The permission mode that it leads out of, and without which it has no sense."""


Effect = Reads | Writes | Runs | Connects | Spawns | Asks


def only_looks(effects: tuple[Effect, ...]) -> bool:
    """Whether nothing is changed by what they say. A command says nothing of that."""
    return all(
        isinstance(effect, Reads | Asks) or (isinstance(effect, Connects) and effect.only_asks)
        for effect in effects
    )


def only_spawns(effects: tuple[Effect, ...]) -> bool:
    """Whether all of the work is that of others, who have their own bounds."""
    return bool(effects) and all(isinstance(effect, Spawns) for effect in effects)
