"""The Code of the ports. Where no server can be had, nothing more than this is ever loaded."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from detent.ports import Host
from detent.tools.language.servers import Choice

if TYPE_CHECKING:
    from detent.tools.language.work import Work

LARGEST = 1024 * 1024
MOST_SAMPLED = 5_000


class LanguageServers:
    """`cwd` is the working folder of the moment, `holds` says whether a path is in the workspace,
    `reads_freely` whether Read would open it unasked; for the others see `Choice`."""

    def __init__(
        self,
        host: Host,
        *,
        cwd: Callable[[], str],
        holds: Callable[[str], bool],
        reads_freely: Callable[[str], bool],
        chosen: Mapping[str, tuple[str, ...]] | None,
        trusted: bool,
    ) -> None:
        self._host, self._cwd, self._holds, self._trusted = host, cwd, holds, trusted
        self._reads_freely = reads_freely
        self._choice = Choice(host.which, chosen, trusted=trusted, holds=holds)

    @cached_property
    def _work(self) -> "Work":
        from detent.tools.language.work import Work

        return Work(self._host, self._cwd, self._holds, self._reads_freely, trusted=self._trusted)

    async def look(self, action: str, path: str, line: int, character: int, query: str) -> str:
        if action == "symbols" and query:
            action, path = "workspace symbols", await self._sample(path)
        found = self._choice.find(path)
        return await self._work.look(found, action, path, line, character, query)

    async def faults(self, path: str, before: str, after: str) -> str:
        if len(after) > LARGEST:
            return ""
        try:
            found = self._choice.find(path)
        except LookupError:
            return ""
        return await self._work.faults(found, path, before, after)

    async def aclose(self) -> None:
        if "_work" in self.__dict__:
            await self._work.aclose()

    async def _sample(self, path: str) -> str:
        """A file whose server can be asked about the whole project."""
        facts = await self._host.facts(path)
        if facts is None or not facts.is_dir:
            return path
        walked = 0
        async for facts in self._host.walk(path):
            walked += 1
            if walked > MOST_SAMPLED:
                break
            if not facts.is_dir and self._is_served(facts.path):
                return facts.path
        raise LookupError("no file of a language with a server is here. Use Grep instead")

    def _is_served(self, path: str) -> bool:
        try:
            self._choice.find(path)
        except LookupError:
            return False
        return True
