"""A command line in the text of a command: it passes the gate as a call of Bash does, and what it
prints takes its place. One that fails, or may not run, ends the whole."""

from msgspec.structs import replace

from detent.app.engine import Engine
from detent.context.bounds import harmless_line, shortened
from detent.loop.passage import Passage, Prepared
from detent.types.codec import encode
from detent.types.content import Call
from detent.types.errors import BadInput
from detent.types.outcomes import Done, Refused, text_of

MOST = 30_000
"""Characters of what is printed."""
LONGEST_COMMAND, LONGEST_FAULT = 200, 400


async def printed(engine: Engine, command: str) -> str:
    """Raises BadInput. Where it goes by `cd`, nobody follows."""
    kit = replace(engine.kit, toolbox=engine.tools)
    if kit.toolbox.find("Bash") is None:
        raise BadInput(f"{_named(command)} cannot run: this session has no Bash")
    arguments = encode({"command": command, "description": "Part of a command"}).decode()
    passage = Passage(kit, Call(kit.clock.new_id("command"), "Bash", arguments))
    prepared = await passage.prepare()
    if isinstance(prepared, Refused):
        raise BadInput(f"{_named(command)} may not run: {_fault(prepared.reason)}")
    if not isinstance(prepared, Prepared):
        raise BadInput(f"{_named(command)} cannot run: {_fault(text_of(prepared))}")
    folder = engine.shop.cwd
    try:
        outcome = await passage.perform(prepared)
    finally:
        engine.shop.cwd = folder
    if not isinstance(outcome, Done):
        raise BadInput(f"{_named(command)} failed: {_fault(text_of(outcome))}")
    return shortened(_output(outcome), MOST)


def _output(outcome: Done) -> str:
    """As it was printed, without what else a model is told; where that is too long, as a model is
    told, with the file that holds the whole."""
    data = outcome.data or {}
    if "stdout" not in data or data.get("persistedOutputPath"):
        return text_of(outcome)
    streams = (str(data[name]).rstrip("\n") for name in ("stdout", "stderr") if data.get(name))
    return "\n".join(streams)


def _named(command: str) -> str:
    return f"`{harmless_line(' '.join(command.split()), LONGEST_COMMAND)}`"


def _fault(text: str) -> str:
    """What a program has printed may hold anything."""
    return harmless_line(" ".join(text.split()), LONGEST_FAULT)
