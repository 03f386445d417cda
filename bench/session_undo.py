"""What knowing a command's changes costs in a tree of 50,000 files: once, per session, per step."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from detent.app.checkpoints.terms import Terms
from detent.app.checkpoints.workspace import MirroredWorkspace
from detent.session.blobs import Blobs

FILES, PER_FOLDER = 50_000, 20
STEPS, SCANS = 200, 5
PATIENCE = Terms(seconds=120.0)
GOAL = 30.0

Found = tuple[str, float, str, float | None]
Result = TypeVar("Result")


def undo(folder: Path) -> list[Found]:
    root, home = folder / "tree", folder / "home"
    _grow(root)

    def opened() -> MirroredWorkspace:
        return MirroredWorkspace([str(root)], str(home), PATIENCE, Blobs(str(home)))

    first, workspace = _timed(opened)
    workspace.close()
    again, workspace = _timed(opened)
    watched = _steps(workspace, root, STEPS) if workspace.is_watched else None
    for tree in workspace.trees:
        tree.stop_watching()
    scanned = _steps(workspace, root, SCANS)
    workspace.close()
    told = f"in a tree of {FILES:,} files"
    found: list[Found] = [
        (f"the first command ever {told}", first * 1000, "ms", None),
        (f"the first command of a later session {told}", again * 1000, "ms", None),
    ]
    if watched is not None:
        found.append((f"a command {told}", watched * 1000, "ms", GOAL))
    found.append((f"a command {told}, unwatched", scanned * 1000, "ms", None))
    return found


def _grow(root: Path) -> None:
    for number in range(FILES):
        folder = root / f"p{number // 1000}" / f"d{number // PER_FOLDER}"
        if not number % PER_FOLDER:
            folder.mkdir(parents=True)
        (folder / f"f{number}.py").write_text(f"line {number}\n" * (5 + number % 100))
    (root / ".gitignore").write_text("*.log\nbuild/\n*.o\n/dist\n!keep.log\n")


def _steps(workspace: MirroredWorkspace, root: Path, steps: int) -> float:
    """Seconds that one adds: before the command and after it."""
    took = []
    for number in range(steps):
        file = root / "p7" / f"d{7000 // PER_FOLDER}" / "f7000.py"
        before, _ = _timed(lambda: workspace.settle(workspace.touched(), "call"))
        with file.open("a") as end:
            end.write(f"step {number}\n")
        after, changes = _timed(lambda: workspace.changes(workspace.touched()))
        assert len(changes) == 1
        took.append(before + after)
    return statistics.median(took)


def _timed(work: Callable[[], Result]) -> tuple[float, Result]:
    begun = time.perf_counter()
    result = work()
    return time.perf_counter() - begun, result
