"""What stands on the screen besides what is typed: a fold over events."""

from typing import Any, Literal

from msgspec import Struct

from detent.surfaces.tui.blocks import Check, FileTally
from detent.surfaces.tui.drawing.flow import Flow
from detent.types.content import Call
from detent.types.usage import Usage

Phase = Literal["waiting", "thinking", "writing", "calling", "working", "compacting", "retrying"]


class Running(Struct, frozen=True):
    """A call at work."""

    id: str
    name: str
    arguments: str
    begun: float
    tail: str = ""
    """The end of what it has printed."""


class Worker(Struct, frozen=True):
    """A subagent at work."""

    agent: str
    title: str
    kind: str
    begun: float
    background: bool = False
    depth: int = 1
    calls: int = 0
    doing: str = ""
    usage: Usage = Usage()
    model: str = ""


class Todo(Struct, frozen=True):
    text: str
    status: str


class Tally(Struct, frozen=True):
    """What a turn has come to so far."""

    begun: float = 0.0
    usage: Usage = Usage()
    written: int = 0
    """Characters of the answer that nobody has billed yet."""
    files: tuple[FileTally, ...] = ()
    checks: tuple[Check, ...] = ()
    steps: int = 0


class View(Struct, frozen=True):
    flow: Flow = Flow()
    index: int = -1
    """The block of the answer that is being written."""
    heard: bool = False
    """Something of this answer was streamed, so that the whole of it need not be shown."""
    thought: str = ""
    thought_since: float = 0.0
    forming: str = ""
    """The tool whose call is being written."""
    calls: tuple[Running, ...] = ()
    sent: dict[str, Call] = {}
    """Calls as they were written, until they have ended."""
    unsent: tuple[Any, ...] = ()
    """Ends of calls that came before the answer with their arguments was whole."""
    workers: tuple[Worker, ...] = ()
    todos: tuple[Todo, ...] = ()
    phase: Phase = "waiting"
    note: str = ""
    """What is waited for, in words."""
    tally: Tally | None = None
    """None: no turn runs."""

    @property
    def is_running(self) -> bool:
        return self.tally is not None
