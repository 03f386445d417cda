"""One name as it is now: of a file its bytes, which go into the mirror."""

import os
import stat
import time
from collections.abc import Callable
from hashlib import sha256

from msgspec.structs import replace

from detent.app.checkpoints.terms import Terms
from detent.session.mirror import Mirror, Seen

FINE, COARSE = 100_000_000, 2_500_000_000
"""Nanoseconds within which a second change may leave the same ctime behind: where times have
fractions, and where they do not."""

Keep = Callable[[bytes], object]


class Reader:
    def __init__(
        self, root: str, mirror: Mirror, terms: Terms, is_over: Callable[[], bool]
    ) -> None:
        self._root, self._mirror, self._terms = root, mirror, terms
        self._is_over = is_over
        self.missed: set[str] = set()
        """What is not covered, in words."""
        known = (seen for names in mirror.folders.values() for seen in names.values())
        self.bytes = sum(map(packed, known))
        """What the bytes in use come to."""
        self._keep: Keep | None = None
        self._until = 0.0
        self._room = 0
        """Bytes that may be taken of the disk."""

    def begin(self, keep: Keep | None) -> None:
        """A look begins. `keep` gets the bytes of what is new."""
        self._keep = keep
        self._until = time.monotonic() + self._terms.seconds
        self._room = self._mirror.room()

    @property
    def is_late(self) -> bool:
        if self._is_over():
            return True
        if time.monotonic() <= self._until:
            return False
        seconds = f"{self._terms.seconds:g} seconds"
        self.missed.add(f"what could not be read of {self._root} in {seconds}")
        return True

    def count(self, old: Seen | None, new: Seen | None) -> None:
        """One has become the other."""
        self.bytes += packed(new) - packed(old)

    def seen(self, place: str, facts: os.stat_result, old: Seen | None) -> Seen | None:
        """None: it has gone meanwhile, or what it says cannot be told."""
        if stat.S_ISREG(facts.st_mode):
            return self._file(place, facts, old)
        try:
            target = os.readlink(place) if stat.S_ISLNK(facts.st_mode) else ""
        except OSError:
            return None
        if not is_text(target):
            self.missed.add("links to names that are not UTF-8")
            return None
        mode, size = facts.st_mode, facts.st_size
        return Seen(mode, size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino, target=target)

    def _file(self, place: str, facts: os.stat_result, old: Seen | None) -> Seen | None:
        if self._is_too_much(facts.st_size):
            return _without_bytes(facts)
        try:
            facts, data = _read(place, self._terms.file_bytes)
        except FileNotFoundError:
            return None
        except OSError:
            return self._unreadable(facts, old)
        if self._is_too_much(len(data)):  # it has grown
            return _without_bytes(facts)
        digest = sha256(data).digest()
        if old is not None and old.digest == digest:
            offset = old.offset
        else:
            try:
                offset = self._mirror.add(data)
                self._room -= len(data)
            except OSError as error:
                self.missed.add(f"the bytes of files that cannot be copied ({error.strerror})")
                return _without_bytes(facts)
            if self._keep is not None:
                self._keep(data)
        stamp = 0 if _is_young(facts) else facts.st_ctime_ns
        times = facts.st_mtime_ns, stamp, facts.st_ino
        return Seen(facts.st_mode, len(data), *times, digest, offset)

    def _is_too_much(self, size: int) -> bool:
        most, all_most = self._terms.file_bytes, self._terms.bytes
        if size > most:
            self.missed.add(f"the bytes of files of more than {most / (1 << 20):g} MB")
        elif self.bytes + size > all_most:
            self.missed.add(f"more than {all_most / (1 << 20):g} MB in {self._root}")
        elif size > self._room:
            self.missed.add("the bytes of files for which the disk has no room")
        else:
            return self.is_late
        return True

    def _unreadable(self, facts: os.stat_result, old: Seen | None) -> Seen:
        """A file that was closed to us is still what it was."""
        bare = _without_bytes(facts)
        if old is not None and old.digest and replace(old, mode=bare.mode).is_same(bare):
            return replace(bare, digest=old.digest, offset=old.offset)
        self.missed.add("the bytes of files that cannot be read")
        return bare


def packed(seen: Seen | None) -> int:
    return seen.size if seen is not None and seen.digest else 0


def is_text(name: str) -> bool:
    """Whether the log can hold it."""
    if name.isascii():
        return True
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _without_bytes(facts: os.stat_result) -> Seen:
    """Looked at again each time: bounds are not always the same."""
    return Seen(facts.st_mode, facts.st_size, facts.st_mtime_ns, 0, facts.st_ino)


def _is_young(facts: os.stat_result) -> bool:
    grain = FINE if facts.st_ctime_ns % 1_000_000_000 else COARSE
    return abs(time.time_ns() - facts.st_ctime_ns) < grain


def _read(path: str, most: int) -> tuple[os.stat_result, bytes]:
    """What the file was when it was opened, and its bytes; one more than `most` if there are."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            raise FileNotFoundError(path)
        data = os.read(descriptor, min(facts.st_size, most) + 1)
        while data and len(data) != facts.st_size and len(data) <= most:  # it grows, or is slow
            more = os.read(descriptor, most + 1 - len(data))
            if not more:
                break
            data += more
        return facts, data
    finally:
        os.close(descriptor)
