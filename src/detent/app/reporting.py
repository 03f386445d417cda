"""A report of a fault, for a person to look at and to hand on: facts about the program and its
run, and nothing of what was said. It is written to a file, and sent nowhere."""

import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from msgspec import Struct

from detent.app.engine import Engine
from detent.app.settings.sources import load_sources
from detent.context.bounds import in_one_line
from detent.types.errors import BadInput
from detent.types.events import CallEnded, Entry, TurnEnded
from detent.types.outcomes import Failed
from detent.types.running import Unanswered
from detent.types.version import VERSION

FOLDER = "reports"
MOST_ERRORS = 10
LONGEST = 200
VARIABLES = ("TERM", "COLORTERM", "TERM_PROGRAM", "TMUX", "SSH_TTY", "LANG", "LC_ALL", "NO_COLOR")
"""Whether they are set is told,"""
TOLD = ("TERM", "COLORTERM", "TERM_PROGRAM", "LANG", "LC_ALL")
"""and of these what they say."""


class Written(Struct, frozen=True):
    path: str
    log: str = ""
    """The copy of the log, where one was wanted."""


def write_report(engine: Engine, text: str, *, with_log: bool) -> Written:
    """For its owner alone. Raises BadInput when it cannot be written."""
    grounds, log = engine.grounds, engine.journal.path
    if with_log and not (log and os.path.exists(log)):
        raise BadInput("the session has no log to add: nothing was said yet, or it is not saved")
    folder = os.path.join(grounds.home, FOLDER)
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(grounds.clock.now()))
    whole = "\n".join(_lines(engine, text)) + "\n"
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        path = _create(folder, f"{stamp}-{engine.journal.session[:8]}", whole.encode())
        if not with_log:
            return Written(path)
        with open(log, "rb") as file:
            data = file.read()
        copy = path.removesuffix(".md") + ".jsonl"
        _write(copy, data)
    except OSError as error:
        raise BadInput(f"no report can be written in {folder}: {error.strerror}") from None
    return Written(path, copy)


def _lines(engine: Engine, text: str) -> Iterator[str]:
    grounds, journal = engine.grounds, engine.journal

    def own(path: str) -> str:
        """Whose home it is says nothing about the fault."""
        return path.replace(grounds.own, "~", 1) if path.startswith(f"{grounds.own}/") else path

    yield "# Report"
    yield ""
    yield text or "(no words)"
    yield ""
    yield "## Where"
    yield ""
    yield f"- detent {VERSION}, Python {sys.version.split()[0]}, {_system()}"
    yield f"- model {engine.kit.model.name}, mode {engine.gate.mode}"
    yield f"- session {journal.session}, {len(journal.log.entries)} entries"
    yield f"- log {own(journal.path) or '(not saved)'}"
    yield from (f"- {line}" for line in _variables(grounds.environ))
    yield ""
    yield "## Settings"
    yield ""
    yield from (f"- {own(line)}" for line in _settings(engine))
    yield ""
    yield "## Last errors"
    yield ""
    yield from (f"- {line}" for line in _errors(journal.log.entries) or ["none"])


def _variables(environ: Mapping[str, str]) -> Iterator[str]:
    for name in VARIABLES:
        if value := environ.get(name):
            yield f"{name}={in_one_line(value, 40)}" if name in TOLD else f"{name} is set"


def _settings(engine: Engine) -> list[str]:
    """Which keys each file has; never what they are set to."""
    grounds = engine.grounds
    try:
        sources = load_sources(grounds.where, grounds.options.setting_sources)
    except BadInput as error:
        return [in_one_line(str(error), LONGEST)]
    return [f"{source.path}: {', '.join(sorted(source.values))}" for source in sources] or ["none"]


def _errors(entries: Sequence[Entry]) -> list[str]:
    """What ended turns and requests, and which tools failed; not what they said, for that is part
    of the conversation."""
    found: list[str] = []
    for entry in entries:
        match entry:
            case TurnEnded(reason=reason, error=error) if error:
                found.append(_error(entry.at, f"turn ended: {reason}", entry.status, error))
            case Unanswered(kind=kind, error=error):
                found.append(_error(entry.at, f"no answer: {kind}", entry.status, error))
            case CallEnded(name=name, outcome=Failed()):
                found.append(f"{_clock(entry.at)} a call of {name} failed")
            case _:
                pass
    return found[-MOST_ERRORS:]


def _error(at: float, what: str, status: int | None, error: str) -> str:
    code = f" ({status})" if status else ""
    return f"{_clock(at)} {what}{code}: {in_one_line(error, LONGEST)}"


def _clock(at: float) -> str:
    try:
        return time.strftime("%H:%M:%S", time.localtime(at))
    except (OverflowError, ValueError, OSError):
        return "??:??:??"


def _system() -> str:
    if not hasattr(os, "uname"):
        return sys.platform
    system = os.uname()
    return f"{system.sysname} {system.release} {system.machine}"


def _create(folder: str, name: str, data: bytes) -> str:
    """Under a name that nobody has: two in a second are two."""
    for number in range(1, 100):
        path = os.path.join(folder, f"{name}.md" if number == 1 else f"{name}-{number}.md")
        with suppress(FileExistsError):
            _write(path, data)
            return path
    raise FileExistsError(17, "too many reports in one second", folder)


def _write(path: str, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as file:
        file.write(data)
