"""A token from an OAuth token endpoint: by a refresh token, or as a client of its own."""

from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any, Protocol
from urllib.parse import urlencode

import msgspec
from msgspec import Struct

from detent.http.transport import Answer, ConnectionCut, Transport, parse_target
from detent.models.credentials import Renewed, Secret, Token, redact
from detent.types.errors import BadInput, FailureKind, ModelFailure


class Grant(Struct, frozen=True):
    token_url: str
    client_id: str = ""
    client_secret: Secret = Secret("")
    refresh_token: Secret = Secret("")
    """Without one, the client speaks for itself (`client_credentials`)."""
    scope: str = ""


class _Tokens(Struct):
    access_token: str
    expires_in: float | str | None = None
    refresh_token: str = ""


_decode = msgspec.json.Decoder(_Tokens).decode


class Keeper(Protocol):
    """Who remembers the refresh token, for this process and for others."""

    def alone(self) -> AbstractAsyncContextManager[None]:
        """Nobody else asks meanwhile: of two who ask with the same token one may be refused."""

    def latest(self) -> Secret: ...

    def keep(self, refresh_token: Secret) -> None:
        """The one before may be worth nothing from now on."""


class Memory:
    """A keeper for as long as the process lives."""

    def __init__(self, refresh_token: Secret) -> None:
        self._token = refresh_token

    def alone(self) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    def latest(self) -> Secret:
        return self._token

    def keep(self, refresh_token: Secret) -> None:
        self._token = refresh_token


def oauth(grant: Grant, transport: Transport, keeper: Keeper | None = None) -> Renewed:
    """The transport is ours from now on: it is closed after each question, for they are rare."""
    _check(grant)
    kept = keeper or Memory(grant.refresh_token)

    async def fetch() -> Token:
        async with kept.alone():
            current = kept.latest()
            try:
                answer = await _ask(grant, current, transport)
            finally:
                await transport.aclose()
            tokens = _read(answer, grant, current)
            if tokens.refresh_token and tokens.refresh_token != current.reveal():
                kept.keep(Secret(tokens.refresh_token))
        return Token(Secret(tokens.access_token), _seconds(tokens.expires_in))

    return Renewed(fetch, precious=True)


def _check(grant: Grant) -> None:
    try:
        origin = parse_target(grant.token_url).origin
    except ValueError as error:
        raise BadInput(f"the token endpoint: {error}") from None
    if origin.scheme != "https" and not origin.is_here:
        raise BadInput(f"the token endpoint {origin.place} must be reached by https")


async def _ask(grant: Grant, refresh_token: Secret, transport: Transport) -> Answer:
    fields = {
        "grant_type": "refresh_token" if refresh_token else "client_credentials",
        "refresh_token": refresh_token.reveal(),
        "client_id": grant.client_id,
        "client_secret": grant.client_secret.reveal(),
        "scope": grant.scope,
    }
    body = urlencode({name: value for name, value in fields.items() if value}).encode()
    headers = {"content-type": "application/x-www-form-urlencoded", "accept": "application/json"}
    try:
        return await transport.submit(grant.token_url, headers, body)
    except ConnectionCut as error:
        raise ModelFailure("network", f"the token endpoint: {error}") from None
    except TimeoutError:
        raise ModelFailure("timeout", "the token endpoint does not answer") from None
    except (OSError, UnicodeError) as error:  # some host names cannot even be encoded
        raise ModelFailure("network", f"cannot reach the token endpoint: {error}") from None


def _read(answer: Answer, grant: Grant, refresh_token: Secret) -> _Tokens:
    if answer.status >= 500 or answer.status in (408, 429):
        kind: FailureKind = "rate_limit" if answer.status == 429 else "server"
        raise ModelFailure(kind, f"the token endpoint answers {answer.status}")
    if answer.status != 200:
        reason = redact(_reason(answer.body), grant.client_secret, refresh_token)
        raise ModelFailure("auth", f"the token endpoint refuses: {reason or answer.status}")
    try:
        return _decode(answer.body)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise ModelFailure("auth", "the token endpoint sent no access token") from None


def _reason(body: bytes) -> str:
    try:
        value: Any = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""
    if not isinstance(value, dict):
        return ""
    parts = (value.get("error"), value.get("error_description"))
    return ": ".join(part for part in parts if isinstance(part, str))[:300]


def _seconds(expires_in: float | str | None) -> float:
    """Some send the number as text; who sends none lets us find out by a refusal."""
    try:
        seconds = float(expires_in) if expires_in is not None else float("inf")
    except ValueError:
        return float("inf")
    return max(0.0, seconds)
