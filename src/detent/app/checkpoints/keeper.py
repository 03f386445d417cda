"""The `Checkpoints` of a session: what calls change in files, whatever changes them.

The calls of several agents may overlap. Every change is told once all the same, and those of one
path follow one another without a gap: what is known of a path moves on only when somebody looks,
and what a look finds belongs to one call. A file that a call has said it writes is that call's for
as long as it runs; all else belongs to a command that runs, and is told before anything that comes
after it.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from detent.app.checkpoints.alone import Alone, Result
from detent.app.checkpoints.candidates import changed_since, keep, kept_state
from detent.app.checkpoints.terms import Terms
from detent.ports import Proposal
from detent.session.blobs import Blobs
from detent.types.effects import Asks, Connects, Reads, Spawns, Writes
from detent.types.files import Change, FileState

if TYPE_CHECKING:
    from detent.app.checkpoints.workspace import MirroredWorkspace

AT_ONCE = 8
"""Names that are looked at without a thread: getting one would take longer."""
SMALL = 1 << 18
"""Bytes that are read without a thread."""
PATIENCE = 1.0
"""Seconds after which people are told what takes so long."""
READING = "reading the folder once, so that what commands change in it can be undone"

Found = Callable[[str, tuple[Change, ...]], None]
"""Told at once of what a command has changed that still runs: others come after it."""


class FileKeeper:
    def __init__(
        self,
        roots: Sequence[str],
        home: str,
        terms: Terms,
        blobs: Blobs,
        tell: Callable[[str], None],
        found: Found = lambda key, changes: None,
    ) -> None:
        """`roots` are the folders of the workspace; `tell` says what is not covered. A key is the
        id of a call, or what else is the only one of its kind in the session."""
        self._roots, self._home, self._terms = roots, home, terms
        self.blobs = blobs
        self._tell, self._tell_found = tell, found
        self._told: set[str] = set()
        self._kept: dict[str, dict[str, FileState]] = {}
        self._commands: dict[str, None] = {}
        """Calls of which nobody knows what they touch, the oldest first."""
        self._news: list[tuple[str, tuple[Change, ...]]] = []
        """What looks have found, and nobody has been told: also one that nobody waited for."""
        self._others: set[str] = set()
        """Paths that somebody has changed just now who tells of it himself."""
        self._workspace: MirroredWorkspace | None = None
        self._is_broken = self._is_closed = False
        self._alone = Alone()

    async def before(self, proposal: Proposal, key: str = "") -> dict[str, FileState]:
        key, paths = key or proposal.call.id, written_by(proposal)
        kept: dict[str, FileState] = {}
        if not paths and not may_do_anything(proposal):
            return kept
        async with self._alone.turn():
            try:
                if paths:
                    kept = await self._keep(paths)
                    self._kept[key] = dict(kept)
                if may_do_anything(proposal):
                    await self._begin_command(key)
            except Exception as error:  # a call never fails for want of a way back
                self._give_up(error)
            except BaseException:
                self._kept.pop(key, None)
                raise
        return kept

    async def after(self, key: str) -> tuple[Change, ...]:
        if key not in self._kept and key not in self._commands:
            return ()
        async with self._alone.turn():
            changes: tuple[Change, ...] = ()
            try:
                changes = await self._changed_by(key)
            except Exception as error:
                self._give_up(error)
            finally:
                self._kept.pop(key, None)
                self._commands.pop(key, None)
            for change in changes:
                self._go_on_from(change)
            return changes

    async def left_by(self, call_id: str, kept: Mapping[str, FileState]) -> tuple[Change, ...]:
        """What is not as it was before a call that never came to its end. It may be the call's
        work or that of others since: nothing to be undone unasked."""
        async with self._alone.turn():
            try:
                changes = await self._compared(kept) if kept else ()
                workspace = await self._opened()
                if workspace is None or not workspace.began:
                    return changes
                known = {change.path for change in changes}
                found = await self._alone.in_thread(lambda: workspace.left_by(call_id))
                return (*changes, *(each for each in found if each.path not in known))
            except Exception as error:
                self._give_up(error)
                return ()

    @asynccontextmanager
    async def beside(self) -> AsyncIterator[set[str]]:
        """For an undo while commands run: takes the paths that it has changed, which are no work of
        theirs."""
        async with self._alone.turn():
            await self._look_at_commands()
            try:
                yield self._others
            finally:
                await self._look_at_commands()
                self._others.clear()

    async def _look_at_commands(self) -> None:
        try:
            if self._commands:
                await self._look(next(iter(self._commands)))
        except Exception as error:
            self._give_up(error)

    def close(self) -> None:
        self._is_closed = True
        if self._workspace is not None and not self._alone.is_working:
            self._workspace.close()
            self._workspace = None

    async def _keep(self, paths: Sequence[str]) -> dict[str, FileState]:
        if self._commands:  # what they did until now is theirs
            await self._look(next(iter(self._commands)))
        workspace = self._workspace if self._commands else None

        def work() -> dict[str, FileState]:
            kept = keep(paths, self.blobs, self._terms.file_bytes)
            return {path: _known(workspace, path) or state for path, state in kept.items()}

        kept = work() if _are_small(paths) else await self._alone.in_thread(work)
        self._say_what_is_not_kept(kept)
        return kept

    async def _changed_by(self, key: str) -> tuple[Change, ...]:
        kept = self._kept.get(key, {})
        if key in self._commands:
            found = await self._look(key, own=key)
            now = await self._compared(kept, self._workspace) if kept else ()
            return (*now, *found)
        if kept and self._commands:
            await self._look(next(iter(self._commands)))
            return await self._compared(kept, self._workspace)
        return await self._compared(kept) if kept else ()

    def _go_on_from(self, change: Change) -> None:
        """A folder that several were to make is told of once."""
        for kept in self._kept.values():
            if change.path in kept:
                kept[change.path] = change.after

    async def _compared(
        self, kept: Mapping[str, FileState], workspace: "MirroredWorkspace | None" = None
    ) -> tuple[Change, ...]:
        """What a look has just found in the workspace counts there: the next goes on from it."""
        most = self._terms.file_bytes

        def state(path: str) -> FileState:
            return _known(workspace, path) or kept_state(path, self.blobs, most)

        def work() -> tuple[Change, ...]:
            return changed_since(kept, state)

        return work() if _are_small(kept) else await self._alone.in_thread(work)

    async def _begin_command(self, key: str) -> None:
        workspace = await self._opened()
        if workspace is None:
            return
        if self._commands:
            await self._look(next(iter(self._commands)))
            workspace.note_running((*self._commands, key))
        else:
            touched = workspace.touched()
            effort = workspace.effort(touched)
            await self._done(workspace, effort, lambda: workspace.settle(touched, key))
        self._commands[key] = None

    async def _look(self, owner: str, own: str = "") -> tuple[Change, ...]:
        """What has changed since the last look is the owner's, but for what others write just now.
        Gives what is its own; the rest is told."""
        workspace = await self._opened()
        if workspace is None:
            return ()
        touched = workspace.touched()
        effort = workspace.effort(touched)
        written = self._others.union(*self._kept.values())

        def work() -> None:
            self._news.append((owner, workspace.changes(touched, written)))

        if effort:
            await self._done(workspace, effort, work)
        mine: list[Change] = []
        while self._news:
            key, changes = self._news.pop(0)
            if key == own:
                mine += changes
            elif changes:
                self._tell_found(key, changes)
        return tuple(mine)

    async def _done(
        self, workspace: "MirroredWorkspace", effort: int, work: Callable[[], Result]
    ) -> Result:
        result = work() if effort <= AT_ONCE else await self._alone.in_thread(work)
        self._say_what_is_missed(workspace)
        return result

    async def _opened(self) -> "MirroredWorkspace | None":
        """Reads the workspace at first, which may take a moment."""
        if self._workspace is None and not self._is_broken:

            def work() -> "MirroredWorkspace":
                from detent.app.checkpoints.workspace import MirroredWorkspace

                self._workspace = MirroredWorkspace(
                    self._roots, self._home, self._terms, self.blobs, lambda: self._is_closed
                )
                return self._workspace

            loop = asyncio.get_running_loop()
            said = loop.call_later(PATIENCE, self._tell, READING)
            try:
                self._say_what_is_missed(await self._alone.in_thread(work))
            finally:
                said.cancel()
        return self._workspace

    def _say_what_is_missed(self, workspace: "MirroredWorkspace") -> None:
        for why in sorted(workspace.why_missed()):
            self._say(f"undo does not cover {why}")

    def _say_what_is_not_kept(self, kept: Mapping[str, FileState]) -> None:
        for path, state in kept.items():
            if state.kind == "file" and not state.digest:
                self._say(f"undo does not cover {path}: it is too large or cannot be read")

    def _give_up(self, error: Exception) -> None:
        self._is_broken = self._is_broken or self._workspace is None
        self._say(f"undo does not cover what commands change: {error or type(error).__name__}")

    def _say(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self._tell(text)


def written_by(proposal: Proposal) -> list[str]:
    """Absolute, each once; a link and what it leads to are two. A name has no link on its way, so
    that a file behind one is not told twice."""
    names = (effect.path for effect in proposal.effects if isinstance(effect, Writes))
    split = (os.path.split(os.path.join(proposal.cwd, name)) for name in names)
    return list(dict.fromkeys(os.path.join(os.path.realpath(f), name) for f, name in split))


def may_do_anything(proposal: Proposal) -> bool:
    return not all(
        isinstance(effect, Reads | Writes | Asks | Spawns)
        or (isinstance(effect, Connects) and effect.only_asks)
        for effect in proposal.effects
    )


def _known(workspace: "MirroredWorkspace | None", path: str) -> FileState | None:
    """None where it is not covered, or not with its bytes."""
    state = None if workspace is None else workspace.state(path)
    return None if state is not None and state.kind == "file" and not state.digest else state


def _are_small(paths: Sequence[str] | Mapping[str, FileState]) -> bool:
    total = 0
    for path in paths:
        try:
            total += os.stat(path).st_size
        except OSError:
            continue
    return total <= SMALL and len(paths) <= AT_ONCE
