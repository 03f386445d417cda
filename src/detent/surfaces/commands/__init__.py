"""Slash commands: what a person may say to the program instead of to the model.

A command is the whole of a prompt. Every other text that begins with a slash, such as a path, is a
prompt like any other.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from msgspec import Struct

from detent.sdk.session import Session
from detent.types.content import Text
from detent.types.errors import BadInput
from detent.types.events import Event

Hear = Callable[[Event], Awaitable[None]]


class Command(Struct, frozen=True):
    name: str
    about: str
    takes: str = ""
    """What may stand behind it, as help shows it."""
    needs_model: bool = False
    """Without it, it works with no key and no network."""


COMMANDS = (
    Command("agents", "Who works for the session, and what came of it", "[stop ID|send ID TEXT]"),
    Command("budget", "What the session may spend and has spent", "[WHAT AMOUNT|none]"),
    Command("compact", "Tell the older conversation in short", "[what to keep]", needs_model=True),
    Command("context", "What the next request holds, and what that takes"),
    Command("cost", "What the session has spent, by what it was for"),
    Command("help", "This list"),
    Command("memory", "Memory files: what each costs, and why it counts"),
    Command("redo", "Take back the last /undo or /rewind"),
    Command("rewind", "Go back to a prompt: the chat, the files, or both", "[N [chat|files|both]]"),
    Command("undo", "Put files back to before the last step, or a step", "[STEP]"),
    Command("usage", "The same as /cost"),
)
NAMES = tuple(command.name for command in COMMANDS)


class Said(Struct, frozen=True):
    """A command, and what stood behind it."""

    command: Command
    rest: str


def said(prompt: Sequence[Any]) -> Said | None:
    """None for what is meant for the model. A slip of the pen is a command that nobody knows."""
    if len(prompt) != 1 or not isinstance(prompt[0], Text):
        return None
    name, *rest = prompt[0].text.split(maxsplit=1) or ("",)
    found = (command for command in COMMANDS if f"/{command.name}" == name)
    command = next(found, None)
    if command is None and not rest and close_to(name):
        command = Command(name[1:], "")
    return None if command is None else Said(command, "".join(rest).strip())


def close_to(word: str) -> str:
    """The command that was probably meant by a word that names none; a file is no slip."""
    name = word[1:]
    if not word.startswith("/") or not name or "/" in name or os.path.lexists(word):
        return ""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name.lower(), NAMES, 1, 0.82)), "")


async def run(one: Said, session: Session, hear: Hear) -> str:
    """What it has to say. Each is loaded when it is wanted. Raises BadInput."""
    command = one.command
    if one.rest and not command.takes:
        raise BadInput(f"/{command.name} takes no words; not {one.rest!r}")
    match command.name:
        case "agents":
            from detent.surfaces.commands.agents import agents

            return await agents(session, one.rest)
        case "budget":
            from detent.surfaces.commands.budget import budget

            return budget(session, one.rest)
        case "compact":
            from detent.surfaces.commands.compact import compact

            return await compact(session, one.rest, hear)
        case "cost" | "usage":
            from detent.surfaces.commands.cost import cost

            return cost(session)
        case "context":
            return await asyncio.to_thread(_context, session)
        case "memory":
            return await _memory(session)
        case "undo" | "redo" | "rewind":
            return await _back(one, session)
        case "help":
            return help_text()
        case slip:
            raise BadInput(f"unknown command /{slip}; did you mean /{close_to(f'/{slip}')}?")


async def _back(one: Said, session: Session) -> str:
    from detent.surfaces.commands.undo import redo, rewind, undo

    match one.command.name:
        case "undo":
            return await undo(session, one.rest)
        case "redo":
            return await redo(session)
        case _:
            return await rewind(session, one.rest)


def help_text() -> str:
    named = [(f"/{c.name} {c.takes}".rstrip(), c.about) for c in COMMANDS]
    width = max(len(name) for name, _ in named)
    return "\n".join(f"{name:{width}}  {about}" for name, about in named)


def _context(session: Session) -> str:
    from detent.surfaces.commands.context_table import printed, usual_width

    lines = printed(session.context(), usual_width(), is_whole=False, is_coloured=False)
    return "\n".join(lines)


async def _memory(session: Session) -> str:
    from detent.sdk.memory import Memory
    from detent.surfaces.commands.memory_table import listed

    files = await session.memory()
    return "\n".join(listed(Memory(session.cwd, files, off=session.memory_off)))
