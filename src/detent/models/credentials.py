"""As whom a route speaks: headers for one concrete request, newer ones when they are refused."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

from msgspec import Struct

from detent.types.errors import ModelFailure

MARGIN = 60.0
"""Seconds before its end that a token counts as old: a request takes its time on the way."""
SHORTEST = 6
"""Fewer characters are no secret, and taking them out would spoil the text around them."""
GRACE = 0.5
"""Seconds that an answer we must not miss gets when we leave."""
_TELLING = ("auth", "cookie", "credential", "key", "password", "secret", "token")
"""What the name of a header with a secret in it holds."""


class Credentials(Protocol):
    """The port every route uses. A signature needs the whole request, so all of them get it."""

    async def signed(self, url: str, headers: Mapping[str, str], body: bytes) -> Mapping[str, str]:
        """The headers to send a POST with: those given, and those that say who we are."""

    async def refresh(self) -> bool:
        """We were refused: is it worth another try? False: there is nothing newer.

        Raises nothing but ModelFailure, of a passing kind where asking again may help.
        """

    def redact(self, text: str) -> str:
        """Without our secrets: some servers repeat the key they refuse."""

    async def aclose(self) -> None:
        """Nothing that was started to get a key runs on."""


class Secret:
    """A text that shows itself only when asked."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __bool__(self) -> bool:
        return bool(self._text)

    def __repr__(self) -> str:
        return "Secret(…)"

    __str__ = __repr__


def redact(text: str, *secrets: Secret) -> str:
    for secret in secrets:
        if len(secret.reveal()) >= SHORTEST:
            text = text.replace(secret.reveal(), "[key]")
    return text


def secrets_in(headers: Mapping[str, str]) -> tuple[Secret, ...]:
    """Keys that the user wrote into headers: whole, and without the `Bearer` before them."""
    values = [
        value for name, value in headers.items() if any(part in name.lower() for part in _TELLING)
    ]
    return tuple(Secret(text) for value in values for text in (value, value.split(" ")[-1]))


def is_key(text: str) -> bool:
    """What can stand in a header: a key with a line end in it would become a header of its own."""
    return bool(text) and is_printable(text)


def is_printable(text: str) -> bool:
    """No blanks, no line ends, nothing beyond ASCII."""
    return all("!" <= char <= "~" for char in text)


def worn(headers: tuple[str, ...], secret: Secret) -> dict[str, str]:
    """The key in each of these headers, in the form that the header wants."""
    key = secret.reveal()
    return {name: f"Bearer {key}" if name == "authorization" else key for name in headers}


class Fixed:
    """Headers that never change; none at all for a server that asks for nothing."""

    def __init__(self, secret: Mapping[str, str] | None = None) -> None:
        self._headers = {name: Secret(value) for name, value in (secret or {}).items()}

    async def signed(self, url: str, headers: Mapping[str, str], body: bytes) -> Mapping[str, str]:
        return {**headers, **{name: value.reveal() for name, value in self._headers.items()}}

    async def refresh(self) -> bool:
        return False

    def redact(self, text: str) -> str:
        keys = (Secret(value.reveal().removeprefix("Bearer ")) for value in self._headers.values())
        return redact(text, *keys)

    async def aclose(self) -> None:
        pass


class Token(Struct, frozen=True):
    secret: Secret
    lasts: float = float("inf")
    """Seconds."""


class Renewed:
    """A key that something else gives us, for a while: a program, a token endpoint, a cloud.

    `precious`: asking changes something there (a token endpoint may replace the very key that it
    is asked with), so that an answer which nobody takes would lock us out.
    """

    def __init__(
        self,
        fetch: Callable[[], Awaitable[Token]],
        headers: tuple[str, ...] = ("authorization",),
        now: Callable[[], float] = time.monotonic,
        *,
        precious: bool = False,
    ) -> None:
        self._fetch = fetch
        self._headers = headers
        self._now = now
        self._precious = precious
        self._token = Token(Secret(""), 0.0)
        self._old_at = 0.0
        self._seen: list[Secret] = []
        self._fetching: asyncio.Task[None] | None = None
        self._waiting = 0

    async def signed(self, url: str, headers: Mapping[str, str], body: bytes) -> Mapping[str, str]:
        if not self._token.secret or self._now() >= self._old_at:
            await self._renew()
        return {**headers, **worn(self._headers, self._token.secret)}

    async def refresh(self) -> bool:
        await self._renew()
        return True

    def redact(self, text: str) -> str:
        return redact(text, *self._seen)

    async def aclose(self) -> None:
        if self._fetching is not None:
            await asyncio.wait([self._fetching], timeout=GRACE if self._precious else 0)
        await self._stop()

    async def _renew(self) -> None:
        """Those who come meanwhile wait for the same one; the last who leaves ends it."""
        if self._fetching is None:
            self._fetching = asyncio.create_task(self._fetched())
            self._fetching.add_done_callback(self._forget)
        self._waiting += 1
        try:
            await asyncio.shield(self._fetching)
        finally:
            self._waiting -= 1
            if not self._waiting and not self._precious:
                await self._stop()

    async def _stop(self) -> None:
        if (fetching := self._fetching) is not None:
            fetching.cancel()
            await asyncio.wait([fetching])

    async def _fetched(self) -> None:
        try:
            token = await self._fetch()
        except OSError as error:
            raise ModelFailure("network", f"cannot get a key: {error}") from None
        if not is_key(token.secret.reveal()):
            raise ModelFailure("auth", "what should be a key holds characters that no key has")
        self._token = token
        self._old_at = self._now() + token.lasts - min(MARGIN, token.lasts / 10)
        self._seen = [*self._seen[-3:], token.secret]

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._fetching = None
        if not task.cancelled():
            task.exception()  # looked at, so that nothing complains when all have left
