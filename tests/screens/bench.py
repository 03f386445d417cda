"""A seat with everything real but the machine: the terminal is in memory, the clock stands still,
and the session is one that only says how it stands."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from msgspec import Struct
from prompt_toolkit.input import DummyInput

from detent.sdk.interface import InterfaceWishes
from detent.sdk.options import Options
from detent.sdk.session import Job as BackgroundJob
from detent.sdk.undo import Point, Rewinding
from detent.surfaces.tui import below, header
from detent.surfaces.tui.approving import DialogApprover
from detent.surfaces.tui.controls import Controls
from detent.surfaces.tui.conversation import Conversation, Job
from detent.surfaces.tui.dialogs import change
from detent.surfaces.tui.dialogs.dialog import Dialog
from detent.surfaces.tui.drawing.blocks import Look
from detent.surfaces.tui.editing.keyboard import Keyboard
from detent.surfaces.tui.editing.pasting import Pasted
from detent.surfaces.tui.editing.recalling import Recall
from detent.surfaces.tui.screen.themes import theme_of
from detent.surfaces.tui.seat import Seat
from detent.surfaces.tui.stage import Stage
from detent.types.budget import Spent
from detent.types.content import Text, UserBlock
from detent.types.events import Entry, Event
from detent.types.usage import Usage

from .picture import Shot, shot_of
from .screen import MemoryTerminal

HOME = "/home/ada"
FOLDER = f"{HOME}/shop"
NOON = 1_794_744_000.0
FILES = {
    "src/price.py": (
        '"""What things cost."""\n\nfrom decimal import Decimal\n\n\n'
        "def total(lines, rate):\n    net = sum(line.price for line in lines)\n"
        "    return round(net * rate, 2)\n"
    ),
}
NAMES = ("docs/", "docs/prices.md", "src/", "src/cart.py", "src/price.py", "tests/test_price.py")
PAST = (
    "explain how the cart is kept",
    "run the tests",
    "why is the total of an empty cart 0.01?",
    "add a test for a cart with two rates",
)


class StandingSession(Struct):
    """What the terminal asks a session that stands between two keys."""

    id: str = "0199c0de"
    cwd: str = FOLDER
    options: Options = Options()
    model: str = "claude-sonnet-4-5"
    effort: str = ""
    mode: str = "default"
    name: str = ""
    spent: Spent = Spent(dollars=0.0412)
    jobs: tuple[BackgroundJob, ...] = ()
    entries: tuple[Entry, ...] = ()
    custom_commands: tuple[Any, ...] = ()
    is_running: bool = False
    budget_left: dict[str, float] = {}
    prompts: tuple[Point, ...] = ()
    going_back: Rewinding | None = None
    interface: InterfaceWishes = InterfaceWishes()

    def bounds(self, model: str) -> tuple[int, int]:
        return 200_000, 64_000

    def left(self) -> dict[str, float]:
        return self.budget_left

    def price(self, model: str, usage: Usage) -> float | None:
        return usage.total * 3e-6

    def points(self) -> tuple[Point, ...]:
        return self.prompts

    async def rewind(self, number: int, part: str, *, dry_run: bool) -> Rewinding:
        assert dry_run, "a picture of it is all that is wanted"
        assert self.going_back is not None
        return self.going_back

    def steer(self, content: tuple[UserBlock, ...]) -> None:
        """Nobody hears it."""

    def take_back(self) -> list[tuple[UserBlock, ...]]:
        return []

    def interrupt(self) -> bool:
        return False


class Past(Struct):
    def read(self) -> list[str]:
        return list(PAST)


class Bench:
    def __init__(self, columns: int, rows: int, theme: str, environ: dict[str, str]) -> None:
        self.now = NOON
        self.terminal: Any = MemoryTerminal(columns, rows)
        self.session = StandingSession()
        look = Look(columns, theme_of(theme, environ), FOLDER)
        self.stage = Stage(self.terminal, look, lambda: self.now)
        self.seat = self._seat()
        self.controls = Controls(self.seat, lambda: None)
        below.join(self.seat)
        self._conversation: Conversation | None = None
        self._patches = ExitStack()

    def _seat(self) -> Seat:
        stage = self.stage
        past: Any = Past()
        keyboard = Keyboard(stage.paint, stage.resize, self.terminal.size, source=DummyInput())
        return Seat(
            terminal=self.terminal, stage=stage, keyboard=keyboard, options=Options(),
            approver=DialogApprover(stage, _nobody_looks_up), now=lambda: self.now,
            recall=Recall(past), pasted=Pasted(lambda path: False),
        )  # fmt: skip

    # --- what is done

    def open(self, *, tip: bool = False) -> None:
        """A session with its header, as one begins."""
        session: Any = self.session
        self._conversation = self.seat.conversation = Conversation(session, self.stage)
        self.seat.conversation.context = 24_400
        self.stage.show_lines(header.lines(session, ("AGENTS.md",), self.stage.look, tip=tip))
        self.stage.paint()

    def hear(self, *events: Event) -> None:
        """A frame each, as they come."""
        for event in events:
            self.stage.hear(event)
            self.stage.paint()

    def pass_time(self, seconds: float) -> None:
        self.now += seconds

    def type(self, text: str, cursor: int | None = None) -> None:
        self.seat.keyboard.put(text, cursor)

    def act(self, action: str) -> None:
        """What a key stands for where no dialog is open."""
        self.controls.act(action)

    async def ask(self, dialog: Dialog[Any], *keys: str) -> None:
        await self.begin(self.stage.ask(dialog), *keys)

    async def begin(self, work: Awaitable[Any], *keys: str) -> None:
        """Something that will ask."""
        self.seat.begin(_awaited(work))
        await self.press(*keys)

    async def press(self, *keys: str) -> None:
        """For the dialog that is open, once the person has seen it."""
        await settle()
        self.pass_time(1.0)
        for key in keys:
            self.stage.questions.press(key)
            await settle()

    def busy(self) -> None:
        """A turn runs; what is said now is heard later."""
        assert self._conversation is not None
        self.session.is_running = True
        self._conversation.do(Job("", asyncio.get_running_loop().create_future))

    def say(self, text: str, *, later: bool = False) -> None:
        assert self._conversation is not None
        tell = self._conversation.turn if later else self._conversation.steer
        tell(text, (Text(text),))

    def replace(self, module: Any, name: str, value: Any) -> None:
        """What would look at the machine."""
        self._patches.enter_context(patch.object(module, name, value))

    # --- what is seen

    async def shot(self) -> Shot:
        await settle()
        self.stage.paint()
        name = self.stage.look.theme.name
        return shot_of(self.terminal.screen, "light" if name.startswith("light") else "dark")

    async def aclose(self) -> None:
        if self._conversation is not None:
            await self._conversation.aclose()
        self._patches.close()


async def settle() -> None:
    """Until everything that could go on has."""
    for _ in range(20):
        await asyncio.sleep(0)


def taken(
    make: Callable[[Bench], Awaitable[None]],
    columns: int,
    rows: int,
    theme: str,
    environ: dict[str, str],
) -> Shot:
    async def take() -> Shot:
        bench = Bench(columns, rows, theme, environ)
        try:
            await make(bench)
            return await bench.shot()
        finally:
            await bench.aclose()

    with _somewhere():
        return asyncio.run(take())


@contextmanager
def _somewhere() -> Iterator[None]:
    """Not on this machine: its clock, home, files and version are none of a picture's business."""

    async def names_of(session: Any) -> tuple[str, ...]:
        return NAMES

    def content(path: str) -> str | None:
        return FILES.get(path.removeprefix(f"{FOLDER}/"), "")

    try:
        with (
            patch.dict(os.environ, {"HOME": HOME, "TZ": "UTC"}),
            patch.object(header, "branch_of", lambda cwd: "main"),
            patch.object(header, "VERSION", "1.0"),
            patch.object(below, "names_of", names_of),
            patch.object(change, "_content", content),
        ):
            time.tzset()
            yield
    finally:
        time.tzset()


async def _awaited(work: Awaitable[Any]) -> None:
    await work


async def _nobody_looks_up(text: str) -> None:
    """No bell in a picture."""
