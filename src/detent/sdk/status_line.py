"""The line below the prompt that a command of the user's prints: what it is told, and its run."""

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

from detent.sdk.session import Session
from detent.types.codec import encode
from detent.types.events import CallEnded, Entry, Replied, TurnEnded
from detent.types.outcomes import Done
from detent.types.running import Named
from detent.types.usage import Usage
from detent.types.version import VERSION

LONG_CONTEXT = 200_000
"""Tokens. Some providers charge more beyond."""
MOST_BYTES = 16_384
MOST_LINES = 3


class Tally:
    """What the log comes to. It only grows, so each entry is looked at once."""

    def __init__(self) -> None:
        self._read = 0
        self.name = ""
        self.ms = self.api_ms = 0
        self.added = self.removed = 0
        self.last: Replied | None = None

    def read(self, entries: Sequence[Entry]) -> "Tally":
        while self._read < len(entries):
            match entries[self._read]:
                case Replied() as reply:
                    self.last = reply
                case CallEnded(outcome=Done(data=dict(data))):
                    self._count(data)
                case TurnEnded(ms=ms, api_ms=api_ms):
                    self.ms += ms
                    self.api_ms += api_ms
                case Named(name=name):
                    self.name = name
                case _:
                    pass
            self._read += 1
        return self

    def _count(self, data: dict[str, Any]) -> None:
        """Lines of the changes that calls tell of; a new file has its content instead."""
        patch, path = data.get("structuredPatch"), data.get("filePath")
        if not isinstance(patch, list) or not isinstance(path, str):
            return
        if not patch and data.get("type") == "create" and isinstance(data.get("content"), str):
            self.added += len(data["content"].splitlines())
        for hunk in patch:
            lines = hunk.get("lines", ()) if isinstance(hunk, dict) else ()
            self.added += sum(str(line).startswith("+") for line in lines)
            self.removed += sum(str(line).startswith("-") for line in lines)


_tallies: "WeakKeyDictionary[Session, Tally]" = WeakKeyDictionary()


def payload(session: Session, *, vim: str = "") -> dict[str, Any]:
    """What the command gets, in the names that the ecosystem's commands read. Asks nobody; `vim` is
    the mode of the editor, where it has one."""
    engine, tally = session._engine, _tallies.setdefault(session, Tally()).read(session.entries)
    used, window = engine.kit.conversation.tokens(), session.bounds(session.model)[0]
    name = tally.name or ("" if session.entries else engine.name)
    agent = session.options.agent or engine.grounds.settings.agent
    return {
        "hook_event_name": "Status",
        "session_id": session.id,
        **({"session_name": name} if name else {}),
        "transcript_path": session.path,
        "cwd": session.cwd,
        "model": {"id": session.model, "display_name": session.model.rpartition("/")[2]},
        "workspace": _workspace(session),
        "version": VERSION,
        "output_style": {"name": session.output_style},
        "permission_mode": session.mode,
        "cost": {
            "total_cost_usd": round(session.spent.dollars, 6),
            "total_duration_ms": tally.ms,
            "total_api_duration_ms": tally.api_ms,
            "total_lines_added": tally.added,
            "total_lines_removed": tally.removed,
        },
        "context_window": _window(session.usage, tally.last, used, window),
        "exceeds_200k_tokens": used > LONG_CONTEXT,
        **({"effort": {"level": engine.effort}} if engine.effort else {}),
        "thinking": {"enabled": engine.thinking_budget != 0},
        **({"vim": {"mode": vim}} if vim else {}),
        **({"agent": {"name": agent}} if agent else {}),
    }


async def run(session: Session, command: str, payload: dict[str, Any], seconds: float = 5) -> str:
    """The first lines that the command prints; empty where it fails, or takes longer. Nothing that
    it has started is left then. What it prints is not fit for a terminal yet:
    `surfaces/wording/coloured.py`."""
    host, kept = session._engine.shop.host, bytearray()

    def keep(data: bytes) -> None:
        kept.extend(data[: max(0, MOST_BYTES - len(kept))])

    project = session._engine.grounds.cwd
    try:
        ended = await host.run(
            (host.which("bash") or "sh", "-c", command),
            cwd=session.cwd,
            timeout=seconds,
            output=keep,
            errors=lambda data: None,
            stdin=encode(payload),
            env={"CLAUDE_PROJECT_DIR": project, "DETENT_PROJECT_DIR": project},
        )
    except (OSError, ValueError):  # ValueError: a NUL in the command
        return ""
    if ended.timed_out or ended.exit_code:
        return ""
    lines = kept.decode("utf-8", "replace").strip("\r\n").split("\n")
    return "\n".join(line.rstrip("\r") for line in lines[:MOST_LINES])


def _workspace(session: Session) -> dict[str, Any]:
    grounds = session._engine.grounds
    added = session._engine.gate.workspace.roots[1:]
    return {
        "current_dir": session.cwd,
        "project_dir": grounds.cwd,
        "added_dirs": list(added),
    }


def _window(total: Usage, last: Replied | None, used: int, window: int) -> dict[str, Any]:
    share = min(100, round(100 * used / window)) if window else None
    now = None if last is None else last.usage
    return {
        "total_input_tokens": total.input + total.cache_read + total.cache_write,
        "total_output_tokens": total.output,
        "context_window_size": window,
        "used_percentage": share,
        "remaining_percentage": None if share is None else 100 - share,
        "current_usage": now
        and {
            "input_tokens": now.input,
            "output_tokens": now.output,
            "cache_creation_input_tokens": now.cache_write,
            "cache_read_input_tokens": now.cache_read,
        },
    }
