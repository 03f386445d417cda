"""The worktree of a subagent: when it begins, and what becomes of it at the end."""

import asyncio
import os
from collections.abc import Callable, Sequence
from tempfile import TemporaryDirectory

from detent.app.agents.files.differing import differing, unseen
from detent.app.agents.files.merging import merge, named
from detent.app.agents.files.sharing import Sharing, apart_of
from detent.app.agents.files.worktrees import Worktree, discard, open_worktree
from detent.app.engine import Engine
from detent.app.settings.sandbox import full_path, is_pattern
from detent.gate.rules import READING
from detent.ports import Proposal
from detent.ports.delegation import Assignment, CannotDelegate
from detent.session.blobs import Blobs
from detent.tools.files.texts import legible
from detent.types.agents import State
from detent.types.content import Call
from detent.types.effects import Effect, Reads, Writes
from detent.types.verdicts import Ask, Deny, Verdict

BRIEF = 1.0
"""Seconds to look at what one has done that was stopped: somebody waits."""


async def worktree_for(above: Engine, agent: str) -> Worktree:
    """Raises CannotDelegate."""
    if above.grounds.options.host is not None:
        raise CannotDelegate("There are no worktrees on another machine: start it without.")
    roots = above.gate.workspace.roots
    return await open_worktree(above.cwd, agent, above.grounds.environ, roots, hidden_from(above))


async def come_to_end(
    worktree: Worktree, above: Engine, sharing: Sharing, state: State, task: Assignment
) -> str:
    """Merged if it has done its work, unless its task says otherwise. What came of it, in words for
    the model; never raises."""
    try:
        return legible(await _came_of(worktree, above, sharing, state, task))
    except (CannotDelegate, OSError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error).rstrip(".")
        return legible(f"Nothing was merged: {why}. Its worktree is kept in {worktree.top}.")


async def _came_of(
    worktree: Worktree, above: Engine, sharing: Sharing, state: State, task: Assignment
) -> str:
    if task.at_end == "discard":
        await discard(worktree)
        return "Its worktree was discarded."
    if state != "completed" or task.at_end == "keep":
        return await _kept(worktree, state)
    return await _merged(worktree, above, sharing)


async def _kept(worktree: Worktree, state: State) -> str:
    kept = f"its worktree is kept in {worktree.top}"
    why = "" if state == "completed" else "It was not done, and nothing was merged: "
    try:
        async with asyncio.timeout(BRIEF if state == "stopped" else None):
            changed = (*await differing(worktree), *await unseen(worktree))
    except TimeoutError:
        return f"{why}{kept}."
    if changed:
        return f"{why}{kept} ({named([str(one) for one in changed])})."
    await discard(worktree)
    return "It has changed no file; its worktree is gone."


async def _merged(worktree: Worktree, above: Engine, sharing: Sharing) -> str:
    files = sharing.of(worktree.agent, sharing.name_of(worktree.agent), apart_of(above))
    roots, blobs = above.gate.workspace.roots, sharing.kept.blobs()
    if blobs is not None:
        merged = await merge(worktree, files, blobs, roots, _refusal(above))
    else:  # nothing is kept of this session: only until it is done
        with TemporaryDirectory(prefix="detent-merge-") as private:
            merged = await merge(worktree, files, Blobs(private), roots, _refusal(above))
    return merged.words(worktree)


def _refusal(above: Engine) -> Callable[[Sequence[str]], str]:
    """Why the parent may not write such files: a rule, or a protected place. In the worktree they
    had other names, and commands are held back there by none of these. What only the mode asks
    about was asked when the child wrote them."""

    def why(paths: Sequence[str]) -> str:
        verdict = _judged(above, "Edit", *map(Writes, paths))
        if isinstance(verdict, Deny):
            return verdict.reason
        is_asked = isinstance(verdict, Ask) and not verdict.source.startswith("mode ")
        return f"{verdict.source}: it needs the user's consent" if is_asked else ""

    return why


def hidden_from(above: Engine) -> Callable[[str], bool] | None:
    """What the parent may not read is not to be read under another name."""
    rules = [rule for rule in above.gate.rules.deny if rule.tool in READING or "*" in rule.tool]
    places = _denied_places(above)
    if not rules and not places:
        return None

    def is_hidden(path: str) -> bool:
        if any(f"{path}/".startswith(f"{place}/") for place in places):
            return True
        return bool(rules) and isinstance(_judged(above, "Read", Reads(path)), Deny)

    return is_hidden


def _denied_places(above: Engine) -> list[str]:
    """That the sandbox hides from commands."""
    wishes, grounds = above.grounds.settings.sandbox, above.grounds
    named = () if wishes is None else wishes.deny_read
    full = (full_path(name, grounds.cwd, grounds.own) for name in named if not is_pattern(name))
    return [os.path.realpath(path) for path in full]


def _judged(above: Engine, tool: str, *effects: Effect) -> Verdict:
    return above.gate.judge(Proposal(Call("", tool, ""), tool, {}, effects, above.cwd))
