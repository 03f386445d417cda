"""Which memory files count in a folder, and why."""

from msgspec import Struct

from detent.app.gating import rules_of, workspace_of
from detent.app.grounds import grounds_of
from detent.app.memory.remembering import Remembering
from detent.app.options import Options
from detent.context.conversation import Conversation
from detent.context.memory.record import MOST_OF_A_FILE, MOST_OF_ALL, Piece
from detent.gate.gate import Gatekeeper

__all__ = ["MOST_OF_ALL", "MOST_OF_A_FILE", "Memory", "Piece", "memory_of"]


class Memory(Struct, frozen=True):
    folder: str
    files: tuple[Piece, ...]
    """Imports stand behind the file that names them."""
    notices: tuple[str, ...] = ()
    """What is wrong with the settings about them, or with rules."""
    off: str = ""
    """Why some that there are do not count: a switch, or a setting that leaves them out."""


async def memory_of(options: Options | None = None) -> Memory:
    """As a session that begins now would have it; no model is asked. Raises BadInput."""
    grounds = grounds_of(options or Options())
    rules = rules_of(grounds.options, grounds.settings, grounds.cwd)
    gate = Gatekeeper(workspace_of(grounds, lambda: ()), rules=rules)
    notices: list[str] = []
    remembering = Remembering(grounds, Conversation(), gate, notices.append)
    pieces = await remembering.pieces()
    told = [text for text in notices if text not in remembering.notes(pieces)]
    return Memory(grounds.cwd, pieces, tuple(told), remembering.off)
