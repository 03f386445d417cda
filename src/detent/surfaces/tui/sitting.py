"""One sitting: the screen first, then the session, then what the person wants, then good-bye."""

import asyncio
import gc
import os
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from detent.sdk.interface import InterfaceWishes, interface_of
from detent.sdk.options import Options
from detent.sdk.past_prompts import past_prompts
from detent.surfaces.arguments import Arguments
from detent.surfaces.tui import below, reopening, saying
from detent.surfaces.tui.approving import DialogApprover
from detent.surfaces.tui.blocks import Told
from detent.surfaces.tui.controls import Controls
from detent.surfaces.tui.dialogs.sessions import SessionDialog
from detent.surfaces.tui.dialogs.trusting import TrustDialog
from detent.surfaces.tui.drawing.amounts import dollars, tokens
from detent.surfaces.tui.drawing.blocks import Look
from detent.surfaces.tui.editing.keyboard import Keyboard
from detent.surfaces.tui.editing.pasting import Pasted
from detent.surfaces.tui.editing.recalling import Recall
from detent.surfaces.tui.screen.notifying import notice
from detent.surfaces.tui.screen.terminal import Terminal
from detent.surfaces.tui.screen.themes import NONE, Theme, theme_of
from detent.surfaces.tui.seat import Seat
from detent.surfaces.tui.stage import Stage
from detent.surfaces.tui.status import StatusRunner
from detent.types.errors import BadInput, NoModel
from detent.types.events import TurnEnded

LONG = 5.0
"""Seconds after which the person may have looked away: the end of a turn is told."""
EARLY = 4
"""Rounds of the loop before anything is read: the first frame is seen, and what was typed while we
loaded is in the text box, where it answers no question."""
CODES = {"SIGTERM": 143, "SIGHUP": 129}


class Parting(Struct):
    """What is said when the terminal is its own again; also when we have crashed."""

    session: str = ""
    spent: str = ""
    crashed: bool = False

    def lines(self) -> list[str]:
        if not self.session:
            return []
        head = "Detent ended by a fault of its own; nothing is lost. " if self.crashed else ""
        return [f"{head}Go on with: detent --resume {self.session}   ({self.spent})"]


async def sit(
    options: Options,
    arguments: Arguments,
    terminal: Terminal,
    environ: Mapping[str, str],
    parting: Parting,
) -> int:
    seat = _seat(options, arguments, terminal, environ)
    listening = asyncio.ensure_future(seat.keyboard.listen(terminal.early))
    leaving = _heed_signals(seat)
    asyncio.get_running_loop().set_exception_handler(lambda _, facts: _tell_fault(seat, facts))
    opening = asyncio.ensure_future(_open(seat, arguments))
    try:
        await asyncio.wait([listening, leaving, opening], return_when=asyncio.FIRST_COMPLETED)
        if opening.done() and not (listening.done() or leaving.done()):
            opening.result()
            await asyncio.wait([listening, leaving], return_when=asyncio.FIRST_COMPLETED)
        if listening.done() and (error := listening.exception()) is not None:
            if not isinstance(error, EOFError):
                raise error
            seat.exit_code = CODES["SIGHUP"]
    finally:
        opening.cancel()
        await asyncio.wait([opening])
        await _leave(seat, parting)
        seat.keyboard.stop()
        with suppress(asyncio.CancelledError, EOFError):
            await listening
    return seat.exit_code


def _seat(
    options: Options, arguments: Arguments, terminal: Terminal, environ: Mapping[str, str]
) -> Seat:
    """The first frame: a text box that takes keys, before anything else is looked at."""
    wishes = _wishes(options)
    is_linear = arguments.on("--screen-reader") or wishes.screen_reader
    theme = NONE if is_linear else _theme(arguments.value("--theme"), wishes.theme, environ)
    is_verbose = arguments.on("--verbose") or wishes.verbose
    thinks = is_verbose or wishes.show_thinking_summaries
    look = Look(80, theme, detailed=is_verbose, shows_thinking=thinks)
    stage = Stage(terminal, look, time.time, is_linear=is_linear, is_still=wishes.reduced_motion)
    is_vim = arguments.on("--vim") or wishes.editor_mode == "vim"
    keyboard = Keyboard(stage.paint, stage.resize, terminal.size, vim=is_vim)
    folder = os.path.realpath(options.cwd or os.getcwd())
    approver = DialogApprover(stage, lambda text: _call(seat, wishes, environ, text))
    seat = Seat(
        terminal=terminal, stage=stage, keyboard=keyboard, approver=approver, options=options,
        now=time.time, recall=Recall(past_prompts(folder, environ)), pasted=Pasted(os.path.isfile),
    )  # fmt: skip
    keyboard.act = Controls(seat, keyboard.stop).act
    below.join(seat)
    stage.paint()
    return seat


