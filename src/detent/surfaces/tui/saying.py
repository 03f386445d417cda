"""What a text means that was typed: a prompt, a command, a line for the shell or for memory."""

import base64
import os

from detent.sdk.keyless import is_keyless
from detent.sdk.session import Session
from detent.surfaces.commands import NAMES, Said, known, run, said
from detent.surfaces.commands.custom import invoked, is_there
from detent.surfaces.tui import own_commands
from detent.surfaces.tui.blocks import Output, Told
from detent.surfaces.tui.conversation import SENDING, Conversation, Job
from detent.surfaces.tui.dialogs.dialog import Row
from detent.surfaces.tui.dialogs.listing import Listing
from detent.surfaces.tui.seat import Seat
from detent.surfaces.wording.ran import as_note
from detent.types.content import Image, Text, UserBlock
from detent.types.errors import BadInput
from detent.types.events import Event

MOST_SHELL = 8_000
"""Characters of an output that are shown of the person's own command."""
LARGEST_PICTURE = 5_000_000
TYPES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif",
         ".webp": "image/webp"}  # fmt: skip
NO_MODEL = "There is no model yet: /model names one, or start again with a key."
PLACES = (
    Row("This project", "AGENTS.md or CLAUDE.md", "project"),
    Row("You, in this project", "CLAUDE.local.md", "local"),
    Row("You, everywhere", "in your own folder", "user"),
)


def say(seat: Seat, text: str, *, later: bool = False) -> None:
    """`later`: not before the turn has ended that runs."""
    conversation = seat.conversation
    if conversation is None:
        seat.early.append(text)
    elif text.startswith("!"):
        _shell(seat, conversation, text)
    elif text.startswith("#") and text.lstrip("#").strip():
        conversation.do(Job(text, lambda: _remember(seat, text.lstrip("#").strip()), "Remembering"))
    elif text.startswith("/") and _command(seat, conversation, text, later=later):
        return
    elif _lacks_model(seat):
        conversation.give_back(text)
    elif later or not conversation.is_busy:
        conversation.do(Job(text, lambda: _turn(seat, conversation, text), SENDING))
    else:
        seat.begin(_steer(seat, conversation, text))


# --- prompts


async def _turn(seat: Seat, conversation: Conversation, text: str) -> None:
    await conversation.run_turn(await _content(seat, conversation.session, text))


async def _steer(seat: Seat, conversation: Conversation, text: str) -> None:
    """In the order in which it was said, however long it takes to look for files."""
    async with seat.in_order:
        conversation.steer(text, await _content(seat, conversation.session, text))


def _lacks_model(seat: Seat) -> bool:
    if is_keyless(seat.options):
        seat.stage.show(Told(NO_MODEL, "warning"))
    return is_keyless(seat.options)


async def _content(seat: Seat, session: Session, text: str) -> tuple[UserBlock, ...]:
    """With the files that it mentions and the pictures that it holds."""
    whole = seat.pasted.unfolded(text)
    blocks: tuple[UserBlock, ...] = (Text(whole),)
    if "@" in whole:
        blocks, notices = await session.with_mentions(whole)
        seat.stage.show(*(Told(notice, "warning") for notice in notices))
    pictures = [_picture(seat, path) for path in seat.pasted.pictures(text)]
    return (*blocks, *filter(None, pictures))


def _picture(seat: Seat, path: str) -> Image | None:
    try:
        if os.path.getsize(path) > LARGEST_PICTURE:
            raise OSError(f"more than {LARGEST_PICTURE:,} bytes")
        with open(path, "rb") as file:
            data = base64.b64encode(file.read()).decode()
    except OSError as error:
        seat.stage.show(Told(f"{path} is not sent: {error.strerror or error}", "warning"))
        return None
    return Image(TYPES.get(os.path.splitext(path)[1].lower(), "image/png"), data)


# --- commands


def _command(seat: Seat, conversation: Conversation, text: str, *, later: bool) -> bool:
    """False: it names none, and is a prompt like any other."""
    one = said((Text(text),), own_commands.COMMANDS)
    is_known = one is not None and one.command.name in known(own_commands.COMMANDS)
    if not is_known and _custom(seat, conversation, text):
        return True
    if one is None:
        return False
    if one.command.needs_model and _lacks_model(seat):
        return True
    if own_commands.is_own(one):
        job = Job(text, lambda: own_commands.run(seat, one), "")
    else:
        job = Job(text, lambda: _obey(seat, conversation, one, text), f"/{one.command.name}")
    if conversation.is_busy and one.command.while_running and not later:
        seat.begin(_beside(seat, job))
    else:
        conversation.do(job)
    return True


async def _beside(seat: Seat, job: Job) -> None:
    """While a turn runs: nothing waits for it."""
    try:
        await job.run()
    except (BadInput, RuntimeError) as error:
        seat.stage.show(Told(str(error), "error"))


async def _obey(seat: Seat, conversation: Conversation, one: Said, text: str) -> None:
    async def hear(event: Event) -> None:
        conversation.hear(event)

    session = conversation.session
    for notice in session.news():
        conversation.hear(notice)
    try:
        told = await run(one, session, hear, own_commands.COMMANDS)
        seat.stage.show(Output(text, told, is_diff=one.command.name == "diff"))
    except BadInput as error:
        seat.stage.show(Output(text, str(error), is_error=True))


def _custom(seat: Seat, conversation: Conversation, text: str) -> bool:
    one = invoked((Text(text),), (*NAMES, *own_commands.NAMES))
    if one is None or not is_there(one, conversation.session.custom_commands):
        return False
    if _lacks_model(seat):
        return True

    async def expanded() -> None:
        async def hear(event: Event) -> None:
            conversation.hear(event)

        whole = seat.pasted.unfolded(one.rest)
        found = await conversation.session.expand(one.name, whole, hear)
        seat.stage.show(*(Told(notice, "warning") for notice in found.notices))
        await conversation.run_turn(found.content, found.wishes)

    conversation.do(Job(text, expanded))
    return True


# --- the shell, and memory


def _shell(seat: Seat, conversation: Conversation, text: str) -> None:
    """`!cmd` is told to the model with the next prompt, `!!cmd` is not."""
    is_told = not text.startswith("!!")
    command = text.lstrip("!").strip()
    if command:
        run = lambda: _run_shell(seat, conversation, command, is_told=is_told)  # noqa: E731
        conversation.do(Job(text, run, command))


async def _run_shell(
    seat: Seat, conversation: Conversation, command: str, *, is_told: bool
) -> None:
    ran = await conversation.session.shell(command)
    output = ran.output if len(ran.output) <= MOST_SHELL else f"…{ran.output[-MOST_SHELL:]}"
    ending = "" if ran.exit_code == 0 else f"\nexit code {ran.exit_code}"
    seat.stage.show(Output(f"!{command}", f"{output.rstrip()}{ending}".strip() or "(no output)"))
    if is_told:
        conversation.note(as_note(ran))


async def _remember(seat: Seat, text: str) -> None:
    session = seat.session
    row = await seat.stage.ask(Listing(f"Remember where: {text}", PLACES))
    if row is not None and session is not None:
        path = await session.remember(text, row.value)
        seat.stage.show(Told(f"Remembered in {path}."))
