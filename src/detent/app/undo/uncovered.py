"""What calls may have done that no undo reaches: told, so that nobody counts on it."""

from collections.abc import Collection, Sequence

from detent.types.effects import Connects, Runs, Writes
from detent.types.events import CallEnded, CallStarted, Entry
from detent.types.outcomes import Done

MOST = 8


def uncovered(entries: Sequence[Entry], since: int, roots: Sequence[str]) -> tuple[str, ...]:
    """Of the calls after this entry."""
    started = {e.call_id: e for e in entries if isinstance(e, CallStarted)}
    found: dict[str, None] = {}
    for entry in entries:
        if isinstance(entry, CallEnded) and entry.seq > since and entry.call_id in started:
            for line in _of(started[entry.call_id], entry, roots):
                found[line] = None
    lines = list(found)
    more = len(lines) - MOST
    return tuple(lines if more <= 1 else [*lines[:MOST], f"and {more} more"])


def _of(started: CallStarted, ended: CallEnded, roots: Sequence[str]) -> list[str]:
    lines: list[str] = []
    changed = {change.path for change in ended.changed}
    for effect in started.effects:
        match effect:
            case Runs(command=command, outside=True):
                lines.append(f"ran outside the sandbox: {_short(command)}")
            case Connects(host=host, only_asks=False):
                lines.append(f"reached {host}")
            case Writes(path=path) if path not in changed and not _holds(roots, path):
                lines.append(f"wrote outside the workspace: {path}")
            case _:
                pass
    match ended.outcome:
        case Done(data={"backgroundTaskId": str(job)}):
            lines.append(f"{job} ran in the background: {_command(started)}")
    return lines


def _command(started: CallStarted) -> str:
    return next((_short(e.command) for e in started.effects if isinstance(e, Runs)), "")


def _short(command: str) -> str:
    line = " ".join(command.split())
    return line if len(line) <= 60 else f"{line[:59]}…"


def _holds(roots: Collection[str], path: str) -> bool:
    return any(f"{path}/".startswith(f"{root.rstrip('/')}/") for root in roots)
