"""The thirteen stages of a turn, as names for traces."""

from collections.abc import Callable
from typing import Literal

Stage = Literal[
    "Input",
    "Message",
    "History",
    "System",
    "API",
    "Tokens",
    "Tools?",
    "Permit",
    "Hooks",
    "Execute",
    "Result",
    "Compact",
    "Return",
]

Trace = Callable[[Stage, str], None]
"""Called when a stage begins, with what it concerns. Must not raise."""


def no_trace(stage: Stage, what: str) -> None:
    pass
