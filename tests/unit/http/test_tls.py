"""TLS on loopback, with an authority of our own: whom we trust, and who we say we are."""

from __future__ import annotations

import asyncio
import socket
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from detent.http.tls import BUFFER, BUNDLES, check, client_context
from detent.http.transport import Transport
from detent.types.errors import BadInput, ModelFailure
from loopback import AUTHORITY, CERTIFICATES, Peer, Server, fetch, server_side, serving

CLIENT = str(CERTIFICATES / "client.pem")
KEY = str(CERTIFICATES / "client.key")
LOCKED = str(CERTIFICATES / "client-locked.key")


@pytest.fixture(autouse=True)
def nobody_else_is_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)


def asked(
    environ: dict[str, str], *, host: str = "127.0.0.1", wants_client: bool = False, times: int = 1
) -> int:
    """How many connections it took."""

    async def main() -> int:
        async with Server(serving, tls=server_side(wants_client=wants_client)) as server:
            transport = Transport(environ)
            try:
                for _ in range(times):
                    assert await fetch(transport, f"https://{host}:{server.port}/v1/x") == b"ok"
            finally:
                await transport.aclose()
            return server.connections

    return asyncio.run(main())


@pytest.mark.parametrize("name", BUNDLES)
def test_a_bundle_of_the_environment_is_trusted(name: str) -> None:
    assert asked({name: AUTHORITY}, times=2) == 1


def test_a_bundle_is_added_to_what_the_system_trusts(monkeypatch: pytest.MonkeyPatch) -> None:
    before = client_context({}).cert_store_stats()["x509"]
    after = client_context({"DETENT_CA_BUNDLE": AUTHORITY}).cert_store_stats()["x509"]
    assert after == before + 1
    monkeypatch.setenv("SSL_CERT_FILE", AUTHORITY)
    assert asked({}) == 1


def test_a_stranger_is_not_trusted_and_not_asked_again() -> None:
    with pytest.raises(
        ModelFailure, match=r"127\.0\.0\.1 is not valid.*DETENT_CA_BUNDLE"
    ) as caught:
        asked({})
    assert caught.value.kind == "invalid_request"


def test_a_certificate_for_another_name_is_not_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with Server(serving, tls=server_side()) as server:
            transport = Transport({"DETENT_CA_BUNDLE": AUTHORITY})
            with pytest.raises(ModelFailure, match=r"127\.0\.0\.2") as caught:
                await transport.post(f"https://127.0.0.2:{server.port}/", {}, b"{}")
            assert "DETENT_CA_BUNDLE" not in caught.value.message, "that would not help"
            await transport.aclose()

    listen = asyncio.start_server

    async def everywhere(handler: object, host: str, *rest: object, **more: object) -> object:
        return await listen(handler, "0.0.0.0", *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(asyncio, "start_server", everywhere)
    asyncio.run(main())


def test_http_where_https_is_expected_is_said() -> None:
    async def answers_in_plain(peer: Peer) -> None:
        await peer.reader.read(1)
        await peer.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await peer.reader.read()

    async def plain() -> None:
        async with Server(answers_in_plain) as server:
            transport = Transport({})
            with pytest.raises(ModelFailure, match="http instead of https"):
                await transport.post(f"https://127.0.0.1:{server.port}/", {}, b"{}")
            await transport.aclose()

    asyncio.run(plain())


@pytest.mark.parametrize("who", ["DETENT_CLIENT", "CLAUDE_CODE_CLIENT"])
def test_a_client_certificate_is_shown(who: str) -> None:
    environ = {"DETENT_CA_BUNDLE": AUTHORITY, f"{who}_CERT": CLIENT, f"{who}_KEY": KEY}
    assert asked(environ, wants_client=True) == 1
    locked = {**environ, f"{who}_KEY": LOCKED, f"{who}_KEY_PASSPHRASE": "open-sesame"}
    assert asked(locked, wants_client=True) == 1


def refuses_strangers(listener: socket.socket) -> None:
    """Not asyncio: its servers close without saying why. What follows is read, so that our close
    does not overtake the alert."""
    plain, _ = listener.accept()
    context = server_side(wants_client=True)
    secure = context.wrap_socket(plain, server_side=True, do_handshake_on_connect=False)
    with secure, suppress(OSError):
        with suppress(OSError):
            secure.do_handshake()
        socket.socket.shutdown(secure, socket.SHUT_WR)
        while socket.socket.recv(secure, 65536):
            pass


def test_an_endpoint_that_wants_a_client_certificate_says_so() -> None:
    async def main(port: int) -> None:
        transport = Transport({"DETENT_CA_BUNDLE": AUTHORITY})
        with pytest.raises(ModelFailure, match="DETENT_CLIENT_CERT") as caught:
            await transport.post(f"https://127.0.0.1:{port}/", {}, b"{}")
        assert caught.value.kind == "invalid_request"
        await transport.aclose()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=refuses_strangers, args=(listener,))
        thread.start()
        asyncio.run(main(listener.getsockname()[1]))
        thread.join()


