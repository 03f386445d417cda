"""Plays a story in this process, as an embedding program does: a session, read event by event."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

from detent.sdk.custom_tools import tool
from detent.sdk.options import Options
from detent.sdk.session import Session
from detent.session.reading import read_log
from detent.testing.scripted_model import ScriptedModel
from detent.types.codec import encode
from detent.types.content import Call, Result
from detent.types.durable import Durable
from detent.types.errors import BadInput
from detent.types.events import CallStarted, Notice, Prompted, TurnEnded
from detent.types.files import Undone
from detent.types.messages import Assistant, Message, Request, User

from .faults import real_write
from .stories import Place, Story, answer


@dataclass(frozen=True)
class Ground:
    """One run: its folders, and the file through which it reports."""

    root: str

    @property
    def place(self) -> Place:
        return Place(f"{self.root}/work", f"{self.outside}/counter")

    @property
    def outside(self) -> str:
        return f"{self.root}/outside"

    @property
    def home(self) -> str:
        return f"{self.root}/home"

    @property
    def reports(self) -> str:
        return f"{self.root}/reports"

    @property
    def environ(self) -> dict[str, str]:
        return {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": f"{self.root}/user",
            "DETENT_HOME": self.home,
            "DETENT_DISCOVERY_PORTS": "none",
        }


Report = Callable[..., None]
"""Takes what is to be told, by name."""


def reporter(path: str) -> Report:
    """Straight to the kernel, past the faults: what was told stays told."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def report(**told: Any) -> None:
        real_write(descriptor, json.dumps(told).encode() + b"\n")

    return report


def options_of(story: Story, ground: Ground, report: Report, **more: Any) -> Options:
    place = ground.place

    def spoken(request: Request) -> Any:
        report(request=unpaired(request.messages))
        made = answer(story, place, request)
        report(tokens=made.usage.input + made.usage.output)
        return made

    @tool(name="Add")
    def add(mark: str) -> str:
        "Adds a line to the counter."
        descriptor = os.open(place.counter, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, mark.encode() + b"\n")
        finally:
            os.close(descriptor)
        return "added"

    return Options(
        model=ScriptedModel(spoken, repeat_last=True),
        cwd=place.work,
        environ=ground.environ,
        managed_folders=(),
        sandbox="off",
        custom_tools=(add,),
        allowed_tools=("Add", "Bash", "Edit", "MultiEdit", "Write"),
        disallowed_tools=("Bash(touch *)",),
        max_tokens=story.budget or None,
        **{"settings": story.settings, **story.options, **more},
    )


def unpaired(messages: Any) -> str:
    """What a provider would refuse of these messages; empty when nothing is wrong."""
    seen: set[str] = set()
    waiting: list[str] = []
    last: type[Message] | None = None
    for number, message in enumerate(messages):
        if type(message) is last or (number == 0 and not isinstance(message, User)):
            return f"message {number} is of the same side as the one before"
        last = type(message)
        if isinstance(message, Assistant):
            waiting = [block.id for block in message.content if isinstance(block, Call)]
            if seen & set(waiting) or len(set(waiting)) != len(waiting) or not all(waiting):
                return f"message {number}: ids {waiting} are empty or come twice"
            seen |= set(waiting)
            continue
        results = [block.call_id for block in message.content if isinstance(block, Result)]
        if sorted(results) != sorted(waiting):
            return f"message {number}: calls {waiting} got results {results}"
        waiting = []
    return "" if last is User else "the last message is the model's own"


async def begin(story: Story, ground: Ground, report: Report, **more: Any) -> None:
    """The story from its beginning."""
    async with Session(options_of(story, ground, report, **more)) as session:
        for turn in story.turns:
            await told(session, turn.prompt, report, turn.steer)
        await taken_back(story, session, report)
        saved(session, report)
        report(ended=session.entries[-1].seq)


async def go_on(story: Story, ground: Ground, report: Report, **more: Any) -> None:
    """The same story, after whatever has happened to it: as `--continue` does."""
    try:
        options = options_of(story, ground, report, continue_newest=True, **more)
        session = Session(options)
    except BadInput as error:
        report(not_found=str(error))
        await begin(story, ground, report, **more)
        return
    if await _seen(session) != await _seen(Session(options)):
        report(wrong="I3: opening it twice gives another session")
    async with Session(options) as session:
        entries = session.entries
        given = encode([e.content for e in entries if isinstance(e, Prompted)]).decode()
        turns = [e for e in entries if isinstance(e, Prompted | TurnEnded)]
        if given and turns and isinstance(turns[-1], Prompted):
            await told(session, "Go on.", report)
        for turn in story.turns:
            if turn.mark not in given:
                await told(session, turn.prompt, report, turn.steer)
        await taken_back(story, session, report)
        saved(session, report)
        report(ended=session.entries[-1].seq)


async def _seen(session: Session) -> tuple[bytes, bytes]:
    """What a session is, when it is opened and closed again: its messages, and its file."""
    messages = encode(session._engine.kit.conversation.messages())
    entries = encode(list(session.entries))
    await session.aclose()
    return messages + entries, _bytes(session.path)


def _bytes(path: str) -> bytes:
    return Path(path).read_bytes()


def saved(session: Session, report: Report) -> None:
    """What was saved is what there was."""
    if session._engine.journal.log.trouble:  # and everybody knows
        return
    if list(read_log(session.path).entries) != list(session.entries):
        report(wrong="I3: what is read is not what was written")


async def told(session: Session, prompt: str, report: Report, steer: str = "") -> None:
    async for event in session.send(prompt):
        if isinstance(event, Durable):
            report(delivered=event.seq, sum=crc32(encode(event)))
        if isinstance(event, CallStarted) and steer:
            session.steer(steer)
            steer = ""
        if isinstance(event, Notice) and event.level == "error":
            report(notice=event.text)
        if isinstance(event, TurnEnded):
            report(turn=event.reason, error=event.error)


async def taken_back(story: Story, session: Session, report: Report) -> None:
    """The changes of the last prompt, and then made again: whichever was not done yet."""
    if not story.undoes:
        return
    done = [entry for entry in session.entries if isinstance(entry, Undone) and not entry.begun]
    numbers = {entry.seq for entry in done}
    try:
        if not done:
            report(notice=(await session.undo(turn=True)).trouble)
        if not any(numbers & set(entry.of) for entry in done):
            files = (await session.redo()).files
            report(notice=files.trouble if files else "")
    except BadInput as error:  # everything was cut off, or nothing can be written down
        report(notice=str(error))


def play(story: Story, ground: Ground, *, again: bool, **more: Any) -> None:
    report = reporter(ground.reports)
    asyncio.run((go_on if again else begin)(story, ground, report, **more))
