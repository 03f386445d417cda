"""Joins the text box and what stands around it: menu, footer, what waits, what runs beside."""

from collections.abc import Sequence

from detent.sdk.files import names_of, suggested
from detent.sdk.interface import InterfaceWishes
from detent.surfaces.commands import COMMANDS, known
from detent.surfaces.commands.custom import as_commands
from detent.surfaces.tables.widths import one_line
from detent.surfaces.tui import footer, own_commands
from detent.surfaces.tui.blocks import Told
from detent.surfaces.tui.editing.completing import Completion, Offer
from detent.surfaces.tui.editing.text_box import PLACEHOLDER
from detent.surfaces.tui.seat import Seat
from detent.surfaces.tui.stage import Below, Typed
from detent.surfaces.tui.view import View

STARTING = "Starting …"


def join(seat: Seat) -> None:
    stage, keyboard = seat.stage, seat.keyboard
    completion = Completion(
        lambda: _commands(seat), lambda typed: _names(seat, typed), stage.touch, seat.now
    )
    seat.completion = completion
    stage.typed = lambda: Typed(keyboard.text, keyboard.cursor)
    jobs = footer.Jobs()
    stage.below = lambda: _below(seat, completion, jobs)
    questions = stage.questions
    questions.text, questions.put_text = lambda: keyboard.text, keyboard.put
    questions.insert, questions.take_keys = keyboard.insert, keyboard.take_keys
    keyboard.on_key = questions.key_pressed

    def changed() -> None:
        seat.overlay = ()
        if stage.dialog is None:
            completion.look(keyboard.text, keyboard.cursor)

    keyboard.on_change = changed
    keyboard.on_paste = seat.pasted.take
    keyboard.is_running = lambda: seat.conversation is not None and seat.conversation.is_busy


def _below(seat: Seat, completion: Completion, jobs: footer.Jobs) -> Below:
    look, conversation = seat.stage.look, seat.conversation
    menu = completion.lines(look, seat.stage.painter.height) or seat.overlay
    if conversation is None:
        return Below(menu=menu, footer=(look.theme.paint("faint", STARTING),), busy=seat.busy)
    session = conversation.session
    seat.stage.show(*(Told(text) for text in jobs.news(session)))
    line = footer.drawn(session, conversation.context, seat.keyboard.vim_mode, seat.hint, look)
    label = "" if seat.stage.view.is_running else conversation.label
    return Below(
        menu=menu,
        footer=(*seat.status, line),
        queued=conversation.queued,
        jobs=jobs.lines(session),
        numbers=footer.numbers(session),
        hint=PLACEHOLDER,
        busy=seat.busy or label,
        verb=_verb(session.interface, seat.stage.view),
    )


def _verb(wishes: InterfaceWishes, view: View) -> str:
    """Words that the person has chosen, another one for each turn; empty: what is being done."""
    chosen, tally = wishes.spinner_verbs, view.tally
    if chosen is None or not chosen.verbs or tally is None or view.phase == "retrying":
        return ""
    words: tuple[str, ...] = chosen.verbs
    if chosen.mode == "append":
        words = (*words, "")
    return one_line(words[int(tally.begun) % len(words)])


def _commands(seat: Seat) -> Sequence[Offer]:
    """Those of files are looked for when the slash is typed."""
    session = seat.session
    found = list(known(own_commands.COMMANDS).values())
    if session is not None:
        taken = (*(command.name for command in COMMANDS), *own_commands.NAMES)
        found += as_commands(session.custom_commands, taken)
    return [
        Offer(
            f"/{command.name}",
            command.about,
            f"/{command.name} " if command.takes else f"/{command.name}",
            takes_more=bool(command.takes) and not command.takes.startswith("["),
        )
        for command in found
    ]


async def _names(seat: Seat, typed: str) -> tuple[Sequence[str], bool]:
    """Files, and whether these are all there are, whatever is typed."""
    session = seat.session
    if session is None:
        return (), False
    if command := session.interface.file_suggestion:
        return await suggested(session, command, typed), False
    return await names_of(session), True
