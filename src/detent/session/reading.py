"""The session log as it is read: line by line, so that a long one takes no room beside its entries.

Two kinds of lines are no entries. A damaged one does not match its checksum (a torn tail, zeroed
blocks, a blob that is gone) or has a number that has passed: it is passed over and counted. One
that is whole but not understood was written by a later version: it may change what the others
mean, so whoever reads is told of it, and nobody writes behind it.
"""

from collections.abc import Iterator
from zlib import crc32

from msgspec import DecodeError, MsgspecError, Struct

from detent.session.blobs import Blobs, Missing
from detent.session.log import FORMAT
from detent.session.store import home_of
from detent.types.codec import decode_any, decode_entry
from detent.types.events import Entry

HEAD = len(b'{"crc":"00000000",')
LONGEST = 256 * 1024 * 1024
"""Bytes of a line; a longer one is none of ours."""
_BRACE = crc32(b"{")
_WITH_BLOBS = b'"v":%d,"blobs":' % FORMAT


class NotUnderstood(Exception):
    """A whole record of a version that knows more than we do."""

    def __init__(self, format: int, type: str) -> None:
        super().__init__(f"format {format}" if format > FORMAT else f"an entry {type!r}")


class Reading(Struct, frozen=True):
    """What a log file held."""

    entries: tuple[Entry, ...]
    damaged: int
    """Lines that could not be read, a torn tail included."""
    torn: bool
    """The file does not end with a newline: the last write was cut."""
    strange: str = ""
    """What was first not understood, because a later version has written it; or nothing."""
    understood: int = 0
    """How many entries come before that; all, where everything was."""


def read_log(path: str, blobs: Blobs | None = None) -> Reading:
    """All readable entries; nothing is repaired in place. The blobs are those of the home folder
    that the log lies in, where nobody says otherwise. Raises OSError."""
    blobs = blobs or Blobs(home_of(path))
    entries: list[Entry] = []
    damaged, last, strange, understood, line = 0, 0, "", 0, b"\n"
    for line in lines(path):
        if line == b"\n":
            continue
        try:
            entry = unframe(line, blobs)
        except NotUnderstood as later:
            if not strange:
                strange, understood = str(later), len(entries)
            continue
        except ValueError:
            damaged += 1
            continue
        if entry.seq <= last:
            damaged += 1
            continue
        last = entry.seq
        entries.append(entry)
    torn = not line.endswith(b"\n")
    return Reading(tuple(entries), damaged, torn, strange, understood if strange else len(entries))


def unframe(line: bytes, blobs: Blobs | None = None) -> Entry:
    """Raises ValueError when the line is not a whole, undamaged record, and NotUnderstood."""
    rest = memoryview(line.rstrip(b"\n"))[HEAD:]
    if line[:8] != b'{"crc":"' or line[8:HEAD] != b'%08x",' % crc32(rest, _BRACE):
        raise ValueError("the checksum does not match")
    try:
        if rest[: len(_WITH_BLOBS)] == _WITH_BLOBS:
            from detent.session.long_texts import put_back

            if blobs is None:
                raise ValueError("it names blobs")
            return put_back(line, blobs)
        if (format := _format(line)) > FORMAT:
            raise NotUnderstood(format, "")
        return decode_entry(line)
    except Missing as error:
        raise ValueError(str(error)) from None
    except (DecodeError, RecursionError, UnicodeDecodeError):
        raise _fault(line) from None


def lines(path: str) -> Iterator[bytes]:
    """Each with its newline, if it has one. Of a line that is too long, only the beginning."""
    with open(path, "rb", buffering=1 << 18) as file:
        while line := file.readline(LONGEST):
            yield line
            while not line.endswith(b"\n") and (line := file.readline(LONGEST)):
                pass


def _format(line: bytes) -> int:
    """Records of the first version do not say it; in all others it is what comes second."""
    if line[HEAD : HEAD + 4] != b'"v":':
        return 1
    number = line[HEAD + 4 : HEAD + 24].partition(b",")[0]
    return int(number) if number.isdigit() else FORMAT + 1


def _fault(line: bytes) -> Exception:
    """Whole, and yet no entry of ours: somebody else's, if it is an object with a type."""
    try:
        plain = decode_any(line)
    except (MsgspecError, RecursionError, UnicodeDecodeError):
        return ValueError("no JSON")
    if not isinstance(plain, dict) or not isinstance(plain.get("type"), str):
        return ValueError("no record")
    return NotUnderstood(0, plain["type"])
