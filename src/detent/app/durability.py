"""Syncing a log without holding up the event loop, and what must be synced before anything else
happens (`durability: "power"`)."""

import asyncio
import os
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cache

from detent.ports import Log
from detent.types.agents import AgentStarted
from detent.types.effects import only_looks
from detent.types.events import CallEnded, CallStarted, Compacted, Entry, Prompted, TurnEnded
from detent.types.files import Undone


@cache
def _threads(process: int) -> ThreadPoolExecutor:
    """For all sessions of the process: a disk does several syncs in one go, and none may wait for
    what else is done in threads. A fork has none of its parent's threads."""
    return ThreadPoolExecutor(4, "sync")


def begin_sync(log: Log) -> asyncio.Future[str]:
    """Comes to nothing, or to the reason why the log is not safe."""
    loop = asyncio.get_running_loop()
    waiting: asyncio.Future[str] = loop.create_future()

    def tell(ended: Future[str]) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(_come_to, waiting, ended.result())

    _threads(os.getpid()).submit(log.sync).add_done_callback(tell)
    return waiting


def _come_to(waiting: asyncio.Future[str], trouble: str) -> None:
    if not waiting.done():
        waiting.set_result(trouble)


class Power:
    """Nothing depends on an entry that a power cut could take back: a prompt, the intent of a call
    with effects and its result, who was set to work, an undo, a compaction, the end of a turn."""

    def __init__(self, *logs: Log) -> None:
        """The first is the one in question; what others tell of a subagent is synced before."""
        self._logs = logs
        self._turn = asyncio.Lock()
        self._acting: set[str] = set()
        """Calls with effects that have begun."""

    async def settled(self, entry: Entry) -> str:
        """Entries come out in the order they came in, and one sync answers for all that were
        written before it began."""
        async with self._turn:
            return await self._synced() if self._counts(entry) else ""

    async def safe(self) -> str:
        """All that was written until now."""
        async with self._turn:
            return await self._synced()

    async def _synced(self) -> str:
        troubles = [await begin_sync(log) for log in reversed(self._logs) if log.unsynced]
        return next(filter(None, troubles), "")

    def _counts(self, entry: Entry) -> bool:
        match entry:
            case CallStarted(call_id=call_id, effects=effects):
                if only_looks(effects):
                    return False
                self._acting.add(call_id)
                return True
            case CallEnded(call_id=call_id):
                acted = call_id in self._acting
                self._acting.discard(call_id)
                return acted
            case _:
                return isinstance(entry, Prompted | Compacted | TurnEnded | Undone | AgentStarted)
