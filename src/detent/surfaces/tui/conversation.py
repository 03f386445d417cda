"""The conversation: one thing after the other, and what is said meanwhile.

Jobs (a turn, a slash command, a shell command of the person) run one at a time, in order. Whatever
is typed while one runs steers it, or waits behind it.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from math import ceil
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from detent.sdk.session import Session
from detent.surfaces.tui.blocks import Told
from detent.surfaces.tui.folding.turns import typed
from detent.surfaces.tui.stage import Stage
from detent.types.budget import KEYS
from detent.types.content import UserBlock
from detent.types.errors import BadInput, ModelFailure
from detent.types.events import Event, Prompted, Replied, TurnEnded

if TYPE_CHECKING:
    from detent.sdk.commands import TurnWishes

SENDING = "Sending"
Content = tuple[UserBlock, ...]
Run = Callable[[], Awaitable[None]]


class Job(Struct, frozen=True):
    text: str
    """As it was typed, for the list of what waits."""
    run: Run
    label: str = ""
    """What is being done, where it is no turn."""


class Conversation:
    def __init__(self, session: Session, stage: Stage) -> None:
        self.session, self.stage = session, stage
        self.context = 0
        """Tokens of the last request and its answer."""
        self.on_end: Callable[[TurnEnded], Awaitable[None]] = _nothing
        self.give_back: Callable[[str], None] = lambda text: None
        """Gets what was waiting when the person interrupts: it may be meant otherwise by now."""
        self._waiting: deque[Job] = deque()
        self._steered: list[str] = []
        self._job: Job | None = None
        self._task: asyncio.Task[None] | None = None
        self._notes: list[UserBlock] = []
        self._spent_before = 0.0

    def exchange(self, session: Session) -> Session:
        """Another session from now on: what waits is meant for it. Gives the one before."""
        before, self.session = self.session, session
        self.context, self._steered = 0, []
        return before

    # --- what is going on

    @property
    def is_busy(self) -> bool:
        return self._job is not None

    @property
    def label(self) -> str:
        return self._job.label if self._job is not None else ""

    @property
    def queued(self) -> tuple[str, ...]:
        """What was said and is not heard yet, as it is shown."""
        soon = (f"↳ after this call: {text}" for text in self._steered)
        later = (f"↳ after this turn: {job.text}" for job in self._waiting)
        return (*soon, *later)

    # --- what is wanted

    def do(self, job: Job) -> None:
        """Now, or when what runs has ended."""
        self._waiting.append(job)
        self._next()

    def turn(self, text: str, content: Content, wishes: "TurnWishes | None" = None) -> None:
        self.do(Job(text, lambda: self.run_turn(content, wishes), SENDING))

    def steer(self, text: str, content: Content) -> None:
        """Heard after the current call; where no turn runs that could hear it, it is one."""
        if not self.session.is_running:
            self.turn(text, content)
            return
        self._steered.append(text)
        self.session.steer(content)
        self.stage.touch()

    def note(self, block: UserBlock) -> None:
        """Goes with the next prompt."""
        self._notes.append(block)

    def take_back(self) -> str:
        """The last that waits, as it was typed; empty where nothing does."""
        if self._waiting:
            return self._waiting.pop().text
        unheard = self.session.take_back() if self._steered else ()
        if not unheard:
            return ""  # or just being heard
        *others, last = unheard
        for content in others:
            self.session.steer(content)
        self._steered.pop()
        return typed(last)[0]

    def interrupt(self) -> bool:
        """Whether there was anything to end."""
        if self._task is None or self._task.done():
            return False
        if not self.session.interrupt():
            self._task.cancel()
        self._give_back_waiting()
        return True

    def _give_back_waiting(self) -> None:
        texts = [*self._steered, *(job.text for job in self._waiting)]
        self.session.take_back()
        self._steered, self._waiting = [], deque()
        if texts:
            self.give_back("\n".join(texts))

    async def aclose(self) -> None:
        self._waiting.clear()
        self.session.take_back()
        if self._task is not None and not self._task.done():
            self.session.interrupt() or self._task.cancel()
            await asyncio.wait([self._task])

    # --- one after the other

    def _next(self) -> None:
        if self._job is None and self._waiting:
            self._job = self._waiting.popleft()
            self._task = asyncio.create_task(self._run(self._job))
        self.stage.touch()

    async def _run(self, job: Job) -> None:
        try:
            await job.run()
        except (BadInput, ModelFailure) as error:
            self.stage.show(Told(str(error), "error"))
        except asyncio.CancelledError:
            self.stage.show(Told("Interrupted.", "warning"))
        except Exception as error:  # ours: it must not take the session along
            fault = f"{type(error).__name__}: {error}"
            self.stage.show(Told(f"A fault of Detent itself: {fault} (/bug reports it)", "error"))
        finally:
            self._job = None
            self.stage.rest()
            self._take_unheard()
            self._next()

    def _take_unheard(self) -> None:
        """A turn may end before it hears what was said last: that begins the next."""
        unheard = self.session.take_back()
        texts, self._steered = self._steered, []
        for number, content in enumerate(reversed(unheard)):
            text = texts[-1 - number] if number < len(texts) else typed(content)[0]
            job = Job(text, lambda content=content: self.run_turn(content))  # type: ignore[misc]
            self._waiting.appendleft(job)

    async def run_turn(self, content: Content, wishes: "TurnWishes | None" = None) -> None:
        """Within a job."""
        notes, self._notes = self._notes, []
        self._spent_before = self.session.spent.dollars
        sending = self.session.send((*notes, *content), wishes=wishes)
        ended: TurnEnded | None = None
        async with aclosing(sending) as events:
            async for event in events:
                self.hear(event)
                if isinstance(event, TurnEnded):
                    ended = event
        if ended is not None:
            await self.on_end(ended)

    def hear(self, event: Event) -> None:
        if isinstance(event, Prompted) and event.steered:
            self._heard(typed(event.content)[0])
        elif isinstance(event, Replied):
            self.context = event.usage.context
        if isinstance(event, TurnEnded):
            self._show_end(event)
        else:
            self.stage.hear(event)

    def _heard(self, text: str) -> None:
        if text in self._steered:
            self._steered.remove(text)
        else:
            del self._steered[:1]

    def _show_end(self, ended: TurnEnded) -> None:
        """With what it has cost: the session knows that, no event does."""
        spent = self.session.spent
        known = spent.dollars - self._spent_before
        if self._job is not None:
            self._job = replace(self._job, label="")  # hooks may still have to hear of it
        self.stage.hear_end(ended, None if spent.unpriced and not known else known)
        if ended.limit in KEYS.values() and ended.needed:
            key = next(key for key, what in KEYS.items() if what == ended.limit)
            enough = ceil(200 * ended.needed) / 100 if key == "usd" else ceil(2 * ended.needed)
            way = f"/budget {key} {enough:g}, then say how to go on"
            self.stage.show(Told(f"A limit ended the turn. To go on: {way}.", "warning"))


async def _nothing(ended: TurnEnded) -> None:
    """Nobody wants to know."""
