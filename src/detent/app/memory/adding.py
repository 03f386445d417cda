"""One line more in a memory file, as a person says it."""

import codecs
import os
from typing import Literal

from detent.app.grounds import Grounds
from detent.app.locked_file import update_file
from detent.app.memory.choosing import excluder
from detent.app.memory.finding import Exclude, standing
from detent.app.memory.reading import doubt_about_file
from detent.app.reminders import off_by
from detent.types.errors import BadInput

Level = Literal["project", "local", "user"]
LEVELS: tuple[Level, ...] = ("project", "local", "user")
NEW = {"project": "AGENTS.md", "local": "CLAUDE.local.md", "user": "DETENT.md"}
"""Where there is none yet."""
WIDE = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


def add_line(grounds: Grounds, text: str, level: Level) -> str:
    """The path of the file that says it now. Blocking. Raises BadInput."""
    line = " ".join(text.split()).removeprefix("- ").lstrip()
    if not line:
        raise BadInput("there is nothing to remember")
    path = file_for(grounds, level)
    try:
        line.encode()
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        mode = 0o644 if level == "project" else 0o600
        update_file(path, lambda old: with_line(old, f"- {line}"), mode=mode)
    except UnicodeError:
        raise BadInput(f"not remembered: it is not text, or {path} is not") from None
    except OSError as error:
        raise BadInput(f"not remembered: {error.strerror or error} ({path})") from None
    return path


def file_for(grounds: Grounds, level: Level) -> str:
    """The one that is read, or would be. Raises BadInput where none is."""
    if level not in LEVELS:
        raise BadInput(f"memory is one of {', '.join(LEVELS)}, not {level!r}")
    if by := off_by(grounds):
        raise BadInput(f"not remembered: memory is switched off by {by}")
    if level not in grounds.options.setting_sources:
        raise BadInput(f"not remembered: memory of the {level} is left out by --setting-sources")
    where = grounds.where
    is_excluded, _ = excluder(grounds.settings.memory_excludes, grounds.own)
    path = _that_is_read(grounds, level, is_excluded)
    if not path:
        path = os.path.join(where.home if level == "user" else where.root, NEW[level])
    if why := _objection(grounds, level, path) or _left_out(path, is_excluded):
        raise BadInput(f"not remembered: {path} {why}")
    return path


def _that_is_read(grounds: Grounds, level: Level, is_excluded: Exclude) -> str:
    """Of several the broadest; of the user's, our own rather than the other program's."""
    found = standing(grounds, is_excluded, trusted=lambda: grounds.is_trusted)
    paths = [one.path for one in found if one.level == level and not one.is_rule]
    if level == "user":
        return paths[-1] if paths else ""
    return next((path for path in paths if _lies_below(path, grounds.where.root)), "")


def _objection(grounds: Grounds, level: Level, path: str) -> str:
    where = grounds.where
    if level != "user":
        inside = _lies_below(os.path.realpath(path), os.path.realpath(where.root))
        return "" if inside else "leads out of the project"
    if not where.is_ours and _lies_below(path, where.home):
        return "lies in the project, so it is not believed"
    doubt = doubt_about_file(path)
    return f"is not read: {doubt}" if doubt else ""


def _left_out(path: str, is_excluded: Exclude) -> str:
    return "is left out by claudeMdExcludes" if is_excluded(path) else ""


def _lies_below(path: str, folder: str) -> bool:
    return path.startswith(f"{folder.rstrip('/')}/")


def with_line(old: bytes, line: str) -> bytes:
    """In the file's own coding and with its line endings; it ends as it ended. Raises UnicodeError
    where it is no text."""
    coding = next((name for mark, name in WIDE.items() if old.startswith(mark)), "utf-8")
    text = old.decode(coding, "replace")
    if "\0" in text:
        raise UnicodeError
    end = "\r\n" if "\r\n" in text else "\n"
    is_closed = not text.strip("\ufeff") or text.endswith("\n")
    return old + (f"{line}{end}" if is_closed else f"{end}{line}").encode(coding)
