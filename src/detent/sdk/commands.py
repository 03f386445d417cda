"""Commands that people write themselves, and files that prompts name."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from detent.app.commands.finding import CommandFiles, commands_of
from detent.app.commands.record import Commands, CustomCommand, Expanded, TurnWishes
from detent.app.grounds import grounds_of
from detent.app.options import Options
from detent.app.recorder import to_nobody
from detent.types.content import Text, UserBlock
from detent.types.errors import BadInput
from detent.types.events import Event

if TYPE_CHECKING:
    from detent.sdk.interactive import Interactive

__all__ = ["CustomCommand", "Expanded", "TurnWishes", "custom_commands"]

Hear = Callable[[Event], Awaitable[None]]


def custom_commands(options: Options) -> tuple[CustomCommand, ...]:
    """Those that a session with these options would have, without one."""
    return commands_of(grounds_of(options)).all()


def commands_now(session: "Interactive") -> Commands:
    """What is wrong with their files is told with the next turn."""
    engine = session._engine
    if session._command_files is None:
        session._command_files = CommandFiles(engine.grounds)
    files = session._command_files
    found = files.now()
    engine.notices += files.news()
    return found


async def expand_now(session: "Interactive", name: str, arguments: str, hear: Hear) -> Expanded:
    from detent.app.commands.expanding import expand

    command = commands_now(session).find(name)
    if command is None:
        raise BadInput(f"there is no command /{name}")
    offered: list[Event] = []
    """Told without waiting: they go before what is told next."""

    async def listen(event: Event) -> None:
        while offered:
            await hear(offered.pop(0))
        await hear(event)

    try:
        return await expand(session._engine, command, arguments, listen, offered.append)
    finally:
        session._engine.recorder.attach(to_nobody, lambda event: None)
        while offered:
            await hear(offered.pop(0))


async def mentioned_in(
    session: "Interactive", text: str
) -> tuple[tuple[UserBlock, ...], tuple[str, ...]]:
    if "@" not in text:
        return (Text(text),), ()
    from detent.app.mentions.attaching import attached

    blocks, notices = await attached(session._engine, [text], is_running=session.is_running)
    return (Text(text), *blocks), notices
