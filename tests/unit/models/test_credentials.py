"""Keys that never show themselves, and keys that something else gives us for a while."""

from __future__ import annotations

import asyncio

import pytest

from detent.http.transport import Transport
from detent.models.credentials import (
    Fixed,
    Renewed,
    Secret,
    Token,
    is_key,
    redact,
    secrets_in,
    worn,
)
from detent.models.protocols.anthropic_messages import AnthropicMessages
from detent.models.protocols.wire import Endpoint
from detent.models.route import Route
from detent.types.content import Text
from detent.types.errors import ModelFailure
from detent.types.messages import Request, User
from loopback import Peer, Server

URL = "http://model.test/v1"


class Giver:
    """Gives key-1, key-2, …"""

    def __init__(self, lasts: float = 100.0) -> None:
        self.lasts, self.given, self.now = lasts, 0, 0.0
        self.gate = asyncio.Event()
        self.gate.set()

    async def __call__(self) -> Token:
        await self.gate.wait()
        self.given += 1
        return Token(Secret(f"token-{self.given}"), self.lasts)

    def credentials(self, *headers: str) -> Renewed:
        return Renewed(self, headers or ("authorization",), lambda: self.now)


async def key_of(credentials: Renewed) -> str:
    return (await credentials.signed(URL, {}, b""))["authorization"].removeprefix("Bearer ")


def test_a_secret_shows_itself_to_nobody() -> None:
    secret = Secret("sk-hidden")
    for shown in (repr(secret), str(secret), f"{secret}", repr(Token(secret)), f"{[secret]}"):
        assert "hidden" not in shown
    assert secret.reveal() == "sk-hidden"
    assert Secret("x") and not Secret("")
    assert "hidden" not in repr(vars(Fixed({"x-api-key": "sk-hidden"})))


def test_what_a_server_repeats_is_cleaned() -> None:
    text = "Incorrect API key provided: sk-hidden."
    assert redact(text, Secret("sk-hidden")) == "Incorrect API key provided: [key]."
    assert Fixed({"x-api-key": "sk-hidden"}).redact(text) == "Incorrect API key provided: [key]."
    bearer = Fixed({"authorization": "Bearer sk-hidden"})
    assert "hidden" not in bearer.redact(text)
    assert redact("a key is wrong", Secret("a"), Secret("")) == "a key is wrong"


def test_secrets_in_headers_of_the_user() -> None:
    headers = {"X-Api-Key": "sk-hidden", "authorization": "Bearer gw-hidden", "x-team": "core-team"}
    text = "sk-hidden, gw-hidden of core-team"
    assert redact(text, *secrets_in(headers)) == "[key], [key] of core-team"


def test_a_route_repeats_no_secret_of_its_headers() -> None:
    async def refuses(peer: Peer) -> None:
        await peer.request()
        body = b'{"error": {"message": "invalid token gw-hidden for key sk-hidden"}}'
        head = f"HTTP/1.1 401 No\r\ncontent-length: {len(body)}\r\n\r\n"
        await peer.send(head.encode() + body)

    async def ignore(delta: object) -> None:
        pass

    async def main() -> None:
        async with Server(refuses) as server:
            given = (("authorization", "Bearer gw-hidden"),)
            route = Route(
                "m",
                wire=AnthropicMessages(),
                endpoint=Endpoint(f"http://127.0.0.1:{server.port}", given),
                credentials=Fixed({"x-api-key": "sk-hidden"}),
                transport=Transport({}),
            )
            with pytest.raises(ModelFailure, match=r"\[key\] for key \[key\]") as caught:
                await route.attempt(Request((), (User((Text("x"),)),), ()), 9, ignore)
            assert "hidden" not in caught.value.message
            await route.aclose()

    asyncio.run(main())


def test_fixed_headers_are_added() -> None:
    async def main() -> None:
        fixed = Fixed({"x-api-key": "k"})
        assert await fixed.signed(URL, {"a": "b"}, b"") == {"a": "b", "x-api-key": "k"}
        assert await fixed.refresh() is False

    asyncio.run(main())


def test_a_key_is_worn_as_the_header_wants() -> None:
    assert worn(("x-api-key", "authorization"), Secret("k")) == {
        "x-api-key": "k",
        "authorization": "Bearer k",
    }


