"""What is left of a task's budget, when what was spent of it can no longer be read.

The provider counts what it finds in the conversation. A compaction takes that away, so the context
that it ends is subtracted by us.
"""

from collections.abc import Sequence

from detent.types.events import Compacted, Entry, Replied
from detent.types.messages import Task


class TaskBudget:
    def __init__(self, total: int) -> None:
        self.total = total
        self._remaining: int | None = None
        self._context = 0
        """Tokens of the last answer and what it read."""
        self._read = 0

    def now(self, entries: Sequence[Entry]) -> Task:
        for entry in entries[self._read :]:
            if isinstance(entry, Replied):
                self._context = entry.usage.context or self._context
            elif isinstance(entry, Compacted):
                before = self.total if self._remaining is None else self._remaining
                self._remaining, self._context = max(0, before - self._context), 0
        self._read = len(entries)
        return Task(self.total, self._remaining)
