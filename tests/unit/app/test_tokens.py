"""Refresh tokens that are replaced with each use, and several who use them."""

from __future__ import annotations

import asyncio
import fcntl
import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from detent.app import tokens
from detent.app.tokens import TokenFile
from detent.http.transport import Transport
from detent.models.credentials import Renewed, Secret
from detent.models.oauth import Grant, oauth
from detent.types.errors import ModelFailure
from loopback import Peer, Server


class Rotating:
    """Takes each refresh token once; an old one is refused."""

    def __init__(self) -> None:
        self.current, self.asked = "rt-0", 0

    async def __call__(self, peer: Peer) -> None:
        while True:
            form = parse_qs((await peer.request())[2].decode())
            self.asked += 1
            await asyncio.sleep(0.02)
            if form["refresh_token"] == [self.current]:
                self.current = f"rt-{self.asked}"
                status, answer = 200, {"access_token": f"at-{self.asked}"}
                answer |= {"refresh_token": self.current}
            else:
                status, answer = 400, {"error": "invalid_grant"}
            data = json.dumps(answer).encode()
            head = f"HTTP/1.1 {status} X\r\ncontent-length: {len(data)}\r\n\r\n"
            await peer.send(head.encode() + data)


def credentials(server: Server, path: Path) -> Renewed:
    grant = Grant(f"http://127.0.0.1:{server.port}/t", refresh_token=Secret("rt-0"))
    return oauth(grant, Transport({}), TokenFile(str(path), "rt-0"))


def test_several_sessions_use_what_each_other_got(tmp_path: Path) -> None:
    async def main() -> None:
        async with Server(Rotating()) as server:
            both = [credentials(server, tmp_path / "t" / "house.json") for _ in range(2)]
            for one in (*both, *both):
                assert await one.refresh()
            assert all(await asyncio.gather(*(one.refresh() for one in both))), "at once, too"

    asyncio.run(main())


def test_another_process_has_replaced_it(tmp_path: Path) -> None:
    path = tmp_path / "house.json"
    mine = TokenFile(str(path), "rt-0")
    assert mine.latest().reveal() == "rt-0"
    code = (
        "from detent.app.tokens import TokenFile; from detent.models.credentials import Secret; "
        f"TokenFile({str(path)!r}, 'rt-0').keep(Secret('rt-9'))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert mine.latest().reveal() == "rt-9"
    assert TokenFile(str(path), "rt-new").latest().reveal() == "rt-new", "the user brought another"


def test_who_holds_the_lock_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "house.json"
    monkeypatch.setattr(tokens, "PATIENCE", 0.2)

    async def main() -> None:
        async with TokenFile(str(path), "rt-0").alone():
            with pytest.raises(ModelFailure) as caught:
                async with TokenFile(str(path), "rt-0").alone():
                    raise AssertionError
            assert caught.value.kind == "timeout"
        async with TokenFile(str(path), "rt-0").alone():
            pass

    asyncio.run(main())


def test_without_locks_it_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def flock(descriptor: int, how: int) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", flock)

    async def main() -> None:
        async with Server(Rotating()) as server:
            assert await credentials(server, tmp_path / "house.json").refresh()

    asyncio.run(main())


def test_a_token_that_cannot_be_written_is_good_for_this_run(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "tokens").write_text("in the way")
    path = tmp_path / "tokens" / "house.json"

    async def main() -> list[str]:
        async with Server(Rotating()) as server:
            both = [credentials(server, path) for _ in range(2)]
            with caplog.at_level(logging.WARNING, "detent"):
                got = [(await one.signed("u", {}, b""))["authorization"] for one in both]
            os.remove(tmp_path / "tokens")
            await both[0].refresh()
            return got

    assert asyncio.run(main()) == ["Bearer at-1", "Bearer at-2"]
    assert "house.json" in caplog.text and "rt-" not in caplog.text
    assert "rt-3" in path.read_text(), "written as soon as it can be"
