"""Another session in the same seat: a new one, an earlier one."""

import asyncio
from contextlib import suppress

from msgspec.structs import replace

from detent.sdk.keyless import is_keyless
from detent.sdk.options import Options
from detent.sdk.session import Session
from detent.sdk.sessions import Several, resolve, sessions_of
from detent.surfaces.tui import header
from detent.surfaces.tui.blocks import Block, Prose, Said, Told
from detent.surfaces.tui.conversation import Conversation
from detent.surfaces.tui.dialogs.sessions import SessionDialog
from detent.surfaces.tui.folding import fold_all
from detent.surfaces.tui.seat import Seat
from detent.surfaces.tui.view import View
from detent.types.errors import BadInput
from detent.types.events import Entry, Prompted

MOST_ENTRIES, MOST_BLOCKS = 400, 60
"""Of an earlier session that are looked at and shown again; the transcript has all."""


async def opened(seat: Seat, options: Options) -> None:
    """The session begins: its header, and the end of what was said before. Nothing has changed
    where it cannot be opened."""
    options = replace(options, approver=seat.approver)
    session = Session(options)
    try:
        loaded = (piece for piece in await session.memory() if piece.state in ("loaded", "cut"))
        read = [piece.path.rpartition("/")[2] for piece in loaded]
        before = await _taken_over(seat, session)
    except BaseException:
        await session.aclose()
        raise
    seat.options, seat.approver.session = options, session
    stage = seat.stage
    stage.view, stage.look = View(), replace(stage.look, cwd=session.cwd)
    tip = session.interface.spinner_tips_enabled and not session.entries
    stage.show_lines(header.lines(session, tuple(read), stage.look, tip=tip))
    if session.entries:
        _show_past(seat, session)
    if before is not None:
        await before.aclose()


async def _taken_over(seat: Seat, session: Session) -> Session | None:
    """The seat is the new session's, which goes on with what the person has chosen in the one
    before; that is given."""
    conversation = seat.conversation
    if conversation is None:
        seat.conversation = conversation = Conversation(session, seat.stage)
        conversation.give_back = lambda text: give_back(seat, text)
        return None
    old = conversation.session
    if not session.entries:
        if old.effort != session.effort:
            await session.set_effort(old.effort)
        with suppress(BadInput):
            session.mode = old.mode
            session.budget = old.budget
    return conversation.exchange(session)


def give_back(seat: Seat, text: str) -> None:
    before = seat.keyboard.text
    seat.keyboard.put(f"{text}\n{before}" if before else text)


def _show_past(seat: Seat, session: Session) -> None:
    """The last turns, as far as they are near: a long session must not make anybody wait."""
    entries = session.entries
    first = max(0, len(entries) - MOST_ENTRIES)
    starts = (at for at in range(first, len(entries)) if _begins_turn(entries[at]))
    first = next(starts, first)
    view, blocks = fold_all(entries[first:])
    shown = blocks[_place(blocks) :]
    if any(map(_begins_turn, entries[:first])) or len(shown) < len(blocks):
        seat.stage.show(Told("There is more before this: ctrl+o shows all."))
    seat.stage.show(*shown)
    seat.stage.view = replace(seat.stage.view, todos=view.todos)


def _begins_turn(entry: Entry) -> bool:
    return isinstance(entry, Prompted) and not entry.steered


def _place(blocks: list[Block]) -> int:
    """From a prompt on, if one is near the end; never from the middle of a text."""
    starts = [at for at, block in enumerate(blocks) if isinstance(block, Said)]
    near = next((at for at in starts if len(blocks) - at <= MOST_BLOCKS), None)
    at = max(0, len(blocks) - MOST_BLOCKS) if near is None else near
    while 0 < at < len(blocks) and isinstance(blocks[at], Prose):
        at += 1
    return at


async def anew(seat: Seat) -> None:
    """`/clear`."""
    await opened(seat, _other(seat.options))


def _other(options: Options, session: str = "") -> Options:
    """For another session than the one that the command line named."""
    return replace(
        options, resume=session, continue_newest=False, fork=False, session_id="", name="",
        resume_at="", drops_turn=None, approver=None,
    )  # fmt: skip


async def another(seat: Seat, wanted: str) -> None:
    """`/resume [ID|NAME|WORDS|all]`; where several may be meant, a list."""
    session = seat.session
    assert session is not None
    cards = None
    found = ""
    try:
        if wanted and wanted != "all":
            found = await asyncio.to_thread(resolve, wanted, cwd=session.cwd)
        else:
            everywhere = wanted == "all"
            cards = await asyncio.to_thread(sessions_of, session.cwd, everywhere=everywhere)
    except Several as several:
        cards = list(several.cards)
    if cards is not None:
        others = [card for card in cards if card.id != session.id]
        if not others:
            raise BadInput("there is no other session in this folder")
        card = await seat.stage.ask(SessionDialog(others))
        found = card.id if card is not None else ""
    if found and is_keyless(seat.options):
        raise BadInput("there is no model: /model names one, or start again with a key")
    if found:
        await opened(seat, _other(seat.options, found))
