"""Tokens from an endpoint on loopback."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import parse_qs

import pytest

from detent.http.transport import Transport
from detent.models.credentials import Secret
from detent.models.oauth import Grant, Memory, oauth
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


class Remembering(Memory):
    def __init__(self, first: Secret) -> None:
        super().__init__(first)
        self.stored: list[str] = []

    def keep(self, refresh_token: Secret) -> None:
        super().keep(refresh_token)
        self.stored.append(refresh_token.reveal())


def talk(endpoint: Endpoint, times: int = 1, **fields: Any) -> tuple[list[str], list[str]]:
    keeper = Remembering(fields.get("refresh_token", Secret("")))

    async def main() -> list[str]:
        async with Server(endpoint) as server:
            grant = Grant(f"http://127.0.0.1:{server.port}/token", **fields)
            credentials = oauth(grant, Transport({}), keeper)
            got = []
            for turn in range(times):
                if turn:
                    assert await credentials.refresh()
                got.append((await credentials.signed("u", {}, b""))["authorization"])
            return got

    return asyncio.run(main()), keeper.stored


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
            credentials = oauth(Grant(f"http://127.0.0.1:{server.port}/t"), Transport({}))
            for _ in range(2):
                await credentials.signed("u", {}, b"")

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
        (408, b"", "server", "408"),
        (429, b"", "rate_limit", "429"),
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


def test_no_connection_is_left_behind() -> None:
    endpoint = Endpoint((200, {"access_token": "at-1"}))

    async def main() -> None:
        async with Server(endpoint) as server:
            credentials = oauth(Grant(f"http://127.0.0.1:{server.port}/t"), Transport({}))
            assert await credentials.refresh()
            async with asyncio.timeout(2):
                await server.gone.wait()

    asyncio.run(main())


def test_an_answer_on_its_way_is_taken_though_all_have_left() -> None:
    """It may carry the only token that is still good."""
    endpoint = Endpoint((200, {"access_token": "at-1", "refresh_token": "rt-2"}))
    keeper = Remembering(Secret("rt-1"))

    async def late(peer: Peer) -> None:
        await asyncio.sleep(0.1)
        await endpoint(peer)

    async def main(port: int) -> None:
        grant = Grant(f"http://127.0.0.1:{port}/t", refresh_token=Secret("rt-1"))
        credentials = oauth(grant, Transport({}), keeper)
        waiting = asyncio.create_task(credentials.signed("u", {}, b""))
        await asyncio.sleep(0.02)
        waiting.cancel()
        await asyncio.wait([waiting])
        await credentials.aclose()

    async def served() -> None:
        async with Server(late) as server:
            await main(server.port)

    asyncio.run(served())
    assert keeper.stored == ["rt-2"]


def test_a_silent_endpoint_does_not_hold_us_when_we_leave() -> None:
    async def silent(peer: Peer) -> None:
        await peer.reader.read()

    async def main() -> None:
        async with Server(silent) as server:
            credentials = oauth(Grant(f"http://127.0.0.1:{server.port}/t"), Transport({}))
            waiting = asyncio.create_task(credentials.refresh())
            await asyncio.sleep(0.02)
            waiting.cancel()
            async with asyncio.timeout(2):
                await credentials.aclose()

    asyncio.run(main())


def test_secrets_do_not_travel_in_the_clear() -> None:
    for url in ("http://login.test/token", "http://127.login.test/token", "not an address"):
        with pytest.raises(BadInput, match="token endpoint"):
            oauth(Grant(url), Transport({}))
    oauth(Grant("https://login.test/token"), Transport({}))
