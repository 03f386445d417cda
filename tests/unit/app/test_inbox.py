"""What a turn may wait for at its end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from detent.app.inbox import Queue
from detent.types.content import Text


async def waiting(inbox: Queue) -> asyncio.Task[bool]:
    task = asyncio.create_task(inbox.arrival())
    for _ in range(3):
        await asyncio.sleep(0)
    return task


def test_without_anybody_at_work_nothing_will_come() -> None:
    assert asyncio.run(Queue().arrival()) is False


@pytest.mark.parametrize("come", [lambda q: q.put((Text("x"),)), lambda q: q.tell("x")])
def test_what_is_there_need_not_be_waited_for(come: Callable[[Queue], None]) -> None:
    async def body() -> None:
        inbox = Queue()
        come(inbox)
        assert await inbox.arrival()

    asyncio.run(body())


@pytest.mark.parametrize("come", [lambda q: q.put((Text("x"),)), lambda q: q.tell("x")])
def test_what_comes_ends_the_wait(come: Callable[[Queue], None]) -> None:
    async def body() -> None:
        inbox = Queue()
        inbox.expects = lambda: True
        task = await waiting(inbox)
        assert not task.done()
        inbox.stir()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not task.done(), "nothing has come"
        come(inbox)
        assert await task

    asyncio.run(asyncio.wait_for(body(), 5))


def test_it_ends_when_nobody_is_at_work_any_more_or_nobody_wants_to_wait() -> None:
    async def body() -> None:
        inbox, at_work = Queue(), [1]
        inbox.expects = lambda: bool(at_work)
        task = await waiting(inbox)
        at_work.clear()
        inbox.stir()
        assert await task is False
        at_work.append(1)
        task = await waiting(inbox)
        inbox.is_patient = False
        inbox.stir()
        assert await task is False

    asyncio.run(asyncio.wait_for(body(), 5))


def test_a_wait_that_was_cancelled_leaves_nothing_behind() -> None:
    async def body() -> None:
        inbox = Queue()
        inbox.expects = lambda: True
        task = await waiting(inbox)
        task.cancel()
        await asyncio.wait([task])
        inbox.tell("x")
        assert await inbox.arrival() and inbox.news() == ("x",)

    asyncio.run(asyncio.wait_for(body(), 5))
