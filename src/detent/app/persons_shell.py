"""A command of the person's own: no gate and no sandbox stand before it, and no log tells of it."""

from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING

from msgspec import Struct

from detent.tools.shell.bash import LONGEST, argv_of
from detent.tools.shell.folder import Footprint, follow, may_move
from detent.tools.shell.output import ShellOutput
from detent.types.errors import BadInput

if TYPE_CHECKING:
    from detent.app.engine import Engine
    from detent.ports import Desk

STAYS = "[The working folder stays {}: a turn is running there.]"


class ShellRan(Struct, frozen=True):
    command: str
    output: str
    """Both streams as they came, both ends of it where that is too much."""
    exit_code: int
    """Negative: the signal that killed it."""
    seconds: float
    path: str = ""
    """The file that holds the whole of a long output."""
    note: str = ""
    """Where the session works now, or why it was ended."""


async def run_for_person(
    engine: "Engine", command: str, hear: Callable[[str], None], *, stands_still: bool
) -> ShellRan:
    """`stands_still`: calls were judged where the session stands, so it must not move. Cancelling
    ends the command with all that it has started. Raises BadInput where nothing can be run."""
    _check(command)
    clock = engine.grounds.clock
    desk = engine.kit.desk("shell", hear)
    moves = may_move(command)
    began = clock.elapsed()
    footprint = Footprint(desk.host, wanted=moves and not stands_still)
    with footprint, closing(ShellOutput(desk)) as output:
        try:
            finished = await desk.host.run(
                argv_of(command, desk.host),
                cwd=desk.cwd,
                timeout=None,
                output=output.out,
                errors=output.err,
                env=footprint.env,
            )
        except OSError as error:
            raise BadInput(f"not run: {error.strerror or error} ({desk.cwd})") from None
        seconds = clock.elapsed() - began
        moved = await _moved(footprint, desk, is_late=moves and stands_still)
        return ShellRan(
            command=command,
            output=output.text(0),
            exit_code=finished.exit_code,
            seconds=seconds,
            path=output.spill.path,
            note=" ".join(filter(None, (finished.note, moved))),
        )


async def _moved(footprint: Footprint, desk: "Desk", *, is_late: bool) -> str:
    return STAYS.format(desk.cwd) if is_late else await follow(footprint.folder(), desk)


def _check(command: str) -> None:
    if not command.strip():
        raise BadInput("there is no command")
    if "\0" in command:
        raise BadInput("a command cannot contain a NUL character")
    if len(command.encode("utf-8", "replace")) > LONGEST:
        raise BadInput(f"the command is longer than {LONGEST:,} bytes, which no shell takes")