@pytest.mark.parametrize(
    ("environ", "text"),
    [
        ({"NODE_EXTRA_CA_CERTS": "/nowhere/ca.pem"}, "NODE_EXTRA_CA_CERTS: cannot read /nowhere"),
        ({"DETENT_CA_BUNDLE": __file__}, "test_tls.py holds no certificates"),
        ({"DETENT_CLIENT_CERT": "/nowhere/c.pem"}, "/nowhere/c.pem cannot be read"),
        ({"DETENT_CLIENT_CERT": __file__}, "test_tls.py cannot be used"),
        ({"DETENT_CLIENT_CERT": CLIENT, "DETENT_CLIENT_KEY": LOCKED}, "passphrase"),
        (
            {
                "CLAUDE_CODE_CLIENT_CERT": CLIENT,
                "CLAUDE_CODE_CLIENT_KEY": LOCKED,
                "CLAUDE_CODE_CLIENT_KEY_PASSPHRASE": "wrong",
            },
            "passphrase",
        ),
        (
            {
                "DETENT_CLIENT_CERT": CLIENT,
                "DETENT_CLIENT_KEY": LOCKED,
                "DETENT_CLIENT_KEY_PASSPHRASE": "x" * 5000,
            },
            "too long",
        ),
    ],
)
def test_files_that_cannot_be_used_are_named(environ: dict[str, str], text: str) -> None:
    with pytest.raises(BadInput, match=text):
        check(environ)
    with pytest.raises(ModelFailure, match=text) as caught:
        asked(environ)
    assert caught.value.kind == "invalid_request"
    assert "wrong" not in caught.value.message and "xxx" not in caught.value.message


def test_good_files_pass_the_check(tmp_path: Path) -> None:
    check({})
    check({"DETENT_CA_BUNDLE": AUTHORITY, "DETENT_CLIENT_CERT": CLIENT, "DETENT_CLIENT_KEY": KEY})
    check({"DETENT_CA_BUNDLE": str(tmp_path)})  # a folder of hashed names, as OpenSSL has them


def test_those_who_trust_the_same_share_it() -> None:
    ours = client_context({"DETENT_CA_BUNDLE": AUTHORITY})
    assert client_context({"DETENT_CA_BUNDLE": AUTHORITY, "OTHER": "x"}) is ours
    assert client_context({}) is not ours


def test_an_open_connection_holds_little_memory() -> None:
    async def main() -> None:
        async with Server(serving, tls=server_side()) as server:
            transport = Transport({"DETENT_CA_BUNDLE": AUTHORITY})
            exchange = await transport.post(f"https://127.0.0.1:{server.port}/", {}, b"{}")
            inner = exchange.transport._ssl_protocol  # type: ignore[union-attr]
            assert len(inner._ssl_buffer) == len(inner._ssl_buffer_view) == BUFFER
            exchange.abort()
            await transport.aclose()

    asyncio.run(main())


def test_a_long_answer_fits_through_the_small_buffer() -> None:
    big = bytes(range(256)) * 8192  # 2 MB

    async def handler(peer: Peer) -> None:
        await peer.request()
        await peer.send(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(big) + big)

    async def main() -> None:
        async with Server(handler, tls=server_side()) as server:
            transport = Transport({"DETENT_CA_BUNDLE": AUTHORITY})
            assert await fetch(transport, f"https://127.0.0.1:{server.port}/", big) == big
            await transport.aclose()

    asyncio.run(main())
