"""A command as the prompt that it stands for."""

import re
from collections.abc import Callable

from detent.app.commands.placeholders import filled, given, takes_arguments
from detent.app.commands.record import CustomCommand, Expanded
from detent.app.commands.template import Piece, Run, pieces
from detent.app.engine import Engine
from detent.app.recorder import Deliver
from detent.context.bounds import harmless_line
from detent.types.content import COMMAND, Text, UserBlock
from detent.types.errors import BadInput
from detent.types.events import Event

MOST_RUNS = 50
LONGEST_PATH = 4_096
_CLOSING = re.compile(r"<\s*/\s*command", re.IGNORECASE)
_QUOTED = str.maketrans({'"': "'", "<": "(", ">": ")"})


async def expand(
    engine: Engine,
    command: CustomCommand,
    arguments: str,
    hear: Deliver,
    offer: Callable[[Event], None],
) -> Expanded:
    """`hear` and `offer` get what happens meanwhile. Raises BadInput."""
    variables = {
        "CLAUDE_SESSION_ID": engine.journal.session,
        "CLAUDE_PROJECT_DIR": engine.grounds.cwd,
    }
    what = given(command.body, arguments, command.arguments, variables)
    parts: list[Piece] = [
        filled(piece, what) if isinstance(piece, str) else Run(filled(piece.command, what))
        for piece in pieces(command.body)
    ]
    if what.text and not takes_arguments(command.body, command.arguments):
        parts.append(f"\n\nARGUMENTS: {what.text}")
    said = [part for part in parts if isinstance(part, str)]
    texts = [*said] if len(said) == len(parts) else await _run(engine, command, parts, hear, offer)
    whole = "".join(texts).strip()
    if not whole:
        raise BadInput(f"/{command.name}: {command.path} says nothing")
    attached, notices = await _mentioned(engine, said)
    typed = Text(f"/{command.name} {what.text}".rstrip())
    content = (typed, Text(_told(command, whole)), *attached)
    return Expanded(content=content, wishes=command.wishes, notices=notices)


async def _run(
    engine: Engine,
    command: CustomCommand,
    parts: list[Piece],
    hear: Deliver,
    offer: Callable[[Event], None],
) -> list[str]:
    """One after the other, under what the command itself allows and denies."""
    from detent.app.commands.running import printed
    from detent.gate.lending import lent

    if sum(isinstance(part, Run) for part in parts) > MOST_RUNS:
        raise BadInput(f"/{command.name}: no more than {MOST_RUNS} command lines are run")
    engine.recorder.attach(hear, offer)
    await engine.begin()
    texts: list[str] = []
    with lent(engine.gate, command.wishes.allowed, command.wishes.denied):
        for part in parts:
            try:
                texts.append(await printed(engine, part.command) if isinstance(part, Run) else part)
            except BadInput as error:
                raise BadInput(f"/{command.name}: {error}") from None
    return texts


async def _mentioned(
    engine: Engine, texts: list[str]
) -> tuple[tuple[UserBlock, ...], tuple[str, ...]]:
    """Not those in what was printed: others may have written it."""
    if not any("@" in text for text in texts):
        return (), ()
    from detent.app.mentions.attaching import attached

    return await attached(engine, texts)


def _told(command: CustomCommand, text: str) -> str:
    """Nothing that was printed can end the tag and go on in the user's name."""
    path = harmless_line(command.path, LONGEST_PATH).translate(_QUOTED)
    return f'{COMMAND}file="{path}">\n{_CLOSING.sub("< /command", text)}\n</command>'
