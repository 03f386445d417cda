"""The desk a call works at, and what the session remembers of files."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from detent.context.project import not_rewound
from detent.ports import Desk, Proposal, Workshop
from detent.types.events import CallEnded, CallStarted, Entry
from detent.types.files import Change, FileState

if TYPE_CHECKING:
    from detent.app.checkpoints.keeper import FileKeeper


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
    """What an earlier part of the session has seen, and its model can read: later entries win."""
    return {
        path: digest
        for entry in not_rewound(entries)
        if isinstance(entry, CallEnded)
        for path, digest in entry.seen.items()
    }


class KeptFiles:
    """What calls change, so that it can be undone. Loaded with the first that may change any."""

    def __init__(self, make: "Callable[[], FileKeeper]") -> None:
        self._make = make

    @cached_property
    def keeper(self) -> "FileKeeper":
        return self._make()

    async def before(self, proposal: Proposal) -> dict[str, FileState]:
        return await self.keeper.before(proposal)

    async def after(self, call_id: str) -> tuple[Change, ...]:
        return await self.keeper.after(call_id)

    async def left_by(self, started: CallStarted) -> tuple[Change, ...]:
        return await self.keeper.left_by(started.call_id, started.kept)

    def close(self) -> None:
        if "keeper" in self.__dict__:
            self.keeper.close()


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

    def remade(self, entries: Sequence[Entry]) -> "DeskMaker":
        """After a rewind: what the model no longer knows of, it must read again."""
        return DeskMaker(self.shop, self._session, self._settings, entries)

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
