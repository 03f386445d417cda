"""A scripted model server on loopback, for tests and benchmarks of anything that calls a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

# Not lazy: loading the submodule `script` binds its name here, and the function of that name
# must come after it to win, whoever imports what first. It is light; the server is not.
from detent.testing.script import (
    QUIRKS,
    Call,
    Fault,
    RedactedThink,
    Reply,
    Request,
    Say,
    Script,
    Think,
    ToolResult,
    Usage,
    call,
    fault,
    load_script,
    parse_script,
    reply,
    say,
    script,
    think,
)

if TYPE_CHECKING:
    from detent.testing.server import Mark, ScriptedServer, ServedScript, serve

__all__ = [
    "QUIRKS",
    "Call",
    "Fault",
    "Mark",
    "RedactedThink",
    "Reply",
    "Request",
    "Say",
    "Script",
    "ScriptedServer",
    "ServedScript",
    "Think",
    "ToolResult",
    "Usage",
    "call",
    "fault",
    "load_script",
    "parse_script",
    "reply",
    "say",
    "script",
    "serve",
    "think",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from detent.testing import server

    return getattr(server, name)
