"""Files as a call found them and as it left them: what undoing goes by."""

from typing import Literal

from msgspec import Struct

from detent.types.durable import Durable

Kind = Literal["none", "file", "link", "folder", "other"]


class FileState(Struct, frozen=True, omit_defaults=True, gc=False):
    """A name in the file system at one moment. By default there is nothing of that name."""

    kind: Kind = "none"
    mode: int = 0
    """Permission bits."""
    size: int = 0
    digest: str = ""
    """Of a file: its bytes, in the blob store. Empty: they were not kept."""
    target: str = ""
    """Of a link."""


class Change(Struct, frozen=True, omit_defaults=True, gc=False):
    """What became of one name. Paths are absolute."""

    path: str
    before: FileState = FileState()
    after: FileState = FileState()


class Undone(Durable, frozen=True, kw_only=True):
    """The changes of these entries no longer stand. Undoing such an entry is a redo."""

    of: tuple[int, ...]
    """Each a `CallEnded`, or an `Undone`."""
    changes: tuple[Change, ...] = ()
    """What was really done to files."""
    left: tuple[str, ...] = ()
    """Paths that somebody has changed since: they were not touched."""
    begun: bool = False
    """Written before the first file is touched. What came of it stands in the next such entry;
    where there is none, the undo was cut off, and doing it again finishes it."""
