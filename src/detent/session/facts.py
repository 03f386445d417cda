"""What a listing knows of a session."""

from typing import Literal

from msgspec import Struct

State = Literal["ended", "interrupted", "running"]


class SessionCard(Struct, frozen=True):
    """What a listing shows of a session."""

    id: str
    path: str
    cwd: str
    active: float
    """When something was last written."""
    title: str
    """The first prompt, in short."""
    turns: int
    created: float = 0.0
    name: str = ""
    """What people call it."""
    state: State = "ended"
    """Running: a process has it open. Interrupted: none has, and its last turn has no end."""
    steps: int = 0
    models: tuple[str, ...] = ()
    tokens: int = 0
    """Read and written, as far as the log says."""
    parent: str = ""
    """The session this one was forked from."""
    damaged: int = 0
    """Lines that cannot be read."""
    is_strange: bool = False
    """A later version has written in it: it can be read as far as it is understood."""


class Facts(Struct):
    """Folded from a log, entry by entry (`folding.py`). All that the fold goes by is in it, so that
    it can be stored and go on later."""

    id: str = ""
    cwd: str = ""
    created: float = 0.0
    title: str = ""
    name: str = ""
    turns: int = 0
    steps: int = 0
    models: list[str] = []
    tokens: int = 0
    parent: str = ""
    is_open: bool = False
    """A turn has begun and has no end."""
    damaged: int = 0
    is_strange: bool = False
    last: int = 0
    """The number of the last entry."""
    answered: list[str] = []
    """Calls of the last answer."""
    early: list[str] = []
    """Calls that have begun since then: they belong to an answer that is still to come."""
    begun_early: list[str] = []
    """Those of the last answer that had begun before it was whole."""
    rewinds: list[tuple[int, int]] = []
    """Of each rewind its number, and that of the last entry that it leaves standing."""

    def card(self, path: str, active: float, *, is_running: bool) -> SessionCard:
        idle: State = "interrupted" if self.is_open else "ended"
        return SessionCard(
            id=self.id,
            path=path,
            cwd=self.cwd,
            active=active,
            title=self.title,
            turns=self.turns,
            created=self.created,
            name=self.name,
            state="running" if is_running else idle,
            steps=self.steps,
            models=tuple(self.models),
            tokens=self.tokens,
            parent=self.parent,
            damaged=self.damaged,
            is_strange=self.is_strange,
        )
