"""`detent sessions show|name|delete|reindex`."""

import os
import sys
import time

from detent.sdk.sessions import (
    SessionCard,
    delete_sessions,
    log_of,
    name_session,
    reindex,
    sessions_of,
    show_session,
)
from detent.surfaces.arguments import Arguments
from detent.surfaces.cli.sessions import terminal_width, write
from detent.surfaces.counting import counted
from detent.surfaces.tables.session_table import listed, told
from detent.types.codec import encode
from detent.types.errors import BadInput

SECONDS = {"h": 3_600.0, "d": 86_400.0, "w": 604_800.0}


def show(words: tuple[str, ...], arguments: Arguments) -> int:
    if len(words) != 1:
        raise BadInput("detent sessions show takes one SESSION: an id, a name, or words of it")
    one = show_session(words[0], cwd=arguments.value("--cwd"))
    return write([encode(one).decode()] if arguments.on("--json") else told(one, terminal_width()))


def name(words: tuple[str, ...], arguments: Arguments) -> int:
    is_removal = arguments.on("--remove")
    if len(words) < 2 - is_removal or (is_removal and len(words) > 1):
        raise BadInput("detent sessions name takes a SESSION and its name (or --remove)")
    session, *given = words
    kept = name_session(session, " ".join(given), cwd=arguments.value("--cwd"))
    return write([f"It is called {kept!r} now." if kept else "It has no name any more."])


def delete(words: tuple[str, ...], arguments: Arguments) -> int:
    cards = _meant(words, arguments)
    if not cards:
        return write(["There is nothing to delete."])
    if arguments.on("--dry-run"):
        return write(listed(cards, terminal_width(), everywhere=True))
    if not arguments.on("--yes"):
        write(listed(cards, terminal_width(), everywhere=True))
        if not _says_yes(f"Delete {counted(len(cards), 'session')} for good?"):
            write(["Nothing was deleted."])
            return 1
    done = delete_sessions(cards)
    if arguments.on("--json"):
        write([encode(done).decode()])
    else:
        write([f"{counted(len(done.sessions), 'session')} deleted, {_size(done.freed)} freed."])
        for session, why in done.kept.items():
            print(f"detent: {session} is kept: {why}", file=sys.stderr)
    return 1 if done.kept else 0


def _meant(words: tuple[str, ...], arguments: Arguments) -> list[SessionCard]:
    cwd, age = arguments.value("--cwd"), arguments.value("--older-than")
    if bool(words) == bool(age):
        raise BadInput("detent sessions delete takes SESSION…, or --older-than AGE")
    if words:
        meant = {log_of(word, cwd=cwd, by_words=False) for word in words}
        return [card for card in sessions_of(everywhere=True) if card.path in meant]
    before = time.time() - _seconds(age)
    cards = sessions_of(cwd, everywhere=arguments.on("--all"))
    return [card for card in cards if card.active < before and card.state != "running"]


def _seconds(age: str) -> float:
    number, unit = age[:-1], SECONDS.get(age[-1:])
    if unit is None or not number.isdecimal() or not number.isascii() or len(number) > 6:
        raise BadInput(f"--older-than takes hours, days or weeks, such as 30d; not {age!r}")
    return int(number) * unit


def _says_yes(question: str) -> bool:
    if not os.isatty(0):
        raise BadInput("nobody can be asked here; look at the list above, then add --yes")
    import signal

    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        print(f"{question} [y/N] ", end="", flush=True)
        return sys.stdin.readline().strip().lower() in ("y", "yes")
    except KeyboardInterrupt:
        print(flush=True)  # what comes next begins on a line of its own
        raise


def _size(size: int) -> str:
    amount = float(size)
    for unit in ("bytes", "kB", "MB"):
        if amount < 1_000:
            return f"{amount:.0f} {unit}"
        amount /= 1_000
    return f"{amount:,.1f} GB"


def remake(words: tuple[str, ...], arguments: Arguments) -> int:
    if words:
        raise BadInput(f"detent sessions reindex takes nothing; not {' '.join(words)!r}")
    try:
        number = reindex()
    except OSError as error:
        raise BadInput(f"the index cannot be removed: {error.strerror}") from None
    return write([f"The index holds {counted(number, 'session')}."])
