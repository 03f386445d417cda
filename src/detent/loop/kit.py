"""Everything a turn works with, in one frozen record passed by hand."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct, field

from detent.context.account import Account, Price
from detent.context.conversation import Conversation
from detent.context.shaping import Shaping
from detent.loop.limits import Limits
from detent.loop.spending import Purse
from detent.loop.stages import Trace, no_trace
from detent.ports import (
    Approver,
    Checkpoints,
    Clock,
    Desk,
    Emit,
    Gate,
    Inbox,
    Model,
    Proposal,
    Reminders,
    Toolbox,
    Workshop,
)
from detent.types.events import Reminded, Signal
from detent.types.files import Change, FileState

if TYPE_CHECKING:
    from detent.context.task_budget import TaskBudget

Moment = Literal["prompt", "calls", "compacted"]


class DeskMaker(Protocol):
    """Lays out the desk for one call; the loop does not care what is on it."""

    @property
    def cwd(self) -> str: ...
    @property
    def shop(self) -> Workshop: ...
    def __call__(self, call_id: str, progress: Callable[[str], None]) -> Desk: ...


class Unreminded:
    """Nothing is ever due."""

    async def due(self, moment: Moment) -> Sequence[Reminded]:
        return ()


class Unkept:
    """Nothing can be undone."""

    async def before(self, proposal: Proposal) -> dict[str, FileState]:
        return {}

    async def after(self, call_id: str) -> tuple[Change, ...]:
        return ()


def lap(clock: Clock, since: float, what: str) -> int:
    """Milliseconds. `what` says what took them, for a replay that has to tell the same."""
    return round((clock.elapsed() - since) * 1000)


class Kit(Struct, frozen=True):
    model: Model
    toolbox: Toolbox
    gate: Gate
    approver: Approver
    inbox: Inbox
    clock: Clock
    desk: DeskMaker
    conversation: Conversation
    system: tuple[str, ...]
    emit: Emit
    hint: Callable[[Signal], None]
    """Like emit for signals that may be lost: never waits."""
    reminders: Reminders = Unreminded()
    checkpoints: Checkpoints = Unkept()
    limits: Limits = Limits()
    shaping: Shaping = Shaping()
    price: Price = lambda model, usage: None
    account: Account = field(default_factory=Account)
    """What the session may spend, and has."""
    task: "TaskBudget | None" = None
    """What the model is told that it has for all of its work."""
    trace: Trace = no_trace
    measure: Callable[[Clock, float, str], int] = lap
    """Every duration in the log comes from here: of the turn, a step, a call, a compaction."""
    unsaved: Callable[[], str] = lambda: ""
    """Why what happens now would be in no log; nothing with effects happens then."""
    form: str = ""
    """The tool that takes the final answer, where the answer must have a form."""

    @property
    def purse(self) -> Purse:
        return Purse(self.account, self.price, self.emit)

    def lap(self, since: float, what: str) -> int:
        return self.measure(self.clock, since, what)

    async def remind(self, moment: Moment) -> None:
        for reminder in await self.reminders.due(moment):
            await self.emit(reminder)
