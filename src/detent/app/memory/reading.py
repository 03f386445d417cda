"""Reading a memory file. Whatever lies there, it neither hangs nor takes more than its share."""

import codecs
import os
import stat

from detent.app.settings.sources import doubt_about
from detent.context.memory.markdown import spellings
from detent.context.memory.trees import Sheet

MOST_BYTES = 256 * 1024
"""More than what a file may say, comments for people included."""
MOST_KEPT = 4_000_000
"""Characters of files that are kept while these stay the same."""

Stamp = tuple[int, int, int, int, int]
_NOTHING = (0, 0, 0, 0, 0), Sheet("", "")


class Shelf:
    """What was read, until a file changes."""

    def __init__(self, home: str) -> None:
        self._home = home
        self._kept: dict[str, tuple[Stamp, Sheet]] = {}
        self._room = MOST_KEPT

    def read(self, path: str) -> Sheet | None:
        """None where there is no such file."""
        try:
            real = os.path.realpath(path)
            real.encode()
            facts = os.stat(real)
            if not stat.S_ISREG(facts.st_mode):
                return None if stat.S_ISDIR(facts.st_mode) else _faulty(path, real, "it is no file")
            stamp, (then, sheet) = _stamp(facts), self._kept.get(path, _NOTHING)
            if then != stamp or sheet.real != real:
                sheet = _read(path, real)
                self._keep(path, stamp, sheet)
            return sheet
        except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: no name at all
            return None
        except OSError as error:
            return _faulty(path, path, error.strerror or str(error))

    def _keep(self, path: str, stamp: Stamp, sheet: Sheet) -> None:
        self._room -= len(sheet.text)
        if self._room < 0:
            self._kept.clear()
            self._room = MOST_KEPT
        self._kept[path] = stamp, sheet

    def named(self, name: str, by: str) -> Sheet | None:
        """What the file `by` means by a name that it imports."""
        for spelling in spellings(name):
            if spelling.startswith("~/"):
                spelling = os.path.join(self._home, spelling[2:])
            path = os.path.normpath(os.path.join(os.path.dirname(by), spelling))
            if (sheet := self.read(path)) is not None:
                return sheet
        return None


def doubt_about_file(path: str) -> str:
    """Why a file that speaks for the user may be somebody else's, as of settings."""
    try:
        doubt = doubt_about(os.stat(path), path)
    except OSError:
        return ""  # what reads it says what is wrong
    return f"it {doubt}" if doubt else ""


def _faulty(path: str, real: str, why: str) -> Sheet:
    return Sheet(path, real, fault=why)


def _stamp(facts: os.stat_result) -> Stamp:
    return (facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns)


def _read(path: str, real: str) -> Sheet:
    """The place was looked up just now: a link there by now is not followed."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
    with open(os.open(real, flags), "rb") as file:
        facts = os.fstat(file.fileno())
        if not stat.S_ISREG(facts.st_mode):
            return _faulty(path, real, "it is no file")
        data = file.read(MOST_BYTES + 1)
    is_whole = len(data) <= MOST_BYTES
    data, note = data[:MOST_BYTES], ""
    size = "" if is_whole else f"{facts.st_size:,} bytes"
    # Some shells of Windows write UTF-16, and say so in the first two bytes.
    is_wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    coding = "utf-16" if is_wide else "utf-8-sig"
    try:
        text = codecs.getincrementaldecoder(coding)().decode(data, final=is_whole)
    except UnicodeDecodeError:
        text = data.decode(coding, errors="replace")
        note = f"not all of it is {'UTF-16' if is_wide else 'UTF-8'}"
    if "\0" in text:
        return _faulty(path, real, "it is not text")
    return Sheet(path, real, text.replace("\r\n", "\n").replace("\r", "\n"), size, note=note)
