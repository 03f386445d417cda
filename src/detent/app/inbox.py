"""What arrives while a turn runs: prompts, and news of what goes on beside it."""

import asyncio
from collections.abc import Callable

from detent.types.content import UserBlock


class Queue:
    def __init__(self) -> None:
        self._waiting: list[tuple[UserBlock, ...]] = []
        self._news: list[str] = []
        self._listener: asyncio.Future[None] | None = None
        self.expects: Callable[[], bool] = lambda: False
        """Whether somebody is at work of whom there will be news."""
        self.is_patient = True
        """Those are waited for; not any longer when somebody wants the next turn."""

    def put(self, content: tuple[UserBlock, ...]) -> None:
        self._waiting.append(content)
        self.stir()

    def tell(self, news: str) -> None:
        self._news.append(news)
        self.stir()

    @property
    def waiting(self) -> tuple[tuple[UserBlock, ...], ...]:
        """Prompts that nobody has heard yet."""
        return tuple(self._waiting)

    def take(self) -> tuple[tuple[UserBlock, ...], ...]:
        waiting, self._waiting = tuple(self._waiting), []
        return waiting

    def news(self) -> tuple[str, ...]:
        news, self._news = tuple(self._news), []
        return news

    async def arrival(self) -> bool:
        while not (self._waiting or self._news):
            if not (self.is_patient and self.expects()):
                return False
            self._listener = asyncio.get_running_loop().create_future()
            try:
                await self._listener
            finally:
                self._listener = None
        return True

    def stir(self) -> None:
        """Whoever waits looks again."""
        if self._listener is not None and not self._listener.done():
            self._listener.set_result(None)
