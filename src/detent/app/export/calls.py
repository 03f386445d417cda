"""Calls of answers and what came of them, joined: both are in the log, each in its own place."""

from collections.abc import Sequence
from typing import Literal

from msgspec import DecodeError

from detent.types.codec import decode_any
from detent.types.content import Call
from detent.types.effects import Connects, Effect, Reads, Runs, Spawns, Writes
from detent.types.events import CallEnded, CallStarted, Entry, Replied
from detent.types.outcomes import Cut, Done, Failed, Refused

WIDTH = 100


class Calls:
    """Ids may come again in a long session: the nth call of an id got its nth outcome."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._ended: dict[str, list[CallEnded]] = {}
        self._started: dict[str, list[CallStarted]] = {}
        asked: dict[str, int] = {}
        for entry in entries:
            match entry:
                case CallEnded():
                    self._ended.setdefault(entry.call_id, []).append(entry)
                case CallStarted():
                    self._started.setdefault(entry.call_id, []).append(entry)
                case Replied():
                    for block in entry.content:
                        if isinstance(block, Call):
                            asked[block.id] = asked.get(block.id, 0) + 1
        self._orphans = {
            entry.seq
            for call, ended in self._ended.items()
            for entry in ended[asked.get(call, 0) :]
        }

    def take(self, call_id: str) -> CallEnded | None:
        """The next outcome for this id."""
        waiting = self._ended.get(call_id)
        return waiting.pop(0) if waiting else None

    def started(self, call_id: str) -> CallStarted | None:
        waiting = self._started.get(call_id)
        return waiting.pop(0) if waiting else None

    def is_orphan(self, entry: CallEnded) -> bool:
        """The answer that it is from was lost."""
        return entry.seq in self._orphans


def status_of(
    ended: CallEnded | None,
) -> Literal["done", "failed", "refused", "cut", "unanswered"]:
    match ended.outcome if ended else None:
        case Done():
            return "done"
        case Failed():
            return "failed"
        case Refused():
            return "refused"
        case Cut():
            return "cut"
        case _:
            return "unanswered"


def about(started: CallStarted | None, arguments: str) -> str:
    """What a call is about, in a line: what it declared to touch, else what the model wrote."""
    touched = [_touched(effect) for effect in started.effects] if started else []
    said = next(filter(None, touched), "") or ("" if arguments.strip() in ("", "{}") else arguments)
    line = " ".join(said.split())
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…"


def _touched(effect: Effect) -> str:
    match effect:
        case Runs(command=command):
            return command
        case Reads(path=path) | Writes(path=path):
            return path
        case Connects(host=host):
            return "" if host == "*" else host
        case Spawns(agent=agent):
            return agent
        case _:
            return ""


def shown_arguments(arguments: str) -> str:
    """Indented, where they are JSON."""
    from json import dumps

    try:
        return dumps(decode_any(arguments), indent=2, ensure_ascii=False)
    except (DecodeError, RecursionError, ValueError):
        return arguments
