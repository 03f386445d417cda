"""What the terminal can show, as far as it says."""

import os
import sys
from collections.abc import Mapping

from msgspec import Struct

from detent.sdk.health.record import Check, Place

NARROW = 40
LOCALE = ("LC_ALL", "LC_CTYPE", "LANG")
"""The first that is set counts."""


class Screen(Struct, frozen=True):
    """What the system says of our streams."""

    reads: bool
    """Standard input is a terminal;"""
    writes: bool
    """so is standard output."""
    columns: int = 0
    rows: int = 0


async def look(place: Place) -> list[Check]:
    return judged(screen(), place.environ)


def screen() -> Screen:
    reads, writes = (_is_terminal(number) for number in (0, 1))
    try:
        size = os.get_terminal_size(1)
    except (OSError, ValueError):
        return Screen(reads, writes)
    return Screen(reads, writes, size.columns, size.lines)


def _is_terminal(number: int) -> bool:
    try:
        return os.isatty(number)
    except OSError:
        return False


def judged(found: Screen, environ: Mapping[str, str]) -> list[Check]:
    if not found.writes:
        said = "standard output is no terminal here"
        also = "" if found.reads else "; neither is standard input"
        return [Check("terminal", "ok", f"{said}{also}; detent -p works everywhere")]
    term = environ.get("TERM", "")
    parts = [
        term or "TERM is not set",
        f"{found.columns} × {found.rows}" if found.columns else "of unknown size",
        colours(environ),
        f"{_locale(environ) or 'no locale'}",
        *around(environ),
    ]
    checks = [Check("terminal", "ok", ", ".join(parts))]
    checks += (Check("terminal", "warning", *said) for said in _doubts(found, environ))
    return checks


def colours(environ: Mapping[str, str]) -> str:
    term = environ.get("TERM", "")
    if environ.get("NO_COLOR"):
        return "no colours (NO_COLOR is set)"
    if term in ("", "dumb"):
        return "no colours"
    if environ.get("COLORTERM") in ("truecolor", "24bit") or "direct" in term:
        return "all colours"
    return "256 colours" if "256" in term else "16 colours"


def around(environ: Mapping[str, str]) -> list[str]:
    """What stands between us and the screen."""
    ssh = any(environ.get(name) for name in ("SSH_CONNECTION", "SSH_TTY"))
    found = {"in tmux": environ.get("TMUX"), "in screen": environ.get("STY"), "over SSH": ssh}
    return [name for name, is_so in found.items() if is_so]


def _doubts(found: Screen, environ: Mapping[str, str]) -> list[tuple[str, str]]:
    term = environ.get("TERM", "")
    doubts = []
    if not found.reads:
        said = "standard input is no terminal: no interactive session can be had"
        doubts.append((said, "start detent without a pipe in front of it"))
    if term in ("", "dumb"):
        said = "it says of itself that it can do nothing: output is plain"
        doubts.append((said, "set TERM, such as: export TERM=xterm-256color"))
    if environ.get("TMUX") and not term.startswith(("tmux", "screen")):
        advice = "in ~/.tmux.conf: set -g default-terminal tmux-256color"
        doubts.append((f"TERM is {term} inside of tmux: keys and colours may be wrong", advice))
    if not _is_unicode(environ):
        said = "the locale is not UTF-8: letters and lines may be shown as question marks"
        doubts.append((said, "export LC_ALL=C.UTF-8"))
    if 0 < found.columns < NARROW:
        doubts.append((f"only {found.columns} columns", "make the window wider"))
    return doubts


def _locale(environ: Mapping[str, str]) -> str:
    return next((environ[name] for name in LOCALE if environ.get(name)), "")


def _is_unicode(environ: Mapping[str, str]) -> bool:
    """A Mac is so whatever its variables say."""
    locale = _locale(environ).lower().replace("-", "")
    return "utf8" in locale or (not locale and sys.platform == "darwin")
