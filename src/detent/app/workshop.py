"""What the desks of a session share. Each part is made when a tool first wants it."""

import os
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import cached_property
from typing import TYPE_CHECKING, Any

from detent.app.grounds import Grounds
from detent.app.journal import Journal
from detent.context.project import not_rewound
from detent.ports import Agents, Code, Host, Job, Jobs, Tasks, Web
from detent.tools.registry import canonical_name
from detent.types.errors import BadInput
from detent.types.events import CallEnded
from detent.types.outcomes import Done

if TYPE_CHECKING:
    from detent.app.agents.staff import Staff
    from detent.app.confining import Confinement
    from detent.app.outputs import OutputFolder
    from detent.app.sandboxing import SessionSandbox
    from detent.host.local import LocalHost

NOTES = "commands.jsonl"
"""In the folder beside the log: how the session's commands ended."""
PARTS = ("host", "web", "code", "jobs")
"""The first is what the others stand on: it is closed last."""


class Shop:
    """`tell` brings news to the model; `holds` says whether a folder is in the workspace,
    `reads_freely` whether the gate lets a file be read without a question, from a folder."""

    def __init__(
        self,
        grounds: Grounds,
        journal: Journal,
        *,
        tell: Callable[[str], None],
        holds: Callable[[str], bool],
        reads_freely: Callable[[str, str], bool],
        switch_mode: Callable[[str], Awaitable[str]],
        sandbox: "Callable[[], SessionSandbox | None]" = lambda: None,
    ) -> None:
        self._grounds = grounds
        self._journal = journal
        self._tell = tell
        self._holds = holds
        self._reads_freely = reads_freely
        self._switch_mode = switch_mode
        self._sandbox = sandbox
        self._keeps_jobs = keeps_jobs(grounds, journal)
        self.employ: Callable[[], Staff]
        """Gives those who work for this session."""
        self.cwd = self._last_folder() or grounds.cwd
        self._earlier = self._earlier_jobs()

    @cached_property
    def host(self) -> Host:
        given, beside = self._grounds.options.host, self.beside
        return given or local_host(self._grounds, self.confinement, beside)

    @cached_property
    def confinement(self) -> "Confinement":
        from detent.app.confining import Confinement

        return Confinement(self._sandbox)

    @cached_property
    def outputs(self) -> "OutputFolder":
        from detent.app.outputs import OutputFolder

        return OutputFolder(self.beside, temporary_folder(self._journal.session))

    @property
    def beside(self) -> str:
        """The folder for what belongs to the log; empty for a session that is not saved."""
        return self._journal.path.removesuffix(".jsonl")

    @cached_property
    def jobs(self) -> Jobs:
        from detent.tools.shell.jobs import JobTable

        clock, stay = self._grounds.clock, None
        if self._keeps_jobs:
            stay = getattr(self.host, "stay", None)
        table = JobTable(self.host, self.outputs, clock, self._tell, self._earlier, stay)
        if any(job.kept for job in self._earlier):
            from detent.app.kept_jobs import take_up

            take_up(table, self._earlier)
        return table

    def take_up_jobs(self) -> None:
        """Those that have outlived an earlier run are watched from now on."""
        if any(job.kept for job in self._earlier):
            self.jobs  # noqa: B018

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
            reads_freely=lambda path: self._reads_freely(path, self.cwd),
            chosen=self._grounds.settings.lsp,
            trusted=self._grounds.is_trusted,
        )

    @property
    def agents(self) -> Agents:
        return self.employ()

    @property
    def tasks(self) -> Tasks:
        return self.employ().crew.tasks

    @property
    def jobs_of_this_run(self) -> tuple[Job, ...]:
        if "jobs" not in self.__dict__:
            return ()
        return tuple(job for job in self.jobs.all() if not job.past)

    def last(self, tool: str) -> dict[str, Any] | None:
        for entry in reversed(not_rewound(self._journal.log.entries)):
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

    def go_back(self) -> None:
        """After a rewind: to the folder where the conversation is now."""
        self.cwd = self._last_folder() or self._grounds.cwd

    async def switch_mode(self, mode: str) -> str:
        return await self._switch_mode(mode)

    async def aclose(self) -> None:
        """Only what was made, and not the host of somebody else."""
        async with AsyncExitStack() as closing:  # one that fails does not keep the others open
            if "outputs" in self.__dict__:
                closing.callback(self.outputs.close)
            for name in PARTS:
                if name in self.__dict__ and (name != "host" or self._grounds.options.host is None):
                    closing.push_async_callback(getattr(self, name).aclose)

    def _earlier_jobs(self) -> tuple[Job, ...]:
        """They went with the run that had started them; the model must not count on them."""
        if not self._journal.log.entries:
            return ()
        from detent.app.earlier_jobs import earlier_jobs, news_of

        jobs = earlier_jobs(self._journal.log.entries)
        if jobs or os.path.isdir(self.beside):
            from detent.app.kept_jobs import with_kept

            jobs = with_kept(jobs, self.beside, self._grounds.clock.now())
        if news := news_of(jobs):
            self._tell(news)
        return jobs

    def _last_folder(self) -> str:
        """Where an earlier part of the session had gone, if that is still there."""
        entries = not_rewound(self._journal.log.entries)
        moved = (e.cwd for e in reversed(entries) if isinstance(e, CallEnded) and e.cwd)
        folder = next(moved, "")
        return folder if folder and os.path.isdir(folder) and self._holds(folder) else ""


def keeps_jobs(grounds: Grounds, journal: Journal) -> bool:
    """Whether background jobs outlive the session. Raises BadInput where they cannot."""
    wish = grounds.options.keep_background
    if wish and not journal.path:
        raise BadInput(
            "background jobs can be kept for a saved session only (not with --no-session)"
        )
    wanted = grounds.settings.keep_background if wish is None else wish
    return wanted and bool(journal.path)


def outputs_folders(journal: Journal) -> tuple[str, ...]:
    """Wherever the outputs of a session may lie: those of the one it goes on from, too."""
    beside = {log.removesuffix(".jsonl") for log in (journal.path, journal.earlier) if log}
    return tuple(map(os.path.realpath, (*beside, temporary_folder(journal.session))))


def temporary_folder(session: str) -> str:
    """For outputs that cannot lie beside a log."""
    from tempfile import gettempdir

    return os.path.join(gettempdir(), f"detent-{session}")


def local_host(
    grounds: Grounds, confinement: "Confinement | None" = None, beside: str = ""
) -> "LocalHost":
    """Children get the user's environment, but not the keys to the models in use. How commands
    ended is kept `beside` the log."""
    from detent.host.local import LocalHost
    from detent.host.notes import Notes

    options, settings, environ = grounds.options, grounds.settings, grounds.environ

    def withheld() -> frozenset[str]:
        from detent.app.keys import key_variables
        from detent.app.models import known_models, names_in_use

        in_use = (name.partition("/")[0] for name in names_in_use(options, settings, environ))
        own = settings.web_search.get("apiKeyEnv", "")
        return key_variables(known_models(settings), *in_use) | {own}

    notes = Notes(os.path.join(beside, NOTES)) if beside else None
    return LocalHost(withheld=withheld, passed=settings.pass_env, sandbox=confinement, notes=notes)
