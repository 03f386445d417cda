"""A slash command in a headless run: no turn, but the same frames and exit codes."""

import time
from typing import Any

from detent.sdk.keyless import keyless
from detent.sdk.options import Options
from detent.sdk.session import Session
from detent.surfaces.arguments import Arguments
from detent.surfaces.commands import Hear, Said, run
from detent.surfaces.headless.activity import tell_notice
from detent.surfaces.headless.budget import told
from detent.surfaces.headless.frames import frame_line
from detent.surfaces.headless.result import Ledger
from detent.surfaces.headless.shown import shown
from detent.surfaces.headless.signals import Signals
from detent.surfaces.headless.stdout import Stdout
from detent.surfaces.headless.streaming import FrameWriter
from detent.types.events import Compacted, Event, TurnEnded
from detent.types.usage import Usage


async def obey_once(
    one: Said, options: Options, output: str, arguments: Arguments, signals: Signals
) -> int:
    """`-p "/name …"`. Raises BadInput and NoModel, as a prompt does."""
    stdout = Stdout()
    async with Session(options if one.command.needs_model else keyless(options)) as session:
        signals.watch(session.interrupt)
        writer = None
        if output == "stream-json":
            hook_events = arguments.on("--include-hook-events")
            writer = FrameWriter(session, stdout, partial=False, hook_events=hook_events)
            await writer.begin()

        async def hear(event: Event) -> None:
            tell_notice(event)
            if writer is not None:
                await writer.show(event)

        result = await obeyed(one, session, hear)
        line = f"{shown(result['result'])}\n".encode() if output == "text" else frame_line(result)
        await stdout.write(line)
    return 0


async def obeyed(one: Said, session: Session, hear: Hear) -> dict[str, Any]:
    """The result of a turn that was none: what a compaction has cost is in it."""
    begun = time.perf_counter()
    ledger = Ledger(session.id, session.price, session.bounds)
    made: list[Compacted] = []

    async def listen(event: Event) -> None:
        if isinstance(event, Compacted):
            made.append(event)
        await hear(event)

    text = await run(one, session, listen)
    cost = {compacted.model: compacted.usage for compacted in made if compacted.usage.total}
    usage = sum(cost.values(), Usage())
    ms = round((time.perf_counter() - begun) * 1000)
    ended = TurnEnded(turn=0, reason="end_turn", usage=usage, lost=cost, ms=ms)
    ledger.add(ended)
    return ledger.result(told(session, ended)) | {"result": text}
