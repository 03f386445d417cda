"""`detent undo` and `detent redo`: what a session has done to files, taken back and done again."""

import os
import sys
from collections.abc import Iterable

from detent.sdk.options import Options
from detent.sdk.undo import (
    Report,
    Wish,
    is_cut_off,
    look_at,
    mend_stored,
    redo_stored,
    steps_of,
    undo_stored,
)
from detent.surfaces.arguments import Arguments
from detent.surfaces.commands.undo import told, told_redo, told_steps
from detent.surfaces.headless.exit_codes import ERROR
from detent.surfaces.wishes import options_from
from detent.surfaces.wording.shown import visible
from detent.types.codec import encode
from detent.types.errors import BadInput

CUT_OFF = "detent: the session was cut off; an undo first finds out what its last call has done"


def undo(words: tuple[str, ...], arguments: Arguments) -> int:
    """Exit code 1 where something stays as it is."""
    options, session = options_from(arguments), arguments.value("--session")
    step = _step(words)
    if arguments.on("--list"):
        return _list(options, session, arguments)
    if step and arguments.on("--turn"):
        raise BadInput("a STEP and --turn say different things: choose one")
    wish = Wish(
        step=step,
        turn=arguments.on("--turn"),
        late=arguments.on("--interrupted"),
        merges=arguments.on("--merge"),
    )
    if arguments.on("--dry-run"):
        if is_cut_off(options, session):
            print(CUT_OFF, file=sys.stderr)
        return _told(look_at(options, wish, session), arguments)
    mend_stored(options, session)  # what is asked about must be what is done
    if not arguments.on("--yes") and os.isatty(0) and not _agreed(options, wish, session):
        print("Nothing was put back.")
        return ERROR
    return _told(undo_stored(options, wish, session), arguments)


def redo(words: tuple[str, ...], arguments: Arguments) -> int:
    if words:
        raise BadInput(f"detent redo takes no words; not {' '.join(words)!r}")
    options, session = options_from(arguments), arguments.value("--session")
    if arguments.on("--dry-run"):
        return _told(look_at(options, Wish(redo=True), session), arguments)
    done = redo_stored(options, session)
    if arguments.on("--json"):
        print(encode(done).decode())
    else:
        _print(told_redo(done, _folder(arguments)))
    return ERROR if done.files is not None and done.files.left else 0


def _step(words: tuple[str, ...]) -> int:
    if not words:
        return 0
    if len(words) > 1 or not words[0].isdecimal() or not int(words[0]):
        raise BadInput(
            f"detent undo takes the number of a step (--list shows them); not {' '.join(words)!r}"
        )
    return int(words[0])


def _told(report: Report, arguments: Arguments) -> int:
    if arguments.on("--json"):
        print(encode(report).decode())
    else:
        _print(told(report, _folder(arguments)))
    return ERROR if report.left or report.trouble else 0


def _list(options: Options, session: str, arguments: Arguments) -> int:
    name, steps = steps_of(options, session)
    if arguments.on("--json"):
        print(encode({"session": name, "steps": steps}).decode())
    else:
        _print(told_steps(steps, _folder(arguments)))
    return 0


def _agreed(options: Options, wish: Wish, session: str) -> bool:
    import signal

    report = look_at(options, wish, session)
    if not report.files:
        return True  # nothing will happen, and that is told
    _print(told(report, os.getcwd()))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print("Put them back? [Y/n] ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("", "y", "yes")


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        print(visible(line))


def _folder(arguments: Arguments) -> str:
    return os.path.realpath(arguments.value("--cwd") or os.getcwd())
