"""What arrives while a turn runs: prompts, and news of what goes on beside it."""

from detent.types.content import UserBlock


class Queue:
    def __init__(self) -> None:
        self._waiting: list[tuple[UserBlock, ...]] = []
        self._news: list[str] = []

    def put(self, content: tuple[UserBlock, ...]) -> None:
        self._waiting.append(content)

    def tell(self, news: str) -> None:
        self._news.append(news)

    def take(self) -> tuple[tuple[UserBlock, ...], ...]:
        waiting, self._waiting = tuple(self._waiting), []
        return waiting

    def news(self) -> tuple[str, ...]:
        news, self._news = tuple(self._news), []
        return news
