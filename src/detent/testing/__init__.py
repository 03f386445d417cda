"""A scripted model server on loopback, for tests and benchmarks of anything that calls a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

# Not lazy: loading the submodule `script` binds its name here, and the function of that name
# must come after it to win, whoever imports what first. It is light; the server is not.
from detent.testing.script import (
    QUIRKS,
    Call,
    Fault,
    Foreign,
    RedactedThink,
    Reply,
    Say,
    Script,
    Think,
    Usage,
    call,
    fault,
    reply,
    say,
    script,
    think,
)

if TYPE_CHECKING:
    from detent.testing.memory_host import MemoryHost
    from detent.testing.reading import load_script, parse_script
    from detent.testing.recorded import recorded_script
    from detent.testing.recording import Recording, read_recordings, serve_recording
    from detent.testing.request import Request, Said, ToolResult
    from detent.testing.scripted_model import ScriptedModel
    from detent.testing.served import ServedScript, serve
    from detent.testing.server import ScriptedServer
    from detent.testing.static_tools import StaticTools
    from detent.testing.streaming import Mark

__all__ = [
    "QUIRKS",
    "Call",
    "Fault",
    "Foreign",
    "Mark",
    "MemoryHost",
    "Recording",
    "RedactedThink",
    "Reply",
    "Request",
    "Said",
    "Say",
    "Script",
    "ScriptedModel",
    "ScriptedServer",
    "ServedScript",
    "StaticTools",
    "Think",
    "ToolResult",
    "Usage",
    "call",
    "fault",
    "load_script",
    "parse_script",
    "read_recordings",
    "recorded_script",
    "reply",
    "say",
    "script",
    "serve",
    "serve_recording",
    "think",
]


_HOMES = {
    "Mark": "streaming",
    "MemoryHost": "memory_host",
    "Recording": "recording",
    "Request": "request",
    "Said": "talk",
    "ScriptedModel": "scripted_model",
    "ScriptedServer": "server",
    "ServedScript": "served",
    "StaticTools": "static_tools",
    "ToolResult": "request",
    "load_script": "reading",
    "parse_script": "reading",
    "read_recordings": "recording",
    "recorded_script": "recorded",
    "serve": "served",
    "serve_recording": "recording",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
