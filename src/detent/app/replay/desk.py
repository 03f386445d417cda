"""The desk of a replay: no machine, no files, only names."""

from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any, cast

from detent.app.replay.calls import Calls
from detent.app.replay.tape import Tape
from detent.context.bounds import kept_in
from detent.ports import Desk, FileMemory, Workshop
from detent.types.events import CallEnded, Trimmed


class _NoHost:
    """Paths lead where they say; where they led then is among the recorded effects."""

    def real(self, path: str) -> str:
        return path


class _Seen:
    def __init__(self, noted: dict[str, str]) -> None:
        self.noted = noted

    def remember(self, path: str, digest: str) -> None:
        pass

    def recall(self, path: str) -> str | None:
        return None

    async def told_of(self, path: str, known: str, digest: str, now: bytes) -> str:
        return ""


class _Named(BytesIO):
    name = ""


class RecordedOutputs:
    """Files have the names that results were told to lie in."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape

    def create(self, name: str) -> Any:
        file = _Named()
        file.name = next(self._paths(name), "")
        if not file.name:
            raise FileNotFoundError(name)
        return file

    def _paths(self, name: str) -> Iterator[str]:
        """Of the results that are shortened next: the one that belongs to the call of this name."""
        trimmed = self._tape.next
        if not isinstance(trimmed, Trimmed):
            return
        texts = {trim.entry: trim.text for trim in trimmed.trims}
        for entry in reversed(self._tape.entries[: self._tape.place]):
            is_one = isinstance(entry, CallEnded) and entry.seq in texts
            if is_one and name == f"{entry.name}-{entry.call_id}":  # type: ignore[union-attr]
                yield kept_in(texts[entry.seq])


class _Shop:
    def __init__(self, tape: Tape) -> None:
        self.host = _NoHost()
        self.outputs = RecordedOutputs(tape)


class RecordedDesks:
    def __init__(self, tape: Tape) -> None:
        self.cwd = ""
        self.shop = cast("Workshop", _Shop(tape))
        self.calls = Calls(tape, (), 0)
        """Of the turn at hand."""

    def move(self, folder: str) -> None:
        self.cwd = folder or self.cwd

    def __call__(self, call_id: str, progress: Callable[[str], None]) -> Desk:
        ended = self.calls.of(call_id).ended
        files: FileMemory = _Seen(dict(ended.seen) if ended else {})
        host: Any = self.shop.host
        return Desk(call_id, self.cwd, host, files, progress, self.shop)
