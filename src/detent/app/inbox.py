"""Prompts that arrive while a turn runs."""

from detent.types.content import UserBlock


class Queue:
    def __init__(self) -> None:
        self._waiting: list[tuple[UserBlock, ...]] = []

    def put(self, content: tuple[UserBlock, ...]) -> None:
        self._waiting.append(content)

    def take(self) -> tuple[tuple[UserBlock, ...], ...]:
        waiting, self._waiting = tuple(self._waiting), []
        return waiting
