"""The `Checkpoints` of a session: what calls change in files, whatever changes them."""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from detent.app.checkpoints.candidates import changed_since, keep
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

Result = TypeVar("Result")


class FileKeeper:
    def __init__(
        self,
        roots: Sequence[str],
        home: str,
        terms: Terms,
        blobs: Blobs,
        tell: Callable[[str], None],
    ) -> None:
        """`roots` are the folders of the workspace; `tell` says what is not covered."""
        self._roots, self._home, self._terms = roots, home, terms
        self._blobs = blobs
        self._tell = tell
        self._told: set[str] = set()
        self._kept: dict[str, dict[str, FileState]] = {}
        self._commands: set[str] = set()
        """Calls of which nobody knows what they touch."""
        self._workspace: MirroredWorkspace | None = None
        self._is_broken = self._is_closed = False
        self._work: asyncio.Future[Any] | None = None

    async def before(self, proposal: Proposal) -> dict[str, FileState]:
        call_id, paths = proposal.call.id, written_by(proposal)
        kept: dict[str, FileState] = {}
        try:
            if paths:
                kept = self._kept[call_id] = await self._keep(paths)
            if may_do_anything(proposal):
                await self._begin_command(call_id)
        except Exception as error:  # a call never fails for want of a way back
            self._give_up(error)
        return kept

    async def after(self, call_id: str) -> tuple[Change, ...]:
        changes: tuple[Change, ...] = ()
        kept, is_command = self._kept.pop(call_id, {}), call_id in self._commands
        self._commands.discard(call_id)
        try:
            if kept:
                changes = await self._compared(kept)
            if is_command:
                known = {change.path for change in changes}
                found = await self._end_command()
                changes = (*changes, *(each for each in found if each.path not in known))
        except Exception as error:
            self._give_up(error)
        return changes

    async def left_by(self, call_id: str, kept: Mapping[str, FileState]) -> tuple[Change, ...]:
        """What is not as it was before a call that never came to its end. It may be the call's
        work or that of others since: nothing to be undone unasked."""
        try:
            changes = await self._compared(kept) if kept else ()
            workspace = await self._opened()
            if workspace is None or call_id not in workspace.began:
                return changes
            known = {change.path for change in changes}
            found = await self._in_thread(lambda: workspace.left_by(call_id))
            return (*changes, *(each for each in found if each.path not in known))
        except Exception as error:
            self._give_up(error)
            return ()

    def close(self) -> None:
        self._is_closed = True
        if self._workspace is not None and self._work is None:
            self._workspace.close()
            self._workspace = None

    async def _keep(self, paths: Sequence[str]) -> dict[str, FileState]:
        def work() -> dict[str, FileState]:
            return keep(paths, self._blobs, self._terms.file_bytes)

        kept = work() if _are_small(paths) else await self._in_thread(work)
        self._say_what_is_not_kept(kept)
        return kept

    async def _compared(self, kept: Mapping[str, FileState]) -> tuple[Change, ...]:
        def work() -> tuple[Change, ...]:
            return changed_since(kept, self._blobs, self._terms.file_bytes)

        return work() if _are_small(kept) else await self._in_thread(work)

    async def _begin_command(self, call_id: str) -> None:
        workspace = await self._opened()
        if workspace is None:
            return
        touched = workspace.touched()

        def work() -> None:
            workspace.settle(touched, call_id)

        await self._done(workspace, workspace.effort(touched), work)
        self._commands.add(call_id)

    async def _end_command(self) -> tuple[Change, ...]:
        workspace = await self._opened()
        if workspace is None:
            return ()
        touched = workspace.touched()
        effort = workspace.effort(touched)
        if not effort:
            return ()
        return await self._done(workspace, effort, lambda: workspace.changes(touched))

    async def _done(
        self, workspace: "MirroredWorkspace", effort: int, work: Callable[[], Result]
    ) -> Result:
        result = work() if effort <= AT_ONCE else await self._in_thread(work)
        self._say_what_is_missed(workspace)
        return result

    async def _opened(self) -> "MirroredWorkspace | None":
        """Reads the workspace at first, which may take a moment."""
        await self._free()
        if self._workspace is None and not self._is_broken:

            def work() -> "MirroredWorkspace":
                from detent.app.checkpoints.workspace import MirroredWorkspace

                self._workspace = MirroredWorkspace(
                    self._roots, self._home, self._terms, self._blobs, lambda: self._is_closed
                )
                return self._workspace

            loop = asyncio.get_running_loop()
            said = loop.call_later(PATIENCE, self._tell, READING)
            try:
                self._say_what_is_missed(await self._in_thread(work))
            finally:
                said.cancel()
        return self._workspace

    async def _free(self) -> None:
        """A call that was cancelled may have left work behind."""
        if self._work is not None:
            await asyncio.wait([self._work])

    async def _in_thread(self, work: Callable[[], Result]) -> Result:
        await self._free()
        running = self._work = asyncio.ensure_future(asyncio.to_thread(work))
        running.add_done_callback(self._worked)
        return await asyncio.shield(running)

    def _worked(self, work: "asyncio.Future[Any]") -> None:
        if self._work is work:
            self._work = None
        if not work.cancelled():
            work.exception()

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


def _are_small(paths: Sequence[str] | Mapping[str, FileState]) -> bool:
    total = 0
    for path in paths:
        try:
            total += os.stat(path).st_size
        except OSError:
            continue
    return total <= SMALL and len(paths) <= AT_ONCE
