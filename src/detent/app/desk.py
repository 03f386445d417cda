"""The desk a call works at, and what the session remembers of files."""

from collections.abc import Callable, Mapping, Sequence

from detent.ports import Desk, Workshop
from detent.types.events import CallEnded, Entry


class FilesSeen:
    """Digests of files as the session last saw them, from the point of view of one call."""

    def __init__(self, digests: dict[str, str]) -> None:
        self._digests = digests
        self.noted: dict[str, str] = {}

    def remember(self, path: str, digest: str) -> None:
        self._digests[path] = self.noted[path] = digest

    def recall(self, path: str) -> str | None:
        return self._digests.get(path)


def digests_in(entries: Sequence[Entry]) -> dict[str, str]:
    """What an earlier part of the session has seen: later entries win."""
    return {
        path: digest
        for entry in entries
        if isinstance(entry, CallEnded)
        for path, digest in entry.seen.items()
    }


class DeskMaker:
    def __init__(
        self,
        shop: Workshop,
        session: str,
        settings: Mapping[str, str],
        entries: Sequence[Entry] = (),
    ) -> None:
        self.shop = shop
        self._session = session
        self._settings = settings
        self._digests = digests_in(entries)

    @property
    def cwd(self) -> str:
        return self.shop.cwd

    def __call__(self, call_id: str, progress: Callable[[str], None]) -> Desk:
        return Desk(
            call_id=call_id,
            cwd=self.shop.cwd,
            host=self.shop.host,
            files=FilesSeen(self._digests),
            progress=progress,
            shop=self.shop,
            session=self._session,
            settings=self._settings,
        )
