"""Fetching the weights: resumable, checked piece by piece, one pull at a time.

What has arrived is one growing file that is always a prefix of the whole, whoever brought it, so
sources can take over from each other. Only a file whose digest is right gets its final name.
"""

import asyncio
import fcntl
import hashlib
import os
import shutil
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Protocol

from msgspec import Struct

from detent.models.embedded.weights import (
    QWEN,
    Weights,
    is_sound,
    place_of,
    sound_prefix,
    stamp,
    stamp_of,
)

SPARE = 100 << 20
"""Room for the piece that is being unpacked, and a little more."""


class PullFailed(Exception):
    """The weights could not be fetched; the message says why and what to do."""


class SourceFailed(Exception):
    """This source cannot go on; another may."""


class Progress(Struct, frozen=True):
    done: int
    total: int
    note: str = ""


class Source(Protocol):
    @property
    def name(self) -> str: ...
    def append(self, weights: Weights, part: str, start: int) -> AsyncGenerator[int, None]:
        """Goes on at byte `start` of the file `part`; yields how many bytes there are now."""
        ...


async def pull(
    home: str, sources: Sequence[Source] | None = None, weights: Weights = QWEN
) -> AsyncGenerator[Progress, None]:
    """Ends when the file is there and sound; raises PullFailed when that cannot be had."""
    final = place_of(weights, home)
    part = f"{final}.part"
    os.makedirs(os.path.dirname(final), exist_ok=True)
    with _alone(f"{final}.lock"):
        if await asyncio.to_thread(is_sound, weights, final):
            yield Progress(weights.size, weights.size, "already here")
            return
        _take_back(final, part)
        async for progress in _fetch(weights, part, _usual() if sources is None else sources):
            yield progress
        yield Progress(weights.size, weights.size, "checking")
        await asyncio.to_thread(_finish, weights, part, final)


def remove(home: str, weights: Weights = QWEN) -> int:
    """Everything a pull has left; how many bytes that freed."""
    final = place_of(weights, home)
    if not os.path.isdir(os.path.dirname(final)):
        return 0
    freed = 0
    with _alone(f"{final}.lock"):
        for path in (final, f"{final}.part", stamp_of(final)):
            with suppress(FileNotFoundError):
                size = os.path.getsize(path)
                os.unlink(path)
                freed += size
        shutil.rmtree(f"{final}.part.wheels", ignore_errors=True)
    with suppress(FileNotFoundError):
        os.unlink(f"{final}.lock")
    return freed


async def _fetch(
    weights: Weights, part: str, sources: Sequence[Source]
) -> AsyncGenerator[Progress, None]:
    """Each source goes on where the one before it had to stop."""
    reasons = []
    for source in sources:
        have = await asyncio.to_thread(_cut_to_sound, weights, part)
        if have == weights.size:
            return
        _need_room(os.path.dirname(part), weights.size - have)
        yield Progress(have, weights.size, f"from {source.name}")
        try:
            async for done in source.append(weights, part, have):
                yield Progress(done, weights.size)
        except SourceFailed as failure:
            reasons.append(f"{source.name}: {failure}")
        except OSError as error:
            raise PullFailed(f"cannot write {part}: {error.strerror or error}") from None
    if await asyncio.to_thread(_cut_to_sound, weights, part) != weights.size:
        raise PullFailed("; ".join(reasons) or "what arrived is damaged; try again")


def _take_back(final: str, part: str) -> None:
    """A damaged file is what the new one is made from: its sound pieces need not come again."""
    if os.path.exists(final):
        os.replace(final, part)
    with suppress(FileNotFoundError):
        os.unlink(stamp_of(final))


def _cut_to_sound(weights: Weights, part: str) -> int:
    sound = sound_prefix(weights, part)
    with suppress(FileNotFoundError):
        os.truncate(part, sound)
    return sound


def _finish(weights: Weights, part: str, final: str) -> None:
    with open(part, "rb") as file:
        os.fsync(file.fileno())
        whole = hashlib.file_digest(file, "sha256").hexdigest()
    if whole != weights.sha256:  # every piece was right, so this is our table or the disk
        os.unlink(part)
        raise PullFailed("the joined file is not the published one; it was deleted, try again")
    os.replace(part, final)
    stamp(weights, final)


def _need_room(folder: str, missing: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < missing + SPARE:
        raise PullFailed(
            f"{(missing + SPARE) / 1e9:.1f} GB of disk are needed in {folder}, "
            f"{free / 1e9:.1f} GB are free"
        )


@contextmanager
def _alone(path: str) -> Iterator[None]:
    """The lock goes with the process, whatever happens to it."""
    with open(path, "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise PullFailed("the embedded model is already being fetched or removed") from None
        yield


def _usual() -> Sequence[Source]:
    from detent.models.embedded.hub import Hub
    from detent.models.embedded.wheels import Wheels

    return (Hub(), Wheels())
