"""The first lines of a session: what it runs with, where, and one thing worth knowing."""

import os

from detent.sdk.keyless import is_keyless
from detent.sdk.session import Session
from detent.sdk.standing import branch_of
from detent.surfaces.tables.widths import one_line
from detent.surfaces.tui.drawing.blocks import Look
from detent.surfaces.tui.screen.spans import clipped, middle_cut
from detent.types.version import VERSION

TIPS = (
    "shift+tab changes what may run without a question",
    "esc interrupts at once; what was written so far is kept",
    "type while it works: enter is heard after the current call, tab after the turn",
    "@ names a file, ! runs a command of yours, # keeps a line in memory",
    "/undo takes back what the last step did to files, shell commands included",
    "esc esc goes back to an earlier prompt: the chat, the files, or both",
    "/context shows what the next request holds, and what it costs",
    "ctrl+b lets a command that runs go on in the background",
    "/budget usd 2 is a limit that holds, also for subagents",
    "ctrl+o shows everything that was said and done, in full",
    "? on an empty line lists all keys",
)


def lines(session: Session, memory: tuple[str, ...], look: Look, *, tip: bool) -> list[str]:
    paint, width = look.theme.paint, look.width
    name = paint("heading", title())
    model = model_of(session)
    found = [clipped(f"{name}  {model}", width)]
    home = os.path.expanduser("~")
    folder = session.cwd
    folder = f"~{folder[len(home) :]}" if folder.startswith(home + "/") else folder
    branch = branch_of(session.cwd)
    place = middle_cut(one_line(folder), max(10, width - len(branch) - 4))
    place += f" ({one_line(branch)})" if branch else ""
    found.append(paint("faint", clipped(place, width)))
    if memory:
        told = f"reads {', '.join(map(one_line, memory[:4]))}{' …' if len(memory) > 4 else ''}"
        found.append(paint("faint", clipped(told, width)))
    if tip:
        found.append(paint("faint", clipped(f"Tip: {_tip(session.id)}", width)))
    return [*found, ""]


def model_of(session: Session) -> str:
    """With its effort, where one was chosen."""
    if is_keyless(session.options):
        return "no model"
    return one_line(session.model) + (f" {session.effort}" if session.effort else "")


def title() -> str:
    return f"detent {VERSION}"


def _tip(session: str) -> str:
    """Another one each time, the same for the same session."""
    return TIPS[sum(session.encode()) % len(TIPS)]
