"""All agents of a session: what every one of them shares, whoever set it to work."""

import os
from functools import cached_property
from typing import TYPE_CHECKING

from detent.app.engine import Engine
from detent.session.store import AGENTS

if TYPE_CHECKING:
    from detent.app.agents.employed import Running
    from detent.app.agents.files.sharing import Sharing
    from detent.app.agents.kinds.finding import Kinds
    from detent.app.agents.tasks import SharedTasks
    from detent.session.log import MemoryLog

ADDRESSES = ("main", "parent")
"""Of the session, and of whom one works for: no name for anybody else."""
MOST_AT_ONCE = 20
"""Children of one parent that run at the same time."""


class Crew:
    """The session of the person is its root."""

    def __init__(self, root: Engine) -> None:
        self.root = root
        options, settings = root.grounds.options, root.grounds.settings
        wished = (options.max_agent_depth, settings.max_agent_depth, options.usual_agent_depth)
        self.deepest = next((most for most in wished if most is not None), 0)
        """Levels below the session; 0 is as many as there are."""
        self.at_once = settings.max_concurrent_agents or MOST_AT_ONCE
        self.at_work: dict[str, Running] = {}
        """Those who work now, whoever they work for, by id."""
        self.names: dict[str, str] = {}
        """What they are called, and those who have not begun yet."""
        self.unsaved: dict[str, MemoryLog] = {}
        """Of a session that is not saved: what its agents go on from."""

    @cached_property
    def kinds(self) -> "Kinds":
        from detent.app.agents.kinds.finding import kinds_of

        return self.root.kinds or kinds_of(self.root.grounds)

    @cached_property
    def sharing(self) -> "Sharing":
        from detent.app.agents.files.sharing import sharing_of

        return sharing_of(self.root)

    @cached_property
    def tasks(self) -> "SharedTasks":
        from detent.app.agents.tasks import SharedTasks

        root = self.root
        ask, safe = root.gate.happened, root.recorder.safe
        return SharedTasks(lambda: root.journal.log.entries, root.recorder.record, ask, safe)

    @property
    def folder(self) -> str:
        """Where the logs of all lie; empty for a session that is not saved."""
        return os.path.join(self.root.shop.beside, AGENTS) if self.root.journal.path else ""

    def log_of(self, agent: str) -> str:
        return os.path.join(self.folder, f"{agent}.jsonl") if self.folder else ""

    def free_name(self, wanted: str) -> str:
        """One that nobody has who is at work: others go by it. In one line, as all read it."""
        wanted = " ".join(wanted.split())
        taken = {*self.names.values(), *ADDRESSES}
        name, number = wanted, 1
        while wanted and name in taken:
            number += 1
            name = f"{wanted}-{number}"
        return name