def _theme(flag: str, setting: str, environ: Mapping[str, str]) -> Theme:
    """A word in the settings may be another program's; one of the command line is meant."""
    if flag:
        return theme_of(flag, environ)
    try:
        return theme_of(setting, environ)
    except BadInput:
        return theme_of("ansi" if setting.endswith("-ansi") else "", environ)


def _wishes(options: Options) -> InterfaceWishes:
    """Settings that are broken are told when the session is opened."""
    try:
        return interface_of(options)
    except BadInput:
        return InterfaceWishes()


def _heed_signals(seat: Seat) -> "asyncio.Future[None]":
    loop = asyncio.get_running_loop()
    leaving: asyncio.Future[None] = loop.create_future()

    def leave(code: int) -> None:
        seat.exit_code = code
        if not leaving.done():
            leaving.set_result(None)

    for name, code in CODES.items():
        loop.add_signal_handler(getattr(signal, name), leave, code)
    loop.add_signal_handler(signal.SIGINT, lambda: seat.keyboard.act("cancel"))
    loop.add_signal_handler(signal.SIGCONT, lambda: _come_back(seat))
    return leaving


def _come_back(seat: Seat) -> None:
    """The shell had the terminal meanwhile."""
    if not seat.stage.is_away:
        seat.terminal.enter()
        seat.stage.painter.forget()
        seat.stage.paint()


def _tell_fault(seat: Seat, facts: dict[str, Any]) -> None:
    """Of something that nobody waits for: on the screen, not in the midst of it."""
    fault = facts.get("exception") or facts.get("message")
    seat.stage.show(Told(f"A fault of Detent itself: {fault!r} (/bug reports it)", "error"))


async def _open(seat: Seat, arguments: Arguments) -> None:
    """Trust, then a model, then the session; a question is asked only where one must be."""
    for _ in range(EARLY):
        await asyncio.sleep(0)
    options = await _trusted(seat, seat.options)
    options = await _resumed(seat, options, arguments)
    while True:
        try:
            await reopening.opened(seat, options)
            break
        except NoModel:
            from detent.surfaces.tui import first_run

            chosen = await first_run.choose(seat, options)
            if chosen is None:
                seat.keyboard.stop()
                return
            options = chosen
    gc.enable()
    _join_session(seat)
    for text in (" ".join(arguments.words), *seat.early):
        if text.strip():
            saying.say(seat, text)


async def _trusted(seat: Seat, options: Options) -> Options:
    from detent.sdk.trust import trust, waits_for_trust

    found = None if options.trust else waits_for_trust(options)
    if found is None:
        return options
    match await seat.stage.ask(TrustDialog(found, seat.stage.show_lines)):
        case "for good":
            trust(found)
            return options
        case "this time":
            return replace(options, trust=True)
        case _:
            return options


async def _resumed(seat: Seat, options: Options, arguments: Arguments) -> Options:
    """`--resume` without a value, or with words that several sessions fit."""
    wanted = arguments.values.get("--resume")
    if wanted is None:
        return options
    from detent.sdk.sessions import Several, resolve, sessions_of

    try:
        if wanted:
            return replace(options, resume=resolve(wanted, cwd=options.cwd))
        cards = sessions_of(options.cwd)
    except Several as several:
        cards = list(several.cards)
    if not cards:
        seat.stage.show(Told("There is no earlier session in this folder: this is a new one."))
        return replace(options, resume="")
    card = await seat.stage.ask(SessionDialog(cards))
    return replace(options, resume=card.id if card is not None else "")


def _join_session(seat: Seat) -> None:
    conversation = seat.conversation
    assert conversation is not None
    wishes = conversation.session.interface
    status = StatusRunner(seat)
    seat.status_line = wishes.status_line
    seat.changed = status.renew

    async def ended(turn: TurnEnded) -> None:
        status.renew()
        session = seat.session
        if session is not None:
            if turn.ms >= LONG * 1000:
                channel = wishes.preferred_notif_channel
                seat.terminal.write(notice(channel, "Detent is done", os.environ))
            await session.notify("idle_prompt", "Detent is done and waits for you")

    conversation.on_end = ended
    status.renew()


async def _call(seat: Seat, wishes: InterfaceWishes, environ: Mapping[str, str], text: str) -> None:
    seat.terminal.write(notice(wishes.preferred_notif_channel, f"Detent: {text}", environ))


async def _leave(seat: Seat, parting: Parting) -> None:
    """The turn that runs gets its end, nothing is left running, and the way back is told."""
    for task in seat.tasks:
        task.cancel()
    await asyncio.gather(*seat.tasks, return_exceptions=True)
    conversation = seat.conversation
    if conversation is None:
        seat.stage.leave()
        return
    session = conversation.session
    await conversation.aclose()
    if session.entries and session.path:
        spent = session.spent
        is_known = spent.dollars or not spent.unpriced
        cost = dollars(spent.dollars) if is_known else "price unknown"
        parting.session, parting.spent = session.id, f"{tokens(spent.usage.total)} tokens, {cost}"
    seat.stage.leave()
    await session.aclose()
    if seat.folder is not None:
        seat.folder.cleanup()
