"""`detent completion`: a script that completes commands in a shell."""

import re
from collections.abc import Iterator

from detent.surfaces.arguments import Arguments
from detent.surfaces.cli.sessions import write, write_for_people
from detent.surfaces.tables.widths import fitted, one_line
from detent.types.errors import BadInput

SHELLS = ("bash", "zsh", "fish")
MOST_SESSIONS = 50
ABOUT = 60
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def completion(words: tuple[str, ...], arguments: Arguments) -> int:
    match words:
        case ("sessions",):  # what the scripts ask for
            return write_for_people(sessions())
        case (shell,) if shell in SHELLS:
            return write([script_for(shell).rstrip("\n")])
        case _:
            said = f"; not {' '.join(words)!r}" if words else ""
            raise BadInput(f"detent completion takes: {', '.join(SHELLS)}{said}")


def script_for(shell: str) -> str:
    from importlib import import_module

    from detent.surfaces.cli.shells.offers import offers

    found = import_module(f"detent.surfaces.cli.shells.{shell}")
    return str(found.script(offers()))


def sessions() -> Iterator[str]:
    """Of this folder, the newest first: what can be typed, a tab, and what it is about. A name is
    offered only where no shell could take it for more than a word."""
    from detent.sdk.sessions import sessions_of

    for card in sessions_of()[:MOST_SESSIONS]:
        about = fitted(one_line(card.name or card.title).replace("\t", " "), ABOUT)
        if _PLAIN.fullmatch(card.name):
            yield f"{card.name}\t{fitted(one_line(card.title), ABOUT)}"
        if _PLAIN.fullmatch(card.id):
            yield f"{card.id}\t{about}"
