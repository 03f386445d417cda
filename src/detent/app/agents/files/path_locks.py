"""One writer of a path at a time, whoever it works for; those who wait come in their order."""

import asyncio
from collections import deque
from collections.abc import Iterable


class PathLocks:
    def __init__(self) -> None:
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        """By path that somebody has: who waits for it."""

    async def take(self, paths: Iterable[str]) -> tuple[str, ...]:
        """All of them. Everybody takes them in the same order, so nobody waits for one who waits
        for him. Cancelled, it holds none."""
        taken: list[str] = []
        try:
            for path in sorted(set(paths)):
                await self._take(path)
                taken.append(path)
        except BaseException:
            self.give_back(taken)
            raise
        return tuple(taken)

    def give_back(self, paths: Iterable[str]) -> None:
        for path in paths:
            waiting = self._waiting[path]
            while waiting:
                next_one = waiting.popleft()
                if not next_one.done():
                    next_one.set_result(None)
                    break
            else:
                del self._waiting[path]

    async def _take(self, path: str) -> None:
        if path not in self._waiting:
            self._waiting[path] = deque()
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting[path].append(turn)
        try:
            await turn
        except BaseException:
            if turn.done() and not turn.cancelled():  # it was given the path, and goes
                self.give_back([path])
            raise
