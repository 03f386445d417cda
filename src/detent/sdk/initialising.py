"""An AGENTS.md from what a repository says of itself: no model, no network, nothing is run."""

import os
from contextlib import suppress
from secrets import token_hex

from detent.app.grounds import working_folder
from detent.app.initialising import surveying
from detent.app.initialising.record import NAME, Command, Folder, Language, Survey
from detent.app.initialising.wording import missing, written
from detent.types.errors import BadInput

__all__ = [
    "AlreadyThere", "Command", "Folder", "Language", "Survey", "missing", "survey", "write",
    "written",
]  # fmt: skip


class AlreadyThere(BadInput):
    """There is an AGENTS.md, and nobody said that it may be replaced."""


def survey(folder: str = "") -> Survey:
    """Of the current folder by default. Raises BadInput where there is none."""
    return surveying.survey(working_folder(folder))


def write(found: Survey, *, overwrite: bool = False) -> str:
    """The path. A link that lies there is replaced, not followed. Raises AlreadyThere, and BadInput
    where it cannot be written."""
    path = os.path.join(found.folder, NAME)
    place = f"{path}.{token_hex(4)}" if overwrite else path
    try:
        descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with open(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(written(found))
        if overwrite:
            os.replace(place, path)
    except FileExistsError:
        raise AlreadyThere(f"{path} is there already") from None
    except OSError as error:
        if overwrite:
            with suppress(OSError):
                os.unlink(place)
        raise BadInput(f"{path} cannot be written: {error.strerror}") from None
    return path
