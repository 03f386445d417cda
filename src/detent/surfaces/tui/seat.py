"""The person's seat: what stands around one conversation."""

import asyncio
import tempfile
from collections.abc import Callable, Coroutine
from typing import Any

from msgspec import Struct, field

from detent.sdk.interface import StatusLine
from detent.sdk.options import Options
from detent.sdk.session import Session
from detent.surfaces.tui.approving import DialogApprover
from detent.surfaces.tui.blocks import Told
from detent.surfaces.tui.conversation import Conversation
from detent.surfaces.tui.editing.completing import Completion
from detent.surfaces.tui.editing.keyboard import Keyboard
from detent.surfaces.tui.editing.pasting import Pasted
from detent.surfaces.tui.editing.recalling import Recall
from detent.surfaces.tui.screen.terminal import Terminal
from detent.surfaces.tui.stage import Stage


class Seat(Struct):
    terminal: Terminal
    stage: Stage
    keyboard: Keyboard
    approver: DialogApprover
    options: Options
    now: Callable[[], float]
    recall: Recall
    pasted: Pasted
    completion: Completion | None = None
    conversation: Conversation | None = None
    """None until the session is open."""
    overlay: tuple[str, ...] = ()
    """Lines below the text box, until something is typed."""
    hint: str = ""
    """What the next key would do, for a moment."""
    in_order: asyncio.Lock = field(default_factory=asyncio.Lock)
    """What is said while a turn runs is heard in the order in which it was said."""
    stashed: str = ""
    early: list[str] = []
    """What was sent before the session was open."""
    status: tuple[str, ...] = ()
    """What the user's own status line says."""
    status_line: StatusLine | None = None
    changed: Callable[[], None] = lambda: None
    """Something is otherwise that the status line may tell of."""
    busy: str = ""
    """What is being done that is no job of the conversation."""
    exit_code: int = 0
    folder: tempfile.TemporaryDirectory[str] | None = None
    tasks: set[asyncio.Task[None]] = set()
    """Held, so that none is lost before it has ended."""

    def scratch(self) -> str:
        """A folder for this sitting."""
        if self.folder is None:
            self.folder = tempfile.TemporaryDirectory(prefix="detent-")
        return self.folder.name

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Beside everything else."""
        task = asyncio.ensure_future(work)
        self.tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self.tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.stage.show(Told(f"{type(error).__name__}: {error}", "error"))

    @property
    def session(self) -> Session | None:
        return self.conversation.session if self.conversation is not None else None
