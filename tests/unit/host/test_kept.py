"""What a keeper says decides whether it gets another order."""

from __future__ import annotations

import asyncio
import socket

import pytest

from detent.host.kept import KeptHold


@pytest.mark.parametrize(
    ("said", "told", "free"),
    [
        (b"S 7\nE 0 \nG\n", False, True),
        (b"S 7\nE 0 \nD\n", False, False),
        (b"S 7\nE -9 Ended: too many.\nD\n", False, False),
        (b"S 7\nE 0 \nG\n", True, False),
        (b"S 7\n", False, False),
    ],
)
def test_only_one_whose_command_went_by_itself_is_free(said: bytes, told: bool, free: bool) -> None:
    async def story() -> list[socket.socket]:
        ours, keeper = socket.socketpair()
        ours.setblocking(False)
        freed: list[socket.socket] = []
        hold = KeptHold(ours, lambda hold: None, freed.append)
        ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        hold.watch(lambda code, note: ended.set_result(code))
        ending = asyncio.create_task(hold.end()) if told else None
        await asyncio.sleep(0)
        keeper.send(said)
        if not free:
            keeper.close()
        await asyncio.wait_for(ended, 5)
        while not hold.is_empty:
            await asyncio.sleep(0)
        if ending is not None:
            await ending
        keeper.close()
        return freed

    freed = asyncio.run(story())
    assert bool(freed) is free
    for one in freed:
        one.close()
