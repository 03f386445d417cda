"""Refresh tokens that replaced the user's: a file each, shared by all who run at the same time."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import msgspec
from msgspec import Struct

from detent.models.credentials import Secret
from detent.types.errors import ModelFailure

PATIENCE = 40.0
"""Seconds: longer than anyone who asks and is alive holds the lock."""


class _Kept(Struct):
    given: str
    """A print of the user's token: who brings another one starts anew."""
    token: str


_unwritten: dict[str, _Kept] = {}
"""What could not be written. The file is older than that, and for this process worth nothing."""


class TokenFile:
    def __init__(self, path: str, given: str) -> None:
        self._path = path
        self._given = given

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        lock = self._open_lock()
        try:
            await _locked(lock)
            yield
        finally:
            if lock >= 0:
                os.close(lock)

    def latest(self) -> Secret:
        kept = _unwritten.get(self._path) or self._read()
        if kept is None or not self._given or kept.given != _print_of(self._given):
            return Secret(self._given)
        return Secret(kept.token)

    def keep(self, refresh_token: Secret) -> None:
        """What cannot be written is still good for this process."""
        if not self._given:  # whoever speaks for itself needs none
            return
        kept = _Kept(_print_of(self._given), refresh_token.reveal())
        try:
            self._write(kept)
        except OSError as error:
            _unwritten[self._path] = kept
            _warn(f"a new refresh token is lost when this run ends: {self._path}: {error.strerror}")
        else:
            _unwritten.pop(self._path, None)

    def _open_lock(self) -> int:
        """A file of its own: the other one is replaced, and a lock would go with it."""
        try:
            os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
            return os.open(f"{self._path}.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except OSError:
            return -1

    def _read(self) -> _Kept | None:
        try:
            with open(self._path, "rb") as file:
                return msgspec.json.decode(file.read(), type=_Kept)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            return None

    def _write(self, kept: _Kept) -> None:
        fresh = f"{self._path}.{os.getpid()}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        with os.fdopen(os.open(fresh, flags, 0o600), "wb") as file:
            file.write(msgspec.json.encode(kept))
        os.replace(fresh, self._path)


async def _locked(lock: int) -> None:
    """Asked for again and again: a thread that waits for it could not be called back.

    Where there are no locks (no such file, another file system, Windows), it must go without.
    """
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock

        async with asyncio.timeout(PATIENCE):
            while True:
                with suppress(BlockingIOError):
                    return flock(lock, LOCK_EX | LOCK_NB)
                await asyncio.sleep(0.05)
    except TimeoutError:
        raise ModelFailure("timeout", "another session does not come back with a token") from None
    except (ImportError, OSError, ValueError):
        return None


def _warn(text: str) -> None:
    from logging import getLogger

    getLogger("detent").warning(text)


def _print_of(token: str) -> str:
    from hashlib import sha256

    return sha256(token.encode()).hexdigest()
