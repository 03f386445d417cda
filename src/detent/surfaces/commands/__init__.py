"""Slash commands: what a person may say to the program instead of to the model.

A command is the whole of a prompt. Every other text that begins with a slash, such as a path, is a
prompt like any other. A surface may have `extra` ones of its own; what they do is its business.
"""

import os
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from msgspec import Struct

from detent.sdk.session import Session
from detent.surfaces.commands.table import COMMANDS, GROUPS, NAMES, Command, known
from detent.types.content import Text
from detent.types.errors import BadInput
from detent.types.events import Event

__all__ = [
    "COMMANDS", "GROUPS", "NAMES", "Command", "Hear", "Run", "Said", "close_to", "help_text",
    "known", "run", "said",
]  # fmt: skip

Hear = Callable[[Event], Awaitable[None]]
Run = Callable[[Session, str, Hear], Awaitable[str]]
"""What a command is: the session, what stood behind its name, and who hears what happens meanwhile.
Gives what it has to say; raises BadInput."""


class Said(Struct, frozen=True):
    """A command, and what stood behind it."""

    command: Command
    rest: str


def said(prompt: Sequence[Any], extra: Sequence[Command] = ()) -> Said | None:
    """None for what is meant for the model. A slip of the pen is a command that nobody knows."""
    if len(prompt) != 1 or not isinstance(prompt[0], Text):
        return None
    name, *rest = prompt[0].text.split(maxsplit=1) or ("",)
    command = known(extra).get(name[1:]) if name.startswith("/") else None
    if command is None and not rest and close_to(name, extra):
        command = Command(name[1:], "")
    return None if command is None else Said(command, "".join(rest).strip())


def close_to(word: str, extra: Sequence[Command] = ()) -> str:
    """The command that was probably meant by a word that names none; a file is no slip."""
    name = word[1:]
    if not word.startswith("/") or not name or "/" in name or os.path.lexists(word):
        return ""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name.lower(), known(extra), 1, 0.82)), "")


async def run(one: Said, session: Session, hear: Hear, extra: Sequence[Command] = ()) -> str:
    """What it has to say. Each is loaded when it is wanted. Files, models and tools may speak in it
    (`/diff`, `/tasks output`): a terminal gets it through `shown`. Raises BadInput."""
    command = one.command
    if command.name not in known(extra):
        meant = close_to(f"/{command.name}", extra)
        raise BadInput(f"unknown command /{command.name}; did you mean /{meant}?")
    if one.rest and not command.takes:
        raise BadInput(f"/{command.name} takes no words; not {one.rest!r}")
    if session.is_running and not command.while_running:
        raise BadInput(f"/{command.name} has to wait until the turn has ended")
    if command.name == "help":
        from detent.surfaces.commands.custom import as_commands

        return help_text((*extra, *as_commands(session.custom_commands, known(extra))), one.rest)
    return await _loaded(command)(session, one.rest, hear)


def help_text(extra: Sequence[Command] = (), about: str = "") -> str:
    """All of them, by subject; or more about one. Raises BadInput."""
    from detent.surfaces.commands.help import all_of_them, one_of_them

    commands = known(extra)
    if not about:
        return "\n".join(all_of_them(commands.values()))
    name = about.removeprefix("/")
    if name not in commands:
        meant = close_to(f"/{name}", extra)
        hint = f"; did you mean /{meant}?" if meant else "; /help lists them all"
        raise BadInput(f"there is no command /{name}{hint}")
    return "\n".join(one_of_them(commands[name]))


def _loaded(command: Command) -> Run:
    from importlib import import_module

    module, function = command.place
    run: Run = getattr(import_module(module), function)
    return run
