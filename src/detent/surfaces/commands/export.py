"""`/export`: the session as a file that others can read."""

import asyncio
import os

from detent.sdk.exporting import Form, export_session
from detent.sdk.looking import options_around
from detent.sdk.session import Session
from detent.surfaces.commands import Hear
from detent.surfaces.tables.widths import one_line
from detent.types.errors import BadInput

ENDINGS: dict[str, Form] = {
    ".md": "md",
    ".markdown": "md",
    ".json": "json",
    ".html": "html",
    ".htm": "html",
}


async def run(session: Session, rest: str, hear: Hear) -> str:
    if not session.path or not session.entries:
        raise BadInput("there is nothing to export: nothing was said, or the session is not saved")
    return await asyncio.to_thread(_exported, session, rest or f"session-{session.id[:8]}.md")


def _exported(session: Session, name: str) -> str:
    path = os.path.join(session.cwd, os.path.expanduser(name))
    form = ENDINGS.get(os.path.splitext(path)[1].lower())
    if form is None:
        raise BadInput(f"what should {name} become? /export takes {', '.join(ENDINGS)}")
    if os.path.lexists(path):
        raise BadInput(f"{path} exists already; /export replaces nothing")
    made = export_session(session.id, form, options_around(session))
    _write(path, made.data)
    notes = (f"\n{one_line(note)}" for note in made.notes)
    return one_line(f"{path}: {len(made.data):,} bytes") + "".join(notes)


def _write(path: str, data: bytes) -> None:
    """For its owner alone: a session holds whatever was read in it. All of it, or nothing."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags, 0o600)
    except FileExistsError:
        raise BadInput(f"{path} exists already; /export replaces nothing") from None
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror}") from None
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
    except OSError as error:
        os.unlink(path)
        raise BadInput(f"{path} cannot be written: {error.strerror}") from None
