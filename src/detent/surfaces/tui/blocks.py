"""What is finished and stays: each becomes lines of the scrollback, once."""

from msgspec import Struct

from detent.surfaces.tui.drawing.flow import Chunk
from detent.types.events import TurnEnded
from detent.types.outcomes import Outcome


class Said(Struct, frozen=True):
    """By the person."""

    text: str
    steered: bool = False
    attached: int = 0
    """How many files, pictures and outputs went along."""


class Prose(Struct, frozen=True):
    """A part of an answer."""

    chunk: Chunk


class Thought(Struct, frozen=True):
    text: str
    seconds: float = 0.0


class Card(Struct, frozen=True):
    """A call that has ended."""

    name: str
    arguments: str
    outcome: Outcome
    ms: int = 0
    agent: str = ""
    """Whose it is; empty is the session itself."""


class Told(Struct, frozen=True):
    """What people should know that nobody said."""

    text: str
    level: str = "info"


class Output(Struct, frozen=True):
    """What a slash command had to say, or one of the person's own shell commands."""

    title: str
    text: str
    is_error: bool = False
    is_markdown: bool = False
    is_diff: bool = False


class FileTally(Struct, frozen=True):
    path: str
    what: str
    """made, changed or removed."""
    added: int = 0
    removed: int = 0
    is_counted: bool = False
    """The numbers are known: it was a tool for files that changed it."""


class Check(Struct, frozen=True):
    """A command that tests, builds or lints."""

    command: str
    exit_code: int
    is_stale: bool = False
    """Something was changed after it had run."""


class Finished(Struct, frozen=True):
    """The end of a turn."""

    ended: TurnEnded
    files: tuple[FileTally, ...] = ()
    checks: tuple[Check, ...] = ()
    tokens: int = 0
    dollars: float | None = None
    """None: nobody has told."""
    is_unpriced: bool = False
    """The price of the model is not known."""


Block = Said | Prose | Thought | Card | Told | Output | Finished
