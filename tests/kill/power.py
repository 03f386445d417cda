"""A power cut: of what was written since the last sync, an arbitrary part is not there, or zero.

Strict, as POSIX is: a file has what was in it when it was last synced, and a name is there for sure
when its folder was synced while it had it.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

from .faults import SYNCED, SYNCS, Hear, Heard
from .playing import reporter


class Disk:
    """What a run has synced, told through a file that outlives it."""

    def __init__(self, home: str) -> None:
        self.home = home

    def listener(self, root: str) -> Hear:
        report = reporter(f"{root}/synced")
        pending: dict[str, dict[str, object]] = {}

        def hear(heard: Heard) -> None:
            """What was there when a sync began is safe when it has ended."""
            if not heard.what.startswith(self.home):
                return
            if heard.name in SYNCS:
                pending[heard.what] = _now(heard.what)
            elif heard.name == SYNCED and heard.what in pending:
                report(**pending.pop(heard.what))

        return hear


def _now(path: str) -> dict[str, object]:
    facts = os.stat(path)
    if not os.path.isdir(path):
        return {"file": facts.st_ino, "size": facts.st_size}
    names = [[entry.name, entry.inode()] for entry in os.scandir(path)]
    return {"folder": facts.st_ino, "names": names}


def lose_power(disk: Disk, root: str, rng: random.Random) -> None:
    """Files below the home of the program are left as a disk may have them then."""
    sizes, names = _synced(f"{root}/synced")
    for path in _files(disk.home):
        facts = path.stat()
        is_named = (path.parent.stat().st_ino, path.name, facts.st_ino) in names
        safe = sizes.get(facts.st_ino, 0)
        if not is_named and rng.random() < 0.5:
            path.unlink()
            continue
        path.write_bytes(_rest(path.read_bytes(), safe, rng))


def _rest(data: bytes, safe: int, rng: random.Random) -> bytes:
    end = rng.randint(min(safe, len(data)), len(data))
    kept = bytearray(data[:end])
    if rng.random() < 0.5 and end > safe:
        begin = rng.randint(safe, end)
        kept[begin:] = bytes(end - begin)
    return bytes(kept)


def _files(home: str) -> Iterator[Path]:
    yield from (path for path in sorted(Path(home).rglob("*")) if path.is_file())


def _synced(told: str) -> tuple[dict[int, int], set[tuple[int, str, int]]]:
    from .checks import told_by

    sizes: dict[int, int] = {}
    names: set[tuple[int, str, int]] = set()
    for one in told_by(told).more:
        match one:
            case {"file": number, "size": size}:
                sizes[number] = max(size, sizes.get(number, 0))
            case {"folder": folder, "names": found}:
                names |= {(folder, name, number) for name, number in found}
    return sizes, names
