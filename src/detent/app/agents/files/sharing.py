"""Agents that write in the same folder: turns at a path, one keeper of what they change, and who it
was. What subagents change is told to the session's log, in the order in which it happened."""

import os
from collections.abc import Callable, Iterable

from msgspec.structs import replace

from detent.app.agents.files.hands import Hands, Told
from detent.app.agents.files.path_locks import PathLocks
from detent.app.desk import DeskMaker, KeptFiles
from detent.app.engine import Engine
from detent.app.recorder import Safe, at_once
from detent.ports import Proposal
from detent.types.agents import ChildChanged
from detent.types.effects import Writes
from detent.types.events import CallStarted, Entry
from detent.types.files import Change, FileState

SESSION = "the main session"


class Sharing:
    """Of all agents of a session, itself included."""

    def __init__(
        self,
        kept: KeptFiles,
        record: Callable[[Entry], None],
        safe: Safe = at_once,
    ) -> None:
        """`record` is for the log of the session; when `safe` returns, others may rest on it."""
        self.kept, self.record, self.safe = kept, record, safe
        self.locks = PathLocks()
        self.hands = Hands(kept.blobs)
        self._names = {"": SESSION}
        kept.others = OneOfMany(self, "")

    def of(self, agent: str, name: str, apart: str = "") -> "OneOfMany":
        """`apart` is a folder of its own: what it does there is nobody's affair."""
        self._names[agent] = name
        return OneOfMany(self, agent, apart)

    def equip(self, engine: Engine, agent: str, name: str, apart: str = "") -> None:
        own = self.of(agent, name, apart)
        engine.kit = replace(engine.kit, checkpoints=own)
        if isinstance(engine.kit.desk, DeskMaker):
            engine.kit.desk.kept = own

    def name_of(self, agent: str) -> str:
        return self._names.get(agent, agent)

    def note(self, agent: str, call_id: str, changes: tuple[Change, ...], *, tells: bool) -> None:
        self.hands.note(self.name_of(agent), changes)
        if changes and tells:
            self.record(ChildChanged(agent=agent, call_id=call_id, changed=changes))


class OneOfMany(KeptFiles):
    """The `Checkpoints` of one agent."""

    def __init__(self, sharing: Sharing, agent: str, apart: str = "") -> None:
        super().__init__(None)
        self._sharing, self._agent, self.apart = sharing, agent, apart
        self._held: dict[str, tuple[str, ...]] = {}

    async def before(self, proposal: Proposal) -> dict[str, FileState]:
        proposal, call = self._without_its_own(proposal), proposal.call.id
        locks = self._sharing.locks
        taken = await locks.take(real_names(proposal))
        try:
            kept = await self._sharing.kept.keep(proposal, self._key(call))
        except BaseException:
            locks.give_back(taken)
            raise
        self._held[call] = taken
        return kept

    async def after(self, call_id: str) -> tuple[Change, ...]:
        try:
            changes = await self._sharing.kept.changed_by(self._key(call_id))
            self.tell(changes, call_id)
            if changes and self._agent:
                await self._sharing.safe()
            return changes
        finally:
            self._sharing.locks.give_back(self._held.pop(call_id, ()))

    async def left_by(self, started: CallStarted) -> tuple[Change, ...]:
        return await self._sharing.kept.left(self._key(started.call_id), started.kept)

    def tell(self, changes: tuple[Change, ...], call_id: str = "") -> None:
        """What the session has done itself its own log knows anyway."""
        self._sharing.note(self._agent, call_id, changes, tells=bool(self._agent))

    def found(self, key: str, changes: tuple[Change, ...]) -> None:
        """Told at once, also of the session itself: what comes next goes on from there."""
        agent, _, call_id = key.rpartition("/")
        self._sharing.note(agent, call_id, changes, tells=True)

    async def told_of(self, path: str, known: str, now: bytes) -> Told | None:
        return await self._sharing.hands.since(path, known, now, self._sharing.name_of(self._agent))

    def _key(self, call_id: str) -> str:
        """Agents count their calls for themselves."""
        return f"{self._agent}/{call_id}" if self._agent else call_id

    def _without_its_own(self, proposal: Proposal) -> Proposal:
        if not self.apart:
            return proposal
        top = f"{os.path.realpath(self.apart)}/"

        def is_its_own(name: str) -> bool:
            return os.path.realpath(os.path.join(proposal.cwd, name)).startswith(top)

        effects = tuple(
            effect
            for effect in proposal.effects
            if not (isinstance(effect, Writes) and is_its_own(effect.path))
        )
        return replace(proposal, effects=effects)


def apart_of(engine: Engine) -> str:
    """The worktree that it works in, its own or that of one above it; empty: none."""
    kept = engine.kit.checkpoints
    return kept.apart if isinstance(kept, OneOfMany) else ""


def sharing_of(root: Engine) -> Sharing:
    kept = root.kit.checkpoints
    if not isinstance(kept, KeptFiles):  # of somebody's own making
        kept = KeptFiles(None)
    if isinstance(root.kit.desk, DeskMaker):
        root.kit.desk.kept = kept
    return Sharing(kept, root.recorder.record, root.recorder.safe)


def real_names(proposal: Proposal) -> Iterable[str]:
    names = (effect.path for effect in proposal.effects if isinstance(effect, Writes))
    return [os.path.realpath(os.path.join(proposal.cwd, name)) for name in names]
