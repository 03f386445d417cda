"""What the desks of a session share. Each part is made when a tool first wants it."""

import os
from collections.abc import Awaitable, Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from detent.app.grounds import Grounds
from detent.app.journal import Journal
from detent.ports import Code, Host, Jobs, Web
from detent.tools.registry import canonical_name
from detent.types.events import CallEnded
from detent.types.outcomes import Done

if TYPE_CHECKING:
    from detent.app.outputs import OutputFolder
    from detent.host.local import LocalHost

PARTS = ("jobs", "code", "web", "host")
"""In the order in which they are closed: the last is what the others stand on."""


class Shop:
    """`tell` brings news to the model; `holds` says whether a folder is in the workspace."""

    def __init__(
        self,
        grounds: Grounds,
        journal: Journal,
        *,
        tell: Callable[[str], None],
        holds: Callable[[str], bool],
        switch_mode: Callable[[str], Awaitable[str]],
    ) -> None:
        self._grounds = grounds
        self._journal = journal
        self._tell = tell
        self._holds = holds
        self._switch_mode = switch_mode
        self.cwd = self._last_folder() or grounds.cwd

    @cached_property
    def host(self) -> Host:
        return self._grounds.options.host or local_host(self._grounds)

    @cached_property
    def outputs(self) -> "OutputFolder":
        from detent.app.outputs import OutputFolder

        return OutputFolder(outputs_folder(self._journal), lasting=bool(self._journal.path))

    @cached_property
    def jobs(self) -> Jobs:
        from detent.tools.shell.jobs import JobTable

        return JobTable(self.host, self.outputs, self._grounds.clock, self._tell)

    @cached_property
    def web(self) -> Web:
        from detent.app.searching import reachable
        from detent.host.web import OpenWeb

        settings, environ = self._grounds.settings, self._grounds.environ
        may_reach = reachable(settings, environ)
        return OpenWeb(environ, self._grounds.clock.elapsed, may_reach=may_reach)

    @cached_property
    def code(self) -> Code:
        from detent.tools.language.code import LanguageServers

        return LanguageServers(
            self.host,
            cwd=lambda: self.cwd,
            holds=self._holds,
            chosen=self._grounds.settings.lsp,
            trusted=self._grounds.options.trust,
        )

    def last(self, tool: str) -> dict[str, Any] | None:
        for entry in reversed(self._journal.log.entries):
            if isinstance(entry, CallEnded) and canonical_name(entry.name) == tool:
                match entry.outcome:
                    case Done(data=dict(data)):
                        return data
        return None

    def move(self, folder: str) -> bool:
        if not self._holds(folder) or not os.path.isdir(folder):
            return False
        self.cwd = folder
        return True

    async def switch_mode(self, mode: str) -> str:
        return await self._switch_mode(mode)

    async def aclose(self) -> None:
        """Only what was made."""
        for name in PARTS:
            if name in self.__dict__:
                await getattr(self, name).aclose()
        if "outputs" in self.__dict__:
            self.outputs.close()

    def _last_folder(self) -> str:
        """Where an earlier part of the session had gone, if that is still there."""
        entries = self._journal.log.entries
        moved = (e.cwd for e in reversed(entries) if isinstance(e, CallEnded) and e.cwd)
        folder = next(moved, "")
        return folder if folder and os.path.isdir(folder) and self._holds(folder) else ""


def outputs_folder(journal: Journal) -> str:
    """Beside the log, or in a place of its own that goes with the session."""
    if journal.path:
        return journal.path.removesuffix(".jsonl")
    from tempfile import gettempdir

    return os.path.join(gettempdir(), f"detent-{journal.session}")


def local_host(grounds: Grounds) -> "LocalHost":
    """Children get the user's environment, but not the keys to the models in use."""
    from detent.host.local import LocalHost

    options, settings, environ = grounds.options, grounds.settings, grounds.environ

    def withheld() -> frozenset[str]:
        from detent.app.keys import key_variables
        from detent.app.models import known_models, names_in_use

        in_use = (name.partition("/")[0] for name in names_in_use(options, settings, environ))
        own = settings.web_search.get("apiKeyEnv", "")
        return key_variables(known_models(settings), *in_use) | {own}

    return LocalHost(withheld=withheld, passed=settings.pass_env)
