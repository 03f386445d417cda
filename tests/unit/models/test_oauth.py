"""Tokens from an endpoint on loopback."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import parse_qs

import pytest

from detent.models.credentials import Secret
from detent.models.oauth import Grant, oauth
from detent.models.transport import Transport
from detent.types.errors import BadInput, ModelFailure
from loopback import Peer, Server


class Endpoint:
    """Answers in order; the last for all that follow."""

    def __init__(self, *answers: tuple[int, Any]) -> None:
        self.answers = answers
        self.forms: list[dict[str, str]] = []

    async def __call__(self, peer: Peer) -> None:
        while True:
            _, headers, body = await peer.request()
            assert headers["content-type"] == "application/x-www-form-urlencoded"
            status, answer = self.answers[min(len(self.forms), len(self.answers) - 1)]
            self.forms.append({name: value for name, (value,) in parse_qs(body.decode()).items()})
            data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            head = f"HTTP/1.1 {status} X\r\ncontent-length: {len(data)}\r\n\r\n"
            await peer.send(head.encode() + data)


def talk(endpoint: Endpoint, times: int = 1, **fields: Any) -> tuple[list[str], list[str]]:
    stored: list[str] = []

    async def main() -> list[str]:
        async with Server(endpoint) as server:
            transport = Transport({})
            grant = Grant(f"http://127.0.0.1:{server.port}/token", **fields)
            credentials = oauth(grant, transport, lambda token: stored.append(token.reveal()))
            got = []
            try:
                for turn in range(times):
                    if turn:
                        assert await credentials.refresh()
                    got.append((await credentials.signed("u", {}, b""))["authorization"])
            finally:
                await transport.aclose()
            return got

    return asyncio.run(main()), stored


def test_a_client_that_speaks_for_itself() -> None:
    endpoint = Endpoint((200, {"access_token": "at-1", "token_type": "Bearer"}))
    got, stored = talk(
        endpoint, client_id="me", client_secret=Secret("hush hush"), scope="models read"
    )
    assert (got, stored) == (["Bearer at-1"], [])
    assert endpoint.forms == [
        {
            "grant_type": "client_credentials",
            "client_id": "me",
            "client_secret": "hush hush",
            "scope": "models read",
        }
    ]


def test_a_refresh_token_that_is_replaced_is_used_and_stored() -> None:
    endpoint = Endpoint(
        (200, {"access_token": "at-1", "refresh_token": "rt-2", "expires_in": 3600}),
        (200, {"access_token": "at-2", "refresh_token": "rt-2", "expires_in": "3600"}),
    )
    got, stored = talk(endpoint, 2, client_id="me", refresh_token=Secret("rt-1"))
    assert got == ["Bearer at-1", "Bearer at-2"]
    assert [form["refresh_token"] for form in endpoint.forms] == ["rt-1", "rt-2"]
    assert {form["grant_type"] for form in endpoint.forms} == {"refresh_token"}
    assert stored == ["rt-2"]


@pytest.mark.parametrize(("expires_in", "asked"), [(0, 2), (3600, 1), (None, 1), ("soon", 1)])
def test_the_end_of_a_token_is_honoured(expires_in: Any, asked: int) -> None:
    endpoint = Endpoint((200, {"access_token": "at", "expires_in": expires_in}))

    async def main() -> None:
        async with Server(endpoint) as server:
            transport = Transport({})
            credentials = oauth(Grant(f"http://127.0.0.1:{server.port}/t"), transport)
            for _ in range(2):
                await credentials.signed("u", {}, b"")
            await transport.aclose()

    asyncio.run(main())
    assert len(endpoint.forms) == asked


@pytest.mark.parametrize(
    ("status", "answer", "kind", "text"),
    [
        (
            400,
            {"error": "invalid_grant", "error_description": "rt-secret"},
            "auth",
            "invalid_grant",
        ),
        (401, b"<html>", "auth", "401"),
        (400, ["rt-secret"], "auth", "400"),
        (503, b"", "server", "503"),
        (429, b"", "server", "429"),
        (200, {"no": "token"}, "auth", "no access token"),
        (200, b"\xff", "auth", "no access token"),
        (200, {"access_token": "a b"}, "auth", "no key has"),
    ],
)
def test_a_refusal_is_told_without_secrets(status: int, answer: Any, kind: str, text: str) -> None:
    with pytest.raises(ModelFailure, match=text) as caught:
        talk(Endpoint((status, answer)), refresh_token=Secret("rt-secret"))
    assert caught.value.kind == kind
    assert "rt-secret" not in caught.value.message


def test_nobody_there_is_a_matter_of_the_network() -> None:
    async def main() -> None:
        async with Server(Endpoint((200, {}))) as server:
            url = f"http://127.0.0.1:{server.port}/t"
        with pytest.raises(ModelFailure) as caught:
            await oauth(Grant(url), Transport({})).signed("u", {}, b"")
        assert caught.value.kind == "network"

    asyncio.run(main())


def test_secrets_do_not_travel_in_the_clear() -> None:
    for url in ("http://login.test/token", "not an address"):
        with pytest.raises(BadInput, match="token endpoint"):
            oauth(Grant(url), Transport({}))
    oauth(Grant("https://login.test/token"), Transport({}))
