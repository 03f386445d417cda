"""`--resume [ID|NAME|TEXT]`: which session is meant."""

from detent.sdk.sessions import Several, resolve, sessions_of
from detent.surfaces.arguments import Arguments
from detent.surfaces.lines.telling import tell
from detent.types.errors import BadInput


def session_meant(arguments: Arguments) -> str:
    """Its id. Where several may be meant a person is asked, if there is one. Raises BadInput, and
    KeyboardInterrupt when the person leaves."""
    wanted, cwd = arguments.value("--resume"), arguments.value("--cwd")
    try:
        if not wanted:
            raise _any_of(cwd)
        found = resolve(wanted, cwd=cwd)
    except Several as several:
        if not _may_ask(arguments):
            raise
        from detent.surfaces.headless.picking import pick

        return pick(several.cards).id
    if not found.startswith(wanted):
        tell(f"goes on with session {found}")
    return found


def _any_of(cwd: str) -> BadInput:
    cards = sessions_of(cwd)
    return Several("", cards) if cards else BadInput("there is no earlier session in this folder")


def _may_ask(arguments: Arguments) -> bool:
    """A program that reads our output is no person."""
    if arguments.value("--output-format", "text") != "text":
        return False
    from detent.surfaces.headless.picking import has_terminal

    return has_terminal()
