"""Worktrees that were kept, or left by an agent that was killed: they go with their session."""

import os
from collections.abc import Iterator

from detent.app.agents.files.worktrees import remove
from detent.app.settings.worktree import small_text
from detent.host.files import WORKTREES
from detent.session.reading import read_log
from detent.types.agents import AgentStarted


def remove_worktrees(log: str) -> None:
    """Of all agents whose logs lie beside this one: a fork of the session has none of them. Blocks;
    what cannot be read or removed stays."""
    folder = os.path.join(log.removesuffix(".jsonl"), "agents")
    try:
        agents = {name.removesuffix(".jsonl") for name in os.listdir(folder)}
    except OSError:
        return
    logs = (log, *(os.path.join(folder, f"{agent}.jsonl") for agent in agents))
    found = {one for path in logs for one in _worktrees(path)}
    for agent, top in sorted(found, key=lambda one: one[1], reverse=True):  # the inner ones first
        is_ours = os.path.basename(os.path.dirname(top)) == WORKTREES
        if agent in agents and is_ours and os.path.basename(top) == agent and os.path.isdir(top):
            remove(top, _record_of(top, agent))


def _worktrees(log: str) -> Iterator[tuple[str, str]]:
    try:
        entries = read_log(log).entries
    except OSError:
        return
    for entry in entries:
        if isinstance(entry, AgentStarted) and entry.worktree:
            yield entry.agent, entry.worktree


def _record_of(top: str, agent: str) -> str:
    """What git keeps of it, by what it says itself: believed only if that names it in turn."""
    named = small_text(os.path.join(top, ".git")).removeprefix("gitdir:").strip()
    is_likely = named.endswith(f"/worktrees/{agent}") and os.path.isabs(named)
    return named if is_likely else os.path.join(top, ".git", "worktrees", agent)
