"""Servers at work: questions about code, and what an edit has made wrong."""

import asyncio
import os
from collections import Counter
from collections.abc import Callable

from msgspec import Struct

from detent.ports import Host
from detent.tools.files.texts import LIMIT, unpacked
from detent.tools.language.changes import Key, added, keys, told
from detent.tools.language.client import CHANGED, CREATED, Client, Document
from detent.tools.language.connection import Gone, Refusal
from detent.tools.language.fleet import Fleet
from detent.tools.language.questions import Subject, answer
from detent.tools.language.servers import Found, root_of
from detent.tools.paths import shown

AFTER_AN_EDIT = 5.0
BASELINE = 3.0
NEWS = 2.0
"""Seconds that an edit may wait: in all, for the faults from before, for those from after."""
BRIEF = 0.1
"""For a server that has let us wait in vain."""


class _Debt(Struct):
    """An edit whose result is not told yet: what was there before it."""

    text: str
    known: Counter[Key] | None = None


class Work:
    def __init__(
        self,
        host: Host,
        cwd: Callable[[], str],
        holds: Callable[[str], bool],
        reads_freely: Callable[[str], bool],
        *,
        trusted: bool,
    ) -> None:
        self._host, self._cwd, self._holds, self._reads_freely = host, cwd, holds, reads_freely
        self._fleet = Fleet(host, trusted=trusted)
        self._debts: dict[str, _Debt] = {}

    async def look(
        self, found: Found, action: str, path: str, line: int, character: int, query: str
    ) -> str:
        async def asked() -> str:
            subject = await self._subject(found, path)
            return await answer(subject, action, line, character, query)

        try:
            try:
                return await asked()
            except Gone:  # Once more: a server that has crashed is started again.
                return await asked()
        except Gone as gone:
            raise LookupError(f"{gone}. Use Grep instead") from None
        except Refusal as refusal:
            raise LookupError(f"{found.server.name} says: {refusal}") from None
        except TimeoutError:
            raise LookupError(
                f"{found.server.name} has not answered in time; it may still be reading the "
                "project. Try again later, or use Grep"
            ) from None

    async def faults(self, found: Found, path: str, before: str, after: str) -> str:
        try:
            async with asyncio.timeout(AFTER_AN_EDIT):
                return await self._news(found, path, before, after)
        except Exception:  # An edit has worked, whatever a server thinks of it.
            return ""

    async def aclose(self) -> None:
        await self._fleet.aclose()

    async def _news(self, found: Found, path: str, before: str, after: str) -> str:
        debt = self._debts.setdefault(path, _Debt(before, None if before else Counter()))
        client = await self._client(found, path, in_haste=True)
        try:
            if debt.known is None:
                old = client.show(path, debt.text, found.language_id)
                wait = BRIEF if client.is_silent else BASELINE
                debt.known = keys(await client.faults(path, old, wait), old.lines)
        finally:
            # Whatever comes of it, from here on the server knows the file as it is.
            new = client.show(path, after, found.language_id)
            client.saved(path, CHANGED if before else CREATED)
        faults = await client.faults(path, new, BRIEF if client.is_silent else NEWS)
        del self._debts[path]
        fresh = added(debt.known, faults, new.lines)
        encoding = client.abilities.position_encoding
        return told(shown(path, self._cwd()), fresh, new.lines, encoding)

    async def _client(self, found: Found, path: str, *, in_haste: bool = False) -> Client:
        root = await root_of(path, self._cwd(), self._holds, self._host)
        return await self._fleet.client(found, root, in_haste=in_haste)

    async def _subject(self, found: Found, path: str) -> Subject:
        client = await self._client(found, path)
        for other in [one for one in client.documents if one != path]:
            await self._refresh(client, other, found.language_id)
        document = await self._shown(client, path, found.language_id)
        return Subject(client, path, document, self._cwd(), self._lines)

    async def _refresh(self, client: Client, path: str, language_id: str) -> None:
        """A file that was shown before may have changed on the disk, or be gone."""
        facts = await self._host.facts(path)
        document = client.documents.get(path)
        if document is None:
            return  # Another question has seen that it is gone.
        if facts is not None and facts.modified == document.modified:
            return
        try:
            await self._shown(client, path, language_id)
        except OSError:
            client.close(path)

    async def _shown(self, client: Client, path: str, language_id: str) -> Document:
        facts = await self._host.facts(path)
        text = unpacked(await self._host.read(path, LIMIT)).body
        document = client.show(path, text, language_id)
        document.modified = facts.modified if facts else None
        return document

    async def _lines(self, path: str) -> list[str]:
        """An answer must not be a way to read what Read may not open."""
        try:
            if not os.path.isabs(path) or not self._reads_freely(path):
                return []
            return unpacked(await self._host.read(path, LIMIT)).body.split("\n")
        except (OSError, ValueError):  # a server may name what cannot even be a path
            return []
