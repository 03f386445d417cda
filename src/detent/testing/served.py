"""A scripted server in a thread of its own, for callers that are not async."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any, TypeVar

from detent.testing.request import Request
from detent.testing.script import Maker, Script, Spoken
from detent.testing.server import ScriptedServer
from detent.testing.streaming import Mark, What

S = TypeVar("S")


class ServedScript:
    """A scripted server that runs in a thread of its own, for tests that are not async."""

    def __init__(self, server: ScriptedServer, loop: asyncio.AbstractEventLoop) -> None:
        self._server = server
        self._loop = loop

    @property
    def url(self) -> str:
        return self._server.url

    @property
    def port(self) -> int:
        return self._server.port

    @property
    def requests(self) -> list[Request]:
        return self._server.requests

    @property
    def others(self) -> list[Request]:
        return self._server.others

    @property
    def timeline(self) -> list[Mark]:
        return self._server.timeline

    @property
    def problems(self) -> list[str]:
        return self._server.problems

    @property
    def request_count(self) -> int:
        return self._server.request_count

    @property
    def connections(self) -> int:
        return self._server.connections

    def when(self, request: int, what: What) -> float:
        return self._server.when(request, what)

    def wait_for(self, requests: int, timeout: float = 10.0) -> None:
        self._call(self._server.wait_for(requests, timeout))

    def wait_for_mark(self, request: int, what: What, timeout: float = 10.0) -> None:
        self._call(self._server.wait_for_mark(request, what, timeout))

    def wait_until(self, reached: Callable[[], bool], timeout: float = 10.0) -> None:
        self._call(self._server.wait_until(reached, timeout))

    def _call(self, waiting: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(waiting, self._loop).result()


@contextmanager
def serve(
    plan: Script | Spoken | Maker, *, port: int = 0, record: bool = True
) -> Iterator[ServedScript]:
    """`with serve("hello") as server:` for callers that are not async."""
    with in_thread(lambda: ScriptedServer(plan, port=port, record=record)) as (server, loop):
        yield ServedScript(server, loop)


@contextmanager
def in_thread(
    opening: Callable[[], AbstractAsyncContextManager[S]],
) -> Iterator[tuple[S, asyncio.AbstractEventLoop]]:
    """A server that runs in a thread of its own, and the loop in which it does."""
    started: Future[tuple[S, asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def main() -> None:
        async with opening() as server:
            stop = asyncio.Event()
            started.set_result((server, asyncio.get_running_loop(), stop))
            await stop.wait()

    def run() -> None:
        try:
            asyncio.run(main())
        except BaseException as error:
            if started.done():
                raise
            started.set_exception(error)

    thread = threading.Thread(target=run, name="scripted-server", daemon=True)
    thread.start()
    try:
        server, loop, stop = started.result()
        try:
            yield server, loop
        finally:
            loop.call_soon_threadsafe(stop.set)
    finally:
        thread.join()
