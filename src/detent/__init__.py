"""Detent: a coding agent for the terminal and a Python library. Every step holds.

Names are loaded on first use, so that `import detent` costs nothing.
"""

from detent.types.version import VERSION as __version__

__all__ = [
    "Budget",
    "Hooks",
    "Options",
    "Session",
    "TurnSummary",
    "__version__",
    "query",
    "run",
    "tool",
]

TYPE_CHECKING = False  # `detent --version` should not have to import typing
if TYPE_CHECKING:
    from typing import Any

    from detent.sdk.custom_tools import tool
    from detent.sdk.hooks import Hooks
    from detent.sdk.options import Options
    from detent.sdk.query import query, run
    from detent.sdk.session import Session
    from detent.sdk.summary import TurnSummary
    from detent.types.budget import Budget

_HOMES = {
    "Budget": "detent.types.budget",
    "Hooks": "detent.sdk.hooks",
    "Options": "detent.sdk.options",
    "Session": "detent.sdk.session",
    "TurnSummary": "detent.sdk.summary",
    "query": "detent.sdk.query",
    "run": "detent.sdk.query",
    "tool": "detent.sdk.custom_tools",
}


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> "Any":
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'detent' has no attribute {name!r}")
