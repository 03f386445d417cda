"""Slash commands of the terminal itself: what it looks like, and which session it shows."""

import os
from collections.abc import Awaitable, Callable

from detent.sdk.interface import StatusLine, keep
from detent.sdk.session import Session
from detent.surfaces.commands import Command, Said
from detent.surfaces.tui import reopening
from detent.surfaces.tui.blocks import Output, Told
from detent.surfaces.tui.dialogs.dialog import Row
from detent.surfaces.tui.dialogs.listing import Listing
from detent.surfaces.tui.editing.keys import listed
from detent.surfaces.tui.screen.themes import NONE, THEMES, Theme, theme_of
from detent.surfaces.tui.seat import Seat
from detent.types.errors import BadInput

TALK, TERMS, PROGRAM = "conversation", "model and permissions", "program"
COMMANDS = (
    Command("btw", "Ask something beside the work; it is not remembered", "QUESTION",
            needs_model=True, group=TALK, while_running=True),
    Command("clear", "Begin a new session; this one can be resumed", group=TALK,
            more="Mode, effort, model and limits stay; what is spent is counted anew."),
    Command("effort", "How much the model thinks", "[LEVEL]", group=TERMS),
    Command("exit", "Leave", group=PROGRAM, while_running=True),
    Command("quit", "The same as /exit", group=PROGRAM, while_running=True),
    Command("output-style", "How the model speaks", "[NAME]", group=TERMS),
    Command("keys", "What keys do", group=PROGRAM, while_running=True),
    Command("mode", "What may run without a question", "[MODE]", group=TERMS, while_running=True),
    Command("model", "Another model from the next turn on", "[NAME]", group=TERMS),
    Command("resume", "Go on with another session", "[SESSION]", group=TALK),
    Command("rewind", "Go back to a prompt: the chat, the files, or both",
            "[N [chat|files|both]]", group=TALK),
    Command("statusline", "The command whose output stands below the text box", "[COMMAND|off]",
            group=PROGRAM, while_running=True),
    Command("theme", "How it looks", "[NAME]", group=PROGRAM, while_running=True),
    Command("thinking", "Show or hide what the model thinks", group=PROGRAM, while_running=True),
    Command("vim", "Edit as in vi, or no longer", group=PROGRAM, while_running=True),
)  # fmt: skip

NAMES = tuple(command.name for command in COMMANDS)

Do = Callable[[Seat, str], Awaitable[None]]


def is_own(one: Said) -> bool:
    """`/rewind 3 chat` and `/mode plan` are done as everywhere."""
    return one.command.name in _DO and not (one.command.name in ("rewind", "mode") and one.rest)


async def run(seat: Seat, one: Said) -> None:
    if one.rest and not one.command.takes:
        raise BadInput(f"/{one.command.name} takes no words; not {one.rest!r}")
    await _DO[one.command.name](seat, one.rest)


async def _btw(seat: Seat, question: str) -> None:
    if not question:
        raise BadInput("/btw takes a question")
    session = _session(seat)
    answer = await session.aside(question)
    seat.stage.show(Output(f"/btw {question}", answer, is_markdown=True))


async def _clear(seat: Seat, rest: str) -> None:
    await reopening.anew(seat)


async def _exit(seat: Seat, rest: str) -> None:
    seat.keyboard.stop()


async def _model(seat: Seat, rest: str) -> None:
    from detent.surfaces.tui import picking

    await picking.model(seat, _session(seat), rest)


async def _effort(seat: Seat, rest: str) -> None:
    from detent.surfaces.tui import picking

    await picking.effort(seat, _session(seat), rest)


async def _mode(seat: Seat, rest: str) -> None:
    from detent.surfaces.tui import picking

    await picking.mode(seat, _session(seat))


def _session(seat: Seat) -> Session:
    assert seat.session is not None, "commands come after the session"
    return seat.session


async def _output_style(seat: Seat, rest: str) -> None:
    from detent.sdk.styles import styles

    session = _session(seat)
    known = styles(session.cwd, options=session.options)
    if not rest:
        rows = tuple(Row(one.name, one.description, one.name) for one in known)
        row = await seat.stage.ask(Listing("How shall the model speak?", rows))
        if row is None:
            return
        rest = row.value
    await session.set_output_style(rest)
    is_here = any(one.name == rest and one.source == "project" for one in known)
    kept = "" if is_here else f", kept in {keep('outputStyle', rest)}"
    seat.stage.show(Told(f"Output style {rest} from the next turn on{kept}."))


async def _keys(seat: Seat, rest: str) -> None:
    wide = max(len(name) for name, _ in listed())
    seat.stage.show(Output("/keys", "\n".join(f"{n:<{wide}}  {about}" for n, about in listed())))


async def _resume(seat: Seat, rest: str) -> None:
    await reopening.another(seat, rest)


async def _rewind(seat: Seat, rest: str) -> None:
    from detent.surfaces.tui.going_back import rewind

    await rewind(seat)


async def _theme(seat: Seat, rest: str) -> None:
    if not rest:
        rows = tuple(Row(theme.name, theme.about, theme) for theme in THEMES)
        before = seat.stage.look.theme
        at = next((n for n, theme in enumerate(THEMES) if theme == before), 0)
        dialog = Listing("Theme", rows, moved=lambda row: _dress(seat, row.value), start=at)
        row = await seat.stage.ask(dialog)
        if row is None:
            _dress(seat, before)
            return
        rest = row.value.name
    named = theme_of(rest, {})
    path = keep("theme", named.name)
    if seat.stage.look.theme != NONE:
        _dress(seat, theme_of(rest, os.environ))
    but = " (NO_COLOR counts here)" if os.environ.get("NO_COLOR") else ""
    seat.stage.show(Told(f"Theme {named.name}{but}, kept in {path}."))


def _dress(seat: Seat, theme: Theme) -> None:
    from msgspec.structs import replace

    seat.stage.look = replace(seat.stage.look, theme=theme)


async def _thinking(seat: Seat, rest: str) -> None:
    seat.stage.toggle_thinking()
    is_on = seat.stage.look.shows_thinking
    seat.stage.show(Told(f"What the model thinks is {'shown' if is_on else 'folded'} from now on."))


async def _vim(seat: Seat, rest: str) -> None:
    seat.keyboard.vim = not seat.keyboard.vim
    mode = "vim" if seat.keyboard.vim else "normal"
    seat.stage.show(Told(f"Editing keys: {mode}, kept in {keep('editorMode', mode)}."))


async def _statusline(seat: Seat, rest: str) -> None:
    if not rest:
        line = seat.status_line
        now = line.command if line is not None else "none"
        seat.stage.show(Output("/statusline", f"{now}\n/statusline COMMAND sets it, off ends it."))
        return
    value = None if rest == "off" else {"type": "command", "command": rest}
    path = keep("statusLine", value)
    seat.status_line = None if rest == "off" else StatusLine(rest)
    seat.changed()
    seat.stage.show(Told(f"Status line kept in {path}."))


_DO: dict[str, Do] = {
    "btw": _btw,
    "clear": _clear,
    "effort": _effort,
    "exit": _exit,
    "keys": _keys,
    "mode": _mode,
    "output-style": _output_style,
    "model": _model,
    "quit": _exit,
    "resume": _resume,
    "rewind": _rewind,
    "statusline": _statusline,
    "theme": _theme,
    "thinking": _thinking,
    "vim": _vim,
}