@pytest.mark.parametrize("text", ["", "a b", "a\nb", "a\r", "é", "\x7f", "a\0"])
def test_what_is_no_key(text: str) -> None:
    assert not is_key(text)
    assert is_key("sk-~!")


def test_a_token_is_kept_until_shortly_before_its_end() -> None:
    async def main() -> None:
        giver = Giver(lasts=1000.0)
        credentials = giver.credentials()
        assert await key_of(credentials) == "token-1"
        giver.now = 939.0
        assert await key_of(credentials) == "token-1"
        giver.now = 940.0
        assert await key_of(credentials) == "token-2"

    asyncio.run(main())


def test_a_short_token_has_a_short_margin() -> None:
    async def main() -> None:
        giver = Giver(lasts=10.0)
        credentials = giver.credentials()
        assert await key_of(credentials) == "token-1"
        giver.now = 8.9
        assert await key_of(credentials) == "token-1"
        giver.now = 9.1
        assert await key_of(credentials) == "token-2"

    asyncio.run(main())


def test_a_refusal_brings_a_new_token_and_both_are_hidden() -> None:
    async def main() -> None:
        credentials = Giver().credentials()
        assert await key_of(credentials) == "token-1"
        assert await credentials.refresh() is True
        assert await key_of(credentials) == "token-2"
        assert credentials.redact("token-1 token-2") == "[key] [key]"

    asyncio.run(main())


def test_those_who_come_together_share_one_fetch() -> None:
    async def main() -> None:
        giver = Giver()
        giver.gate.clear()
        credentials = giver.credentials()
        tasks = [asyncio.create_task(key_of(credentials)) for _ in range(5)]
        refreshing = asyncio.create_task(credentials.refresh())
        await asyncio.sleep(0)
        tasks[0].cancel()  # the one who began it leaves
        await asyncio.sleep(0)
        giver.gate.set()
        assert await asyncio.gather(*tasks[1:]) == ["token-1"] * 4
        assert await refreshing
        assert giver.given == 1

    asyncio.run(main())


def test_the_last_who_leaves_ends_the_fetch_unless_it_is_precious() -> None:
    async def main(precious: bool) -> int:
        giver = Giver()
        giver.gate.clear()
        credentials = Renewed(giver, precious=precious)
        tasks = [asyncio.create_task(key_of(credentials)) for _ in range(2)]
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        giver.gate.set()
        await asyncio.sleep(0.01)
        return giver.given

    assert asyncio.run(main(precious=False)) == 0
    assert asyncio.run(main(precious=True)) == 1


def test_closing_ends_a_fetch() -> None:
    async def main() -> None:
        giver = Giver()
        giver.gate.clear()
        credentials = giver.credentials()
        task = asyncio.create_task(key_of(credentials))
        await asyncio.sleep(0)
        await credentials.aclose()
        await asyncio.wait([task])
        assert task.cancelled()
        giver.gate.set()
        assert await key_of(credentials) == "token-1", "whoever comes later asks anew"
        await credentials.aclose()

    asyncio.run(main())


def test_a_system_error_is_a_failure_of_the_request() -> None:
    async def broken() -> Token:
        raise OSError(24, "Too many open files")

    async def main() -> None:
        with pytest.raises(ModelFailure, match="Too many") as caught:
            await Renewed(broken).refresh()
        assert caught.value.kind == "network"

    asyncio.run(main())


def test_a_failure_reaches_all_who_wait_and_the_next_may_try_again() -> None:
    async def main() -> None:
        tries = 0

        async def fails_once() -> Token:
            nonlocal tries
            tries += 1
            await asyncio.sleep(0)
            if tries == 1:
                raise ModelFailure("auth", "no")
            return Token(Secret("good-key"))

        credentials = Renewed(fails_once)
        both = await asyncio.gather(
            key_of(credentials), key_of(credentials), return_exceptions=True
        )
        assert [type(one) for one in both] == [ModelFailure, ModelFailure]
        assert await key_of(credentials) == "good-key"
        assert tries == 2

    asyncio.run(main())


def test_a_token_that_would_break_the_head_is_refused() -> None:
    async def broken() -> Token:
        return Token(Secret("a\r\nx: y"))

    async def main() -> None:
        with pytest.raises(ModelFailure, match="no key has") as caught:
            await Renewed(broken).signed(URL, {}, b"")
        assert caught.value.kind == "auth"

    asyncio.run(main())
