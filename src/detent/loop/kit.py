"""Everything a turn works with, in one frozen record passed by hand."""

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from detent.context.conversation import Conversation
from detent.loop.limits import Limits, Price
from detent.loop.stages import Trace, no_trace
from detent.ports import Approver, Clock, Desk, Emit, Gate, Inbox, Model, Toolbox, Workshop
from detent.types.events import Signal


class DeskMaker(Protocol):
    """Lays out the desk for one call; the loop does not care what is on it."""

    @property
    def cwd(self) -> str: ...
    @property
    def shop(self) -> Workshop: ...
    def __call__(self, call_id: str, progress: Callable[[str], None]) -> Desk: ...


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
    limits: Limits = Limits()
    price: Price = lambda model, usage: None
    trace: Trace = no_trace
    form: str = ""
    """The tool that takes the final answer, where the answer must have a form."""
