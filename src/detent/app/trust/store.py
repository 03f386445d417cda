"""What the user has agreed to, folder by folder: `trust.json` in the program's own folder.

    {"version": 1, "folders": {"/work/app": {"device": 1, "inode": 2, "trusted": true,
                                             "files": {"/work/app/.detent/settings.json":
                                                       {"permissions.allow": "<sha256>"}}}}}

A folder counts by its real path and its identity on the disk; nothing inside it says who it is. A
file that is damaged, or that others can write, trusts nothing.
"""

import os
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from detent.app.locked_file import update_file
from detent.app.settings.sources import doubt_about, read_file
from detent.types.codec import decode_any, encode
from detent.types.errors import BadInput

VERSION = 1
Table = dict[str, Any]


class Agreed(Struct, frozen=True):
    """What was agreed to for one folder."""

    is_trusted: bool = False
    """The folder as such: programs that it brings along may run."""
    files: dict[str, dict[str, str]] = {}
    """Digests of what takes trust, by file and part."""


class Damaged(Exception):
    """The message says what is wrong with the file."""


def path_of(home: str) -> str:
    return os.path.join(home, "trust.json")


def agreed(home: str, root: str) -> Agreed:
    """Raises Damaged."""
    record = _folders(_read(path_of(home))).get(root)
    if not isinstance(record, dict) or _identity(root) != _recorded(record):
        return Agreed()
    files = record.get("files")
    files = files if isinstance(files, dict) else {}
    good = {path: parts for path, parts in files.items() if isinstance(parts, dict)}
    return Agreed(record.get("trusted") is True, good)


def folders(home: str) -> dict[str, bool]:
    """All that were trusted as such, and whether what is there still is that folder. For others
    there may be a record, too: of a file that holds a rule which a person has kept."""
    return {
        root: _identity(root) == _recorded(record)
        for root, record in _folders(_read(path_of(home))).items()
        if isinstance(record, dict) and record.get("trusted") is True
    }


def agree(home: str, root: str, files: Mapping[str, Mapping[str, str]], *, trusted: bool) -> None:
    """To these files as they are; other files of the folder stay as they were. Raises OSError,
    and Damaged rather than write over what it cannot read."""
    device, inode = _identity(root)

    def change(table: Table) -> None:
        old = _folders(table).get(root)
        record = old if isinstance(old, dict) and _recorded(old) == (device, inode) else {}
        known = record.get("files")
        known = known if isinstance(known, dict) else {}
        record |= {"device": device, "inode": inode, "files": {**known, **files}}
        record["trusted"] = trusted or record.get("trusted") is True
        table.setdefault("folders", {})[root] = record

    _update(home, change)


def forget(home: str, root: str) -> bool:
    """Whether there was anything to forget."""
    if root not in _folders(_read(path_of(home))):
        return False
    _update(home, lambda table: _folders(table).pop(root, None))
    return True


def _update(home: str, change: Callable[[Table], Any]) -> None:
    def changed(old: bytes) -> bytes:
        table = _decoded(old, path_of(home))
        change(table)
        return encode({**table, "version": VERSION})

    os.makedirs(home, mode=0o700, exist_ok=True)
    update_file(path_of(home), changed, mode=0o600)


def _read(path: str) -> Table:
    try:
        data, facts = read_file(path)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except BadInput as error:
        raise Damaged(str(error)) from None
    except OSError as error:
        raise Damaged(f"{path}: cannot be read: {error.strerror}") from None
    if doubt := doubt_about(facts, path):
        raise Damaged(f"{path} {doubt}")
    return _decoded(data, path)


def _decoded(data: bytes, path: str) -> Table:
    if not data.strip():
        return {}
    try:
        table = decode_any(data)
    except (ValueError, RecursionError):
        raise Damaged(f"{path} is damaged; remove it to begin anew") from None
    if not isinstance(table, dict) or not isinstance(table.get("folders", {}), dict):
        raise Damaged(f"{path} is damaged; remove it to begin anew")
    if table.get("version", VERSION) != VERSION:
        raise Damaged(f"{path} is of another version")
    return table


def _folders(table: Table) -> Table:
    found: Table = table.get("folders", {})
    return found


def _recorded(record: Table) -> tuple[Any, Any]:
    return record.get("device"), record.get("inode")


def _identity(root: str) -> tuple[int, int]:
    try:
        facts = os.stat(root)
    except OSError:
        return (-1, -1)
    return facts.st_dev, facts.st_ino
