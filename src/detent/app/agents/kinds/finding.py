"""Which agents there are: a handful of looks at the disk. What reads files is loaded after that.

Strongest first: managed, the command line and hosts, the project (from the working folder up to the
root of the repository, in each folder ours before theirs), the user, plugins, built-in ones.
"""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from detent.app.grounds import Grounds
from detent.app.reminders import folders_down

if TYPE_CHECKING:
    from detent.app.agents.kinds.record import Kinds as Kinds
    from detent.app.agents.kinds.record import Source

BUILT_IN = {
    "general-purpose": "Any task of several steps; has all your tools.",
    "Explore": "Finds code and answers questions about it; changes nothing.",
    "Plan": "Works out how to make a change, step by step; changes nothing.",
    "Verify": "Runs tests and checks, tells what passed and what failed; edits nothing.",
}
"""What models are told of those that are always there. Here, so that where there are no others
nothing has to be loaded to tell it."""

Folder = tuple[str, "Source", str]
"""Where files of agents may lie, whose they are, and the folder of the plugin that has it."""


def are_others(grounds: Grounds) -> bool:
    """Whether there may be other agents than the built-in ones."""
    if grounds.options.agents or grounds.settings.agents:
        return True
    return any(os.path.isdir(path) for path, _, _ in agent_folders(grounds))


def kinds_of(grounds: Grounds) -> "Kinds":
    """Raises BadInput for what the caller or the command line says wrongly; whatever is wrong in
    files is among the notices."""
    from detent.app.agents.kinds.built_in import built_in
    from detent.app.agents.kinds.record import Kinds

    if not are_others(grounds):
        return Kinds(built_in())
    from detent.app.agents.kinds.gathering import gathered

    found, behind, notices = gathered(grounds, agent_folders(grounds))
    return Kinds((*found, *built_in()), behind, notices)


def agent_folders(grounds: Grounds) -> Iterator[Folder]:
    """Strongest first; whether they are there or not."""
    where, wanted = grounds.where, grounds.options.setting_sources
    for folder in where.managed:
        yield f"{folder}/agents", "managed", ""
        yield f"{folder}/.claude/agents", "managed", ""
    own = (f"{where.home}/agents", f"{where.claude}/agents")
    if "project" in wanted:
        for folder in reversed(folders_down(where.root, where.cwd)):
            for path in (f"{folder}/.detent/agents", f"{folder}/.claude/agents"):
                if path not in own:  # in the user's home they are the user's
                    yield path, "project", ""
    if "user" in wanted:
        yield own[0], "user" if where.is_ours else "project", ""
        yield own[1], "user" if where.is_theirs_ours else "project", ""
    for plugin in grounds.options.plugin_dirs:
        folder = os.path.abspath(plugin)
        yield f"{folder}/agents", "plugin", folder
