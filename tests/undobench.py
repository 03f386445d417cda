"""A session whose calls are shell scripts in a folder, seen by comparing the whole tree."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import shellbench
from detent.app.checkpoints.keeper import FileKeeper
from detent.app.checkpoints.terms import Terms
from detent.app.undo.doing import Ground, Report, look, undo
from detent.app.undo.planning import Wish
from detent.app.undo.present import state_of
from detent.ports import Proposal
from detent.session.blobs import Blobs
from detent.session.log import MemoryLog
from detent.types.content import Call, Text
from detent.types.effects import Effect, Runs
from detent.types.events import CallEnded, CallStarted, Opened, Prompted, Replied
from detent.types.files import Change, FileState
from detent.types.outcomes import Done
from detent.types.usage import Usage
from detent.types.verdicts import Allow

Tree = dict[str, FileState]


class Bench:
    def __init__(self, folder: Path) -> None:
        self.root = folder / "work"
        self.root.mkdir()
        self.blobs = Blobs(str(folder / "home"))
        self.log = MemoryLog(lambda: 0.0)
        self.log.append(Opened(session="s", cwd=str(self.root), version="0"))
        self.steps = 0
        self.ground = Ground(
            session="s",
            entries=lambda: self.log.entries,
            record=lambda entry: void(self.log.append(entry)),
            trouble=lambda: self.log.trouble,
            blobs=self.blobs,
            roots=(str(self.root),),
            cwd=str(self.root),
        )

    def tree(self) -> Tree:
        """Everything below the root, bytes kept."""
        found: Tree = {}
        for folder, names, files in os.walk(self.root):
            for name in (*names, *files):
                path = f"{folder}/{name}"
                found[path] = state_of(path)
                if found[path].kind == "file":
                    self.blobs.put(Path(path).read_bytes())
        return found

    def prompt(self, text: str = "go") -> None:
        self.log.append(Prompted(turn=1, content=(Text(text),)))

    def bash(self, script: str) -> None:
        """What the user does, or a call."""
        shellbench.run(script, self.root)

    def step(self, *scripts: str) -> int:
        """An answer with a call for each script. Its number."""
        self.steps += 1
        calls = tuple(
            Call(f"c{self.steps}_{number}", "Bash", "{}") for number in range(len(scripts))
        )
        self.log.append(
            Replied(turn=1, step=1, model="m", content=calls, stop="tool_use", usage=Usage(1, 1))
        )
        for call, script in zip(calls, scripts, strict=True):
            self.started(call.id, Runs(script))
            changed = self.changed_by(call, script)
            self.log.append(
                CallEnded(
                    call_id=call.id, name="Bash", outcome=Done((Text("ok"),)), changed=changed
                )
            )
        return self.steps

    def changed_by(self, call: Call, script: str) -> tuple[Change, ...]:
        before = self.tree()
        self.bash(script)
        return difference(before, self.tree())

    def started(self, call_id: str, *effects: Effect) -> None:
        self.log.append(
            CallStarted(
                call_id=call_id,
                name="Bash",
                arguments="{}",
                effects=effects,
                verdict=Allow("test"),
            )
        )

    def undo(self, step: int = 0, **wish: bool) -> Report:
        return undo(self.ground, Wish(step=step, **wish))

    def redo(self) -> Report:
        return undo(self.ground, Wish(redo=True))

    def look(self, step: int = 0, **wish: bool) -> Report:
        return look(self.ground, Wish(step=step, **wish))

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def read(self, name: str) -> str:
        return (self.root / name).read_text()


class SeeingBench(Bench):
    """Goes by what a session sees of a command itself."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        home = str(folder / "home")
        roots = (str(self.root),)
        self._keeper = FileKeeper(roots, home, Terms(), self.blobs, lambda text: None)
        self._loop = asyncio.new_event_loop()

    def changed_by(self, call: Call, script: str) -> tuple[Change, ...]:
        proposal = Proposal(call, "Bash", {}, (Runs(script),), str(self.root))
        self._loop.run_until_complete(self._keeper.before(proposal))
        self.bash(script)
        return self._loop.run_until_complete(self._keeper.after(call.id))

    def close(self) -> None:
        self._keeper.close()
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()


def difference(before: Tree, after: Tree) -> tuple[Change, ...]:
    nothing = FileState()
    return tuple(
        Change(path, old, new)
        for path in sorted({*before, *after})
        if (old := before.get(path, nothing)) != (new := after.get(path, nothing))
    )


def void(anything: object) -> None:
    pass
