"""`-p`: one turn, in text, json or stream-json."""

import asyncio
import gc
import os
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from detent.sdk.options import Options
from detent.sdk.session import Session
from detent.surfaces.arguments import Arguments
from detent.surfaces.headless.activity import Activity, LongCalls, tell_notice
from detent.surfaces.headless.exit_codes import exit_code
from detent.surfaces.headless.result import TurnRecord
from detent.surfaces.headless.signals import Signals
from detent.surfaces.headless.stdout import Stdout
from detent.surfaces.lines.telling import tell
from detent.types.agents import AgentStarted
from detent.types.content import Text, UserBlock
from detent.types.events import Event, TurnEnded

if TYPE_CHECKING:
    from detent.sdk.commands import TurnWishes
    from detent.surfaces.commands import Said
    from detent.surfaces.headless.agent_lines import LongWork

Show = Callable[[Event], Awaitable[None]]


async def answer(
    options: Options, prompt: tuple[Text, ...], output: str, arguments: Arguments
) -> int:
    signals = Signals()
    try:
        return await _answer(options, prompt, output, arguments, signals)
    except asyncio.CancelledError:
        if signals.code is None:
            raise
        return signals.code  # the signal came before there was a turn to end


async def _answer(
    options: Options,
    prompt: tuple[Text, ...],
    output: str,
    arguments: Arguments,
    signals: Signals,
) -> int:
    may_call = prompt[-1].text.lstrip().startswith("/")
    if may_call and (one := command_in(prompt, arguments, options)):
        from detent.surfaces.headless.commanded import obey_once

        return await obey_once(one, options, output, arguments, signals)
    stdout = Stdout()
    async with Session(options) as session:
        gc.enable()
        signals.watch(session.interrupt)
        record = TurnRecord(session.id, session.price, session.bounds)
        show = _writer(output, session, stdout, arguments)
        verbose = output == "text" and arguments.on("--verbose")
        views = (record, show, view_of(verbose=verbose))
        if may_call or "@" in prompt[-1].text:
            await _show_more(session, prompt, arguments, views)
        else:
            await _show_turn(session, prompt, views)
        code = await _end(session, record, output, stdout, signals)
    for event in session.parting:
        tell_notice(event)
    return code


def command_in(prompt: Sequence[Any], arguments: Arguments, options: Options) -> "Said | None":
    """Loaded only for what begins with a slash. What is a slip of the pen to us may be a command
    that somebody has written."""
    if arguments.on("--disable-slash-commands"):
        return None
    from detent.surfaces.commands import NAMES, said

    one = said(prompt)
    if one is None or one.command.name in NAMES:
        return one
    from detent.sdk.commands import custom_commands
    from detent.surfaces.commands.custom import invoked, is_there

    return None if is_there(invoked(prompt), custom_commands(options)) else one


async def _show_more(
    session: Session, prompt: tuple[Text, ...], arguments: Arguments, views: Any
) -> None:
    """A turn of somebody's own command, or one whose prompt may name files."""
    from detent.surfaces.commands.custom import prepared

    _, show, look = views

    async def hear(event: Event) -> None:
        await show(event)
        look(event)

    with_commands = not arguments.on("--disable-slash-commands")
    ready = await prepared(session, prompt, hear, with_commands=with_commands)
    await _show_turn(session, ready.content, views, ready.wishes)


async def _show_turn(
    session: Session,
    prompt: "tuple[UserBlock, ...]",
    views: Any,
    wishes: "TurnWishes | None" = None,
) -> None:
    record, show, look = views
    async with aclosing(session.send(prompt, wishes=wishes)) as events:
        async for event in events:
            record.add(event)
            await show(event)
            look(event)


async def _end(
    session: Session, record: TurnRecord, output: str, stdout: Stdout, signals: Signals
) -> int:
    ended = record.ended
    assert ended is not None
    jobs = _jobs_ended(session)
    is_resumable = signals.code is not None and bool(session.path)
    if output != "text":
        from detent.surfaces.budgets import told
        from detent.surfaces.headless.frames import frame_line

        result = record.result(told(session, ended)) | jobs
        await stdout.write(frame_line(result))
    elif ended.error and not is_resumable:
        tell(ended.error)
        _tell_way_on(session, ended)
    for agent, refused in record.refused if output == "text" else ():
        whose = f" of {agent}" if agent else ""
        tell(f"not permitted: {refused.name}{whose}. {refused.outcome.reason}")  # type: ignore[union-attr]
    if is_resumable:
        tell(f'interrupted; go on with: detent -p -r {session.id} "…"')
    code = exit_code(ended.reason, refused=bool(record.refused), status=ended.status)
    return signals.code if signals.code is not None and ended.reason == "user_cancelled" else code


def _jobs_ended(session: Session) -> dict[str, Any]:
    """Told to people, and for the result object."""
    if not session.jobs and not session.at_work:
        return {}
    from detent.surfaces.headless.jobs import jobs_ended, tell_jobs

    tell_jobs(session)
    return jobs_ended(session)


def view_of(*, verbose: bool) -> Callable[[Event], None]:
    """What goes to stderr; who looks at it there must be able to tell a long call from a hang."""
    if not verbose and not os.isatty(2):
        return tell_notice
    views = [Activity().tell] if verbose else [LongCalls().tell, tell_notice]
    behind: list[LongWork] = []

    def look(event: Event) -> None:
        for view in views:
            view(event)
        if isinstance(event, AgentStarted) and not behind:
            from detent.surfaces.headless.agent_lines import LongWork

            behind.append(LongWork())
        for work in behind:
            work.tell(event)

    return look


def _tell_way_on(session: Session, ended: TurnEnded) -> None:
    if ended.limit:
        from detent.surfaces.budgets import way_on

        if way := way_on(session, ended):
            tell(f"go on with more: {way}")


def _writer(output: str, session: Session, stdout: Stdout, arguments: Arguments) -> Show:
    if output == "text":
        from detent.surfaces.headless.text import TextWriter, ValueWriter

        as_data = session.options.json_schema is not None
        return (ValueWriter if as_data else TextWriter)(stdout).show
    if output == "json":
        return _silent
    from detent.surfaces.headless.streaming import FrameWriter

    return FrameWriter(session, stdout, arguments).show


async def _silent(event: Event) -> None:
    pass
