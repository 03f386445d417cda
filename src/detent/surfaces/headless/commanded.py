"""A slash command in a headless run: no turn, but the same frames and exit codes."""

import asyncio
import time
from typing import Any

from detent.sdk.keyless import keyless
from detent.sdk.options import Options
from detent.sdk.session import Session
from detent.surfaces.arguments import Arguments
from detent.surfaces.budgets import told
from detent.surfaces.commands import Hear, Said, run
from detent.surfaces.headless.activity import tell_notice
from detent.surfaces.headless.frames import frame_line
from detent.surfaces.headless.result import TurnRecord
from detent.surfaces.headless.signals import Signals
from detent.surfaces.headless.stdout import Stdout
from detent.surfaces.headless.streaming import FrameWriter
from detent.surfaces.lines.telling import tell
from detent.surfaces.wording.shown import shown
from detent.types.events import Compacted, Event, Lost, Reason, TurnEnded
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
            writer = FrameWriter(session, stdout, arguments)
            await writer.begin()

        async def hear(event: Event) -> None:
            tell_notice(event)
            if writer is not None:
                await writer.show(event)

        result = await obeyed(one, session, hear)
        if output != "text":
            await stdout.write(frame_line(result))
        elif result["is_error"]:
            tell(result["result"])
        else:
            await stdout.write(f"{shown(result['result'])}\n".encode())
    return signals.code or 0


async def obeyed(one: Said, session: Session, hear: Hear) -> dict[str, Any]:
    """The result of a turn that was none: what a compaction has cost is in it. Cancelling it gives
    one as well."""
    begun = time.perf_counter()
    for notice in session.news():
        await hear(notice)
    record = TurnRecord(session.id, session.price, session.bounds)
    cost: dict[str, Usage] = {}

    async def listen(event: Event) -> None:
        if isinstance(event, Compacted | Lost) and event.usage.total:
            cost[event.model] = cost.get(event.model, Usage()) + event.usage
        await hear(event)

    error = ""
    try:
        text = await run(one, session, listen)
    except asyncio.CancelledError:
        text = error = "Interrupted."
    usage = sum(cost.values(), Usage())
    ms = round((time.perf_counter() - begun) * 1000)
    reason: Reason = "user_cancelled" if error else "end_turn"
    ended = TurnEnded(turn=0, reason=reason, error=error, usage=usage, lost=cost, ms=ms)
    record.add(ended)
    return record.result(told(session, ended)) | {"result": text}
