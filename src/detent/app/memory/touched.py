"""What calls have touched, as far as the log was looked at: each entry is looked at once."""

import os
from collections.abc import Sequence

from detent.context.project import not_rewound
from detent.types.effects import Reads, Writes
from detent.types.events import CallEnded, CallStarted, Entry, Restored, Rewound


class Touched:
    def __init__(self) -> None:
        self.paths: dict[str, int] = {}
        """Files and folders in the order of their first touch, each with its entry."""
        self.rewound = 0
        """How often some were taken back."""
        self._looked = 0

    def look(self, entries: Sequence[Entry]) -> list[str]:
        """Those that are new."""
        found: list[str] = []
        for number in range(self._looked, len(entries)):
            entry = entries[number]
            if isinstance(entry, CallStarted):
                for effect in entry.effects:
                    if isinstance(effect, Reads | Writes):
                        self._add(effect.path, entry.seq, found)
            elif isinstance(entry, CallEnded) and entry.cwd:
                self._add(entry.cwd, entry.seq, found)
            elif isinstance(entry, Rewound):
                self._rewind(entry.to)
            elif isinstance(entry, Restored):
                self._restore(entries[: number + 1], entry, found)
        self._looked = len(entries)
        return [path for path in found if path in self.paths]

    def _restore(self, entries: Sequence[Entry], restored: Restored, found: list[str]) -> None:
        """A rewind that is taken back: what it took away was touched all the same."""
        rewound = {e.seq for e in entries if isinstance(e, Rewound)}
        if rewound.isdisjoint(restored.entries):
            return
        earlier = Touched()
        earlier.look([e for e in not_rewound(entries) if not isinstance(e, Restored)])
        for path, seq in earlier.paths.items():
            self._add(path, seq, found)

    def _add(self, path: str, seq: int, found: list[str]) -> None:
        path = os.path.normpath(path)
        if path not in self.paths:
            self.paths[path] = seq
            found.append(path)

    def _rewind(self, to: int) -> None:
        if any(seq > to for seq in self.paths.values()):
            self.paths = {path: seq for path, seq in self.paths.items() if seq <= to}
            self.rewound += 1
