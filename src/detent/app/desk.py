"""The desk a call works at, and what the session remembers of files."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from detent.context.project import not_rewound
from detent.ports import Desk, Leave, Proposal, Workshop
from detent.types.events import CallEnded, CallStarted, Entry
from detent.types.files import Change, FileState

if TYPE_CHECKING:
    from detent.app.agents.files.hands import Told
    from detent.app.agents.files.sharing import OneOfMany
    from detent.app.checkpoints.keeper import FileKeeper
    from detent.session.blobs import Blobs


class FilesSeen:
    """Digests of files as the session last saw them, from the point of view of one call."""

    def __init__(self, digests: dict[str, str], kept: "KeptFiles | None" = None) -> None:
        self._digests, self._kept = digests, kept
        self.noted: dict[str, str] = {}

    def remember(self, path: str, digest: str) -> None:
        self._digests[path] = self.noted[path] = digest

    def recall(self, path: str) -> str | None:
        return self._digests.get(path)

    async def told_of(self, path: str, known: str, digest: str, now: bytes) -> str:
        """Who else has changed a file since it was known, and how; empty: nobody else of the
        session. Whoever is told all of it knows the file as it is now."""
        told = None if self._kept is None else await self._kept.told_of(path, known, now)
        if told is None:
            return ""
        if told.is_whole:
            self.remember(path, digest)
        return told.text


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

    def __init__(self, make: "Callable[[], FileKeeper] | None") -> None:
        """None: nothing can be undone."""
        self._make = make
        self.others: OneOfMany | None = None
        """From the first subagent on: this session among all who write here."""

    @cached_property
    def keeper(self) -> "FileKeeper | None":
        return None if self._make is None else self._make()

    async def before(self, proposal: Proposal) -> dict[str, FileState]:
        if self.others is not None:
            return await self.others.before(proposal)
        return await self.keep(proposal, proposal.call.id)

    async def after(self, call_id: str) -> tuple[Change, ...]:
        if self.others is not None:
            return await self.others.after(call_id)
        return await self.changed_by(call_id)

    async def left_by(self, started: CallStarted) -> tuple[Change, ...]:
        return await self.left(started.call_id, started.kept)

    async def told_of(self, path: str, known: str, now: bytes) -> "Told | None":
        """What other agents have made of a file since it was like that."""
        return None if self.others is None else await self.others.told_of(path, known, now)

    async def keep(self, proposal: Proposal, key: str) -> dict[str, FileState]:
        return {} if self.keeper is None else await self.keeper.before(proposal, key)

    async def changed_by(self, key: str) -> tuple[Change, ...]:
        return () if self.keeper is None else await self.keeper.after(key)

    async def left(self, key: str, kept: Mapping[str, FileState]) -> tuple[Change, ...]:
        return () if self.keeper is None else await self.keeper.left_by(key, kept)

    def found(self, key: str, changes: tuple[Change, ...]) -> None:
        """Of a call that still runs, while others have begun or ended."""
        if self.others is not None:
            self.others.found(key, changes)

    def blobs(self) -> "Blobs | None":
        return None if self.keeper is None else self.keeper.blobs

    @property
    def loaded(self) -> "FileKeeper | None":
        """If any call was kept so far."""
        keeper: FileKeeper | None = self.__dict__.get("keeper")
        return keeper

    def close(self) -> None:
        if self.loaded is not None:
            self.loaded.close()


class Foreground:
    """Calls whose work may go on in the background, the newest last."""

    def __init__(self) -> None:
        self._calls: dict[str, Leave] = {}

    @contextmanager
    def offering(self, call_id: str, leave: Leave) -> Iterator[None]:
        self._calls[call_id] = leave
        try:
            yield
        finally:
            self._calls.pop(call_id, None)

    def leave(self, call_id: str = "") -> bool:
        """This call's, or of the newest that can; False when there is none."""
        calls = (call_id,) if call_id else tuple(reversed(self._calls))
        return any(self._calls[call]() for call in calls if call in self._calls)


class DeskMaker:
    def __init__(
        self,
        shop: Workshop,
        session: str,
        settings: Mapping[str, str],
        entries: Sequence[Entry] = (),
    ) -> None:
        self.shop = shop
        self.agent = ""
        """What others call the subagent that works here."""
        self._session = session
        self._settings = settings
        self._digests = digests_in(entries)
        self.kept: KeptFiles | None = None
        """Who knows what others do to files."""
        self.foreground = Foreground()

    @property
    def cwd(self) -> str:
        return self.shop.cwd

    def remade(self, entries: Sequence[Entry]) -> "DeskMaker":
        """After a rewind: what the model no longer knows of, it must read again."""
        made = DeskMaker(self.shop, self._session, self._settings, entries)
        made.agent, made.kept, made.foreground = self.agent, self.kept, self.foreground
        return made

    def __call__(self, call_id: str, progress: Callable[[str], None]) -> Desk:
        return Desk(
            call_id=call_id,
            cwd=self.shop.cwd,
            host=self.shop.host,
            files=FilesSeen(self._digests, self.kept),
            progress=progress,
            shop=self.shop,
            session=self._session,
            agent=self.agent,
            settings=self._settings,
            leaving=lambda leave: self.foreground.offering(call_id, leave),
        )
